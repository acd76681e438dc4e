"""The kinds of limits of every task that certified_findings.py tries.

A kind is measured on fresh rows by its definition, and not by the code that certifies it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import kendalltau
from sklearn.metrics import confusion_matrix, f1_score, r2_score, recall_score, roc_auc_score

from automl_admm.core.space import Array

CLIP = 10.0
COSTS = {"fn": 3.0, "fp": 1.0}
# The groups of a table of two classes, its limit on a raised column, and the raise.
RAISED: dict[str, tuple[str, str, tuple[str, float]]] = {
    "adult": ("sex", "rising_breaks_5[age]", ("age", 5.0)),
    "credit_default": ("SEX", "rising_breaks_1[PAY_0]", ("PAY_0", 1.0)),
}


@dataclass(frozen=True, eq=False)
class Seen:
    """Predictions for fresh rows, and their truth; probabilities are those of classes.

    `raised` are the scores with a column raised, `numbers` the values of that column. `moves` has
    the distances by which scores move if rows are changed.
    """

    predicted: Any
    truth: Any
    groups: Any
    probabilities: Array | None = None
    classes: Sequence[str] = ()
    raised: Array | None = None
    numbers: Array | None = None
    moves: Mapping[str, Array] = field(default_factory=dict)

    @property
    def scores(self) -> Array:
        """Return the probabilities of the last class."""
        assert self.probabilities is not None  # noqa: S101 - classifiers of the grammar have them
        return self.probabilities[:, -1]

    @property
    def is_positive(self) -> Any:
        """Return which rows are of the last class."""
        return self.truth == self.classes[-1]

    @property
    def clipped(self) -> Array:
        """Return the absolute errors, none above the largest that counts."""
        return np.asarray(np.minimum(np.abs(self.predicted - self.truth), CLIP))

    def recalls(self) -> Array:
        """Return the recall of every class."""
        found = recall_score(self.truth, self.predicted, average=None, labels=list(self.classes))
        return np.asarray(found)


@dataclass(frozen=True)
class Kind:
    """A kind of limits: its text without the number, its measure, and the room that is tried.

    The first room is none: the limit stands at the reference, where about every second model is
    truly outside.
    """

    text: str
    measure: Callable[[Seen], float]
    rooms: tuple[float, ...] = (0.0, 0.1, 0.25)
    at_least: bool = False
    bound: str = ""
    is_added: bool = False

    def limit(self, reference: float, room: int) -> float:
        """Return the number of the limit; rooms are shares of the reference, or added to it."""
        share = self.rooms[room]
        if self.is_added:
            return round(reference + share, 4)
        return round(reference * (1.0 - share if self.at_least else 1.0 + share), 4)

    def holds(self, value: float, limit: float) -> bool:
        """Return True if a value is within the limit."""
        return value >= limit if self.at_least else value <= limit

    def written(self, limit: float) -> str:
        """Return the limit as the package reads it."""
        return f"{self.text} {'>=' if self.at_least else '<='} {limit}"


def _gap(seen: Seen) -> float:
    means = [float(seen.clipped[seen.groups == one].mean()) for one in np.unique(seen.groups)]
    return max(means) - min(means)


def _clipped_r2(seen: Seen) -> float:
    return float(1.0 - np.mean(seen.clipped**2) / np.var(seen.truth))


def of_regression(column: str) -> tuple[Kind, ...]:
    """Return the kinds of a regression whose groups are of this column."""
    betting, hall = "betting", "Hall's, approximate"
    return (
        Kind("errors_above_3", lambda one: float(np.mean(_errors(one) > 3)), bound="binomial"),
        Kind(
            "abs_error_quantile_90",
            lambda one: float(np.quantile(_errors(one), 0.9)),
            bound="order statistic",
        ),
        Kind("mae_to_10", lambda one: float(one.clipped.mean()), bound=betting),
        Kind("rmse_to_10", lambda one: float(np.sqrt(np.mean(one.clipped**2))), bound=betting),
        Kind("r2_to_10", _clipped_r2, at_least=True, bound="union of betting"),
        Kind(
            f"mae_to_10_gap[{column}]",
            _gap,
            (0.0, 0.3, 0.6),
            bound="pairs of betting",
            is_added=True,
        ),
        Kind("mae", lambda one: float(_errors(one).mean()), bound=hall),
        Kind("rmse", lambda one: float(np.sqrt(np.mean(_errors(one) ** 2))), bound=hall),
        Kind(
            "r2", lambda one: float(r2_score(one.truth, one.predicted)), at_least=True, bound=hall
        ),
    )


def _errors(seen: Seen) -> Array:
    return np.asarray(np.abs(seen.predicted - seen.truth))


def of_classes(named: str, other: str) -> tuple[Kind, ...]:
    """Return the kinds of several classes; one class and one cell of the confusion are named."""

    def place(seen: Seen, name: str) -> int:
        return list(seen.classes).index(name)

    def f1s(seen: Seen) -> Array:
        labels = list(seen.classes)
        return np.asarray(f1_score(seen.truth, seen.predicted, average=None, labels=labels))

    def cell(seen: Seen) -> float:
        table = confusion_matrix(seen.truth, seen.predicted, labels=list(seen.classes))
        row = table[place(seen, other)]
        return float(row[place(seen, named)] / row.sum())

    def area(seen: Seen) -> float:
        assert seen.probabilities is not None  # noqa: S101 - classifiers of the grammar have them
        return float(roc_auc_score(seen.truth == named, seen.probabilities[:, place(seen, named)]))

    exact = "binomial"
    return (
        _kept(f'recall{{class="{named}"}}', lambda one: one.recalls()[place(one, named)], exact),
        _kept(f'f1{{class="{named}"}}', lambda one: f1s(one)[place(one, named)], exact),
        _kept("min_recall{class}", lambda one: one.recalls().min(), "each class's binomial"),
        _kept("macro_recall", lambda one: one.recalls().mean(), "Chernoff's for a mean of rates"),
        _kept("macro_f1", lambda one: f1s(one).mean(), "union of binomials"),
        Kind(
            f'confusion{{true="{other}",predicted="{named}"}}', cell, (0.0, 0.25, 0.5), bound=exact
        ),
        _kept(f'auc{{class="{named}"}}', area, "convex order; DeLong's"),
    )


def _kept(text: str, measure: Callable[[Seen], Any], bound: str) -> Kind:
    return Kind(text, lambda one: float(measure(one)), (0.0, 0.1, 0.2), at_least=True, bound=bound)


def of_two_classes(column: str, raised: str) -> tuple[Kind, ...]:
    """Return the kinds of two classes by groups of a column; another is raised, as in `raised`."""
    exact, groups, numbered = "binomial", f"[{column}]", raised[raised.index("[") :]
    less, more, added = (0.0, 0.25, 0.5), (0.0, 0.15, 0.3), (0.0, 0.1, 0.2)
    return (
        Kind("fpr", _fpr, less, bound=exact),
        Kind("precision", _precision, more, at_least=True, bound=exact),
        Kind("f1", _f1, more, at_least=True, bound=exact),
        Kind(
            f"fpr_gap{groups}",
            lambda one: _spread(one, _fpr),
            added,
            bound="Buehler's",
            is_added=True,
        ),
        Kind(
            f"selection_rate_ratio{groups}",
            _ratio,
            (0.0, 0.3, 0.6),
            at_least=True,
            bound="pairs of binomials",
        ),
        Kind(f"max_fpr{groups}", lambda one: max(_by_group(one, _fpr)), less, bound=exact),
        Kind("auc", _area, (0.0, 0.05, 0.1), at_least=True, bound="convex order; DeLong's"),
        Kind(
            f"auc_gap{groups}",
            lambda one: _spread(one, _area),
            (0.0, 0.15, 0.35),
            bound="union; DeLong's, MOVER",
            is_added=True,
        ),
        Kind("brier", _brier, (0.0, 0.2, 0.4), bound="betting"),
        Kind("cost", _cost, (0.0, 0.2, 0.4), bound="betting"),
        Kind(
            "calibration_error",
            _calibration_error,
            added,
            bound="empirical Bernstein's",
            is_added=True,
        ),
        Kind(raised, _breaks, (0.0, 0.1, 0.5), bound=exact, is_added=True),
        Kind(
            f"score_correlation{numbered}",
            lambda one: abs(float(kendalltau(one.scores, one.numbers).statistic)),
            added,
            bound="Hoeffding-Bentkus",
            is_added=True,
        ),
    )


def _is_called(seen: Seen) -> Any:
    return seen.predicted == seen.classes[-1]


def _called(seen: Seen) -> float:
    return float(np.mean(_is_called(seen)))


def _fpr(seen: Seen) -> float:
    return float(np.mean(_is_called(seen)[~seen.is_positive]))


def _precision(seen: Seen) -> float:
    return float(np.mean(seen.is_positive[_is_called(seen)]))


def _f1(seen: Seen) -> float:
    return float(f1_score(seen.is_positive, _is_called(seen)))


def _area(seen: Seen) -> float:
    return float(roc_auc_score(seen.is_positive, seen.scores))


def _brier(seen: Seen) -> float:
    return float(np.mean((seen.scores - seen.is_positive) ** 2))


def _cost(seen: Seen) -> float:
    called, positive = _is_called(seen), seen.is_positive
    return float(np.mean(COSTS["fn"] * (positive & ~called) + COSTS["fp"] * (~positive & called)))


def _calibration_error(seen: Seen) -> float:
    parts = np.array_split(np.argsort(seen.scores, kind="stable"), 10)
    far = [abs(np.sum(seen.scores[one] - seen.is_positive[one])) for one in parts]
    return float(np.sum(far) / len(seen.scores))


def _breaks(seen: Seen) -> float:
    """Return the share of rows whose score falls although the column was raised."""
    assert seen.raised is not None  # noqa: S101 - each table of two classes raises a column
    return float(np.mean(seen.raised < seen.scores - 1e-9))


def _by_group(seen: Seen, measure: Callable[[Seen], float]) -> list[float]:
    parts = [seen.groups == one for one in np.unique(seen.groups)]
    return [
        measure(Seen(seen.predicted[one], seen.truth[one], None, rows[one], seen.classes))
        for one in parts
        if (rows := seen.probabilities) is not None
    ]


def _ratio(seen: Seen) -> float:
    """Return the least share of rows called positive by the largest; unknown if none is called."""
    shares = _by_group(seen, _called)
    return min(shares) / max(shares) if max(shares) else float("nan")


def _spread(seen: Seen, measure: Callable[[Seen], float]) -> float:
    values = _by_group(seen, measure)
    return max(values) - min(values)


@dataclass(frozen=True, eq=False)
class World:
    """A table for one task: its columns, its target, and the kinds of limits.

    `raised` names a column and how much is added to it, for limits on how scores behave; `changes`
    is asked how far scores move if rows are changed, given the model, the rows and those of the
    search.
    """

    task: str
    X: Any
    y: Any
    column: str
    kinds: tuple[Kind, ...]
    raised: tuple[str, float] | None = None
    changes: Callable[[Any, Any, Any], Mapping[str, Array]] | None = None

    @property
    def has_two_classes(self) -> bool:
        """Return True for tasks of two classes, with or without undecided rows."""
        return self.task in ("two_classes", "answers")


NAMES: Mapping[str, tuple[str, ...]] = {
    "two_classes": ("adult", "credit_default"),
    "regression": ("abalone", "wind"),
    "classes": ("abalone_sex", "wind_quarters"),
    "answers": ("adult_answers", "credit_default_answers"),
}


@cache
def world(folder: Path, name: str) -> World:
    """Return a world by its name."""
    import pandas as pd

    if name.endswith("_answers"):
        from certified_answers import moves_of, of_answers

        frame = pd.read_csv(folder / f"{name.removesuffix('_answers')}.csv")
        X, y = frame.iloc[:, :-1], frame.iloc[:, -1].astype(str)
        return World("answers", X, y, "", of_answers(), changes=moves_of)
    if name in RAISED:
        frame = pd.read_csv(folder / f"{name}.csv")
        column, limit, raised = RAISED[name]
        X, y = frame.iloc[:, :-1], frame.iloc[:, -1].astype(str)
        return World("two_classes", X, y, column, of_two_classes(column, limit), raised)
    frame = pd.read_csv(folder / f"{name.split('_', maxsplit=1)[0]}.csv")
    if name == "abalone":
        X, y = frame.iloc[:, :-1], frame.iloc[:, -1].astype(float)
        return World("regression", X, y, "Sex", of_regression("Sex"))
    if name == "abalone_sex":
        return World("classes", frame.iloc[:, 1:], frame["Sex"], "", of_classes("I", "F"))
    frame = frame.drop(columns="binaryClass")
    if name == "wind":
        frame["half"] = np.where(frame["month"] <= 6, "first", "second")
        X = frame.drop(columns=["DUB", "month"])
        return World("regression", X, frame["DUB"].astype(float), "half", of_regression("half"))
    quarters = ("q" + (1 + (frame["month"] - 1) // 3).astype(str)).rename("quarter")
    X = frame.drop(columns=["month", "day", "year"])
    return World("classes", X, quarters, "", of_classes("q3", "q2"))


def facts(kinds: Sequence[Kind], seen: Seen) -> dict[str, float]:
    """Return the value of every kind on fresh rows."""
    return {kind.text: round(kind.measure(seen), 5) for kind in kinds}


def dumped(record: Mapping[str, Any]) -> str:
    """Return a record as a line."""
    return json.dumps(record) + "\n"
