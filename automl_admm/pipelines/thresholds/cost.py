"""The expected cost of decisions: what a wrong or a right one costs, and their mean over rows."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from automl_admm.core.errors import ConfigurationError

NAME = "expected cost"
HINT = (
    'Name the cost of a false negative and of a false positive, such as "fn=5,fp=1"; tp and tn, '
    "the cost of right decisions, are 0 unless you give them."
)


@dataclass(frozen=True, slots=True)
class Cost:
    """The costs of one row, by its class and its decision; a negative one is a gain.

    >>> Cost(fn=5.0, fp=1.0).mean(np.array([1, 1, 0, 0]), np.array([0, 1, 1, 0]))
    1.5
    """

    fn: float
    fp: float
    tp: float = 0.0
    tn: float = 0.0

    def mean(self, y: Any, decisions: Any, weights: Any = None) -> float:
        """Return the mean cost of a row, by the weights of the rows if they have any."""
        table = np.array([[self.tn, self.fp], [self.fn, self.tp]])
        return float(np.average(table[np.asarray(y), np.asarray(decisions)], weights=weights))

    @property
    def saved(self) -> str:
        """Return the text that `read_cost` reads."""
        known = {one.name: getattr(self, one.name) for one in fields(self)}
        return ",".join(f"{name}={value!r}" for name, value in known.items() if value)


def read_cost(said: str | Mapping[str, float]) -> Cost:
    """Read costs such as "fn=5,fp=1", or a mapping of them; raise if they make no sense."""
    pairs = said.items() if isinstance(said, Mapping) else _pairs(str(said))
    found: dict[str, float] = {}
    for name, value in pairs:
        key = str(name).strip().lower()
        if key not in ("fn", "fp", "tp", "tn") or key in found:
            raise ConfigurationError(f"the cost has a part '{name}' unknown or twice.", hint=HINT)
        found[key] = _number(value, said)
    if "fn" not in found or "fp" not in found:
        raise ConfigurationError(f"the cost '{said}' lacks fn or fp.", hint=HINT)
    cost = Cost(**found)
    # Else one class for all rows would be the cheapest decision whatever the model says.
    if cost.fn <= cost.tp or cost.fp <= cost.tn:
        raise ConfigurationError(
            f"the cost '{said}' makes a wrong decision no dearer than the right one.", hint=HINT
        )
    return cost


def _pairs(said: str) -> list[tuple[str, str]]:
    parts = [part.partition("=") for part in said.split(",")]
    return [(name, value) for name, _, value in parts]


def _number(value: object, said: object) -> float:
    try:
        found = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        found = math.nan
    if not math.isfinite(found):
        raise ConfigurationError(f"the cost '{said}' has no finite number '{value}'.", hint=HINT)
    return found
