"""Evidence with the numbers that its record asks for, whatever numbers its author wrote.

A sum of booleans as numbers is 130.0 where 130 events are meant, and the end 3 of a range is no
count. Fields are told apart by their names: what is a number of rows adds up over lots of rows.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from automl_admm.core.evidence import (
    F1,
    Average,
    Evidence,
    Explained,
    Gap,
    Largest,
    Mean,
    Quantile,
    RankCorrelation,
    Rate,
    Ratio,
    RootMeanSquare,
    Smallest,
    Timing,
)
from automl_admm.core.messages import say_value

COUNTS = frozenset({"events", "trials", "hits", "rows"})
# Known before the rows are seen, and the same at every lot of them.
SETTINGS = frozenset({"lowest", "highest", "largest", "quantile"})
COUNTING = (Rate, F1, RankCorrelation)
RANGED = (Mean, Quantile, RootMeanSquare, Explained, Timing)
COMPARING = (Gap, Ratio, Largest, Smallest, Average)


def in_plain_numbers(evidence: Evidence) -> Evidence:
    """Return the evidence with whole counts as int and its ends and quantiles as float.

    Evidence that has them so, or is of a kind of its author, is returned itself. An end that is no
    number raises a TypeError.

    >>> in_plain_numbers(Rate(130.0, 200))
    Rate(events=130, trials=200, of='rows')
    """
    if not isinstance(evidence, COUNTING + RANGED + COMPARING):
        return evidence
    known = {item.name: getattr(evidence, item.name) for item in fields(evidence)}
    plain = {name: _plain(name, value) for name, value in known.items()}
    changed = {name: value for name, value in plain.items() if value is not known[name]}
    return _copy(evidence, changed) if changed else evidence


def _copy(evidence: Evidence, changed: Mapping[str, Any]) -> Evidence:
    """Return a copy with other fields, whatever the constructor of its class asks for."""
    copied = copy.copy(evidence)
    for name, value in changed.items():
        object.__setattr__(copied, name, value)
    return copied


def _plain(name: str, value: Any) -> Any:
    if isinstance(value, Mapping):
        parts = {key: in_plain_numbers(part) for key, part in value.items()}
        return value if all(parts[key] is value[key] for key in parts) else parts
    if name in COUNTS and type(value) is not int:
        return int(value) if value % 1 == 0 else value
    if name in SETTINGS and type(value) is not float:
        return _setting(name, value)
    return value


def _setting(name: str, value: Any) -> float:
    try:
        if not isinstance(value, str | bytes):
            return float(value)
    except (TypeError, ValueError, OverflowError):
        pass
    raise TypeError(f"its {name} is {say_value(value)} where a number is due")
