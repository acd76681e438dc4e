"""What plugins make: whatever goes wrong in a factory is one line that says whose it is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from automl_admm.core.errors import AutomlAdmmError, PluginError
from automl_admm.core.messages import say_value

LONGEST = 500


def make(title: str, factory: Callable[..., Any], *arguments: Any) -> Any:
    """What a factory makes; an error of ours is as clear as it can be, any other is told by name.

    A `SystemExit` counts as an error: a plugin does not decide when the program ends.
    """
    try:
        return factory(*arguments)
    except AutomlAdmmError:
        raise
    except (Exception, SystemExit) as problem:
        raise PluginError(f"{title} cannot be made: {described(problem)}.") from problem


def expect(title: str, wanted: str, made: object, *, is_one: bool) -> None:
    """Raise if a factory has made something else than what is wanted of it."""
    if not is_one:
        reason = f"its factory returned {say_value(made)}, no {wanted}"
        raise PluginError(f"{title} cannot be made: {reason}.")


def described(problem: BaseException) -> str:
    """One line of what was raised: its kind, and its text if that can be had."""
    kind = type(problem).__name__
    try:
        text = " ".join(str(problem).split()).rstrip(".")
    except Exception:  # noqa: BLE001 - its text is anybody's code as well
        return kind
    if len(text) > LONGEST:
        text = text[:LONGEST] + "…"
    return f"{kind}: {text}" if text else kind
