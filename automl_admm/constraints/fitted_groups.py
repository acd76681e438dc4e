"""Groups that hang on the rows to learn from: parts between quantiles, and groups of a least size.

Rows that are set aside have no say in them: a certificate is about groups that were fixed before.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from automl_admm.constraints.group_comparison import Grouped
from automl_admm.constraints.groups import Grouping, check_columns, group_names
from automl_admm.constraints.syntax import GroupColumn, say_cut
from automl_admm.core.errors import DataError
from automl_admm.plugins.records import Constraint, GroupFunction


def hangs_on_rows(constraint: Constraint) -> bool:
    """Return True if its groups are known only once the rows to learn from are."""
    groups = constraint.groups
    if not isinstance(groups, Grouping):
        return False
    return groups.least > 0 or any(one.quantiles for one in groups.columns)


def fit_groups(constraint: Constraint, rows: Any) -> Constraint:
    """Cut columns at the quantiles of these rows, and leave out groups with few of them."""
    if not hangs_on_rows(constraint):
        return constraint
    assert isinstance(constraint.groups, Grouping)  # noqa: S101 - `hangs_on_rows` has checked it
    name, columns = constraint.limit.name, constraint.groups.columns
    check_columns(columns, rows, name)
    cuts = {
        one.name: quantile_cuts(rows[one.name], one.quantiles, name)
        for one in columns
        if one.quantiles
    }
    cut = with_fitted(constraint, cuts)
    assert cut.groups is not None  # noqa: S101 - it was made of groups
    counts = Counter(cut.groups(rows))
    small = (group for group, count in counts.items() if count < constraint.groups.least)
    return with_fitted(cut, cuts, tuple(sorted(small)))


def meet_fitted(constraint: Constraint, rows: Any, whole: Any) -> Constraint:
    """Return a constraint with its groups fitted on rows, and their names in the whole data.

    A group with no row to learn from is smaller than any least size.
    """
    found = fit_groups(constraint, rows)
    function, groups = found.function, found.groups
    if not hangs_on_rows(constraint) or not isinstance(function, Grouped) or groups is None:
        return constraint
    names = groups(whole)
    has_least = isinstance(constraint.groups, Grouping) and constraint.groups.least > 0
    unseen = set(names) - set(groups(rows)) if has_least else set()
    left_out = tuple(sorted({*function.left_out, *unseen}))
    compared = group_names(names, constraint.limit.name, left_out)
    return replace(found, function=replace(function, names=compared, left_out=left_out))


def with_fitted(
    constraint: Constraint, cuts: Mapping[str, Sequence[float]], left_out: tuple[str, ...] = ()
) -> Constraint:
    """Return the constraint with these cut points and groups left out."""
    groups, function = constraint.groups, constraint.function
    if not isinstance(groups, Grouping) or not isinstance(function, Grouped):
        return constraint
    columns = tuple(
        replace(one, cuts=tuple(map(float, cuts[one.name]))) if one.name in cuts else one
        for one in groups.columns
    )
    fitted = replace(groups, columns=columns)
    return replace(
        constraint,
        groups=fitted,
        function=replace(function, groups=fitted, left_out=left_out),
    )


def quantile_cuts(values: Any, parts: int, limit: str) -> tuple[float, ...]:
    """Return the values that cut a column into parts of equally many rows.

    Each is a value of the column, and begins its part. Equal values stay together, so that there
    may be fewer parts.
    """
    numbers = values.to_numpy(dtype=float, na_value=np.nan)
    known = numbers[np.isfinite(numbers)]
    if not len(known) or known.min() == known.max():
        raise DataError(
            f"limit '{limit}': column '{values.name}' has {'one value' if len(known) else 'none'} "
            "in the rows to learn from, and cannot be cut.",
        )
    edges = np.quantile(known, np.arange(1, parts) / parts, method="higher")
    # No row would be below an edge at the smallest value.
    found = [float(edge) for edge in np.unique(edges) if edge > known.min()]
    # Where most rows have the smallest value, all others are the other part.
    return tuple(found or [float(known[known > known.min()].min())])


def strata_of(constraint: Constraint) -> GroupFunction | None:
    """Return the groups by which rows can be parted before any of them is known to be learned from.

    Parts between quantiles are none: these are known only afterwards.
    """
    groups = constraint.groups
    if not isinstance(groups, Grouping):
        return groups
    known = tuple(column for column in groups.columns if not column.quantiles)
    return Grouping(known) if known else None


def say_fitted(constraint: Constraint) -> Iterator[str]:
    """Yield where columns are cut, and which groups are left out, a sentence each."""
    groups, function = constraint.groups, constraint.function
    if not isinstance(groups, Grouping) or not isinstance(function, Grouped):
        return
    for column in groups.columns:
        if column.quantiles:
            yield _say_cuts(column)
    if function.left_out:
        names = ", ".join(f"'{name}'" for name in function.left_out)
        yield (
            f"warning: {constraint.limit.name} does not compare {names}: fewer than "
            f"{groups.least} rows to learn from"
        )


def say_other_groups(constraint: Constraint, rows: Any, known: Sequence[str]) -> Iterator[str]:
    """Yield the groups of later rows that the run had none of, and those that it compared."""
    groups, function = constraint.groups, constraint.function
    if groups is None or not isinstance(function, Grouped) or not known:
        return
    counts, name = Counter(map(str, groups(rows))), constraint.limit.name
    alike = {_bare(one): one for one in (*function.left_out, *known)}
    for group in sorted(set(counts) - {*known, *function.left_out}):
        rows_are = "1 row is" if counts[group] == 1 else f"{counts[group]} rows are"
        other = alike.get(_bare(group))
        hint = "" if other is None else f": only blanks or case part it from '{other}'"
        yield f"{name}: {rows_are} of the group '{group}', which the run had none of{hint}"
    for group in (one for one in known if one not in counts):
        yield f"{name}: no row is of the group '{group}', which the run compared"


def _bare(group: str) -> str:
    return " ".join(group.split()).casefold()


def _say_cuts(column: GroupColumn) -> str:
    parts = len(column.cuts) + 1
    few = f", into {parts} parts, as many values are equal" if parts < column.quantiles else ""
    return f"{column} is cut at {', '.join(map(say_cut, column.cuts))}{few}"
