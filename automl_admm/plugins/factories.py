"""Call the factories of plugins; every failure becomes one line naming the provider."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from automl_admm.core.errors import AutomlAdmmError, PluginError, is_own_error
from automl_admm.core.messages import say_error, say_value


def make(title: str, factory: Callable[..., Any], *arguments: Any) -> Any:
    """Return the product of a factory; an error of ours passes, any other is told with its title.

    A `SystemExit` counts as an error: a plugin does not decide when the program ends. So does an
    error of ours without a kind, as of a cluster without a worker.
    """
    try:
        return factory(*arguments)
    except BaseException as problem:
        if type(problem) is AutomlAdmmError:
            said = f"{title} cannot be made: {problem.message}"
            raise PluginError(said, hint=problem.hint) from problem
        if not is_own_error(problem):
            raise
        raise PluginError(f"{title} cannot be made: {say_error(problem)}.") from problem


def expect(title: str, wanted: str, made: object, *, is_one: bool) -> None:
    """Raise if a factory has made the wrong kind of thing."""
    if not is_one:
        reason = f"its factory returned {say_value(made)}, no {wanted}"
        raise PluginError(f"{title} cannot be made: {reason}.")
