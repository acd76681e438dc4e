"""The leaderboard as columns: the same on the screen, as CSV, as JSON and as a frame."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import Any

from automl_admm.core.errors import UnknownNameError, nearest
from automl_admm.core.evaluations import Evaluation
from automl_admm.core.limits import Limit
from automl_admm.runs.standings import Standing

SHORTEST_KEY = 7
# The columns that every leaderboard has.
USUAL = (
    *("rank", "number", "key", "score", "feasible", "seconds", "fidelity", "status"),
    *("pipeline", "message"),
)
MOST_LIMITS = 8
Score = Callable[[Evaluation], float]


@dataclass(frozen=True, slots=True)
class Column:
    """One column: its name, the type of its values, and a value for each evaluation.

    `aliases` are more names to sort by. `is_best_high` is True if large values are the best ones. A
    value that is not known is None, or NaN among floats.
    """

    name: str
    kind: type
    values: tuple[Any, ...]
    aliases: tuple[str, ...] = ()
    is_best_high: bool = False

    def place(self, row: int) -> tuple[bool, Any]:
        """Return the sort key of a row: the best value first, unknown ones last."""
        value = self.values[row]
        if is_unknown(value):
            return True, 0
        if isinstance(value, str):
            return False, value
        return False, -value if self.is_best_high else value


@dataclass(frozen=True, slots=True)
class Board:
    """The leaderboard: its evaluations in their order, and its columns."""

    standings: tuple[Standing, ...]
    columns: tuple[Column, ...]

    @property
    def rows(self) -> tuple[tuple[Any, ...], ...]:
        """The values, a row for each evaluation."""
        return tuple(zip(*(column.values for column in self.columns), strict=True))

    def find(self, name: str) -> Column:
        """Return the column of a name or of another name of it; raise with near ones."""
        known = {alias: column for column in self.columns for alias in column.aliases}
        known |= {column.name: column for column in self.columns}
        if name not in known:
            hint = nearest(name, known) or self._names()
            raise UnknownNameError("column of the leaderboard", name, known, hint=hint)
        return known[name]

    def _names(self) -> str:
        """Name the columns that every leaderboard has, then the first ones of the limits."""
        names = [one.name for one in self.columns]
        usual = [name for name in names if name in USUAL]
        limits = [one.name for one in self.columns if one.name not in USUAL and one.aliases]
        more = ", …" if limits[MOST_LIMITS:] else ""
        return (
            f"Known: {', '.join((*usual, *limits[:MOST_LIMITS]))}{more}. "
            "A value has a column only if the run has a limit on it."
        )

    def sorted_by(self, name: str) -> Board:
        """Return the board sorted by a column, best first; equal ones keep their order."""
        column = self.find(name)
        return self.taken(sorted(range(len(self.standings)), key=column.place))

    def taken(self, rows: Iterable[int]) -> Board:
        """Return the board of some of its rows, in the order given."""
        rows = tuple(rows)
        columns = (
            replace(column, values=tuple(column.values[row] for row in rows))
            for column in self.columns
        )
        return Board(tuple(self.standings[row] for row in rows), tuple(columns))


def is_unknown(value: Any) -> bool:
    """Return True for None and NaN."""
    return value is None or (isinstance(value, float) and math.isnan(value))


def make_board(
    standings: Sequence[Standing], limits: Sequence[Limit], metric: str, score: Score
) -> Board:
    """Return the board of all evaluations; `score` turns one into the score of `metric`."""
    rows = [one.evaluation for one in standings]
    before = (
        Column("rank", int, tuple(one.rank for one in standings)),
        Column("number", int, tuple(one.number for one in rows), ("#",)),
        Column("key", str, tuple(one.key for one in rows)),
        Column("score", float, tuple(map(score, rows)), (metric,), is_best_high=True),
    )
    after = (
        Column("feasible", bool, tuple(one.feasible for one in standings), (), is_best_high=True),
        Column("seconds", float, tuple(float(one.seconds) for one in rows)),
        Column("fidelity", float, tuple(float(one.candidate.fidelity) for one in rows)),
        Column("status", str, tuple(one.ending for one in rows)),
        Column("pipeline", str, tuple(one.text for one in rows)),
        Column("message", str, tuple(map(_message, rows))),
    )
    taken = {column.name for column in (*before, *after)}
    inner = _of_limits(limits, standings, taken)
    return Board(tuple(standings), (*before, *inner, *after))


def _of_limits(
    limits: Sequence[Limit], standings: Sequence[Standing], taken: set[str]
) -> tuple[Column, ...]:
    """Return the columns of the limits: the values, the bounds, and the excess over them."""
    values, bounds, excess = [], [], []
    for place, (limit, name) in enumerate(zip(limits, name_limits(limits, taken), strict=True)):
        measured = _at(place, [one.evaluation.constraints for one in standings])
        aliases = (str(limit), limit.name)
        values.append(Column(name, float, measured, aliases, is_best_high=limit.at_least))
        bounds.append(Column(f"bound of {limit}", float, (limit.bound,) * len(standings)))
        over = _at(place, [one.excess for one in standings])
        excess.append(Column(f"excess of {limit}", float, over))
    return (*values, *bounds, *excess)


def name_limits(limits: Sequence[Limit], taken: Iterable[str]) -> tuple[str, ...]:
    """Name the columns of values: two limits of one name, or the name of a column, differ."""
    names = [limit.name for limit in limits]
    taken = set(taken)

    def name(limit: Limit) -> str:
        if names.count(limit.name) > 1:
            return str(limit)
        return f"{limit.name} (limit)" if limit.name in taken else limit.name

    return tuple(map(name, limits))


def _at(place: int, values: Sequence[Sequence[float]]) -> tuple[float, ...]:
    return tuple(float(one[place]) if one else math.nan for one in values)


def _message(evaluation: Evaluation) -> str:
    if evaluation.one_class is not None and not evaluation.message:
        return f"predicts '{evaluation.one_class}' for all rows"
    return evaluation.message


def short_keys(keys: Sequence[str]) -> Mapping[str, str]:
    """Return a beginning of each key, long enough to tell it from all others.

    >>> short_keys(["0123456789a", "0123456780b"])["0123456789a"]
    '0123456789'
    """
    ordered = sorted(set(keys))
    # Keys that share most of their beginning are neighbours in their order; the ends have one each.
    padded = ["", *ordered, ""]
    return {
        key: key[: max(SHORTEST_KEY, _shared(before, key) + 1, _shared(key, after) + 1)]
        for before, key, after in zip(padded[:-2], ordered, padded[2:], strict=True)
    }


def _shared(one: str, other: str) -> int:
    """Return the number of first characters that two texts share."""
    pairs = zip(one, other, strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
