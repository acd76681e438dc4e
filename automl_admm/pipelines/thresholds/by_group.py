"""A decision threshold for each group, if the user allows it.

One threshold for all seldom makes two groups alike: different scores give different rates. Starting
from the best single threshold, those of the groups are moved to satisfy the limits and improve the
metric. This uses the out-of-fold scores of all folds together, and trains nothing.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from automl_admm.core.space import Array
from automl_admm.pipelines.thresholds.cuts import Band
from automl_admm.pipelines.thresholds.single import (
    ALWAYS,
    NEVER,
    Aimed,
    Fold,
    Standing,
    apart,
    are_flat,
    balanced_accuracy,
    between,
    mean_values,
    say_threshold,
    standing,
    violation,
)
from automl_admm.plugins.evaluated_pipeline import EvaluatedPipeline

# All groups at the same share of their own rows: so many shares, then twice so many between.
SHARES, FINE, CLOSER = 9, 4, 2
# One group alone: how far its threshold moves to either side, in shares of its distinct scores;
# by one score at the least.
STEPS = (0.25, 0.08, 0.025, 0.008, 0.0)
PASSES = 2  # a group moved later may leave room to one moved before
# Settings: each measures every limit on all folds, and K groups have K-fold many.
MOST_MEASURED = 200

# The keys of weights, and of calibrated probabilities, in the details of an evaluation.
CLASS_WEIGHTS = "class_weights"
TEMPERATURE = "temperature"
CALIBRATION = "calibration"
# The key that marks a threshold among calibrated probabilities as that of the plain decisions.
BY_DEFAULT = "by_default"
# The keys of what leaves rows undecided, of two classes and of several.
LOWER = "lower_threshold"
LEAST_SHARE = "least_share"

# All that says in the details of an evaluation how it decides.
NAMES = ("threshold", "group_thresholds", CLASS_WEIGHTS, TEMPERATURE, LOWER, LEAST_SHARE)

Names = NDArray[np.object_]
Rank = tuple[Standing, float]
WORST: Standing = (True, True, math.inf)


@dataclass(frozen=True, slots=True)
class Thresholds:
    """Decision thresholds of a pipeline: one for all rows but the groups with their own.

    Of several classes there is a weight for each, in their order, in place of a threshold; for
    decisions by a cost, a `temperature` of the probabilities as well. Scores from `lower` to below
    the single threshold leave a row undecided; of several classes a largest share of the weighted
    probabilities below `least_share` does.
    """

    single: float
    by_group: Mapping[str, float] = field(default_factory=dict)
    by_class: Mapping[str, float] = field(default_factory=dict)
    temperature: float = 1.0
    lower: float | None = None
    least_share: float = 0.0

    @property
    def cut(self) -> float | Band:
        """The threshold or the band for all rows without one of their own."""
        return self.single if self.lower is None else Band(self.lower, self.single)

    @classmethod
    def at(cls, cut: float | Band) -> Thresholds:
        """Return one threshold for all rows, or one band."""
        return cls(cut.upper, lower=cut.lower) if isinstance(cut, Band) else cls(cut)

    @classmethod
    def from_details(cls, details: Mapping[str, Any]) -> Thresholds | None:
        """Read the thresholds in the details of an evaluation; None if it has none."""
        single, by_class = details.get("threshold"), details.get(CLASS_WEIGHTS)
        if single is None and not by_class:
            return None
        return cls(
            math.nan if single is None else single,
            details.get("group_thresholds") or {},
            by_class or {},
            details.get(TEMPERATURE) or 1.0,
            details.get(LOWER),
            details.get(LEAST_SHARE) or 0.0,
        )

    def of_rows(self, names: Names) -> Array:
        """The threshold of every row, given the name of its group."""
        from pandas import factorize

        places, found = factorize(names)
        values = [self.by_group.get(name, self.single) for name in found]
        by_row: Array = np.array(values, dtype=float)[places]
        return by_row

    def as_details(self) -> dict[str, Any]:
        """Return the thresholds as plain data for the log of a run."""
        if self.by_class:
            tempered = {} if self.temperature == 1.0 else {TEMPERATURE: self.temperature}
            least = {} if self.least_share == 0.0 else {LEAST_SHARE: self.least_share}
            return {CLASS_WEIGHTS: dict(self.by_class), **tempered, **least}
        by_group = {"group_thresholds": dict(self.by_group)} if self.by_group else {}
        lower = {} if self.lower is None else {LOWER: self.lower}
        return {"threshold": self.single, **by_group, **lower}


def thresholds_in(details: Mapping[str, Any]) -> dict[str, Any]:
    """Return the thresholds in the log of an evaluation, by the names that a final fit takes.

    They are thresholds of the calibrated probabilities, if it has any: these come with them.
    """
    return {name: details.get(name) for name in (*NAMES, CALIBRATION)}


def thresholds_at(details: Mapping[str, Any], path: Sequence[Thresholds]) -> dict[str, Any]:
    """Return the thresholds of the first stop of a path; those in the log without one.

    The calibrated probabilities of the log are those of every stop.
    """
    if not path:
        return thresholds_in(details)
    return thresholds_in({CALIBRATION: details.get(CALIBRATION), **path[0].as_details()})


def name_weights(details: Mapping[str, Any]) -> str:
    """Return the class weights in the log of an evaluation, in words; empty if none differ."""
    found = details.get(CLASS_WEIGHTS) or {}
    if len(set(found.values())) < 2:  # decisions by a cost alone have weights of 1
        return ""
    return ", ".join(f"{name} by {weight:.3g}" for name, weight in found.items())


def name_undecided(details: Mapping[str, Any]) -> str:
    """Return the rows that a model leaves undecided, in words; empty if there are none."""
    if details.get(LOWER) is not None:
        return f"scores from {details[LOWER]:.4g} to below {details.get('threshold', math.nan):.4g}"
    if details.get(LEAST_SHARE):
        return f"rows without a class of {details[LEAST_SHARE]:.4g} or more"
    return ""


def name_thresholds(details: Mapping[str, Any]) -> str:
    """Return the group thresholds in the log of an evaluation, in words; empty if none."""
    by_group = details.get("group_thresholds") or {}
    words = [f"{name} {say_threshold(threshold)}" for name, threshold in by_group.items()]
    others = f"others {say_threshold(details.get('threshold', math.nan))}"
    return ", ".join([*words, others]) if words else ""


def calling_as_much(scores: Array, called: NDArray[np.bool_], weights: Array | None) -> float:
    """Return the threshold that calls as much weight of all rows as was called."""
    order = np.argsort(scores, kind="stable")
    ordered = scores[order]
    counted = np.ones(len(scores)) if weights is None else weights
    reached = np.append(0.0, np.cumsum(counted[order]))
    missed = np.abs(reached - counted[~called].sum())
    missed[1:-1][ordered[1:] == ordered[:-1]] = np.inf  # no threshold parts equal scores
    # Rows that weigh nothing leave several places: the one with as many rows.
    places = np.flatnonzero(missed == missed.min())
    place = int(places[np.argmin(np.abs(places - np.sum(~called)))])
    return apart(ordered, place)


class GroupRule(Protocol):
    """Names the groups of rows by their features, and makes the model with their thresholds."""

    def names(self, X: Any) -> Names:
        """The name of the group of every row."""

    def fix(self, pipeline: Any, thresholds: Thresholds, response: str, classes: Any) -> Any:
        """Return the fitted pipeline with a threshold for each row's group."""


def choose_group_thresholds(
    parts: Sequence[EvaluatedPipeline],
    names: Sequence[Names],
    aimed: Sequence[Aimed],
    single: float,
    merit: Callable[[Thresholds], float] | None = None,
) -> Thresholds:
    """Return group thresholds better than the `single` one for all; else the single one.

    Better means less violation of the limits, then more merit, as in `choose_threshold`. First all
    groups are tried at the same quantile of their rows, of their negative and of their positive
    ones: this equalises selection rates, false and true positive rates. Then each group's threshold
    is moved while the others stay, twice around. At most 200 settings are measured; optima between
    them are missed.
    """
    folds = tuple(Fold.of(part, aimed) for part in parts)
    if are_flat([np.asarray(part.scores, dtype=float) for part in parts]):
        return Thresholds(single)
    trial = _Trial(folds, tuple(names), tuple(aimed), single, merit)
    y = np.concatenate([part.y for part in parts])
    for rows in (np.ones(len(y), dtype=bool), y == 0, y == 1):
        trial.move_together(rows)
    for _ in range(PASSES):
        for group in range(len(trial.groups)):
            trial.move_one(group)
    return trial.found()


@dataclass(eq=False)
class _Trial:
    """The best thresholds so far, one a group, and the data to try others."""

    folds: tuple[Fold, ...]
    names: tuple[Names, ...]
    aimed: tuple[Aimed, ...]
    single: float
    merit: Callable[[Thresholds], float] | None
    groups: tuple[str, ...] = field(init=False)
    numbers: NDArray[np.intp] = field(init=False)
    scores: Array = field(init=False)
    ordered: tuple[Array, ...] = field(init=False)  # the distinct scores of each group
    best: Array = field(init=False)
    rank: Rank = field(init=False)
    tried: dict[tuple[int, ...], Rank] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        self.groups = tuple(sorted(set(np.concatenate(self.names))))
        places = {name: place for place, name in enumerate(self.groups)}
        self.numbers = np.array([places[name] for name in np.concatenate(self.names)], np.intp)
        scores = [np.asarray(fold.part.scores, dtype=float) for fold in self.folds]
        self.scores = np.concatenate(scores)
        every = np.ones(len(self.scores), dtype=bool)
        self.ordered = tuple(map(np.unique, self._of_groups(every)))
        self.best, self.rank = np.full(len(self.groups), self.single), (WORST, math.inf)
        self._look(self.best)

    def found(self) -> Thresholds:
        """The best; the single threshold alone if no other was better."""
        moved = bool((self.best != self.single).any())
        return self._with_others() if moved else Thresholds(self.single)

    def _with_others(self) -> Thresholds:
        """Return the best, and for rows of no known group one that calls as much of all rows.

        The single threshold may be far from those of the groups: calling nearly all rows the same
        may be its only way to make groups alike.
        """
        known = [fold.part.weights for fold in self.folds]
        weights = None if known[0] is None else np.concatenate(known)
        called = self.scores >= self.best[self.numbers]
        others = calling_as_much(self.scores, called, weights)
        return replace(self._named(self.best), single=others)

    def move_together(self, rows: NDArray[np.bool_]) -> None:
        """Try all groups at the same share of those of their rows, then closer to the best."""
        ordered = [np.sort(scores) for scores in self._of_groups(rows)]
        if not all(map(len, ordered)):
            return
        ranks: dict[float, Rank] = {}
        shares = np.linspace(0.0, 1.0, SHARES)
        for _ in range(1 + CLOSER):
            for share in map(float, shares):
                if share not in ranks:
                    bars = [between(scores, round(share * len(scores))) for scores in ordered]
                    ranks[share] = self._look(np.array(bars))
            best = min(ranks, key=lambda share: ranks[share])
            lower = max((share for share in ranks if share < best), default=best)
            upper = min((share for share in ranks if share > best), default=best)
            shares = np.linspace(lower, upper, FINE + 2)

    def move_one(self, group: int) -> None:
        """Try one group's threshold to either side of its place; the others stay."""
        ordered = self.ordered[group]
        for step in STEPS:
            for sign in (-1, 1):
                below = int(np.searchsorted(ordered, self.best[group]))
                place = below + sign * max(round(step * len(ordered)), 1)
                moved = self.best.copy()
                moved[group] = between(ordered, min(max(place, 0), len(ordered)))
                self._look(moved)

    def _look(self, thresholds: Array) -> Rank:
        """Measure these thresholds, once, and keep them if they are the best."""
        pairs = zip(self.ordered, thresholds, strict=True)
        # Thresholds between the same scores decide alike: the places are the key.
        key = tuple(int(np.searchsorted(ordered, value)) for ordered, value in pairs)
        if key in self.tried:
            return self.tried[key]
        if len(self.tried) >= MOST_MEASURED:
            return WORST, math.inf
        thresholds = self._settled(thresholds, key)
        rank = self.tried[key] = self._rank(thresholds, key)
        if rank < self.rank:
            self.best, self.rank = thresholds, rank
        return rank

    def _settled(self, thresholds: Array, key: tuple[int, ...]) -> Array:
        """Replace thresholds beyond all scores of their group by NEVER or ALWAYS."""
        found = thresholds.copy()
        for group, (place, ordered) in enumerate(zip(key, self.ordered, strict=True)):
            if place in (0, len(ordered)) and found[group] != self.single:
                found[group] = NEVER if place else ALWAYS
        return found

    def _rank(self, thresholds: Array, key: tuple[int, ...]) -> Rank:
        """Return (standing, −merit); compute the merit only if it can matter."""
        parted = self._by_fold(thresholds)
        ends = [
            ALWAYS if place == 0 else NEVER if place == len(ordered) else math.nan
            for place, ordered in zip(key, self.ordered, strict=True)
        ]
        broken = violation(self.aimed, mean_values(self.folds, parted))
        found = standing(broken, is_one_sided=set(ends) in ({ALWAYS}, {NEVER}))
        # Merit breaks ties only, and may cost a call of the user's metric.
        if found > self.rank[0] or not math.isfinite(broken):
            return found, math.inf
        if self.merit is None:
            merit = balanced_accuracy(self.folds, parted)
        else:
            merit = self.merit(self._named(thresholds))
        return found, math.inf if math.isnan(merit) else -merit

    def _by_fold(self, thresholds: Array) -> list[float | Array]:
        ends = np.cumsum([len(names) for names in self.names])[:-1]
        return list(np.split(thresholds[self.numbers], ends))

    def _named(self, thresholds: Array) -> Thresholds:
        return Thresholds(self.single, dict(zip(self.groups, map(float, thresholds), strict=True)))

    def _of_groups(self, rows: NDArray[np.bool_]) -> list[Array]:
        """The scores of those rows of each group."""
        numbers = range(len(self.groups))
        return [self.scores[rows & (self.numbers == number)] for number in numbers]
