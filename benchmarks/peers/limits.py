"""The settings with limits, and how a model is judged on the test rows: README.md says why."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.metrics import balanced_accuracy_score

from .processes.exchange import Limit
from .processes.measuring import auc_gap, groups_of
from .tasks import DataSet, Split

# A clock is not exact: the part by which a latency may be over its limit.
CLOCK = 0.1
RESAMPLES = 1000

LATENCY = Limit("latency", 50.0)
SIZE = Limit("size", 5.0)
FPR = Limit("fpr", 0.05)


def _gap(column: str) -> Limit:
    return Limit("auc_gap", 0.02, column)


# Set and limit, in the order of the runs: a limit of each kind, then the next set of each.
SETTINGS: tuple[tuple[str, Limit], ...] = (
    ("credit_default", LATENCY),
    ("phoneme", SIZE),
    ("compas", FPR),
    ("adult", _gap("sex")),
    ("vehicle", LATENCY),
    ("digits", SIZE),
    ("pc4", FPR),
    ("compas", _gap("sex")),
    ("abalone", LATENCY),
    ("ames", SIZE),
    ("german_credit", FPR),
    ("credit_default", _gap("SEX")),
)


@dataclass(frozen=True)
class TestRows:
    """Truth, chances of the positive class, decisions and columns of the rows that none saw.

    A task that is not binary has none of the first three.
    """

    truth: Any
    chances: Any
    decided: Any
    X: pd.DataFrame

    __test__ = False

    @classmethod
    def of(cls, found: DataSet, split: Split, folder: Path) -> TestRows:
        """Read what a system has left in its folder."""
        X = found.X.iloc[split.test]
        if found.kind != "binary":
            return cls(None, None, None, X)
        labels = pd.read_csv(folder / "decisions.csv", dtype=str, keep_default_na=False)["label"]
        predicted = np.load(folder / "predictions.npy")
        yes = predicted[:, found.classes.index(str(found.positive))]
        truth = found.y.iloc[split.test].to_numpy() == found.positive
        return cls(truth, yes, labels.to_numpy() == found.positive, X)


def judge(record: dict[str, Any], limit: Limit, rows: TestRows) -> dict[str, Any]:
    """Return the limited value and the largest one that is still accepted.

    Where the limit is on decisions, the scores have their balanced accuracy, too.
    """
    value, allowed = _measure(record, limit, rows)
    judged = {"limited": {"bound": limit.bound, "value": value, "allowed": allowed}}
    if limit.name != "fpr":
        return judged
    balanced = float(balanced_accuracy_score(rows.truth, rows.decided))
    return judged | {"scores": record["scores"] | {"balanced_accuracy": balanced}}


def _measure(record: dict[str, Any], limit: Limit, rows: TestRows) -> tuple[float, float]:
    """Return the value on the test rows, and the bound with what is forgiven.

    FPR: bound + sqrt(bound (1 - bound) / negatives), the same for all systems. AUC gap: bound + the
    standard error of the gap, by drawing the test rows anew. Latency: 10 % over it.
    """
    if limit.name == "latency":
        return record["batch_us"], limit.bound * (1 + CLOCK)
    if limit.name == "size":
        return record["bytes"] / 1e6, limit.bound
    if limit.name == "fpr":
        negatives = int((~rows.truth).sum())
        error = math.sqrt(limit.bound * (1 - limit.bound) / negatives)
        return float(rows.decided[~rows.truth].mean()), limit.bound + error
    groups = groups_of(rows.X[limit.column])
    value = auc_gap(rows.truth, rows.chances, groups)
    return value, limit.bound + _gap_error(rows, groups)


def _gap_error(rows: TestRows, groups: Any) -> float:
    random = np.random.default_rng(0)
    drawn = random.integers(len(rows.truth), size=(RESAMPLES, len(rows.truth)))
    gaps = [auc_gap(rows.truth[one], rows.chances[one], groups[one]) for one in drawn]
    return float(np.std(gaps))


def is_within(record: dict[str, Any], *, forgiven: bool = True) -> bool:
    """Return True if a model ended and keeps its limit on the test rows."""
    if "error" in record:
        return False
    limited = record["limited"]
    return bool(limited["value"] <= limited["allowed" if forgiven else "bound"])
