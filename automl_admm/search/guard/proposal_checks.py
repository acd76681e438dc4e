"""What a solver may propose: points of its box or table, and not the same one for ever."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from automl_admm.core.messages import say_value
from automl_admm.core.problem import SelectionSubproblem, ThetaSubproblem
from automl_admm.core.space import Array, Choice, Decision, Pick, SearchSpace, Selection

PointT = TypeVar("PointT")

TOLERANCE = 1e-9
SMALLEST_ROOM = 8
SAME_FROM_THE_START = 14
SAME_IN_A_ROW = 64


class Fault(Exception):  # noqa: N818 - what a solver did, not what went wrong here
    """A solver broke a promise. One that is final costs it its place at once."""

    def __init__(self, reason: str, *, is_final: bool = False, is_silent: bool = False) -> None:
        super().__init__(reason)
        self.is_final = is_final
        self.is_silent = is_silent


class Ground(Protocol[PointT]):
    """What a sub-problem allows; `size` is how many points there are at least."""

    @property
    def size(self) -> float:
        """How many points there are, infinite in a box with a continuous axis."""

    def admit(self, point: Any) -> PointT:
        """The point as the core may use it; raises `Fault` if it is none."""

    def key(self, point: PointT) -> Hashable:
        """Equal for equal points."""


@dataclass(frozen=True, slots=True)
class BoxGround:
    """[0, 1]^d."""

    dimension: int
    size: float

    @classmethod
    def of(cls, subproblem: ThetaSubproblem) -> BoxGround:
        """The box of a sub-problem; axes that another axis may switch off do not count."""
        names = {parameter.name for parameter in subproblem.parameters}
        sizes = [
            p.high - p.low + 1.0 if p.is_integer or p.low == p.high else math.inf
            for p in subproblem.parameters
            if p.when is None or p.when.decision not in names
        ]
        return cls(len(subproblem.parameters), math.prod(sizes))

    def admit(self, point: Any) -> Array:
        """A copy of the point, put on the edge where it is outside by a rounding error."""
        try:
            place = np.array(point, dtype=float)
        except Exception:  # noqa: BLE001 - of an object that is no array anything may come
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
        """Its bytes."""
        return point.tobytes()


@dataclass(frozen=True, slots=True)
class TableGround:
    """The selections of a space."""

    space: SearchSpace
    size: float

    @classmethod
    def of(cls, subproblem: SelectionSubproblem) -> TableGround:
        """The table of a sub-problem; decisions that may be inactive do not count."""
        free = [decision for decision in subproblem.space.decisions if decision.when is None]
        return cls(subproblem.space, math.prod(_count(decision) for decision in free))

    def admit(self, point: Any) -> Selection:
        """The selection, if it is one that the space would make."""
        try:
            is_ours = isinstance(point, Selection) and self._would_make(point)
        except Exception:  # noqa: BLE001 - its picks may be anything
            is_ours = False
        if not is_ours:
            raise Fault(f"proposed {say_value(point)}, which is no selection of the space")
        selection: Selection = point
        return selection

    def key(self, point: Selection) -> Hashable:
        """Itself."""
        return point

    def _would_make(self, selection: Selection) -> bool:
        picks = dict(selection.picks)
        by_name = {decision.name: decision for decision in self.space.decisions}
        allowed = all(_allows(by_name[name], pick) for name, pick in picks.items())
        return allowed and self.space.complete(picks) == selection


def _allows(decision: Decision, pick: Pick) -> bool:
    if isinstance(decision, Choice):
        return pick in decision.alternatives
    return isinstance(pick, tuple) and decision.allows(pick)


def _count(decision: Decision) -> int:
    return len(decision.alternatives) if isinstance(decision, Choice) else decision.count


def _first(place: Array, is_wrong: NDArray[np.bool_]) -> str:
    """The first coordinate that is wrong, with all its digits: it may be so by very little."""
    index = int(np.argmax(is_wrong))
    return f"{float(place[index])!r} at index {index} of {len(place)} numbers"


@dataclass
class Trail:
    """What is known of a sub-problem, and whether a solver goes round on the spot.

    Exploiting solvers may repeat the best selection for long, and in a small box there may be
    nothing else left. Stuck is a solver that repeats one known point while most of the box is
    untried, and either never in the run proposed two different points in a sub-problem, or does
    so much longer where one axis is continuous: there nobody meets a point again by chance.
    """

    known: set[Hashable] = field(default_factory=set)
    size: float = 0.0
    _last: Hashable | None = None
    _same: int = 0
    _has_varied: bool = False

    def enter(self, size: float, keys: Iterable[Hashable]) -> None:
        """Begin with a sub-problem and what is known of it."""
        self.size, self.known, self._last = size, set(keys), None
        if self._has_varied:
            self._same = 0

    def note(self, key: Hashable) -> None:
        """Take down a proposal."""
        if self._last is not None and key != self._last:
            self._has_varied, self._same = True, 0
        elif key in self.known and self.has_room:
            self._same += 1
        self._last = key

    @property
    def has_room(self) -> bool:
        """Whether most of the sub-problem's points are plainly untried."""
        return self.size >= SMALLEST_ROOM and self.size > 2 * len(self.known)

    @property
    def is_stuck(self) -> bool:
        """Whether it is time to say so."""
        if not self._has_varied:
            return self._same >= SAME_FROM_THE_START
        return self.size == math.inf and self._same >= SAME_IN_A_ROW
