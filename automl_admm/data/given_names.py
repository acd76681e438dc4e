"""The names of what `fit` is given in Python beside X: files of the run know it by them.

A series keeps the name of the column that it was computed from: `1 / X["amount"]` is called
`amount`. In a file there is one column of a name, and the feature would be read for the weight.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import chain, count
from typing import Any

from automl_admm.core.errors import DataError
from automl_admm.data.columns import UNNAMED_TARGET
from automl_admm.data.exact_arrays import exact_array
from automl_admm.data.row_roles import NAMES, RoleColumns
from automl_admm.data.sensitive import are_alike


def name_given(y: Any) -> str | None:
    """Return the name of a series, or of the only column of a frame; None without one."""
    if hasattr(y, "columns"):
        name = y.columns[0] if len(y.columns) == 1 else None
    else:
        name = getattr(y, "name", None)
    # A series of polars without a name has an empty one.
    return None if name is None or str(name) == "" else str(name)


def name_of_target(y: Any, X: Any, sensitive: Any, columns: RoleColumns) -> str | None:
    """Return its own name if no feature has it, else `target`; None if other columns have both."""
    name, features = name_given(y), _by_name(X)
    if name is not None and name not in features:
        return name
    others = {*features, *_by_name(sensitive), *columns.names().values()}
    return None if UNNAMED_TARGET in others else UNNAMED_TARGET


def with_own_names(columns: RoleColumns, y: Any, X: Any, sensitive: Any) -> RoleColumns:
    """Rename weights, groups or times where a column that says something else has their name.

    A column of another type may say the same: the dates of a time in text. A sensitive column is
    named by limits, and cannot be renamed: it may not have the name of y.
    """
    known, named = {**_by_name(X), **_by_name(sensitive)}, name_given(y)
    target = _column(y)
    if named is not None and named in _by_name(sensitive) and _is_another(known, named, target):
        raise DataError(
            f"'{named}' is the name of y, and of a column of sensitive_features with other values.",
            hint="Rename one.",
        )
    renamed = {}
    for role, column in columns.known().items():
        own = NAMES[role]
        names = chain([str(column.name), own], (f"{own}_{number}" for number in count(2)))
        free = (one for one in names if one != named)
        name = next(one for one in free if one not in known or _says_same(role, known[one], column))
        known[name] = column
        if name != str(column.name):
            renamed[role] = column.rename(name)
    return replace(columns, **renamed)


def tell_other_orders(X: Any, given: Mapping[str, Any]) -> Iterator[str]:
    """Say which series and frames have the index of X in another order: positions count."""
    index = _index_of(X)
    for what, values in given.items():
        other = _index_of(values)
        if index is None or other is None or len(other) != len(index):
            continue
        if other.nlevels != index.nlevels:
            continue
        if not other.equals(index) and other.isin(index).all():
            yield (
                f"{what} has the rows of X in another order, by its index, and rows go by their "
                f"position. Give {what}.loc[X.index], or {what}.set_axis(X.index) if the positions "
                "are right."
            )


def _index_of(given: Any) -> Any:
    """Return the index of a frame or series of pandas that has a row for each entry of it."""
    import pandas as pd

    is_pandas = isinstance(given, pd.DataFrame | pd.Series)
    return given.index if is_pandas and given.index.is_unique else None


def _column(y: Any) -> Any:
    """Return y as a series; of an impossible y, which others refuse, an empty one."""
    import pandas as pd

    values = y if isinstance(y, pd.Series) else exact_array(y)
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    return pd.Series(values if values.ndim == 1 else [])


def _by_name(frame: Any) -> dict[str, Any]:
    names = list(map(str, getattr(frame, "columns", ())))
    return {name: frame.iloc[:, place] for place, name in enumerate(names)}


def _says_same(role: str, one: Any, other: Any) -> bool:
    """Return True if two columns have the same cells, or the same but for their type.

    So a file that has one of them can be read for the other: `5` for '5', text for its date.
    """
    import pandas as pd

    if len(one) != len(other):
        return False
    pairs = [(one, other), tuple(column.astype(str) for column in (one, other))]
    if role == "time":
        times = {"errors": "coerce", "utc": True, "format": "ISO8601"}
        pairs.append(tuple(pd.to_datetime(column.astype(str), **times) for column in (one, other)))
    return any(are_alike(*pair) and not pair[0].isna().any() for pair in pairs)


def _is_another(known: Mapping[str, Any], name: str, column: Any) -> bool:
    return name in known and not are_alike(known[name], column)
