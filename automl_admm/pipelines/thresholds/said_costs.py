"""Costs as a user says them, of four decisions or of pairs of classes.

They are said before the data are read, and become a table when the classes are known.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from automl_admm.core.errors import ConfigurationError, nearest
from automl_admm.pipelines.labels import list_labels, place_of
from automl_admm.pipelines.thresholds.cost import Cost

ANY = "*"
ARROW = "->"
OF_TWO = (
    'Name the cost of a false negative and of a false positive, such as "fn=5,fp=1"; tp and tn, '
    "the cost of right decisions, are 0 unless you give them."
)
OF_PAIRS = (
    'Write the true class, the decision and a number, as in "cat->dog=5, *->*=1"; a name that '
    'holds , = " or -> stands in double quotes, and a quote in it is doubled.'
)
SHOWN = 3  # pairs in a message

Label = str | None  # None stands for any class
Pair = tuple[Label, Label]


@dataclass(frozen=True, slots=True)
class TwoClassCosts:
    """Costs of the four decisions on two classes.

    >>> TwoClassCosts(fn=5.0, fp=1.0).of(("no", "yes")).table
    ((0.0, 1.0), (5.0, 0.0))
    """

    fn: float
    fp: float
    tp: float = 0.0
    tn: float = 0.0

    @property
    def ends(self) -> tuple[float, float]:
        """The smallest and the largest cost that a row may have."""
        return self.at_once.ends

    @property
    def at_once(self) -> Cost:
        """The table; it is the same whatever two classes there are."""
        return Cost(((self.tn, self.fp), (self.fn, self.tp)))

    def of(self, labels: Sequence[object]) -> Cost:
        """Return the table of two classes, the positive one last; raise if there are more."""
        if len(labels) == 2:
            return self.at_once
        names = [written_label(str(label)) for label in labels]
        raise ConfigurationError(
            f"the cost in fn and fp is of two classes, and this target has {len(labels)}.",
            hint=f'Name pairs of classes, as in "{names[0]}->{names[-1]}=5, *->*=1".',
        )


@dataclass(frozen=True, slots=True)
class PairCosts:
    """Costs of pairs of a true class and a decision, in the order in which they were said.

    >>> PairCosts(((("a", "b"), 5.0), ((None, None), 1.0))).of(("a", "b", "c")).table[0]
    (0.0, 5.0, 1.0)
    """

    pairs: tuple[tuple[Pair, float], ...]

    @property
    def ends(self) -> tuple[float, float]:
        """Bounds on the cost of a row: a right decision costs 0 unless it is named."""
        costs = [0.0, *(cost for _, cost in self.pairs)]
        return min(costs), max(costs)

    @property
    def at_once(self) -> None:
        """No table: the classes tell it."""
        return None

    def of(self, labels: Sequence[object]) -> Cost:
        """Return the table of these classes, in their order; raise if it makes no sense.

        If several pairs name a cell, the one with fewer `*` counts.
        """
        known = self._by_number(labels)
        every = range(len(labels))
        names = [str(label) for label in labels]
        cells = _all_named(
            {pair: _cell(known, *pair, names) for pair in product(every, every)}, names
        )
        table = tuple(tuple(cells[true, decided] for decided in every) for true in every)
        _check_sense(table, names)
        return Cost(table)

    def _by_number(self, labels: Sequence[object]) -> dict[tuple[int | None, int | None], float]:
        found: dict[tuple[int | None, int | None], float] = {}
        if any(None in pair for pair, _ in self.pairs) and place_of(ANY, labels) is not None:
            raise ConfigurationError(
                "the costs say * for any class, and the target has a class '*'.",
                hint='Name every pair of classes, with "*" in double quotes for that one.',
            )
        for (true, decided), cost in self.pairs:
            numbers = _number(true, labels), _number(decided, labels)
            if numbers in found:
                pair = say_pair(true, decided)
                raise ConfigurationError(f"the costs give {pair} twice.", hint="Keep one.")
            found[numbers] = cost
        return found

    def __str__(self) -> str:
        """Return the text that is read as these costs."""
        return ", ".join(f"{say_pair(*pair)}={cost!r}" for pair, cost in self.pairs)


SaidCosts = TwoClassCosts | PairCosts


def written_label(label: Label) -> str:
    """Return a label as `read_costs` reads it, in quotes if it needs them."""
    if label is None:
        return ANY
    is_plain = label == label.strip() and label not in ("", ANY) and ARROW not in label
    if is_plain and not set(label) & set('",='):
        return label
    return '"' + label.replace('"', '""') + '"'


def say_pair(true: Label, decided: Label) -> str:
    """Return a pair as it is written in a text."""
    return f"{written_label(true)}{ARROW}{written_label(decided)}"


def _number(label: Label, labels: Sequence[object]) -> int | None:
    if label is None:
        return None
    place = place_of(label, labels)
    if place is None:
        names = [str(one) for one in labels]
        near = nearest(label, names) or ""
        raise ConfigurationError(
            f"the costs name the class '{label}', and the target has no such class.",
            hint=f"{near} Its classes are {list_labels(names)}.".strip(),
        )
    return place


def _cell(
    known: Mapping[tuple[int | None, int | None], float],
    true: int,
    decided: int,
    names: Sequence[str],
) -> float | None:
    """Return the cost of a cell; None if no pair is about it, and 0 if it is a right decision."""
    if (true, decided) in known:
        return known[true, decided]
    if true == decided:
        return 0.0
    halves = [known[one] for one in ((true, None), (None, decided)) if one in known]
    if len(set(halves)) > 1:
        row, column, cell = (
            say_pair(names[true], None),
            say_pair(None, names[decided]),
            say_pair(names[true], names[decided]),
        )
        raise ConfigurationError(
            f"the costs of {row} and of {column} differ, and {cell} is both.",
            hint=f"Give {cell} a cost of its own.",
        )
    return halves[0] if halves else known.get((None, None))


def _all_named(
    cells: Mapping[tuple[int, int], float | None], names: Sequence[str]
) -> dict[tuple[int, int], float]:
    """Return the cells; raise if one has no cost."""
    lacking = [pair for pair, cost in cells.items() if cost is None]
    if lacking:
        shown = ", ".join(say_pair(names[true], names[one]) for true, one in lacking[:SHOWN])
        more = f" and {len(lacking) - SHOWN} more" if lacking[SHOWN:] else ""
        raise ConfigurationError(
            f"there is no cost of {shown}{more}.",
            hint="Add them, or *->*=1 for all wrong decisions that you do not name.",
        )
    return {pair: cost for pair, cost in cells.items() if cost is not None}


def _check_sense(table: tuple[tuple[float, ...], ...], names: Sequence[str]) -> None:
    """Raise if a wrong decision is cheaper than the right one, or nothing is left to decide."""
    for true, costs in enumerate(table):
        own, least = costs[true], int(np.argmin(costs))
        if costs[least] < own:
            pair = say_pair(names[true], names[least])
            raise ConfigurationError(
                f"the wrong decision {pair} costs {costs[least]:g}, less than the right one, "
                f"{own:g}.",
                hint="Make the right decision the cheapest one of its class.",
            )
        if max(costs) == own:
            raise ConfigurationError(
                f"every decision on class '{names[true]}' costs the same, {own:g}.",
                hint="Say which one is dearer.",
            )
    for one, name in enumerate(names):
        # Else it would be the cheapest decision of every row, whatever the model says.
        if all(costs[one] <= costs[true] for true, costs in enumerate(table)):
            raise ConfigurationError(
                f"deciding '{name}' for every row never costs more than the right decision.",
                hint="Give a mistake with this decision a cost above that of the right one.",
            )
