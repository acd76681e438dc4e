"""Settings of a kind that they cannot have, told before anything splits or compares them."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable
from numbers import Integral, Real
from pathlib import Path
from typing import Any

from automl_admm.core.errors import ConfigurationError, Remedy
from automl_admm.core.messages import say_value
from automl_admm.plugins.observers import HOOKS

ADDRESSABLE_BYTES = 2**60
# What numpy, SQLite and the system can count with.
LARGEST_WHOLE = 2**63 - 1
# What can be done where the limits do not hold, or are not proven to.
ON_INFEASIBLE = ("raise", "closest")
OWN_SOLVER = "Register your own solver as a plugin, see README."


def check_text(name: str, value: object, example: str, hint: str | None = None) -> None:
    """Raise if it is no text, such as the example."""
    if not isinstance(value, str):
        message = f"{name} must be a text such as '{example}', not {say_value(value)}."
        raise ConfigurationError(message, hint=hint)


def check_path(name: str, value: object) -> None:
    """Raise if it is neither a text nor a path."""
    if not isinstance(value, str | os.PathLike):
        raise ConfigurationError(f"{name} must be a text or a path, not {say_value(value)}.")


def check_on_infeasible(given: object) -> None:
    """Raise if it is neither of the two things that can be done."""
    if given not in ON_INFEASIBLE:
        raise ConfigurationError(
            f"on_infeasible must be 'raise' or 'closest', not {say_value(given)}."
        )


def check_number(what: str, value: object, unit: str = "") -> None:
    """Raise if it is no number; True and False are none."""
    if isinstance(value, bool) or not isinstance(value, Real):
        of_unit = f" of {unit}" if unit else ""
        raise ConfigurationError(f"{what} must be a number{of_unit}, not {say_value(value)}.")


def check_positive(what: str, value: float | None, unit: str) -> None:
    """Raise if it is given and not a number above 0."""
    if value is None:
        return
    check_number(what, value, unit)
    if not math.isfinite(value):
        raise ConfigurationError(f"{what} must be a number of {unit}, not {value:g}.")
    if value <= 0:
        raise ConfigurationError(f"{what} must be more than 0 {unit}, not {value:g}.")


def check_memory(value: int | None) -> None:
    """Raise if a memory limit is given that no process can be given."""
    check_positive("the memory limit", value, "bytes")
    if value is not None and value > ADDRESSABLE_BYTES:
        raise ConfigurationError(
            f"the memory limit of {value:.3g} bytes is more than a machine can address.",
            hint=Remedy(
                "Without {memory_limit} an evaluation may have its share of the machine's memory."
            ),
        )


def check_whole(what: str, value: Any, least: int | None = 1) -> None:
    """Raise if it is given and not a whole number, or below the least one."""
    if value is None:
        return
    is_number = not isinstance(value, bool) and isinstance(value, Real)
    # A whole number may be too large for the floating point that `isfinite` takes.
    is_int = is_number and isinstance(value, Integral)
    is_whole = is_int or (is_number and math.isfinite(value) and int(value) == value)
    if is_whole and value > LARGEST_WHOLE:
        raise ConfigurationError(f"{what} must be at most {LARGEST_WHOLE}, not {say_value(value)}.")
    if not is_whole or (least is not None and value < least):
        least_one = "" if least is None else f" of at least {least}"
        raise ConfigurationError(
            f"{what} must be a whole number{least_one}, not {say_value(value)}."
        )


def several(name: str, given: Any) -> tuple[Any, ...]:
    """All that was given; one text or path is a list of one, not a list of its letters."""
    if isinstance(given, str | Path):
        return (given,)
    if not isinstance(given, Iterable):
        raise ConfigurationError(f"{name} must be a list, not {say_value(given)}.")
    return tuple(given)


def observers_of(callbacks: Any) -> tuple[object, ...]:
    """The callbacks; raises if one would never be called."""
    found = several("callbacks", callbacks)
    for callback in found:
        if isinstance(callback, type):
            raise ConfigurationError(
                f"the callback {callback.__name__} is a class.",
                hint=f"Give an object of it: {callback.__name__}().",
            )
        if not any(hasattr(callback, hook) for hook in HOOKS):
            raise ConfigurationError(
                f"the callback {say_value(callback)} has no method of an observer.",
                hint=f"Known: {', '.join(HOOKS)}.",
            )
    return found


def folder_of(work_dir: Any) -> Path | None:
    """The folder that is meant, if one is."""
    if work_dir is None:
        return None
    check_path("work_dir", work_dir)
    return Path(work_dir)


def seed_of(random_state: Any) -> int:
    """The run's seed: a number as it is, else drawn from what is given, or anew.

    Numpy's global generator is the caller's: nothing is drawn from it.
    """
    import numpy as np
    from sklearn.utils import check_random_state

    if random_state is None:
        return int(np.random.default_rng().integers(2**31 - 1))
    if isinstance(random_state, int | np.integer):
        return int(random_state)
    try:
        return int(check_random_state(random_state).randint(2**31 - 1))
    except ValueError:
        kinds = "a whole number, a RandomState or None"
        message = f"random_state must be {kinds}, not {say_value(random_state)}."
        raise ConfigurationError(message) from None
