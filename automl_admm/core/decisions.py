"""Decisions of a search space: choices and orders, their conditions, and picks of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from automl_admm.core.errors import ConfigurationError
from automl_admm.core.messages import no_file_keeps, say_value
from automl_admm.core.structure.precedence import (
    MOST_BOUND,
    arrange,
    bound_places,
    count_extensions,
    everything_before,
    extensions,
    find_cycle,
    keeps,
)

Value = str | int | float | bool | None
Pick = str | tuple[str, ...]
# Draws of an order before a permutation is rearranged to keep its precedence.
DRAWS = 16
BEHIND = "Other values stand behind texts, as in Choice('n', ('1', '2'), values=(1, 2))."


def plain_values(values: Sequence[Value] | None) -> tuple[Value, ...]:
    """Return values with NumPy's numbers, truth values and texts as those of Python.

    They go into files as these, and come back as these.

    >>> plain_values((np.int64(16), np.bool_(False), None))
    (16, False, None)
    """
    return tuple(
        one.item() if isinstance(one, np.number | np.bool_ | np.str_) else one
        for one in values or ()
    )


def find_value(wanted: object, values: Sequence[Value]) -> int | None:
    """Return the place of a value among others: of equal ones the one that is written alike.

    True is no 1, and 1.0 is 1 only where no 1.0 is: one column of features is not all of them.

    >>> find_value(1.0, (1, 1.0)), find_value(1.0, (1, 2)), find_value(True, (1, 2))
    (1, 0, None)
    """
    plain = wanted.item() if isinstance(wanted, np.generic) else wanted
    equal = [place for place, one in enumerate(values) if _is_equal(one, plain)]
    # The text tells more than the type: 0.0 and -0.0 are two values to a division.
    alike = (place for place in equal if repr(values[place]) == repr(plain))
    return next(alike, equal[0] if equal else None)


def _is_equal(one: Value, plain: object) -> bool:
    # The type is asked first: a table has no single answer to `==`.
    if plain is not None and not isinstance(plain, str | int | float):
        return False
    is_kind = isinstance(one, bool) == isinstance(plain, bool)
    return is_kind and (one == plain or repr(one) == repr(plain))  # NaN equals nothing


def demand_texts(what: str, given: object, hint: str | None = None) -> None:
    """Raise unless this is a tuple or list of texts: one text would be read letter by letter.

    Solvers tell the pick of a choice from that of an order by its being a text. Texts go into
    files: no half of a character, and no end of a text in C, would come back.
    """
    if not isinstance(given, tuple | list) or not all(isinstance(one, str) for one in given):
        raise ConfigurationError(
            f"{what} must be a tuple of texts, not {say_value(given)}.", hint=hint
        )
    for one in given:
        if no_file_keeps(one):
            raise ConfigurationError(f"{what} hold {say_value(one)}, which no file keeps.")


@dataclass(frozen=True, slots=True)
class Condition:
    """A parameter or decision is active only while `decision` takes one of `alternatives`.

    >>> Condition("model", ("tree",)).alternatives
    ('tree',)
    """

    decision: str
    alternatives: tuple[str, ...]

    def __post_init__(self) -> None:
        demand_texts(f"the alternatives of a condition on '{self.decision}'", self.alternatives)


@dataclass(frozen=True, slots=True)
class Choice:
    """One of K alternatives (z_i, one-hot); `values` are the objects behind the labels.

    >>> Choice("model", ("tree", "line")).alternatives
    ('tree', 'line')
    """

    name: str
    alternatives: tuple[str, ...]
    when: Condition | None = None
    values: tuple[Value, ...] = ()

    def __post_init__(self) -> None:
        demand_texts(f"the alternatives of choice '{self.name}'", self.alternatives, BEHIND)
        if not self.alternatives or len(set(self.alternatives)) != len(self.alternatives):
            raise ConfigurationError(f"choice '{self.name}' needs alternatives that differ.")
        object.__setattr__(self, "values", plain_values(self.values))
        if self.values and len(self.values) != len(self.alternatives):
            raise ConfigurationError(f"choice '{self.name}' needs one value an alternative.")

    def value(self, label: str) -> Value:
        """Return the value of a label: the label itself if there are no `values`."""
        return self.values[self.alternatives.index(label)] if self.values else label


@dataclass(frozen=True, slots=True)
class Order:
    """A permutation of modules (the order variables o of the papers' appendix A).

    `precedence` are pairs (earlier, later) of places in `items`. A permutation of the space keeps
    all of them, and so all their consequences.

    >>> Order("steps", ("scale", "select")).name
    'steps'
    """

    name: str
    items: tuple[str, ...]
    when: Condition | None = None
    precedence: tuple[tuple[int, int], ...] = ()

    def __post_init__(self) -> None:
        demand_texts(f"the items of order '{self.name}'", self.items)
        if problem := self._problem():
            raise ConfigurationError(f"order '{self.name}' {problem}.")

    def _problem(self) -> str | None:
        if not self.items or len(set(self.items)) != len(self.items):
            return "needs items that differ"
        # Check places before pairs: the message on a cycle names items by their places.
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
        """Number of its permutations."""
        return count_extensions(len(self.items), self.precedence)

    def allows(self, pick: Pick) -> bool:
        """Return True if a pick is one of its permutations."""
        if isinstance(pick, str) or sorted(pick) != sorted(self.items):
            return False
        return self.keeps(pick)

    def keeps(self, permutation: Sequence[str]) -> bool:
        """Return True if a permutation of the items keeps the precedence."""
        return not self.precedence or keeps(self._places(permutation), self.precedence)

    def arranged(self, permutation: Sequence[str]) -> tuple[str, ...]:
        """Rearrange any permutation of the items to keep the precedence, with few changes."""
        if not self.precedence:
            return tuple(permutation)
        return self._named(arrange(self._places(permutation), self.precedence))

    def permutations(self) -> Iterator[tuple[str, ...]]:
        """Yield every permutation of the order, once."""
        return map(self._named, extensions(len(self.items), self.precedence))

    def ready(self, laid: Sequence[str]) -> tuple[str, ...]:
        """Return the items allowed next behind those laid already."""
        kept = [(self.items[a], self.items[b]) for a, b in self.precedence]
        waiting = {later for earlier, later in kept if earlier not in laid}
        return tuple(item for item in self.items if item not in laid and item not in waiting)

    def positions(self) -> tuple[range, ...]:
        """Return for each item the positions with room for all items before and after it."""
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


def is_active(when: Condition | None, picks: Mapping[str, Pick]) -> bool:
    """Return True if a condition holds under the picks made so far."""
    # An inactive parent has no pick, so its children are inactive, too.
    return when is None or picks.get(when.decision) in when.alternatives


def first_pick(decision: Decision) -> Pick:
    """Return the default: the first alternative, or the items in a permitted order."""
    if isinstance(decision, Choice):
        return decision.alternatives[0]
    return decision.arranged(decision.items)


def kept_pick(decision: Decision, pick: Pick | None) -> Pick:
    """Return a pick as its decision takes it: the default for None, an order as permitted."""
    if pick is None:
        return first_pick(decision)
    if isinstance(decision, Choice) or isinstance(pick, str):
        return pick
    return decision.arranged(pick)


def draw(decision: Decision, rng: np.random.Generator) -> Pick:
    """Draw a uniform pick for one decision; nearly uniform with a precedence."""
    if isinstance(decision, Choice):
        return decision.alternatives[int(rng.integers(len(decision.alternatives)))]
    # Draw again if the precedence is broken; rearrange only after many failures.
    for _ in range(DRAWS):
        drawn = tuple(decision.items[int(i)] for i in rng.permutation(len(decision.items)))
        if decision.keeps(drawn):
            return drawn
    return decision.arranged(drawn)
