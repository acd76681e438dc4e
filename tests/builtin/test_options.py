"""No option of what ships, nor of our plugins that are installed, is a number that is none."""

from __future__ import annotations

import typing
from collections.abc import Iterator
from dataclasses import fields
from typing import Any

import pytest

from automl_admm.core.errors import ConfigurationError
from automl_admm.plugins.loading import load_plugins
from automl_admm.plugins.plugin_options import build_options


def float_options() -> Iterator[tuple[str, type[Any], str]]:
    """Every option that takes a float: whose it is, in which record, and its name."""
    plugins = load_plugins()
    kinds = set[tuple[str, type[Any]]]()
    for registry in (
        plugins.theta_solvers,
        plugins.z_solvers,
        plugins.strategies,
        plugins.executors,
    ):
        kinds |= {(record.name, record.options) for record in registry}
    for owner, kind in sorted(kinds, key=lambda each: each[0]):
        hints = typing.get_type_hints(kind)
        for field in fields(kind):
            if float in (hints[field.name], *typing.get_args(hints[field.name])):
                yield owner, kind, field.name


FLOATS = list(float_options())


def test_there_are_such_options() -> None:
    assert {("cmab", "upper"), ("cmab", "prior"), ("softmax", "temperature")} <= {
        (owner, option) for owner, _, option in FLOATS
    }


@pytest.mark.parametrize("value", ["nan", "inf", "-inf"])
@pytest.mark.parametrize(
    ("owner", "kind", "option"), FLOATS, ids=lambda part: part if isinstance(part, str) else ""
)
def test_what_is_no_number_is_refused(owner: str, kind: type[Any], option: str, value: str) -> None:
    with pytest.raises(ConfigurationError, match=option):
        build_options(owner, kind, {option: value})
