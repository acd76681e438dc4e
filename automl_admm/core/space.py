"""Search spaces: choices, orders and parameters, and selections of them.

All records are frozen. Import the standard library, numpy, our errors and precedences only.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from automl_admm.core.decisions import (
    Choice,
    Condition,
    Decision,
    Order,
    Pick,
    Value,
    draw,
    first_pick,
    is_active,
    kept_pick,
    plain_values,
)
from automl_admm.core.errors import ConfigurationError
from automl_admm.core.messages import say_count

# Names of `decisions` stand here, too: a space is imported with its parts.
__all__ = [
    "Array",
    "Candidate",
    "Choice",
    "Condition",
    "Decision",
    "Order",
    "Parameter",
    "Pick",
    "SearchSpace",
    "Selection",
    "Value",
    "draw",
    "first_pick",
    "is_active",
]
Array = NDArray[np.float64]
# Of printed numbers: an evaluated value is one that can be printed.
DIGITS = 6
KINDS = ("float", "int", "category")
NUMBERS = (int, float, np.integer, np.floating)


LARGEST_WHOLE = 2**53  # beyond it a float may be two whole numbers
# Of the larger end of a range, a few units in its last place: a 0 comes back so near to 0.
NOTHING = 4 * 2.0**-52
# Of the logarithms of a range: a narrower one is the same on both scales, to all digits shown.
NARROW = 1e-9


@dataclass(frozen=True, slots=True)
class Parameter:
    """A number in [low, high], searched on the unit interval (on a log scale if `log`).

    An integer is a grid on [0, 1]. With `values`, the integer is an index into them: this turns a
    value of two (a switch) or of several in a natural order into an integer. A category is such an
    index into values without an order.

    >>> round(Parameter("C", 0.01, 100, log=True).to_unit(1.0), 6)
    0.5
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
        object.__setattr__(self, "values", plain_values(self.values))
        if problem := self._wrong_kind() or self._problem() or self._wrong_values():
            raise ConfigurationError(f"parameter '{self.name}': {problem}.")
        if self.log and self.low < self.high and self._is_narrow():
            object.__setattr__(self, "log", False)

    def _is_narrow(self) -> bool:
        """Return True if logarithms of neighbours in the range may be one float."""
        low, high = math.log(self.low), math.log(self.high)
        return high - low <= NARROW * max(abs(low), abs(high))

    def _wrong_kind(self) -> str | None:
        if not isinstance(self.kind, str) or self.kind not in KINDS:
            return f"its kind must be {', '.join(KINDS[:-1])} or {KINDS[-1]}, not {self.kind!r}"
        numbers = (self.low, self.high, *(() if self.default is None else (self.default,)))
        if any(isinstance(one, bool) or not isinstance(one, NUMBERS) for one in numbers):
            return "its bounds and its default must be numbers"
        if self.is_integer and LARGEST_WHOLE < max(map(abs, numbers)) < math.inf:
            return "an integer beyond 2**53 is not told from its neighbours"
        return None

    def _problem(self) -> str | None:
        between = () if self.default is None else (self.default,)
        bounds = (self.low, *between, self.high)
        if not all(math.isfinite(bound) for bound in (*bounds, self.high - self.low)):
            return "its bounds must be finite, and so must the distance between them"
        if list(bounds) != sorted(bounds):
            return (
                f"the range {self.low:.12g} to {self.high:.12g} is empty or leaves out the default"
            )
        if self.log and not (self.low > 0 and math.isfinite(self.high / self.low)):
            return "a log scale needs a lower bound above 0, and a finite quotient of its bounds"
        if self.is_integer and any(bound != round(bound) for bound in bounds):
            return "an integer needs whole bounds"
        if self.is_category and self.log:
            return "categories have no order, and so no log scale"
        return None

    def _wrong_values(self) -> str | None:
        if not self.values:
            return None
        if not self.is_integer:
            return "values stand behind an integer or a category"
        count = int(self.high) - int(self.low) + 1
        if len(self.values) != count:
            return f"it has {say_count(len(self.values), 'value')} for {say_count(count, 'number')}"
        return None

    @property
    def is_integer(self) -> bool:
        """True if δ holds a copy of this parameter: a category is a grid, too."""
        return self.kind != "float"

    @property
    def is_category(self) -> bool:
        """True if neighbours on the grid are no more alike than others."""
        return self.kind == "category"

    def to_unit(self, number: float) -> float:
        """Return the place of a number on [0, 1]."""
        if self.high == self.low:
            return 0.0
        scale = math.log if self.log else float
        share = (scale(number) - scale(self.low)) / (scale(self.high) - scale(self.low))
        return min(max(share, 0.0), 1.0)

    def to_number(self, unit: float) -> float:
        """Return the number at a place on [0, 1], before rounding."""
        share = min(max(float(unit), 0.0), 1.0)
        if self.log:
            number = self.low * math.pow(self.high / self.low, share)
        else:
            number = self.low + (self.high - self.low) * share
        # Rounding of the power may step just outside the range.
        return min(max(number, self.low), self.high)

    def project(self, unit: float) -> float:
        """Return the nearest allowed place on [0, 1]: the box, and for an integer its grid."""
        clipped = min(max(float(unit), 0.0), 1.0)
        if not self.is_integer:
            return clipped
        return self.to_unit(self._nearest(clipped))

    def _nearest(self, clipped: float) -> float:
        """Return the whole number nearest to a place on [0, 1]; of two the smaller."""
        below = float(math.floor(self.to_number(clipped)))
        above = min(below + 1.0, self.high)
        # Compare places, not numbers: on a log scale the nearest differs.
        is_above = abs(self.to_unit(above) - clipped) < abs(self.to_unit(below) - clipped)
        return above if is_above else below

    def value(self, unit: float) -> Value:
        """Return the value handed to a component or an objective."""
        if not self.is_integer:
            return self.rounded(self.to_number(unit))
        whole = int(self._nearest(min(max(float(unit), 0.0), 1.0)))
        return self.values[whole - int(self.low)] if self.values else whole

    def rounded(self, number: float) -> float:
        """Return a number as it is evaluated and printed: six digits, in a narrow range more.

        A range of a tenth of its numbers needs one digit more, one of a hundredth two more; so each
        range has ten thousand values or more. What the way to [0, 1] and back leaves of a 0 is 0.

        >>> Parameter("x", 0, 1).rounded(2 / 3), Parameter("x", 1e6, 1e6 + 1).rounded(1e6 + 2 / 3)
        (0.666667, 1000000.66667)
        """
        width, largest = self.high - self.low, max(abs(self.low), abs(self.high))
        if self.low < 0.0 < self.high and abs(number) < NOTHING * largest:
            return 0.0
        narrowness = largest / width if width > 0.0 else 1.0
        digits = DIGITS + math.floor(math.log10(max(narrowness, 1.0)))
        # Rounding may step outside the range.
        return min(max(float(f"{number:.{digits}g}"), self.low), self.high)

    def default_unit(self) -> float:
        """Return the default's place on [0, 1]; without a default the middle of the range."""
        return self.project(0.5 if self.default is None else self.to_unit(self.default))


@dataclass(frozen=True, slots=True)
class Selection:
    """The picks of all active decisions; two equal selections are the same structure.

    >>> Selection((("model", "tree"),)).get("model")
    'tree'
    """

    picks: tuple[tuple[str, Pick], ...]

    def get(self, decision: str) -> Pick | None:
        """Return the pick of a decision; None if it is not active."""
        for name, pick in self.picks:
            if name == decision:
                return pick
        return None

    def __iter__(self) -> Iterator[tuple[str, Pick]]:
        return iter(self.picks)


@dataclass(frozen=True, slots=True)
class Candidate:
    """A selection and the places on [0, 1] of its active parameters, integers still relaxed.

    >>> Candidate(Selection(()), (0.5,)).fidelity
    1.0
    """

    selection: Selection
    theta: tuple[float, ...]
    fidelity: float = 1.0  # share of a whole evaluation (of the rows, for a pipeline)


@dataclass(frozen=True)
class SearchSpace:
    """Decisions (a parent before its children) and parameters, active or not by conditions.

    >>> SearchSpace(parameters=(Parameter("x", 0, 1),)).decisions
    ()
    """

    decisions: tuple[Decision, ...] = ()
    parameters: tuple[Parameter, ...] = ()
    # A cache: the active parameters of a selection never change, and every step asks for them.
    _active: dict[Selection, tuple[int, ...]] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    def __post_init__(self) -> None:
        _demand_kinds("decisions", self.decisions, (Choice, Order))
        _demand_kinds("parameters", self.parameters, (Parameter,))
        # `values` gives decisions and parameters in one dictionary, so names must differ.
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
        """Keep the active picks; a decision without a pick takes its first alternative.

        A permutation that breaks a precedence is rearranged to keep it.
        """
        kept: dict[str, Pick] = {}
        for decision in self.decisions:
            if is_active(decision.when, kept):
                kept[decision.name] = kept_pick(decision, picks.get(decision.name))
        return Selection(tuple(kept.items()))

    def sample(self, rng: np.random.Generator) -> Selection:
        """Draw every decision uniformly."""
        return self.complete({decision.name: draw(decision, rng) for decision in self.decisions})

    def active(self, selection: Selection) -> tuple[int, ...]:
        """Return the places in `parameters` of the selection's active ones."""
        if selection not in self._active:
            picks = dict(selection.picks)
            found = (places for when, places in self._by_condition if is_active(when, picks))
            self._active[selection] = tuple(sorted(chain.from_iterable(found)))
        return self._active[selection]

    @cached_property
    def _by_condition(self) -> tuple[tuple[Condition | None, list[int]], ...]:
        """Places in `parameters`, grouped by condition, so that each condition is checked once."""
        found: dict[Condition | None, list[int]] = {}
        for place, parameter in enumerate(self.parameters):
            found.setdefault(parameter.when, []).append(place)
        return tuple(found.items())

    @cached_property
    def _coded(self) -> tuple[Choice, ...]:
        """Choices with values behind their labels."""
        return tuple(d for d in self.decisions if isinstance(d, Choice) and d.values)

    def default_theta(self) -> Array:
        """Return every parameter at its default, on the unit box."""
        return np.array(self._defaults, dtype=float)

    @cached_property
    def _defaults(self) -> tuple[float, ...]:
        # Reading a list of pipelines asks for them again for each.
        return tuple(parameter.default_unit() for parameter in self.parameters)

    def candidate(self, selection: Selection, theta: Array) -> Candidate:
        """Return the candidate of a selection, given a place for every parameter."""
        return Candidate(selection, tuple(float(theta[i]) for i in self.active(selection)))

    def projected(self, candidate: Candidate) -> Candidate:
        """Return the candidate with integers on their grids: the one to evaluate."""
        places = zip(self.active(candidate.selection), candidate.theta, strict=True)
        theta = tuple(self.parameters[i].project(unit) for i, unit in places)
        return Candidate(candidate.selection, theta, candidate.fidelity)

    def values(self, candidate: Candidate) -> dict[str, Value | tuple[str, ...]]:
        """Return the input of an objective: every active decision and parameter by name."""
        found: dict[str, Value | tuple[str, ...]] = dict(candidate.selection.picks)
        for choice in self._coded:
            if choice.name in found:
                found[choice.name] = choice.value(str(found[choice.name]))
        for i, unit in zip(self.active(candidate.selection), candidate.theta, strict=True):
            found[self.parameters[i].name] = self.parameters[i].value(unit)
        return found


def _demand_kinds(field_name: str, given: object, kinds: tuple[type, ...]) -> None:
    """Raise if a space is given anything but a tuple or a list of its parts."""
    if not isinstance(given, tuple | list) or not all(isinstance(one, kinds) for one in given):
        named = " or ".join(kind.__name__ for kind in kinds)
        raise ConfigurationError(f"{field_name} of a search space must be a tuple of {named}.")


def _check_condition(item: Decision | Parameter, known: Mapping[str, Decision]) -> None:
    if item.when is None:
        return
    # Only earlier decisions are known, so conditions cannot run in a circle.
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
