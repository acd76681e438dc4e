"""Evidence of a constraint on some rows: it gives the value and an exact bound on it.

A number alone does not tell its own uncertainty. A constraint function may therefore return one of
these records: the search uses its `value`, a certificate tests the data behind it. A bare number
becomes an `Estimate`; no certificate can rest on one.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np

from automl_admm.core.equal_bins import bins_of, edges_of
from automl_admm.core.explained_variance import explained_variance
from automl_admm.core.space import Array


# Checked with isinstance, so that a plugin's own record counts without inheriting.
@runtime_checkable
class Evidence(Protocol):
    """Anything with a value; NaN means unknown on these rows."""

    @property
    def value(self) -> float:
        """The constraint's value on these rows."""


@dataclass(frozen=True, slots=True)
class Fact:
    """A number independent of the rows: a size, a count of columns.

    >>> Fact(12.0).value
    12.0
    """

    value: float


@dataclass(frozen=True, slots=True)
class Estimate:
    """A number with nothing more known about it; `why` no test is known, as a clause.

    >>> Estimate(0.25).value
    0.25
    """

    value: float
    why: str = ""


@dataclass(frozen=True, slots=True)
class Weighted:
    """A share or a mean of rows with weights; `of` names the rows. No exact bound is known for it.

    >>> Weighted(math.nan, "negative rows").of
    'negative rows'
    """

    value: float
    of: str = "rows"


@dataclass(frozen=True, slots=True)
class Rate:
    """A number of events in independent trials; `of` names the rows counted as trials.

    >>> Rate(events=1, trials=4).value
    0.25
    """

    events: int
    trials: int
    of: str = "rows"

    @property
    def value(self) -> float:
        """events / trials."""
        return self.events / self.trials if self.trials else math.nan


@dataclass(frozen=True, slots=True)
class F1:
    """An F1 score of `hits` among the rows that are, or are called, of the class.

    With J = hits / rows it is 2 J / (1 + J). Given the number of these rows, hits are binomial.

    >>> F1(hits=1, rows=3).value
    0.5
    """

    hits: int
    rows: int
    of: str = "rows"

    @property
    def value(self) -> float:
        """2 TP / (2 TP + FP + FN)."""
        return 2 * self.hits / (self.hits + self.rows) if self.rows else math.nan


@dataclass(frozen=True, slots=True, eq=False)
class Mean:
    """The mean of independent values bounded by [lowest, highest].

    The ends must be known before the values are seen. Where one is infinite there is no exact
    bound, and a certificate on it is called approximate.

    >>> Mean(np.array([0.0, 1.0]), lowest=0.0, highest=1.0).value
    0.5
    """

    values: Array
    lowest: float
    highest: float

    @property
    def value(self) -> float:
        """Their mean."""
        return float(np.mean(self.values)) if len(self.values) else math.nan


@dataclass(frozen=True, slots=True, eq=False)
class RootMeanSquare:
    """The root of the mean square of independent errors; none counts as more than `largest`.

    >>> RootMeanSquare(np.array([3.0, -40.0]), largest=3.0).value
    3.0
    """

    errors: Array
    largest: float = math.inf

    @property
    def value(self) -> float:
        """√ mean(e²); infinite if squares are too large for numbers."""
        return math.sqrt(float(np.mean(self.squares))) if len(self.errors) else math.nan

    @property
    def squares(self) -> Array:
        """The squares e² of the errors, at most `largest`²."""
        return _squares(self.errors, self.largest)

    @property
    def largest_square(self) -> float:
        """`largest`²; infinite beyond all numbers, where it is no end."""
        return _square(self.largest)


@dataclass(frozen=True, slots=True, eq=False)
class Explained:
    """R², the share of the variance of the truth y explained by predictions with the errors e.

    No error counts as more than `largest`. The value is unknown for a constant truth.

    >>> Explained(np.array([0.5, -0.5]), np.array([0.0, 2.0])).value
    0.75
    """

    errors: Array
    truth: Array
    largest: float = math.inf

    @property
    def value(self) -> float:
        """1 − mean(e²) / Var(y)."""
        return explained_variance(self.squares, self.truth)

    @property
    def squares(self) -> Array:
        """The squares e² of the errors, at most `largest`²."""
        return _squares(self.errors, self.largest)

    @property
    def largest_square(self) -> float:
        """`largest`²; infinite beyond all numbers, where it is no end."""
        return _square(self.largest)


@dataclass(frozen=True, slots=True, eq=False)
class Quantile:
    """A quantile of independent values, one for each row; they need no largest one.

    No value can be below `lowest`.

    >>> Quantile(np.array([1.0, 3.0, 9.0]), quantile=0.5).value
    3.0
    """

    values: Array
    quantile: float
    lowest: float = -math.inf

    @property
    def value(self) -> float:
        """The smallest of the values with so large a share of them at or below it."""
        if not len(self.values):
            return math.nan
        return float(np.quantile(self.values, self.quantile, method="inverted_cdf"))


@dataclass(frozen=True, slots=True, eq=False)
class Ranking:
    """Scores of positive and of negative rows, the evidence of an AUROC.

    >>> Ranking(positives=np.array([0.9, 0.4]), negatives=np.array([0.5])).value
    0.5
    """

    positives: Array
    negatives: Array

    @property
    def value(self) -> float:
        """AUROC = P(s⁺ > s⁻) + ½ P(s⁺ = s⁻)."""
        if not len(self.positives) or not len(self.negatives):
            return math.nan
        # Searching sorted scores takes a quarter of the time for a million of them.
        ordered, sought = np.sort(self.negatives), np.sort(self.positives)
        below = np.searchsorted(ordered, sought, side="left")
        at_most = np.searchsorted(ordered, sought, side="right")
        return float(np.mean(below + at_most) / (2 * len(ordered)))


@dataclass(frozen=True, slots=True, eq=False)
class Calibration:
    """Probabilities of the positive class and the truth, 0 or 1: the evidence of their calibration.

    >>> Calibration(np.array([0.5, 0.5]), np.array([0.0, 1.0])).value
    0.0
    """

    probabilities: Array
    truth: Array

    @property
    def value(self) -> float:
        """The expected calibration error in bins of equally many rows."""
        rows = len(self.truth)
        if not rows:
            return math.nan
        excess = self.probabilities - self.truth
        bins = bins_of(self.probabilities, edges_of(self.probabilities))
        return float(np.abs(np.bincount(bins, weights=excess)).sum()) / rows


@dataclass(frozen=True, slots=True)
class RankCorrelation:
    """Kendall's tau of independent rows; `tau` has a sign, the value has none.

    >>> RankCorrelation(tau=-0.25, rows=100).value
    0.25
    """

    tau: float
    rows: int

    @property
    def value(self) -> float:
        """|τ|; unknown with fewer than two rows."""
        return abs(self.tau) if self.rows > 1 else math.nan


@dataclass(frozen=True, slots=True, eq=False)
class Timing:
    """Times of calls made one after the other, in one unit; the limit is on a quantile.

    >>> Timing(np.array([1.0, 3.0]), quantile=0.5).value
    2.0
    """

    values: Array
    quantile: float

    @property
    def value(self) -> float:
        """The quantile."""
        return float(np.quantile(self.values, self.quantile)) if len(self.values) else math.nan


@dataclass(frozen=True, slots=True, eq=False)
class Gap:
    """The largest value of a group minus the smallest (the papers' disparity).

    >>> Gap({"f": Rate(1, 4), "m": Rate(3, 4)}).value
    0.5
    """

    groups: Mapping[str, Evidence]

    @property
    def value(self) -> float:
        """max − min over groups; NaN if a group's value is unknown."""
        values = _values(self.groups.values())
        return max(values) - min(values) if values else math.nan


@dataclass(frozen=True, slots=True, eq=False)
class Ratio:
    """The smallest value of a group divided by the largest (the four-fifths rule).

    >>> Ratio({"f": Rate(1, 4), "m": Rate(2, 4)}).value
    0.5
    """

    groups: Mapping[str, Evidence]

    @property
    def value(self) -> float:
        """min / max over groups; 1 if all are 0."""
        values = _values(self.groups.values())
        if not values:
            return math.nan
        # Equal rates of 0 are no disparity.
        return min(values) / max(values) if max(values) > 0 else 1.0


@dataclass(frozen=True, slots=True, eq=False)
class Largest:
    """The largest of several values (equalized odds: the gaps in TPR and in FPR).

    >>> Largest({"f": Rate(1, 4), "m": Rate(3, 4)}).value
    0.75
    """

    parts: Mapping[str, Evidence]

    @property
    def value(self) -> float:
        """Their maximum."""
        values = _values(self.parts.values())
        return max(values) if values else math.nan


@dataclass(frozen=True, slots=True, eq=False)
class Smallest:
    """The smallest of several values: a limit `>= b` on it holds for the worst-off group, too.

    >>> Smallest({"f": Rate(1, 4), "m": Rate(3, 4)}).value
    0.25
    """

    parts: Mapping[str, Evidence]

    @property
    def value(self) -> float:
        """Their minimum."""
        values = _values(self.parts.values())
        return min(values) if values else math.nan


@dataclass(frozen=True, slots=True, eq=False)
class Average:
    """The mean of several values, each counting alike: of classes, a macro average.

    `are_apart` says that no row counts in two parts, as in the recalls of several classes. Then a
    sharper bound is known than for parts that share rows.

    >>> Average({"f": Rate(1, 4), "m": Rate(3, 4)}).value
    0.5
    """

    parts: Mapping[str, Evidence]
    are_apart: bool = False

    @property
    def value(self) -> float:
        """Their mean."""
        values = _values(self.parts.values())
        return sum(values) / len(values) if values else math.nan


def _square(number: float) -> float:
    return float(number) * float(number)  # a power beyond all numbers would raise


def _squares(errors: Array, largest: float) -> Array:
    with np.errstate(over="ignore"):
        return np.asarray(np.minimum(np.abs(errors), largest) ** 2)


def _values(evidence: Iterable[Evidence]) -> list[float]:
    """Return all values, or an empty list if one of them is unknown."""
    # Comparing with NaN is always False, so `max` would silently drop an unknown group.
    values = [one.value for one in evidence]
    return [] if any(map(math.isnan, values)) else values
