"""Explain from the log that nothing is within the limits: who conflicts, and what would be met."""

from __future__ import annotations

import math
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import ROUND_CEILING, ROUND_FLOOR, Context
from itertools import chain

import numpy as np

from automl_admm.core.evaluations import Evaluation, is_feasible
from automl_admm.core.limits import Limit
from automl_admm.core.ranking import violation
from automl_admm.pipelines.thresholds.by_group import BY_DEFAULT, thresholds_in
from automl_admm.pipelines.thresholds.elsewhere import at_other_thresholds

DIGITS = 4  # of a bound that would be met: as many as a person types
MOST_CLOSEST = 8


@dataclass(frozen=True, slots=True)
class NeverMet:
    """A limit that holds for no evaluation; `nearest` has the best value, None if it has none.

    `at_thresholds` is True if thresholds move it, and were chosen for all limits together: others
    than those tried may keep it. A `nearest` one that was stopped early may even be within it.
    """

    limit: Limit
    best: float
    nearest: Evaluation | None
    at_thresholds: bool = False

    @property
    def is_stopped(self) -> bool:
        """True if the best value was measured on some folds alone."""
        return self.nearest is not None and self.nearest.folds_left > 0


@dataclass(frozen=True, slots=True)
class Close:
    """An evaluation outside the limits, and the bounds at which it would be within.

    No other evaluation exceeds every limit by as little or less: its `relaxed` limits, with all
    others as they are, ask for the least. `threshold` is None at its own, else the other one at
    which it would be so.
    """

    evaluation: Evaluation
    relaxed: tuple[Limit, ...]
    threshold: float | None = None

    def __str__(self) -> str:
        at = "" if self.threshold is None else f" at threshold {self.threshold:.4g}"
        return f"#{self.evaluation.number}{at}"


@dataclass(frozen=True, slots=True)
class Conflict:
    """The limits of a run on `considered` evaluations, of which `feasible` are within them all.

    `smallest` are the smallest sets of limits that no evaluation keeps together, in the order of
    the limits. `never_met` has the limits that alone are such a set. Evaluations of `one_class` for
    all rows are not considered: they decide nothing. One outside the limits counts at each
    threshold that was tried for a limit alone, too; of `closest` these come last.
    """

    limits: tuple[Limit, ...]
    considered: int
    one_class: int
    feasible: int
    never_met: tuple[NeverMet, ...]
    smallest: tuple[tuple[Limit, ...], ...]
    closest: tuple[Close, ...]


def find_conflict(
    evaluations: Sequence[Evaluation],
    limits: Sequence[Limit],
    moved: Container[str] = frozenset(),
) -> Conflict:
    """Find the limits that conflict on the evaluations of a log, at the thresholds tried.

    `moved` are the names of the limits that a decision threshold moves.
    """
    ranked = [one for one in evaluations if one.is_ranked]
    several = deciding(ranked)
    feasible = sum(is_feasible(one, limits) for one in several)
    is_open = bool(several) and not feasible
    # A search with tightened limits may leave a threshold within those of the user.
    others = [
        one
        for one in chain.from_iterable(map(at_other_thresholds, several))
        if not is_feasible(one, limits)
    ]
    everywhere = [*several, *others]
    stopped = [one for one in evaluations if one.ok and one.folds_left and one.one_class is None]
    never = [
        _never_met(limit, place, everywhere, stopped, is_moved=limit.name in moved)
        for place, limit in enumerate(limits)
    ]
    broken = [_broken(one, limits) for one in everywhere] if is_open else []
    sets = smallest_hitting_sets(broken)
    return Conflict(
        limits=tuple(limits),
        considered=len(several),
        one_class=len(ranked) - len(several),
        feasible=feasible,
        never_met=tuple(one for one in never if one is not None),
        smallest=tuple(tuple(limits[place] for place in sorted(one)) for one in sets),
        closest=tuple(_all_closest(several, others, limits)) if is_open else (),
    )


def deciding(evaluations: Iterable[Evaluation]) -> list[Evaluation]:
    """Return the evaluations on all rows and folds that tell classes apart."""
    return [one for one in evaluations if one.is_ranked and one.one_class is None]


def _broken(evaluation: Evaluation, limits: Sequence[Limit]) -> frozenset[int]:
    """Return the places of the limits that are broken."""
    pairs = enumerate(zip(limits, evaluation.constraints, strict=True))
    return frozenset(place for place, (limit, value) in pairs if not limit.holds(value))


def smallest_hitting_sets(sets: Iterable[frozenset[int]]) -> list[frozenset[int]]:
    """Return all smallest sets S with S ∩ B ≠ ∅ for each B of these sets.

    B has the limits that an evaluation breaks. No evaluation keeps all limits of S together exactly
    if each breaks one of them. Larger sets are tried only after all smaller ones.

    >>> smallest_hitting_sets([frozenset({0, 1}), frozenset({1, 2})])
    [frozenset({1})]
    """
    known = set(sets)
    # What meets a set meets those that hold it.
    least = [one for one in known if not any(other < one for other in known)]
    if not least:
        return []
    size = 1
    while not (found := set(_hitting(least, size))):
        size += 1
    return sorted(found, key=sorted)


def _hitting(sets: Sequence[frozenset[int]], size: int) -> Iterator[frozenset[int]]:
    """Yield each hitting set of at most this size, once."""
    if not sets:
        yield frozenset()
        return
    if not all(sets) or _disjoint(sets) > size:
        return
    # Each solution has a member of any of them; the smallest has the fewest to try.
    tried: set[int] = set()
    fewest = min(sets, key=len)
    for member in sorted(fewest):
        # Solutions with a member tried before have been found.
        rest = [one - tried for one in sets if member not in one]
        yield from (more | {member} for more in _hitting(rest, size - 1))
        tried.add(member)


def _disjoint(sets: Sequence[frozenset[int]]) -> int:
    """Count some of the sets that have nothing in common: a solution has a member of each."""
    met: set[int] = set()
    count = 0
    for one in sorted(sets, key=len):
        if met.isdisjoint(one):
            met |= one
            count += 1
    return count


def _never_met(
    limit: Limit,
    place: int,
    several: Sequence[Evaluation],
    stopped: Sequence[Evaluation],
    *,
    is_moved: bool,
) -> NeverMet | None:
    if not several or any(limit.holds(one.constraints[place]) for one in several):
        return None
    measured = [one for one in (*several, *stopped) if math.isfinite(one.constraints[place])]
    nearest = min(measured, key=lambda one: limit.turned(one.constraints[place]), default=None)
    best = math.nan if nearest is None else nearest.constraints[place]
    chosen = any(value is not None for one in several for value in _thresholds(one))
    return NeverMet(limit, best, nearest, at_thresholds=chosen and is_moved)


def _thresholds(evaluation: Evaluation) -> Iterable[object]:
    if BY_DEFAULT in evaluation.details:
        return ()
    return thresholds_in(evaluation.details).values()


def _all_closest(
    several: Sequence[Evaluation], others: Sequence[Evaluation], limits: Sequence[Limit]
) -> Iterator[Close]:
    """Yield the closest as they are, then those at other thresholds that ask for other limits."""
    first = list(_closest(several, limits))
    yield from first
    known = {_names(one.relaxed) for one in first}
    for one in _closest(others, limits):
        if _names(one.relaxed) not in known:
            known.add(_names(one.relaxed))
            yield replace(one, threshold=one.evaluation.details["threshold"])


def _names(limits: Sequence[Limit]) -> frozenset[tuple[str, bool]]:
    return frozenset((one.name, one.at_least) for one in limits)


def ways(found: Conflict) -> list[Close]:
    """Return the nearest evaluation, and the nearest for each other set of limits to widen."""
    first: dict[frozenset[tuple[str, bool]], Close] = {}
    for one in found.closest:
        first.setdefault(_names(one.relaxed), one)
    return list(first.values())


def _closest(several: Sequence[Evaluation], limits: Sequence[Limit]) -> Iterator[Close]:
    """Yield the closest evaluations by `violation`, each the nearest in a way of its own.

    One that exceeds each limit by as much as another, or more, is left out. The other has no larger
    violation, so it comes first.
    """
    measured = [one for one in several if all(map(math.isfinite, one.constraints))]
    measured.sort(key=lambda one: (violation(one.constraints, limits), one.loss))
    kept = np.empty((0, len(limits)))
    for one in measured:
        pairs = zip(limits, one.constraints, strict=True)
        excess = np.array([limit.excess(value) for limit, value in pairs])
        if (kept <= excess).all(axis=1).any():
            continue
        kept = np.vstack([kept, excess])
        yield Close(one, relaxed_to(limits, one.constraints))
        if len(kept) == MOST_CLOSEST:
            return


def relaxed_to(limits: Sequence[Limit], values: Sequence[float]) -> tuple[Limit, ...]:
    """Return the limits that these values break, with bounds at which they hold.

    >>> [str(one) for one in relaxed_to([Limit("fpr", 0.1)], [0.123456])]
    ['fpr <= 0.1235']
    """
    pairs = zip(limits, values, strict=True)
    return tuple(_loosened(limit, value) for limit, value in pairs if not limit.holds(value))


def _loosened(limit: Limit, value: float) -> Limit:
    # Rounded outwards: a bound that is told must be met.
    way = ROUND_FLOOR if limit.at_least else ROUND_CEILING
    bound = Context(prec=DIGITS, rounding=way).create_decimal_from_float(value)
    return replace(limit, bound=float(bound))


def say_conflict(found: Conflict) -> str | None:
    """Say in a sentence why nothing is within the limits; None if something is."""
    if found.feasible or not found.considered:
        return None
    if found.never_met:
        return "; ".join(map(_say_never, found.never_met))
    first, *others = found.smallest
    names = " and ".join(map(str, first))
    more = f" (as for {len(others)} other set{'s' if len(others) > 1 else ''})" if others else ""
    each = "each of them alone" if len(first) == 2 else f"any {len(first) - 1} of them"
    return f"nothing keeps {names} together, while {each} can be kept{more}"


def _say_never(one: NeverMet) -> str:
    if one.nearest is None:
        return f"{one.limit} has no value in any evaluation"
    at = " at the thresholds that were tried" if one.at_thresholds else ""
    folds, early = (" on all folds", ", stopped early") if one.is_stopped else ("", "")
    seen = f"the best value seen is {one.best:.4g} (#{one.nearest.number}{early})"
    return f"{one.limit} is never met{at}{folds}: {seen}"
