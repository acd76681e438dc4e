from __future__ import annotations

from dataclasses import dataclass

import pytest

from automl_admm.core.errors import PluginError, UnknownNameError
from automl_admm.plugins.registry import Registry


@dataclass(frozen=True)
class Record:
    name: str
    is_stand_in: bool = False


def test_records_are_found_by_name_and_listed_in_order() -> None:
    registry: Registry[Record] = Registry("thing")
    registry.add(Record("b"), "one 1.0")
    registry.add(Record("a"), "two 2.0")
    assert [record.name for record in registry] == ["a", "b"]
    assert registry.get("b") == Record("b")
    assert registry.provider("a") == "two 2.0"
    assert "a" in registry
    assert len(registry) == 2


def test_a_name_given_twice_names_both_providers() -> None:
    registry: Registry[Record] = Registry("thing")
    registry.add(Record("a"), "one 1.0")
    with pytest.raises(PluginError, match=r"thing 'a' is provided twice: one 1\.0, two 2\.0\."):
        registry.add(Record("a"), "two 2.0")


def test_a_name_that_is_withheld_is_listed_and_given_to_nobody() -> None:
    registry: Registry[Record] = Registry("thing")
    registry.add(Record("a"), "one 1.0")
    registry.withhold("a", "two 2.0")
    with pytest.raises(PluginError, match=r"thing 'a' is provided twice: one 1\.0, two 2\.0\."):
        registry.get("a")
    assert "a" in registry
    assert list(registry) == [Record("a")]
    assert registry.title("a") == "thing 'a' (one 1.0)"


def test_an_unknown_name_suggests_the_nearest() -> None:
    registry: Registry[Record] = Registry("thing")
    registry.add(Record("random"), "one 1.0")
    with pytest.raises(UnknownNameError, match="Did you mean 'random'"):
        registry.get("randon")


def test_the_first_registered_stand_in_is_taken() -> None:
    registry: Registry[Record] = Registry("theta solver")
    registry.add(Record("gp"), "ours 1.0")
    with pytest.raises(PluginError, match="no theta solver can take the place of one that failed"):
        registry.stand_in()
    registry.add(Record("random", is_stand_in=True), "ours 1.0")
    registry.add(Record("a", is_stand_in=True), "theirs 2.0")
    assert registry.stand_in().name == "random"


def test_a_registry_without_some_names_keeps_the_others_and_their_claims() -> None:
    registry: Registry[Record] = Registry("thing")
    for name in "abc":
        registry.add(Record(name), f"{name} 1.0")
    registry.withhold("a", "two 2.0")
    fewer = registry.without({"b", "never there"})
    assert [record.name for record in fewer] == ["a", "c"]
    assert fewer.provider("c") == "c 1.0"
    with pytest.raises(PluginError, match="provided twice"):
        fewer.get("a")
