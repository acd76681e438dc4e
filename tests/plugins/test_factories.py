"""Whatever a factory does, one line says whose it is."""

from __future__ import annotations

from asyncio import CancelledError
from typing import Any, NoReturn

import pytest

from automl_admm.core.errors import AutomlAdmmError, ConfigurationError, PluginError
from automl_admm.plugins.factories import expect, make


class UnspeakableError(Exception):
    def __str__(self) -> NoReturn:
        raise RuntimeError("not even this")


def raising(problem: BaseException) -> Any:
    def factory(*arguments: object) -> NoReturn:
        raise problem

    return factory


def test_an_error_of_no_kind_is_one_of_the_plugin_and_keeps_its_advice() -> None:
    gone = AutomlAdmmError("the cluster has no worker.", hint="Start one.")
    with pytest.raises(PluginError) as told:
        make("executor 'mine'", raising(gone))
    said = "executor 'mine' cannot be made: the cluster has no worker. Start one."
    assert (str(told.value), told.value.exit_code) == (said, 2)


def test_what_is_made_is_passed_on() -> None:
    assert make("a list", list, "ab") == ["a", "b"]


@pytest.mark.parametrize(
    ("problem", "says"),
    [
        (ModuleNotFoundError("No module named 'x'"), "ModuleNotFoundError: No module named 'x'."),
        (KeyError("k"), "KeyError: 'k'."),
        (RuntimeError("two\n  lines."), "RuntimeError: two lines."),
        (RuntimeError(), "RuntimeError."),
        (SystemExit("no licence"), "SystemExit: no licence."),
        (CancelledError("no time"), "CancelledError: no time."),
        (UnspeakableError(), "UnspeakableError: (its text cannot be had)."),
    ],
)
def test_what_a_factory_raises_is_told_in_one_line(problem: BaseException, says: str) -> None:
    with pytest.raises(PluginError) as error:
        make("theta solver 'x' (dist 0.2.0)", raising(problem), 1)
    assert str(error.value) == f"theta solver 'x' (dist 0.2.0) cannot be made: {says}"
    assert error.value.__cause__ is problem


def test_an_error_that_is_clear_already_is_left_alone() -> None:
    problem = ConfigurationError("xi must be positive.")
    with pytest.raises(ConfigurationError) as error:
        make("it", raising(problem))
    assert error.value is problem


def test_an_interrupt_passes() -> None:
    with pytest.raises(KeyboardInterrupt):
        make("it", raising(KeyboardInterrupt()))


def test_what_is_something_else_than_wanted_is_told() -> None:
    expect("it", "executor", object(), is_one=True)
    with pytest.raises(PluginError) as error:
        expect("it", "executor", None, is_one=False)
    assert str(error.value) == "it cannot be made: its factory returned None, no executor."
