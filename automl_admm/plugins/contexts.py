"""The facts that the factories of components and executors are given."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, get_args

LearningTask = Literal["classification", "regression"]
TASKS: tuple[LearningTask, ...] = get_args(LearningTask)
NeededKind = Literal["categorical", "many_levels", "text", "tags", "groups"]
KINDS: tuple[NeededKind, ...] = get_args(NeededKind)
GAPS: Literal["gaps"] = "gaps"
# What a grammar is cut down by: kinds of columns, limits that compare groups of rows, and gaps in
# columns of numbers.
TableFact = NeededKind | Literal["gaps"]
# A category column with more levels is one of many levels: as columns of 0 and 1 they would be more
# than they are worth.
FEW_LEVELS = 32


@dataclass(frozen=True, slots=True)
class BuildContext:
    """The facts of the data for a component: the task, and the columns by kind.

    `text` columns hold free text, "" if missing. `tags` columns hold the tags of a row, joined by
    the unit separator (U+001F). `levels` has the number of distinct values for each categorical
    column, and `classes` is the number of classes; both are empty or 0 if unknown. `orders` has the
    levels of each categorical column from the least, NaN last if one is missing, and nothing for a
    column without an order. `has_gaps` is False only if it is known that no number is missing.
    `has_groups` is True if a limit compares groups of rows.

    >>> BuildContext("regression", numeric=("age",)).categorical
    ()
    >>> BuildContext("regression", categorical=("sex", "zip"), levels=(2, 900)).having_more(32)
    ('zip',)
    >>> sizes = BuildContext("regression", categorical=("sex", "size"), orders=((), ("S", "M")))
    >>> sizes.ordered, sizes.unordered
    ({'size': ('S', 'M')}, ('sex',))
    >>> sorted(BuildContext("regression", text=("plot",), tags=("genre",)).kinds)
    ['tags', 'text']
    """

    task: LearningTask
    numeric: tuple[Any, ...] = ()
    categorical: tuple[Any, ...] = ()
    text: tuple[Any, ...] = ()
    tags: tuple[Any, ...] = ()
    levels: tuple[int, ...] = ()
    classes: int = 0
    # What is searched hangs on it, what an evaluation measures does not: digests are of the text.
    has_gaps: bool = field(default=True, repr=False)
    has_groups: bool = field(default=False, repr=False)
    # A digest has them beside the text: that of a table without an order stays as it was.
    orders: tuple[tuple[Any, ...], ...] = field(default=(), repr=False)

    @property
    def ordered(self) -> dict[Any, tuple[Any, ...]]:
        """The levels of each categorical column with an order, from the least."""
        known = zip(self.categorical, self.orders, strict=False)
        return {column: levels for column, levels in known if levels}

    @property
    def unordered(self) -> tuple[Any, ...]:
        """The categorical columns without an order."""
        return tuple(column for column in self.categorical if column not in self.ordered)

    def having_more(self, than: int) -> tuple[Any, ...]:
        """Return the categorical columns with more levels than a number."""
        known = zip(self.categorical, self.levels, strict=False)
        return tuple(column for column, count in known if count > than)

    @property
    def kinds(self) -> frozenset[NeededKind]:
        """The kinds of its columns, and groups, that a component may need."""
        found: dict[NeededKind, object] = {
            "categorical": self.categorical,
            "many_levels": self.having_more(FEW_LEVELS),
            "text": self.text,
            "tags": self.tags,
            "groups": self.has_groups,
        }
        return frozenset(kind for kind in KINDS if found[kind])

    @property
    def facts(self) -> frozenset[TableFact]:
        """The kinds of its columns, and gaps: what a grammar is cut down by."""
        return self.kinds | {GAPS} if self.has_gaps else frozenset[TableFact](self.kinds)


@dataclass(frozen=True, slots=True)
class ExecutorSetting:
    """The settings of every executor, beside its own options.

    `is_default` is True if the user did not choose the number of workers: an executor with a number
    of its own, such as a cluster, takes that. A `server` started early is for `local` alone.
    `deadline` is the end of the run's budget on the monotonic clock, None without one. `plugins`
    and `libraries` are distributions that the run's parts come from, and those below them.

    >>> ExecutorSetting(workers=4).memory_bytes is None
    True
    """

    workers: int = 1
    memory_bytes: int | None = None
    scratch: Path | None = None
    is_default: bool = False
    server: Any = None
    deadline: float | None = None
    plugins: tuple[str, ...] = ()
    libraries: tuple[str, ...] = ()

    def patience(self, longest: float, least: float = 1.0) -> float:
        """Return the seconds to wait for others: what is left of the budget, within two ends.

        >>> ExecutorSetting(deadline=0.0).patience(longest=10.0)
        1.0
        """
        if self.deadline is None:
            return longest
        return min(longest, max(self.deadline - time.monotonic(), least))
