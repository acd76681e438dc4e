"""The settings of certified_rivals.py: tables, limits, splits, and the tests of a limit.

All of it was fixed before the first run, but for two of the splits. A setting is a table and a
limit; each is tried on four splits, of which the last two were added when the method was done. Of a
table up to 2 000 rows (60 % of a smaller one) are drawn for the run, and the rest is what the
future brings.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from automl_admm.certify.bounds.bounds import exact_bounds
from automl_admm.core.evidence import Evidence, Gap, Rate

GROUPS = {"adult": "sex", "compas": "sex", "credit_default": "SEX"}
TABLES = ("adult", "compas", "credit_default", "german_credit", "pc4", "sylvine", "wind")
RATES = ("fpr <= 0.05", "fpr <= 0.1", "fnr <= 0.2")
GAPS = ("selection_rate_gap[{}] <= 0.1", "fpr_gap[{}] <= 0.1", "recall_gap[{}] <= 0.1")
SETTINGS = (
    *((table, limit) for table in TABLES for limit in RATES),
    *((table, limit.format(group)) for table, group in GROUPS.items() for limit in GAPS),
)
SPLITS, SEEN = (0, 1, 2, 3), (0, 1)  # runs on those seen have changed the method
MOST_ROWS, SHARE, SALT = 2000, 0.6, 2026
RISK, NO_ANSWER = 0.05, 0.5  # of balanced accuracy: a constant's

Calls = NDArray[np.bool_]
_LIMIT = re.compile(r"(\w+?)(?:_gap\[(\w+)\])? <= ([\d.]+)")


@dataclass(frozen=True)
class Asked:
    """A limit from above on a rate, or on its gap over the groups of a column."""

    text: str

    @property
    def parts(self) -> tuple[str, str | None, float]:
        """Return the rate, the column of the groups if it is a gap, and the bound."""
        found = _LIMIT.fullmatch(self.text)
        if found is None:
            raise ValueError(self.text)
        return found[1], found[2], float(found[3])

    @property
    def bound(self) -> float:
        """Return the number behind <=."""
        return self.parts[2]

    def evidence(self, called: Calls, truth: Calls, X: Any) -> Evidence:
        """Return counts of decisions on some rows."""
        rate, column, _ = self.parts
        if column is None:
            return _rate(rate, called, truth)
        groups = X[column].to_numpy()
        return Gap(
            {
                str(name): _rate(rate, called[groups == name], truth[groups == name])
                for name in np.unique(groups)
            }
        )

    def value(self, called: Calls, truth: Calls, X: Any) -> float:
        """Return the rate or the gap on some rows."""
        return self.evidence(called, truth, X).value

    def upper(self, called: Calls, truth: Calls, X: Any, risk: float = RISK) -> float:
        """Return the exact upper bound that certificates of the package rest on; 1 if none."""
        bounds = exact_bounds(self.evidence(called, truth, X), risk)
        return 1.0 if bounds is None else bounds.upper


def _rate(name: str, called: Calls, truth: Calls) -> Rate:
    kinds = {
        "fpr": (called & ~truth, ~truth),
        "fnr": (~called & truth, truth),
        "recall": (called & truth, truth),
        "selection_rate": (called, np.ones_like(truth)),
    }
    events, trials = kinds[name]
    return Rate(int(events.sum()), int(trials.sum()))


@dataclass(frozen=True)
class Task:
    """Rows for the run and rows of the future; truth is True for the positive class."""

    table: str
    asked: Asked
    split: int
    X: Any
    truth: Calls
    future: Any
    future_truth: Calls
    positive: str

    @property
    def seed(self) -> int:
        """Return the seed of every method."""
        return self.split


@cache
def read(folder: Path, table: str) -> tuple[Any, Calls, str]:
    """Return columns, truth and the name of the positive class of a table."""
    import pandas as pd

    facts = json.loads((folder / f"{table}.json").read_text())
    target = facts["target"]
    frame = pd.read_csv(
        folder / f"{table}.csv",
        dtype=dict.fromkeys([*facts["categorical"], target], str),
        keep_default_na=False,
        na_values=[""],
    )
    truth = (frame[target] == facts["positive"]).to_numpy()
    return frame.drop(columns=target), truth, str(facts["positive"])


def task_of(folder: Path, table: str, limit: str, split: int) -> Task:
    """Return the rows of a setting and a split."""
    X, truth, positive = read(folder, table)
    order = np.random.default_rng([split, SALT]).permutation(len(X))
    count = min(MOST_ROWS, int(SHARE * len(X)))
    mine, rest = order[:count], order[count:]
    return Task(
        table,
        Asked(limit),
        split,
        X.iloc[mine],
        truth[mine],
        X.iloc[rest],
        truth[rest],
        positive,
    )


def balanced(called: Calls, truth: Calls) -> float:
    """Return the mean of the recall of both classes."""
    return float((called[truth].mean() + 1.0 - called[~truth].mean()) / 2.0)
