"""Groups of rows, by the values of columns or by cut points of numbers."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from automl_admm.constraints.syntax import GroupColumn, say_cut
from automl_admm.constraints.value_names import (
    BETWEEN,
    find_known,
    join_names,
    name_value,
    plain_values,
    set_apart,
)
from automl_admm.core.errors import DataError
from automl_admm.core.messages import no_file_keeps
from automl_admm.data.distinct_values import find_distinct
from automl_admm.data.plain_columns import has_numbers, with_seen_gaps

# A gap takes the extremes over all groups: of very many it measures only noise.
MOST_GROUPS = 20
Names = NDArray[np.object_]


@dataclass(frozen=True, slots=True)
class Grouping:
    """Names the group of every row; of several columns it is their intersection.

    Missing values are a group of their own, so that a limit protects these people, too. Groups with
    fewer than `least` rows to learn from are not compared. Of later rows, a number in a narrower
    float is in the group of `known` names that it was.
    """

    columns: tuple[GroupColumn, ...]
    least: int = 0
    known: tuple[str, ...] = ()

    def __call__(self, frame: Any) -> Names:
        """Return the group names of a frame with the columns."""
        parts = [_names(frame[column.name], column) for column in self.columns]
        names = parts[0] if len(parts) == 1 else _joined(parts)
        return _in_known_words(names, self.known) if self.known else names


def _joined(parts: list[Names]) -> Names:
    """Names of rows by several columns, each combination put into words once."""
    from pandas import factorize

    together = np.zeros(len(parts[0]), dtype=np.int64)
    for part in parts:
        places, distinct = factorize(part)
        # One number for each combination: much faster than joining the texts of every row.
        together = together * len(distinct) + places
    _, first, places = np.unique(together, return_index=True, return_inverse=True)
    words = [join_names(part[row] for part in parts) for row in first]
    names: Names = np.array(words, dtype=object)[places]
    return names


def _in_known_words(names: Names, known: tuple[str, ...]) -> Names:
    from pandas import factorize

    places, distinct = factorize(names)
    meant = find_known(distinct, known)
    if not meant:
        return names
    words: Names = np.array([meant.get(name, name) for name in distinct], dtype=object)[places]
    return words


def _names(values: Any, column: GroupColumn) -> Names:
    values, no_value = with_seen_gaps(values), f"{column.name} missing"
    missing = values.isna().to_numpy()
    found = np.full(len(values), no_value, dtype=object)
    known = values[~missing]
    found[~missing] = _bins(known, column) if column.cuts else _words(known, no_value)
    return found


def _words(values: Any, taken: str) -> Names:
    places, distinct = find_distinct(values)
    words = [set_apart(name_value(value), taken) for value in plain_values(distinct)]
    names: Names = np.array(words, dtype=object)[places]
    return names


def _bins(values: Any, column: GroupColumn) -> Names:
    # A cut point itself is in the upper part, as the names of the parts say.
    places = np.digitize(values.to_numpy(dtype=float), column.cuts)
    names: Names = np.array(bin_names(column), dtype=object)[places]
    return names


def bin_names(column: GroupColumn) -> list[str]:
    """Name the parts of a cut column, from the lowest on."""
    cuts = list(map(say_cut, column.cuts))
    between = pairwise(cuts)
    inner = [f"{low} <= {column.name} < {high}" for low, high in between]
    return [f"{column.name} < {cuts[0]}", *inner, f"{cuts[-1]} <= {column.name}"]


def order_groups(names: Iterable[str], columns: Iterable[GroupColumn]) -> tuple[str, ...]:
    """Return each name once: parts of a cut column and numbers by their size, then texts."""
    cut = [column for column in columns if column.cuts]
    parts = {part: place for one in cut for place, part in enumerate(bin_names(one))}

    def rank(piece: str) -> tuple[bool, float, str]:
        place = parts.get(piece)
        size = _size(piece) if place is None else float(place)
        return size is None, size or 0.0, piece

    return tuple(sorted(set(names), key=lambda name: tuple(map(rank, name.split(BETWEEN)))))


def _size(word: str) -> float | None:
    try:
        size = float(word)
    except ValueError:
        return None
    return size if math.isfinite(size) else None


def check_columns(columns: tuple[GroupColumn, ...], frame: Any, limit: str) -> None:
    """Raise if a column to be cut holds no numbers."""
    for column in columns:
        if (column.cuts or column.quantiles) and not has_numbers(frame[column.name]):
            raise DataError(
                f"limit '{limit}': column '{column.name}' holds no numbers that could be cut.",
                hint=f"Write [{GroupColumn(column.name)}], and each of its values is a group.",
            )


def group_names(names: Names, limit: str, left_out: Sequence[str] = ()) -> tuple[str, ...]:
    """Return the groups to compare, in order; refuse a single group and very many."""
    found = tuple(sorted(set(names) - set(left_out)))
    if len(found) < 2 and left_out:
        raise DataError(
            f"limit '{limit}' compares groups, and {len(found) or 'none'} of them has so many rows "
            "to learn from.",
            hint="Give a smaller least size, or merge groups.",
        )
    if len(found) < 2:
        one = f"all {len(names)} rows are in the group '{found[0]}'" if found else "there are none"
        raise DataError(f"limit '{limit}' compares groups, and {one}.")
    for one in found:
        if lack := no_file_keeps(one):
            raise DataError(
                f"limit '{limit}' compares groups, and the name of one, {one!a}, has {lack}.",
                hint="Remove it from the cells of the column.",
            )
    if len(found) > MOST_GROUPS:
        raise DataError(
            f"limit '{limit}': there are {len(found)} groups, and more than {MOST_GROUPS} cannot "
            "be told apart by their rows.",
            hint="Cut a column of numbers, as in [age:30,40,50], or merge rare values.",
        )
    return found
