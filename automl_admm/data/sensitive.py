"""Sensitive columns: limits compare groups by them, and pipelines never see them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from automl_admm.core.errors import DataError, suggest
from automl_admm.core.messages import say_count
from automl_admm.data.exact_arrays import exact_array, of_polars
from automl_admm.data.plain_columns import plain_missing
from automl_admm.data.plain_types import inferred_columns
from automl_admm.data.python_tables import as_table


def set_aside(frame: Any, names: Sequence[str]) -> tuple[Any, Any]:
    """Part a table into the features and the sensitive columns."""
    for name in names:
        if name not in frame.columns:
            hint = suggest(name, frame.columns)
            raise DataError(f"there is no column '{name}' to set aside as sensitive.", hint=hint)
    features = frame.drop(columns=list(names))
    if features.shape[1] == 0:
        raise DataError("no column is left to predict from: all are sensitive.")
    # A name given twice is meant once.
    return features, frame[list(dict.fromkeys(names))]


def as_frame(given: Any, rows: int) -> Any:
    """The sensitive columns of a frame, a series, a dict of columns or an array.

    A series without a name, and the one column of an array, are called `sensitive`; several
    columns of an array `sensitive_0`, `sensitive_1`, ….
    """
    import pandas as pd

    given = _of_pandas(given)
    if isinstance(given, pd.DataFrame):
        frame = given
    elif isinstance(given, pd.Series):
        frame = given.to_frame(given.name if given.name is not None else "sensitive")
    elif isinstance(given, dict):
        frame = pd.DataFrame({name: exact_array(values) for name, values in given.items()})
    else:
        frame = _of_array(exact_array(given))
    if len(frame) != rows:
        raise DataError(f"sensitive_features has {say_count(len(frame), 'row')}, and X has {rows}.")
    names = [str(name) for name in frame.columns]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise DataError(f"two columns of sensitive_features are named '{twice}'.")
    return plain_missing(frame.reset_index(drop=True).set_axis(names, axis=1))


def tell_shared(sensitive: Any, X: Any) -> Iterator[str]:
    """Say which sensitive columns are columns of X, too, and which have only the name of one."""
    features = {str(name): place for place, name in enumerate(getattr(X, "columns", ()))}
    shared = [name for name in getattr(sensitive, "columns", ()) if name in features]
    alike = [name for name in shared if are_alike(sensitive[name], X.iloc[:, features[name]])]
    others = [name for name in shared if name not in alike]
    if others:
        yield (
            f"sensitive_features has {_named(others)} with other values than X: limits go by those "
            "of sensitive_features, and a file of later rows can have one column of a name. Rename "
            "one."
        )
    if alike:
        yield (
            f"sensitive_features has {_named(alike)}, as X has: pipelines learn from all of X. "
            "Drop what they may not see, or leave out sensitive_features: limits find columns of X."
        )


def _named(names: Sequence[str]) -> str:
    return " and ".join(f"'{name}'" for name in names)


def are_alike(one: Any, other: Any) -> bool:
    """Return True if two columns have the same cells, whatever their types."""
    if len(one) != len(other):
        return False
    values, others = (column.astype(object).reset_index(drop=True) for column in (one, other))
    return bool(((values == others) | (values.isna() & others.isna())).all())


def _of_pandas(given: Any) -> Any:
    """Return a frame or a column of polars or Arrow as one of pandas, under its names."""
    if of_polars(given) and not hasattr(given, "columns"):
        given = given.to_frame()
    is_table = hasattr(given, "columns") and not hasattr(given, "iloc")
    return as_table(given) if is_table else given


def _of_array(values: Any) -> Any:
    import pandas as pd

    if values.ndim == 1:
        return pd.DataFrame({"sensitive": values})
    if values.ndim != 2:
        raise DataError(f"sensitive_features has the shape {values.shape}; it is no table.")
    names = [f"sensitive_{place}" for place in range(values.shape[1])]
    return inferred_columns(pd.DataFrame(values, columns=names))


def known_columns(sensitive: Any, X: Any, wanted: Iterable[str]) -> Any:
    """Return the columns for limits: the sensitive ones, and the named ones of X.

    Raise if there is no such column at all.
    """
    import pandas as pd

    given = () if sensitive is None else sensitive.columns
    known = {name: sensitive[name].reset_index(drop=True) for name in given}
    features = {str(name): name for name in getattr(X, "columns", ())}
    for name in sorted(set(wanted) - set(known)):
        if name not in features:
            hint = suggest(name, [*known, *features])
            told = f"a limit names the column '{name}', but the table has no column of that name."
            raise DataError(told, hint=hint)
        known[name] = X[features[name]].reset_index(drop=True)
    return pd.DataFrame(known, index=range(len(X)))
