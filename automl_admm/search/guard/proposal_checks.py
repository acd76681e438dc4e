"""Checks of proposals: points of the box, table or space, and not the same one for ever."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field
from numbers import Real
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from automl_admm.core.messages import say_value
from automl_admm.core.space import (
    Array,
    Candidate,
    Choice,
    Decision,
    Pick,
    SearchSpace,
    Selection,
)
from automl_admm.core.subproblems import SelectionSubproblem, ThetaSubproblem

PointT = TypeVar("PointT")

# Coordinates outside [0, 1] by less than this are rounding errors.
TOLERANCE = 1e-9
# In a smaller box repetition is natural.
SMALLEST_ROOM = 8
# Repetitions that prove a solver stuck: if it never varied, and if it did.
SAME_FROM_THE_START = 14
SAME_IN_A_ROW = 64


class Fault(Exception):  # noqa: N818 - a solver's deed, not an error here
    """A broken promise of a solver; a final one costs it its place at once."""

    def __init__(self, reason: str, *, is_final: bool = False, is_silent: bool = False) -> None:
        super().__init__(reason)
        self.is_final = is_final
        self.is_silent = is_silent


class Ground(Protocol[PointT]):
    """The proposals allowed by a sub-problem; `size` is the least number of points."""

    @property
    def size(self) -> float:
        """Number of points at least, infinite in a box with a continuous axis."""

    def admit(self, point: Any) -> PointT:
        """Return the point in the core's form; raise `Fault` if it is not a valid one."""

    def key(self, point: PointT) -> Hashable:
        """Return a key, equal for equal points."""


@dataclass(frozen=True, slots=True)
class BoxGround:
    """The box [0, 1]^d."""

    dimension: int
    size: float

    @classmethod
    def of(cls, subproblem: ThetaSubproblem) -> BoxGround:
        """Return the box of a sub-problem; axes switched off by another axis do not count."""
        names = {parameter.name for parameter in subproblem.parameters}
        sizes = [
            p.high - p.low + 1.0 if p.is_integer or p.low == p.high else math.inf
            for p in subproblem.parameters
            # An inactive axis adds no points, so counting it would overstate the size.
            if p.when is None or p.when.decision not in names
        ]
        return cls(len(subproblem.parameters), math.prod(sizes))

    def admit(self, point: Any) -> Array:
        """Return a copy of the point, moved to the edge if outside by a rounding error."""
        try:
            place = _as_floats(point)
        except Exception:  # noqa: BLE001 - a foreign object may raise anything
            raise Fault(f"proposed {say_value(point)}, which is no point") from None
        if place.shape != (self.dimension,):
            raise Fault(f"proposed a point of shape {place.shape}, not ({self.dimension},)")
        finite = np.isfinite(place)
        if not finite.all():
            raise Fault(f"proposed a point that is not finite: {_first(place, ~finite)}")
        outside = (place < -TOLERANCE) | (place > 1.0 + TOLERANCE)
        if outside.any():
            raise Fault(f"proposed a point outside [0, 1]: {_first(place, outside)}")
        return np.asarray(np.clip(place, 0.0, 1.0))

    def key(self, point: Array) -> Hashable:
        """Return its bytes."""
        return point.tobytes()


@dataclass(frozen=True, slots=True)
class TableGround:
    """The selections of a space."""

    space: SearchSpace
    size: float

    @classmethod
    def of(cls, subproblem: SelectionSubproblem) -> TableGround:
        """Return the table of a sub-problem; decisions that may be inactive do not count."""
        free = [decision for decision in subproblem.space.decisions if decision.when is None]
        return cls(subproblem.space, math.prod(_count(decision) for decision in free))

    def admit(self, point: Any) -> Selection:
        """Return the selection with plain texts if the space could make it."""
        if not isinstance(point, Selection):
            # A dict of its picks reads like a selection: only the form is at fault.
            made = "which is no Selection: give what SearchSpace.complete returns"
            raise Fault(f"proposed {say_value(point)}, {made}")
        try:
            is_ours = self._would_make(point)
        except Exception:  # noqa: BLE001 - its picks may be anything
            is_ours = False
        if not is_ours:
            raise Fault(f"proposed {say_value(point)}, which is no selection of the space")
        return Selection(tuple((name, _as_texts(pick)) for name, pick in point.picks))

    def key(self, point: Selection) -> Hashable:
        """Return the selection itself."""
        return point

    def _would_make(self, selection: Selection) -> bool:
        picks = dict(selection.picks)
        by_name = {decision.name: decision for decision in self.space.decisions}
        allowed = all(_allows(by_name[name], pick) for name, pick in picks.items())
        return allowed and self.space.complete(picks) == selection


def admit_candidate(candidate: Candidate, space: SearchSpace, lowest: float) -> Candidate:
    """Return the candidate in the core's form; raise `Fault` if the space has no such one.

    `lowest` is the smallest fidelity allowed.
    """
    selection = TableGround(space, math.inf).admit(candidate.selection)
    theta = BoxGround(len(space.active(selection)), math.inf).admit(candidate.theta)
    return Candidate(selection, tuple(theta.tolist()), admit_fidelity(candidate.fidelity, lowest))


def admit_fidelity(fidelity: Any, lowest: float) -> float:
    """Return a fidelity as a float; raise `Fault` if it is not from `lowest` to 1."""
    if not isinstance(fidelity, Real) or not lowest <= float(fidelity) <= 1.0:
        allowed = f"{lowest:g} to 1 are" if lowest < 1.0 else "only whole evaluations are"
        raise Fault(f"asked for the fidelity {say_value(fidelity)}, where {allowed} allowed")
    return float(fidelity)


def _as_texts(pick: Pick) -> Pick:
    """Return a pick without NumPy's texts: an objective sees those that a file gives back."""
    return str(pick) if isinstance(pick, str) else tuple(map(str, pick))


def _allows(decision: Decision, pick: Pick) -> bool:
    if isinstance(decision, Choice):
        return pick in decision.alternatives
    return isinstance(pick, tuple) and decision.allows(pick)


def _count(decision: Decision) -> int:
    return len(decision.alternatives) if isinstance(decision, Choice) else decision.count


def _as_floats(point: Any) -> Array:
    # NumPy would read texts, and drop imaginary parts with no more than a warning.
    if np.asarray(point).dtype.kind in "cSU":
        raise TypeError("complex numbers and texts are no coordinates")
    # A copy: the solver may reuse its own array.
    return np.array(point, dtype=float)


def _first(place: Array, is_wrong: NDArray[np.bool_]) -> str:
    """Return the first wrong coordinate with all its digits: it may be wrong by very little."""
    index = int(np.argmax(is_wrong))
    return f"{float(place[index])!r} at index {index} of {len(place)} numbers"


@dataclass
class Trail:
    """The known points of a sub-problem, and signs of a solver going round on the spot.

    Exploiting solvers may repeat the best selection for long, and a small box may have nothing else
    left. A solver is stuck if it repeats one known point while most of the box is untried. Besides,
    either it never proposed two different points in one sub-problem of the run, or it repeats for
    much longer in a box with a continuous axis: nobody meets a point there again by chance.
    """

    known: set[Hashable] = field(default_factory=set)
    size: float = 0.0
    _last: Hashable | None = None
    _same: int = 0
    _has_varied: bool = False

    def enter(self, size: float, keys: Iterable[Hashable]) -> None:
        """Begin a sub-problem with its known points."""
        self.size, self.known, self._last = size, set(keys), None
        if self._has_varied:
            self._same = 0

    def note(self, key: Hashable) -> None:
        """Record a proposal."""
        if self._last is not None and key != self._last:
            self._has_varied, self._same = True, 0
        elif key in self.known and self.has_room:
            self._same += 1
        self._last = key

    @property
    def has_room(self) -> bool:
        """True if most of the sub-problem's points are plainly untried."""
        return self.size >= SMALLEST_ROOM and self.size > 2 * len(self.known)

    @property
    def is_stuck(self) -> bool:
        """True once the repetitions prove that a solver is stuck."""
        if not self._has_varied:
            return self._same >= SAME_FROM_THE_START
        # On a finite table a greedy solver may rightly repeat its best for ever.
        return self.size == math.inf and self._same >= SAME_IN_A_ROW
