"""What plugins make: whatever goes wrong in a factory is one line that says whose it is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from automl_admm.core.errors import AutomlAdmmError, PluginError
from automl_admm.core.messages import say_error, say_value


def make(title: str, factory: Callable[..., Any], *arguments: Any) -> Any:
    """What a factory makes; an error of ours is as clear as it can be, any other is told by name.

    A `SystemExit` counts as an error: a plugin does not decide when the program ends.
    """
    try:
        return factory(*arguments)
    except AutomlAdmmError:
        raise
    except (Exception, SystemExit) as problem:
        raise PluginError(f"{title} cannot be made: {say_error(problem)}.") from problem


def expect(title: str, wanted: str, made: object, *, is_one: bool) -> None:
    """Raise if a factory has made something else than what is wanted of it."""
    if not is_one:
        reason = f"its factory returned {say_value(made)}, no {wanted}"
        raise PluginError(f"{title} cannot be made: {reason}.")
