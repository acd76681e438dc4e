"""Checks of the types and ranges of settings, before anything splits or compares them."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from automl_admm.core.errors import ConfigurationError, Remedy
from automl_admm.core.messages import say_value
from automl_admm.grammar.given_text import GrammarText
from automl_admm.pipelines.thresholds.cost_text import read_costs
from automl_admm.plugins.event_hooks import EVENT_HOOKS
from automl_admm.runs.option_record import Kind, Option

NUMBER_AND_UNIT = re.compile(r"\s*(?P<number>\d+(\.\d*)?|\.\d+)\s*(?P<unit>[a-zA-Z]*)\s*")
LONGEST_SHOWN = 20


@dataclass(frozen=True)
class Measure:
    """A kind of quantity as people write it, `30s` or `2GB`; without a unit it is in the first."""

    name: str
    units: Mapping[str, float]
    example: str

    def read(self, text: str) -> float:
        """Return the number in the first unit; raise a ValueError with the reason.

        >>> DURATION.read("10m")
        600.0
        """
        match = NUMBER_AND_UNIT.fullmatch(text)
        unit = self.units.get(match["unit"].lower()) if match else None
        shown = text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]}…"
        if match is None or unit is None:
            raise ValueError(f"'{shown}' is no {self.name}. Write it like {self.example}.")
        number = float(match["number"]) * unit
        if not math.isfinite(number):
            raise ValueError(f"'{shown}' is too large for a {self.name}.")
        return number


DURATION = Measure("duration", {"": 1.0, "s": 1.0, "m": 60.0, "h": 3600.0}, "30s, 10m or 1h")
MEMORY = Measure("size", {"": 1.0, "b": 1.0, "kb": 1e3, "mb": 1e6, "gb": 1e9}, "500MB or 2GB")

LEAST_BYTES = 10**6
ADDRESSABLE_BYTES = 2**60
# What numpy, SQLite and the system can count with.
LARGEST_WHOLE = 2**63 - 1
MEASURES = MappingProxyType({Kind.SECONDS: DURATION, Kind.BYTES: MEMORY})
UNITS = MappingProxyType({Kind.SECONDS: "seconds", Kind.BYTES: "bytes"})
OWN_SOLVER = (
    "Or give an object with begin, ask and tell, its class, or a record; see "
    "docs/how_to/own_solver.md."
)


def check_text(name: str, value: object, example: str, hint: str | None = None) -> None:
    """Raise unless the value is a text; the message shows the example."""
    if not isinstance(value, str):
        message = f"{name} must be a text such as '{example}', not {say_value(value)}."
        raise ConfigurationError(message, hint=hint)


def check_path(name: str, value: object) -> None:
    """Raise unless the value is a text or a path."""
    if not isinstance(value, str | os.PathLike):
        raise ConfigurationError(f"{name} must be a text or a path, not {say_value(value)}.")


def check_choice(name: str, value: object, choices: Sequence[str]) -> None:
    """Raise unless the value is one of the choices."""
    # The type is asked first: an array has no single answer to `in`.
    if not isinstance(value, str) or value not in choices:
        known = " or ".join(f"'{choice}'" for choice in choices)
        raise ConfigurationError(f"{name} must be {known}, not {say_value(value)}.")


def check_flag(name: str, value: object) -> None:
    """Raise unless the value is True or False: a text such as "no" would count as yes."""
    if not isinstance(value, bool):
        raise ConfigurationError(f"{name} must be True or False, not {say_value(value)}.")


def check_label(value: object) -> None:
    """Raise unless the value can be a label of the target."""
    if not isinstance(value, str | int | float):
        raise ConfigurationError(
            f"the positive class must be a label of the target, not {say_value(value)}."
        )


def check_cost(what: str, value: object) -> None:
    """Raise unless the value is a text with the costs of wrong decisions."""
    check_text(what, value, "fn=5,fp=1")
    read_costs(str(value))


def check_column_costs(what: str, value: object) -> None:
    """Raise unless the value gives columns their costs, finite numbers that are not negative."""
    if not isinstance(value, Mapping):
        message = f"{what} must be a dict such as {{'age': 1, 'test': 40}}, not {say_value(value)}."
        raise ConfigurationError(message)
    for name, cost in value.items():
        check_number(f"the cost of column '{name}'", cost)
        if not 0.0 <= cost < math.inf:
            raise ConfigurationError(
                f"the cost of column '{name}' must be a number of 0 or more, not {cost:g}."
            )


def check_number(what: str, value: object, unit: str = "") -> None:
    """Raise unless the value is a number; True and False are no numbers here."""
    # NumPy counts a span of time among its whole numbers.
    if isinstance(value, bool | np.timedelta64) or not isinstance(value, Real):
        of_unit = f" of {unit}" if unit else ""
        raise ConfigurationError(f"{what} must be a number{of_unit}, not {say_value(value)}.")


def check_positive(what: str, value: float, unit: str) -> None:
    """Raise unless the value is a finite number above 0."""
    check_number(what, value, unit)
    if not math.isfinite(value):
        raise ConfigurationError(f"{what} must be a number of {unit}, not {value:g}.")
    if value <= 0:
        raise ConfigurationError(f"{what} must be more than 0 {unit}, not {value:g}.")


def check_memory(value: int) -> None:
    """Raise unless the memory limit is at least a megabyte, within the address space."""
    check_positive("the memory limit", value, "bytes")
    if value < LEAST_BYTES:
        raise ConfigurationError(
            f"the memory limit of {value:g} bytes is too little for any evaluation.",
            hint=Remedy("Allow at least 1MB in {memory_limit}."),
        )
    if value > ADDRESSABLE_BYTES:
        raise ConfigurationError(
            f"the memory limit of {value:.3g} bytes is more than a machine can address.",
            hint=Remedy(
                "Without {memory_limit} an evaluation may have its share of the machine's memory."
            ),
        )


def check_whole(what: str, value: Any, least: int | None = 1) -> None:
    """Raise unless the value is a whole number of at least `least`."""
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


def number_as_json(option: Option, value: Any) -> Any:
    """Return an option's number as JSON has it: 2.0 of a count as 2, 9/10 of a share as 0.9.

    All else is returned as it is, as is an int in place of a float: it names the same run as ever.
    """
    if isinstance(value, int) or not isinstance(value, Real):
        return value
    if option.kind is Kind.WHOLE:
        number: Any = value
        return int(number) if number % 1 == 0 else value
    return float(value) if option.kind in MEASURES or option.kind is Kind.SHARE else value


def with_numbers(record: object, options: Iterable[Option]) -> dict[str, Any]:
    """Return the values of the options by name, with texts such as "30s" and "2GB" as numbers."""
    return {option.name: _number_of(option, getattr(record, option.name)) for option in options}


def _number_of(option: Option, value: Any) -> Any:
    if option.kind not in MEASURES or not isinstance(value, str):
        return value
    measure = MEASURES[option.kind]
    try:
        number = measure.read(value)
    except ValueError:
        raise ConfigurationError(
            f"{option.words} must be a number of {UNITS[option.kind]}, or a text such as "
            f"{measure.example}, not {say_value(value)}."
        ) from None
    return int(number) if option.kind is Kind.BYTES else number


def several(name: str, given: Any) -> tuple[Any, ...]:
    """Return the items as a tuple; one text or path is one item, not a list of its letters."""
    if isinstance(given, str | Path):
        return (given,)
    if not isinstance(given, Iterable):
        raise ConfigurationError(f"{name} must be a list, not {say_value(given)}.")
    refuse_iterator(name, given)
    return tuple(given)


def refuse_iterator(name: str, given: Iterable[Any]) -> None:
    """Raise for a generator, a map or the like: a second fit of one search would get nothing."""
    if isinstance(given, Iterator):
        kind = type(given).__name__
        raise ConfigurationError(
            f"{name} must be a list, not an iterator ({kind}), which is empty once it was read.",
            hint=f"Give a list of it: {name}=list(…).",
        )


def observers_of(callbacks: Any) -> tuple[object, ...]:
    """Return the callbacks; raise if a callback would never be called."""
    found = several("callbacks", callbacks)
    for callback in found:
        if isinstance(callback, type):
            raise ConfigurationError(
                f"the callback {callback.__name__} is a class.",
                hint=f"Give an object of it: {callback.__name__}().",
            )
        if not any(hasattr(callback, hook) for hook in EVENT_HOOKS):
            raise ConfigurationError(
                f"the callback {say_value(callback)} has no method of an observer.",
                hint=f"Known: {', '.join(EVENT_HOOKS)}.",
            )
    return found


def folder_of(work_dir: Any) -> Path | None:
    """Return the run's folder as a path, None if the run keeps nothing."""
    if work_dir is None:
        return None
    check_path("work_dir", work_dir)
    return Path(work_dir)


def seed_of(random_state: Any) -> int:
    """Return the seed: a number as it is, else one drawn from the given generator, or anew.

    Nothing is drawn from numpy's global generator: it belongs to the caller.
    """
    if random_state is None:
        return int(np.random.default_rng().integers(2**31 - 1))
    if isinstance(random_state, int | np.integer):
        return int(random_state)
    from sklearn.utils import check_random_state  # here, as a search over numbers does without

    try:
        return int(check_random_state(random_state).randint(2**31 - 1))
    except ValueError:
        kinds = "a whole number, a RandomState or None"
        message = f"random_state must be {kinds}, not {say_value(random_state)}."
        raise ConfigurationError(message) from None


def check_columns_asked(name: str, value: object) -> None:
    """Raise unless the value gives columns their kinds."""
    if not isinstance(value, Mapping) or not all(isinstance(kind, str) for kind in value.values()):
        example = "{'zip': 'category'}"
        raise ConfigurationError(
            f"{name} must be a dict such as {example}, not {say_value(value)}."
        )


def _check_part(option: Option, value: object) -> None:
    hint = OWN_SOLVER if option.name.endswith("_solver") else None
    check_text(option.name, value, option.default, hint)


def _check_paths(option: Option, value: Iterable[object]) -> None:
    for path in value:
        check_path(option.words, path)


def _check_parts(option: Option, value: Iterable[object]) -> None:
    for request in value:
        check_text(option.name, request, "jsonl:path=log.jsonl", "Objects go into callbacks.")


def _check_grammar(option: Option, value: object) -> None:
    if not isinstance(value, GrammarText):
        check_path(option.name, value)


# Kinds without an entry are checked by the code that uses their values.
CHECKS: Mapping[Kind, Callable[[Option, Any], None]] = MappingProxyType(
    {
        Kind.SECONDS: lambda option, value: check_positive(option.words, value, "seconds"),
        Kind.BYTES: lambda _, value: check_memory(value),
        Kind.WHOLE: lambda option, value: check_whole(option.words, value, option.least),
        Kind.SHARE: lambda option, value: check_number(option.words, value),
        Kind.FLAG: lambda option, value: check_flag(option.name, value),
        Kind.CHOICE: lambda option, value: check_choice(option.name, value, option.choices),
        Kind.PART: _check_part,
        Kind.PARTS: _check_parts,
        Kind.COLUMNS: lambda option, value: check_columns_asked(option.name, value),
        Kind.LABEL: lambda _, value: check_label(value),
        Kind.NAME: lambda option, value: check_text(option.words, value, "utf-8"),
        Kind.COST: lambda option, value: check_cost(option.words, value),
        Kind.COSTS: lambda option, value: check_column_costs(option.words, value),
        Kind.STARTS: _check_paths,
        Kind.RUNS: _check_paths,
        Kind.FILE: _check_grammar,
        Kind.FOLDER: lambda option, value: check_path(option.name, value),
    }
)


def check_option(option: Option, value: object) -> None:
    """Raise unless the value is of the option's kind."""
    if option.kind in CHECKS:
        CHECKS[option.kind](option, value)
