"""Columns with a role of their own: weights, groups that belong together, and time.

No pipeline is given them. A row's weight is its share in all that is fitted and measured. Rows of
one group, such as visits of one patient, are never on both sides of a split. With a time no
pipeline learns from rows that are later than those it is measured on.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from automl_admm.core.errors import DataError, Remedy, suggest
from automl_admm.core.messages import say_count, say_value
from automl_admm.core.space import Array
from automl_admm.data.canonical_rows import NOTHING_KNOWN, hash_canonically
from automl_admm.data.conforming import Place, refuse_rows, row_of
from automl_admm.data.distinct_values import find_distinct
from automl_admm.data.exact_arrays import exact_array
from automl_admm.data.fingerprints import Hashes, hash_rows
from automl_admm.data.plain_columns import with_seen_gaps
from automl_admm.data.row_portions import take_rows
from automl_admm.data.table_schema import content_of

Rows = NDArray[np.intp]
# A budget that stands where a column is due.
DURATION = re.compile(r"\d+(\.\d+)? ?(s|sec|m|min|h)?")
# The zone at the end of a time.
ZONE = re.compile(r"[Zz]$|[T ]\d\d[\d:.,]* ?[+-]\d\d(?::?\d\d)?$")
# The role of a column, and its name in Python if it has none of its own.
NAMES: Mapping[str, str] = MappingProxyType(
    {"weight": "sample_weight", "group": "groups", "time": "time"}
)


@dataclass(frozen=True, eq=False)
class Roles:
    """The roles of rows, read and checked.

    `weights` have a mean of 1; None if all rows count alike. Those given are so many times `unit`.
    `clusters` numbers the groups, `times` the moments in their order. `hashes` has a number for
    each row, of all columns with a role, `canonical` one that does not hang on their types,
    `placed` one that tells them apart, too, and `written` one by the digits of numbers.

    >>> Roles(weights=np.array([0.5, 1.5])).part(np.array([1])).weights
    array([1.5])
    """

    weights: Array | None = None
    clusters: Rows | None = None
    times: Rows | None = None
    hashes: Hashes | None = None
    unit: float = 1.0
    canonical: Hashes | None = None
    placed: Hashes | None = None
    written: Hashes | None = None

    def part(self, places: Any) -> Roles:
        """Return the roles of some of the rows."""
        if self.hashes is None and self.weights is None:
            return self
        given = {one.name: getattr(self, one.name) for one in fields(self)}
        columns = {name: one for name, one in given.items() if isinstance(one, np.ndarray)}
        return replace(self, **{name: one[places] for name, one in columns.items()})


NO_ROLES = Roles()


@dataclass(frozen=True, eq=False)
class RoleColumns:
    """The columns with a role as they were given, series by their own names; None without one.

    `place` names the place of a row in the file of the columns.
    """

    weight: Any = None
    group: Any = None
    time: Any = None
    place: Place = row_of

    def known(self) -> dict[str, Any]:
        """Return the given columns by their role."""
        pairs = ((role, getattr(self, role)) for role in NAMES)
        return {role: column for role, column in pairs if column is not None}

    def names(self) -> dict[str, str]:
        """Return the names of the given columns by their role."""
        return {role: str(column.name) for role, column in self.known().items()}

    def frame(self) -> Any:
        """Return the given columns as a frame; None without any."""
        import pandas as pd

        known = {str(column.name): column for column in self.known().values()}
        return pd.DataFrame(known) if known else None

    def part(self, places: Any) -> RoleColumns:
        """Return the columns of some of the rows."""
        taken = {role: take_rows(column, places) for role, column in self.known().items()}
        parts = {role: one.reset_index(drop=True) for role, one in taken.items()}
        return replace(self, **parts, place=row_of)  # the numbers of its rows are others

    def counted(self) -> NDArray[np.bool_] | None:
        """Return a mask of rows with a weight above 0; None if all have."""
        if self.weight is None:
            return None
        above = _weights(self.weight, self.place) > 0
        return None if above.all() else above

    def read(self, *, are_known: bool = True, narrow: Mapping[str, str] = NOTHING_KNOWN) -> Roles:
        """Return the roles of the rows; raise if a column does not suit its role.

        Where nobody will ask if these rows `are_known`, they have no canonical hashes, which take
        their time. `narrow` has the types in training by role, of less than eight bytes.
        """
        if not self.known():
            return NO_ROLES
        if self.group is not None and self.time is not None:
            raise DataError(
                "groups and a time cannot both decide which rows a pipeline learns from.",
                hint=Remedy(
                    "Leave out {groups}, and no pipeline learns from later rows; or {time}, and "
                    "none learns from the groups that it is measured on."
                ),
            )
        columns, rows = self.known().values(), len(next(iter(self.known().values())))
        weights = None if self.weight is None else _weights(self.weight, self.place)
        # By their roles: a column from Python may have another name than that of a file.
        canonical, placed, written = (
            hash_canonically(self.known().items(), rows, narrow) if are_known else (None,) * 3
        )
        return Roles(
            weights=None if weights is None else _relative(weights),
            clusters=None if self.group is None else _clusters(self.group, self.place),
            times=None if self.time is None else _moments(self.time, self.place),
            hashes=hash_rows(columns, rows),
            unit=1.0 if weights is None else _unit(weights),
            canonical=canonical,
            placed=placed,
            written=written,
        )


NO_COLUMNS = RoleColumns()


def counted_rows(
    X: Any, y: Any, sensitive: Any, columns: RoleColumns
) -> tuple[Any, Any, Any, RoleColumns]:
    """Return the rows with a weight above 0: the others count as little as rows that are absent."""
    mask = columns.counted()
    if mask is None:
        return X, y, sensitive, columns
    places = np.flatnonzero(mask)
    apart = None if sensitive is None else take_rows(sensitive, places)
    return take_rows(X, places), take_rows(y, places), apart, columns.part(places)


def columns_given(target: Any, weight: Any, group: Any, time: Any) -> RoleColumns:
    """Return columns from Python, each one value for each row of the target."""
    given = {"weight": weight, "group": group, "time": time}
    return RoleColumns(
        **{role: _series(value, NAMES[role], target) for role, value in given.items()}
    )


def take_columns(
    frame: Any,
    names: Mapping[str, str | None],
    target: str | None = None,
    place: Place = row_of,
) -> tuple[Any, RoleColumns]:
    """Part a table into the rest and the columns with a role, named by it.

    `target` is the name of the column to predict, which the table no longer has. `place` names the
    place of a row in the file of the table.
    """
    wanted = {role: name for role, name in names.items() if name is not None}
    for role, name in wanted.items():
        if name == target:
            message = f"'{name}' is the column to predict, and cannot be the {role}."
            raise DataError(message, hint="Name another column.")
        if name not in frame.columns:
            hint: str | Remedy | None = suggest(name, frame.columns)
            if role == "time" and DURATION.fullmatch(name):
                hint = Remedy(f"A time budget is {{time_budget={name!r}}}; a time is a column.")
            raise DataError(f"there is no column '{name}' to be the {role}.", hint=hint)
    _refuse_twice(wanted)
    rest = frame.drop(columns=list(wanted.values()))
    if rest.shape[1] == 0:
        raise DataError("no column is left to predict from: all have another role.")
    return rest, RoleColumns(
        **{role: frame[name].reset_index(drop=True) for role, name in wanted.items()}, place=place
    )


def _refuse_twice(wanted: Mapping[str, str]) -> None:
    by_name: dict[str, str] = {}
    for role, name in wanted.items():
        if name in by_name:
            raise DataError(f"column '{name}' cannot be the {by_name[name]} and the {role}.")
        by_name[name] = role


def _series(value: Any, name: str, target: Any) -> Any:
    import pandas as pd

    if value is None:
        return None
    values = value if isinstance(value, pd.Series) else exact_array(value)
    if values.ndim != 1:
        is_column = values.shape[1:] == (1,) and hasattr(value, "ravel")
        hint = f"Give one column: {name}={name}.ravel()." if is_column else "Give one column."
        message = f"{name} has the shape {values.shape}, where one value a row is due."
        raise DataError(message, hint=hint)
    rows = np.asarray(target).shape[:1]
    if (len(values),) != rows:
        found, wanted = say_count(len(values), "row"), rows[0] if rows else "none"
        raise DataError(f"{name} has {found}, and y has {wanted}.")
    column = with_seen_gaps(pd.Series(values)).reset_index(drop=True)
    return column if column.name is not None else column.rename(name)


def _weights(column: Any, place: Place) -> Array:
    name = column.name
    if content_of(column) != "number":
        odd = ~_are_figures(column)
        shown = say_value(column[odd].iloc[0]) if odd.any() else str(column.dtype)
        reason = f"the weight in '{name}' is no number but {shown}"
        refuse_rows(odd, reason, place, "Write weights as plain numbers, such as 1000 or 0.5.")
        raise DataError(f"the weights in '{name}' are no numbers but {shown}.")
    found = column.to_numpy(dtype=float, na_value=np.nan)
    refuse_rows(np.isnan(found), f"the weight in '{name}' is missing", place)
    refuse_rows(np.isinf(found), f"the weight in '{name}' is infinite", place)
    refuse_rows(found < 0, f"the weight in '{name}' is negative", place)
    if not (found > 0).any():
        raise DataError(f"all weights in '{name}' are zero.", hint="Some row has to count.")
    refuse_rows(
        (found > 0) & (found / _unit(found[found > 0]) == 0),
        f"the weight in '{name}' is so small that it is 0 beside the mean weight",
        place,
        "Write 0 to leave such rows out, or weights closer to each other.",
    )
    return np.asarray(found)


def _are_figures(column: Any) -> Any:
    """Return for each value if it is a number, be it written as text."""
    import pandas as pd

    return pd.to_numeric(column.astype(object), errors="coerce").notna().to_numpy()


def _relative(weights: Array) -> Array | None:
    """Return weights with a mean of 1; None if all are the same.

    Only their ratios mean anything: a component's own penalties must not hang on their unit.
    """
    if (weights == weights[0]).all():
        return None
    return np.asarray(weights / _unit(weights))


def _unit(weights: Array) -> float:
    """Return the mean weight."""
    # Divided by the largest first: a sum of very large ones may overflow.
    return float(np.mean(weights / weights.max()) * weights.max())


def _clusters(column: Any, place: Place) -> Rows:
    refuse_rows(
        column.isna().to_numpy(),
        f"the group in '{column.name}' is missing",
        place,
        "Remove those rows first, or give each a group of its own.",
    )
    if column.dtype.kind == "f":
        infinite = np.isinf(column.to_numpy())
        refuse_rows(infinite, f"the group in '{column.name}' is infinite", place)
    is_sortable = content_of(column) in ("number", "text", "boolean")
    return find_distinct(column, sort=is_sortable)[0]


def _moments(column: Any, place: Place) -> Rows:
    """Number the moments in their order; equal ones are one moment."""
    import pandas as pd

    name = column.name
    refuse_rows(column.isna().to_numpy(), f"the time in '{name}' is missing", place)
    content = content_of(column)
    if content == "number":
        # Whole numbers beyond the exact ones of floating point, as nanoseconds are, keep order.
        values = column.to_numpy()
        refuse_rows(np.isin(np.abs(values), np.inf), f"the time in '{name}' is infinite", place)
        return np.asarray(np.unique(values, return_inverse=True)[1], dtype=np.intp)
    if content == "text":
        column = _dates(column, place)
    elif column.dtype == object:  # such as the dates of a Parquet file
        found = pd.to_datetime(column, errors="coerce", utc=True)
        refuse_rows(found.isna().to_numpy(), f"the time in '{name}' is no date", place)
        _refuse_mixed_zones(column, place)
        column = found
    if not pd.api.types.is_datetime64_any_dtype(column.dtype):
        raise DataError(
            f"the time in '{name}' holds {column.dtype}, which has no order of time.",
            hint="Give numbers, or dates such as 2026-01-31 or 2026-01-31T12:00:00.",
        )
    return np.asarray(np.unique(column.to_numpy(), return_inverse=True)[1], dtype=np.intp)


def _dates(column: Any, place: Place) -> Any:
    """Read dates of ISO 8601 alone: 01/02/2026 is in January or in February."""
    import pandas as pd

    are_figures = _are_figures(column)
    if 2 * are_figures.sum() > len(column):
        _refuse_time(column, ~are_figures, "", place, "Most others are numbers: make it one, too.")
    texts = column.astype(str).str.strip()
    found = pd.to_datetime(texts, format="ISO8601", errors="coerce", utc=True)
    hint = "Write it as a number, or like 2026-01-31 or 2026-01-31T12:00:00."
    _refuse_time(column, found.isna().to_numpy(), "", place, hint)
    _refuse_mixed_zones(column, place)
    return found


def _refuse_mixed_zones(column: Any, place: Place) -> None:
    is_zoned = column.map(_has_zone).to_numpy(dtype=bool)
    if 0 < is_zoned.sum() < len(is_zoned):
        # Their order hangs on the zone of the others, which nobody knows.
        is_odd = is_zoned if 2 * is_zoned.sum() <= len(is_zoned) else ~is_zoned
        said = "with a zone, and others are without" if is_odd is is_zoned else "without a zone"
        hint = "Give all times a zone such as +01:00 or Z, or none."
        _refuse_time(column, is_odd, f", {said}", place, hint)


def _has_zone(value: Any) -> bool:
    if isinstance(value, str):
        return ZONE.search(value.strip()) is not None
    return getattr(value, "tzinfo", None) is not None


def _refuse_time(column: Any, wrong: Any, said: str, place: Place, hint: str) -> None:
    if wrong.any():
        first = int(np.argmax(wrong))
        shown = f"{say_value(column.iloc[first])} in {place(first)}{said}"
        raise DataError(f"the time in '{column.name}' is {shown}.", hint=hint)
