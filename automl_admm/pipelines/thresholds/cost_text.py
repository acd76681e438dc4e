"""Costs of decisions from a text of the command line, or from a mapping or a table of Python."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from automl_admm.core.errors import ConfigurationError
from automl_admm.pipelines.thresholds.said_costs import (
    ANY,
    ARROW,
    OF_PAIRS,
    OF_TWO,
    Label,
    Pair,
    PairCosts,
    SaidCosts,
    TwoClassCosts,
    say_pair,
)

QUOTED = r'"(?:[^"]|"")*"'
# A class, the decision, and a number, up to a comma or the end.
PAIR = re.compile(
    rf'\s*(?P<true>{QUOTED}|[^",=]*?)\s*->\s*(?P<decided>{QUOTED}|[^",=]*?)\s*'
    r"=\s*(?P<cost>[^,=]*?)\s*(?:,|$)"
)


def read_costs(said: str) -> SaidCosts:
    """Read costs such as "fn=5,fp=1" or "cat->dog=5, *->*=1"; raise if they make no sense."""
    return _read_pairs(said) if ARROW in said else _read_two(said)


def costs_as_text(given: Any) -> Any:
    """Return costs of Python as a text that `read_costs` reads; a text, or anything else, as it is.

    A mapping has pairs of a true class and a decision as keys, `"*"` for any; a table of pandas has
    a row for each true class, and a column for each decision.
    """
    if isinstance(given, Mapping):
        return str(PairCosts(tuple(_of_mapping(given))))
    if hasattr(given, "index") and hasattr(given, "columns"):
        return str(PairCosts(tuple(_of_frame(given))))
    return given


def _of_mapping(given: Mapping[Any, Any]) -> Iterator[tuple[Pair, float]]:
    for pair, cost in given.items():
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise ConfigurationError(
                f"the costs have the key {pair!r}, and not a pair of classes.",
                hint="Give {('cat', 'dog'): 5, ('*', '*'): 1}: the true class, then the decision; "
                "of two classes the text 'fn=5,fp=1' does as well.",
            )
        true, decided = (None if isinstance(one, str) and one == ANY else str(one) for one in pair)
        yield (true, decided), _finite(cost, say_pair(true, decided), OF_PAIRS)


def _of_frame(given: Any) -> Iterator[tuple[Pair, float]]:
    table = given.to_numpy(dtype=object)
    for row, true in enumerate(given.index):
        for column, decided in enumerate(given.columns):
            pair = str(true), str(decided)
            yield pair, _finite(table[row, column], say_pair(*pair), OF_PAIRS)


def _read_two(said: str) -> TwoClassCosts:
    found: dict[str, float] = {}
    for part in said.split(","):
        name, _, value = part.partition("=")
        key = name.strip().lower()
        if key not in ("fn", "fp", "tp", "tn") or key in found:
            reason = "twice" if key in found else "and no decision is named so"
            hint = f"{OF_TWO} Of other classes: {OF_PAIRS}"
            raise ConfigurationError(f"the cost '{said}' has '{key}' {reason}.", hint=hint)
        found[key] = _finite(value, f"'{said}'", OF_TWO)
    if "fn" not in found or "fp" not in found:
        raise ConfigurationError(f"the cost '{said}' lacks fn or fp.", hint=OF_TWO)
    cost = TwoClassCosts(**found)
    # Else one class for all rows would be the cheapest decision whatever the model says.
    if cost.fn <= cost.tp or cost.fp <= cost.tn:
        raise ConfigurationError(
            f"the cost '{said}' makes a wrong decision no dearer than the right one.", hint=OF_TWO
        )
    return cost


def _read_pairs(said: str) -> PairCosts:
    found: list[tuple[Pair, float]] = []
    rest = said
    while rest.strip():
        match = PAIR.match(rest)
        if match is None or not match["true"] or not match["decided"] or _has_bare_arrow(match):
            raise ConfigurationError(
                f"there is no cost of a pair in '{rest.strip()}'.", hint=OF_PAIRS
            )
        pair = _label(match["true"]), _label(match["decided"])
        found.append((pair, _finite(match["cost"], say_pair(*pair), OF_PAIRS)))
        rest = rest[match.end() :]
    return PairCosts(tuple(found))


def _has_bare_arrow(match: re.Match[str]) -> bool:
    """Return True if a name without quotes has an arrow inside: it would be ambiguous."""
    names = (match["true"], match["decided"])
    return any(ARROW in name for name in names if not name.startswith('"'))


def _label(written: str) -> Label:
    if written.startswith('"'):
        return written[1:-1].replace('""', '"')
    return None if written == ANY else written


def _finite(value: Any, what: str, hint: str) -> float:
    try:
        found = math.nan if isinstance(value, bool | np.bool_) else float(value)
    except (TypeError, ValueError):
        found = math.nan
    if not math.isfinite(found):
        raise ConfigurationError(
            f"the cost {what} has '{value}' where a finite number is due.", hint=hint
        )
    return found
