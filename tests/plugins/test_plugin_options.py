from __future__ import annotations

from asyncio import CancelledError
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from automl_admm.core.errors import ConfigurationError, PluginError
from automl_admm.plugins.plugin_options import build_options, split_request


@dataclass(frozen=True)
class Options:
    restarts: int = 0
    xi: float = 0.1
    warm: bool = True
    kernel: str = "matern"
    cap: float | None = None

    def __post_init__(self) -> None:
        if self.restarts < 0:
            raise ValueError("restarts must not be negative")


def test_a_request_is_a_name_with_or_without_options() -> None:
    assert split_request("gp") == ("gp", {})
    assert split_request("gp: restarts=2, xi = 0.5") == ("gp", {"restarts": "2", "xi": "0.5"})


@pytest.mark.parametrize("text", ["gp:restarts", "gp:=2", "gp:xi=1,xi=2"])
def test_requests_that_are_no_requests_are_refused(text: str) -> None:
    with pytest.raises(ConfigurationError):
        split_request(text)


def test_texts_are_read_as_the_types_say() -> None:
    given_texts = {"restarts": "3", "xi": "1e-3", "warm": "no", "kernel": "rbf", "cap": "2.5"}
    assert build_options("gp", Options, given_texts) == Options(
        3, 1e-3, warm=False, kernel="rbf", cap=2.5
    )
    assert build_options("gp", Options, {"cap": "none"}).cap is None
    assert build_options("gp", Options, {}) == Options()


@pytest.mark.parametrize(
    ("given_texts", "says"),
    [
        ({"restart": "1"}, "'gp' has no option 'restart'. Did you mean 'restarts'"),
        ({"restarts": "many"}, "option 'restarts' of 'gp' must be a whole number, not 'many'"),
        ({"warm": "perhaps"}, "must be true or false, not"),
        ({"cap": "x"}, "must be a number or none, not 'x'"),
        ({"restarts": "-1"}, "restarts must not be negative"),
    ],
)
def test_wrong_options_are_explained(given_texts: dict, says: str) -> None:
    with pytest.raises(ConfigurationError, match=says):
        build_options("gp", Options, given_texts)


@dataclass(frozen=True)
class Raising:
    problem: str = "key"

    def __post_init__(self) -> None:
        raise {
            "key": KeyError("k"),
            "run": RuntimeError("r"),
            "exit": SystemExit(3),
            "own": CancelledError("c"),
        }[self.problem]


@dataclass(frozen=True)
class Unresolvable:
    size: "Nothing" = 0  # type: ignore[name-defined]  # noqa: F821, UP037


@pytest.mark.parametrize(
    ("problem", "says"),
    [
        ("key", "KeyError: 'k'"),
        ("run", "RuntimeError: r"),
        ("exit", "SystemExit: 3"),
        ("own", "CancelledError: c"),
    ],
)
def test_options_that_raise_anything_are_told_in_one_line(problem: str, says: str) -> None:
    with pytest.raises(PluginError) as error:
        build_options("gp", Raising, {"problem": problem})
    assert str(error.value) == f"options of 'gp': {says}."


@dataclass(frozen=True)
class Ranged:
    initial: int = 3
    points: int = 9

    def __post_init__(self) -> None:
        if self.initial < 1:
            raise ValueError("initial must be at least 1")
        if self.points == 13:
            raise ValueError("that brings bad luck.")


@pytest.mark.parametrize(
    ("given_texts", "says"),
    [
        ({"initial": "-4", "points": 8}, "initial must be at least 1 (given: initial=-4)."),
        ({"initial": 2, "points": 13}, "that brings bad luck (given: initial=2, points=13)."),
    ],
)
def test_an_option_out_of_range_is_repeated(given_texts: dict, says: str) -> None:
    with pytest.raises(ConfigurationError) as told:
        build_options("gp", Ranged, given_texts)
    assert str(told.value) == f"options of 'gp': {says}"


def test_options_whose_types_are_not_to_be_found_are_told_in_one_line() -> None:
    with pytest.raises(PluginError, match="options of 'gp': NameError: name 'Nothing'"):
        build_options("gp", Unresolvable, {})


@given(st.integers(), st.floats(allow_nan=False), st.booleans())
def test_values_survive_the_way_through_text(whole: int, number: float, flag: bool) -> None:
    texts = {"restarts": str(abs(whole)), "xi": repr(number), "warm": str(flag)}
    assert build_options("gp", Options, texts) == Options(abs(whole), number, flag)
