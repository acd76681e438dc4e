"""What can be searched: choices, orders and parameters, and what a selection of them is.

All records are frozen. It imports the standard library, numpy, our errors and the precedences.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from automl_admm.core.errors import ConfigurationError
from automl_admm.core.precedence import (
    MOST_BOUND,
    arrange,
    bound_places,
    count_extensions,
    everything_before,
    extensions,
    find_cycle,
    keeps,
)

Array = NDArray[np.float64]
Value = str | int | float | bool | None
Pick = str | tuple[str, ...]
DRAWS = 16


@dataclass(frozen=True, slots=True)
class Condition:
    """Something is active only while `decision` takes one of `alternatives`."""

    decision: str
    alternatives: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Choice:
    """One of K alternatives (z_i, one-hot); `values` are what the labels stand for."""

    name: str
    alternatives: tuple[str, ...]
    when: Condition | None = None
    values: tuple[Value, ...] = ()

    def __post_init__(self) -> None:
        if not self.alternatives or len(set(self.alternatives)) != len(self.alternatives):
            raise ConfigurationError(f"choice '{self.name}' needs alternatives that differ.")
        if self.values and len(self.values) != len(self.alternatives):
            raise ConfigurationError(f"choice '{self.name}' needs one value an alternative.")

    def value(self, label: str) -> Value:
        """What a label stands for: itself, unless `values` says otherwise."""
        return self.values[self.alternatives.index(label)] if self.values else label


@dataclass(frozen=True, slots=True)
class Order:
    """A permutation of modules (the order variables o of the papers' appendix A).

    `precedence` are pairs (earlier, later) of places in `items`. A permutation of the space keeps
    to all of them, and so to all that follows from them.
    """

    name: str
    items: tuple[str, ...]
    when: Condition | None = None
    precedence: tuple[tuple[int, int], ...] = ()

    def __post_init__(self) -> None:
        if problem := self._problem():
            raise ConfigurationError(f"order '{self.name}' {problem}.")

    def _problem(self) -> str | None:
        if not self.items or len(set(self.items)) != len(self.items):
            return "needs items that differ"
        bound = bound_places(self.precedence)
        if not bound <= set(range(len(self.items))):
            return "has a precedence of items that it does not have: pairs are places in `items`"
        if len(bound) > MOST_BOUND:
            return f"binds more than {MOST_BOUND} items by precedence"
        if cycle := find_cycle(self.precedence):
            way = " → ".join(self.items[place] for place in cycle)
            return f"has a precedence that leads back: {way}"
        return None

    @property
    def count(self) -> int:
        """The number of its permutations."""
        return count_extensions(len(self.items), self.precedence)

    def allows(self, pick: Pick) -> bool:
        """Whether a pick is one of its permutations."""
        if isinstance(pick, str) or sorted(pick) != sorted(self.items):
            return False
        return self.keeps(pick)

    def keeps(self, permutation: Sequence[str]) -> bool:
        """Whether a permutation of the items keeps the precedence."""
        return not self.precedence or keeps(self._places(permutation), self.precedence)

    def arranged(self, permutation: Sequence[str]) -> tuple[str, ...]:
        """Any permutation of the items made one that keeps the precedence, changed little."""
        if not self.precedence:
            return tuple(permutation)
        return self._named(arrange(self._places(permutation), self.precedence))

    def permutations(self) -> Iterator[tuple[str, ...]]:
        """Every permutation of the order, once."""
        return map(self._named, extensions(len(self.items), self.precedence))

    def ready(self, laid: Sequence[str]) -> tuple[str, ...]:
        """The items that may come next behind those that are laid already."""
        kept = [(self.items[a], self.items[b]) for a, b in self.precedence]
        waiting = {later for earlier, later in kept if earlier not in laid}
        return tuple(item for item in self.items if item not in laid and item not in waiting)

    def positions(self) -> tuple[range, ...]:
        """For each item the positions that leave room for what comes before and after it."""
        before = everything_before(self.precedence)
        every = range(len(self.items))
        first = [len(before.get(item, ())) for item in every]
        after = [sum(item in known for known in before.values()) for item in every]
        return tuple(range(first[item], len(every) - after[item]) for item in every)

    def _places(self, permutation: Sequence[str]) -> list[int]:
        return [self.items.index(item) for item in permutation]

    def _named(self, places: Sequence[int]) -> tuple[str, ...]:
        return tuple(self.items[place] for place in places)


Decision = Choice | Order


@dataclass(frozen=True, slots=True)
class Parameter:
    """A number in [low, high], searched on the unit interval (on a log scale if `log`).

    An integer is a grid on [0, 1]. With `values`, the integer is an index into them: this is
    how a value of two (a switch) or of several in a natural order becomes an integer. A category
    is such an index whose values have no order.
    """

    name: str
    low: float
    high: float
    kind: Literal["float", "int", "category"] = "float"
    log: bool = False
    default: float | None = None
    values: tuple[Value, ...] = ()
    when: Condition | None = None

    def __post_init__(self) -> None:
        if problem := self._problem():
            raise ConfigurationError(f"parameter '{self.name}': {problem}.")

    def _problem(self) -> str | None:
        between = () if self.default is None else (self.default,)
        bounds = (self.low, *between, self.high)
        if not all(math.isfinite(bound) for bound in bounds):
            return "its bounds must be finite"
        if list(bounds) != sorted(bounds):
            return f"the range {self.low:g} to {self.high:g} is empty or leaves out the default"
        if self.log and self.low <= 0:
            return "a log scale needs a lower bound above 0"
        if self.is_integer and any(bound != round(bound) for bound in bounds):
            return "an integer needs whole bounds"
        if self.is_category and self.log:
            return "categories have no order, and so no log scale"
        return None

    @property
    def is_integer(self) -> bool:
        """Whether δ holds a copy of this parameter: a category is a grid, too."""
        return self.kind != "float"

    @property
    def is_category(self) -> bool:
        """Whether neighbours on the grid are no more alike than others."""
        return self.kind == "category"

    def to_unit(self, number: float) -> float:
        """Where a number of the range lies on [0, 1]."""
        if self.high == self.low:
            return 0.0
        scale = math.log if self.log else float
        share = (scale(number) - scale(self.low)) / (scale(self.high) - scale(self.low))
        return min(max(share, 0.0), 1.0)

    def to_number(self, unit: float) -> float:
        """The number at a place on [0, 1], before rounding."""
        share = min(max(float(unit), 0.0), 1.0)
        if self.log:
            number = self.low * math.pow(self.high / self.low, share)
        else:
            number = self.low + (self.high - self.low) * share
        return min(max(number, self.low), self.high)

    def project(self, unit: float) -> float:
        """The nearest place on [0, 1] that is allowed: the box, and for an integer its grid."""
        clipped = min(max(float(unit), 0.0), 1.0)
        if not self.is_integer:
            return clipped
        return self.to_unit(self._nearest(clipped))

    def _nearest(self, clipped: float) -> float:
        """The whole number whose place is nearest to one in [0, 1]; of two the smaller."""
        below = float(math.floor(self.to_number(clipped)))
        above = min(below + 1.0, self.high)
        is_above = abs(self.to_unit(above) - clipped) < abs(self.to_unit(below) - clipped)
        return above if is_above else below

    def value(self, unit: float) -> Value:
        """The value handed to a component or an objective.

        A real number has six significant digits, so that what is printed is what was evaluated.
        """
        if not self.is_integer:
            return min(max(float(f"{self.to_number(unit):.6g}"), self.low), self.high)
        whole = int(self._nearest(min(max(float(unit), 0.0), 1.0)))
        return self.values[whole - int(self.low)] if self.values else whole

    def default_unit(self) -> float:
        """The default's place on [0, 1]; the middle of the range where there is none."""
        return self.project(0.5 if self.default is None else self.to_unit(self.default))


@dataclass(frozen=True, slots=True)
class Selection:
    """What every active decision takes; two equal selections are the same structure."""

    picks: tuple[tuple[str, Pick], ...]

    def get(self, decision: str) -> Pick | None:
        """What a decision takes; None where it is not active."""
        for name, pick in self.picks:
            if name == decision:
                return pick
        return None

    def __iter__(self) -> Iterator[tuple[str, Pick]]:
        return iter(self.picks)


@dataclass(frozen=True, slots=True)
class Candidate:
    """A selection and the places on [0, 1] of its active parameters, integers still relaxed.

    `fidelity` is the share of a whole evaluation (of the rows, for a pipeline) that it is to get.
    """

    selection: Selection
    theta: tuple[float, ...]
    fidelity: float = 1.0


@dataclass(frozen=True)
class SearchSpace:
    """Decisions (a parent before its children) and parameters, active or not by conditions."""

    decisions: tuple[Decision, ...] = ()
    parameters: tuple[Parameter, ...] = ()
    # Which parameters a selection makes active never changes, and is asked for all the time.
    _active: dict[Selection, tuple[int, ...]] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    def __post_init__(self) -> None:
        counts = Counter(item.name for item in (*self.decisions, *self.parameters))
        twice = next((name for name, count in counts.items() if count > 1), None)
        if twice is not None:
            raise ConfigurationError(f"the search space has two things named '{twice}'.")
        known: dict[str, Decision] = {}
        for decision in self.decisions:
            _check_condition(decision, known)
            known[decision.name] = decision
        for parameter in self.parameters:
            _check_condition(parameter, known)

    def complete(self, picks: Mapping[str, Pick]) -> Selection:
        """Keep the active picks, and let a decision that has none take its first alternative.

        A permutation that breaks a precedence is arranged so that it keeps it.
        """
        kept: dict[str, Pick] = {}
        for decision in self.decisions:
            if is_active(decision.when, kept):
                kept[decision.name] = _kept(decision, picks.get(decision.name))
        return Selection(tuple(kept.items()))

    def sample(self, rng: np.random.Generator) -> Selection:
        """Draw every decision uniformly."""
        return self.complete({decision.name: draw(decision, rng) for decision in self.decisions})

    def active(self, selection: Selection) -> tuple[int, ...]:
        """The places in `parameters` of those that the selection makes active."""
        if selection not in self._active:
            picks = dict(selection.picks)
            found = (places for when, places in self._by_condition if is_active(when, picks))
            self._active[selection] = tuple(sorted(chain.from_iterable(found)))
        return self._active[selection]

    @cached_property
    def _by_condition(self) -> tuple[tuple[Condition | None, list[int]], ...]:
        """The places in `parameters` of those that share a condition: it is looked at once."""
        found: dict[Condition | None, list[int]] = {}
        for place, parameter in enumerate(self.parameters):
            found.setdefault(parameter.when, []).append(place)
        return tuple(found.items())

    @cached_property
    def _coded(self) -> tuple[Choice, ...]:
        """The choices whose labels stand for something else."""
        return tuple(d for d in self.decisions if isinstance(d, Choice) and d.values)

    def default_theta(self) -> Array:
        """Every parameter at its default, on the unit box."""
        return np.array([parameter.default_unit() for parameter in self.parameters], dtype=float)

    def candidate(self, selection: Selection, theta: Array) -> Candidate:
        """The candidate that a selection makes of a place for every parameter."""
        return Candidate(selection, tuple(float(theta[i]) for i in self.active(selection)))

    def projected(self, candidate: Candidate) -> Candidate:
        """The candidate with its integers on their grids: the one that is evaluated."""
        places = zip(self.active(candidate.selection), candidate.theta, strict=True)
        theta = tuple(self.parameters[i].project(unit) for i, unit in places)
        return Candidate(candidate.selection, theta, candidate.fidelity)

    def values(self, candidate: Candidate) -> dict[str, Value | tuple[str, ...]]:
        """What an objective is given: every active decision and parameter by name."""
        found: dict[str, Value | tuple[str, ...]] = dict(candidate.selection.picks)
        for choice in self._coded:
            if choice.name in found:
                found[choice.name] = choice.value(str(found[choice.name]))
        for i, unit in zip(self.active(candidate.selection), candidate.theta, strict=True):
            found[self.parameters[i].name] = self.parameters[i].value(unit)
        return found


def _check_condition(item: Decision | Parameter, known: Mapping[str, Decision]) -> None:
    if item.when is None:
        return
    parent = known.get(item.when.decision)
    if not isinstance(parent, Choice):
        raise ConfigurationError(
            f"'{item.name}' hangs on '{item.when.decision}', which is no choice before it."
        )
    strange = set(item.when.alternatives) - set(parent.alternatives)
    if strange:
        raise ConfigurationError(
            f"'{item.name}' hangs on '{strange.pop()}', which '{parent.name}' does not offer."
        )


def is_active(when: Condition | None, picks: Mapping[str, Pick]) -> bool:
    """Whether a condition holds under the picks made so far."""
    return when is None or picks.get(when.decision) in when.alternatives


def first_pick(decision: Decision) -> Pick:
    """The default: its first alternative, or its items as written, if need be arranged."""
    if isinstance(decision, Choice):
        return decision.alternatives[0]
    return decision.arranged(decision.items)


def _kept(decision: Decision, pick: Pick | None) -> Pick:
    if pick is None:
        return first_pick(decision)
    if isinstance(decision, Choice) or isinstance(pick, str):
        return pick
    return decision.arranged(pick)


def draw(decision: Decision, rng: np.random.Generator) -> Pick:
    """A uniform pick for one decision.

    With a precedence it is nearly uniform: what is drawn and breaks it is drawn again, and only
    arranged where that goes on for long.
    """
    if isinstance(decision, Choice):
        return decision.alternatives[int(rng.integers(len(decision.alternatives)))]
    for _ in range(DRAWS):
        drawn = tuple(decision.items[int(i)] for i in rng.permutation(len(decision.items)))
        if decision.keeps(drawn):
            return drawn
    return decision.arranged(drawn)
