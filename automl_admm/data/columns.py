"""The kinds of columns of a table, and its target."""

from __future__ import annotations

import numbers
from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import Any, Literal

import numpy as np

from automl_admm.core.errors import DataError, nearest
from automl_admm.core.messages import no_file_keeps, say_count, say_value, shorten
from automl_admm.data.conforming import Place, figure_of, refuse_rows, row_of
from automl_admm.data.plain_columns import plain_missing
from automl_admm.data.plain_types import FIRST_INEXACT
from automl_admm.plugins.records import LearningTask

MOST_CLASSES = 20
LEAST_ROWS_A_CLASS = 5
LONGEST_NAME = 40  # in a list of columns
# The sum of ten million squares of it is finite; beyond, R² and RMSE are not.
LARGEST_TARGET = 1e150
# Below, squares are rounded to 0, and every model would have an R² of 1.
LEAST_SPREAD = 1e-150
UNNAMED_TARGET = "target"  # the column of a target that has no name in Python
Kind = Literal["numeric", "categorical"]


def infer_task(y: Any) -> LearningTask:
    """Tell classification from regression by the target.

    Text, booleans and categories are classes. Numbers are classes if all are whole and there are
    only two of them, or at most 20 and on average at least five rows of each; every other column
    of numbers is a quantity. Name the task yourself where this is wrong.
    """
    values = _series(y).dropna()
    if not _is_number_column(values):
        return "classification"
    figures = values.to_numpy(dtype=float)
    if not bool(np.all(np.isfinite(figures) & (figures == np.round(figures)))):
        return "regression"
    distinct = len(np.unique(figures))
    few = distinct <= MOST_CLASSES and distinct * LEAST_ROWS_A_CLASS <= len(figures)
    return "classification" if distinct <= 2 or few else "regression"


def check_target(y: Any, task: LearningTask, left_out: int = 0) -> None:
    """Raise if nothing can be learned from a target: too few rows, one value, no numbers.

    `left_out` is the number of rows that do not count, as their weight is 0.
    """
    values = _series(y)
    beside = f" beside {say_count(left_out, 'row')} with a weight of 0" if left_out else ""
    if len(values) < 2:
        raise DataError(
            f"the target has {say_count(len(values), 'row')}{beside}.",
            hint="At least 2 are needed.",
        )
    refuse_rows(values.isna(), "the target is missing")
    if task == "classification":
        _check_classes(values, beside)
    else:
        _check_quantities(values, beside)


def _refuse_one_value(values: Any, kind: str, beside: str) -> None:
    if values.nunique() == 1:
        raise DataError(
            f"the target has one {kind} only{beside}: {say_value(values.iloc[0])}.",
            hint="Are the weights right?" if beside else "Is it the right column?",
        )


def quantities_of(target: Any, about: str, place: Place = row_of) -> Any:
    """Return the quantities of later rows as floats; raise for one that is none, or infinite.

    Numbers in plain text are quantities. In messages `about` names the target.
    """
    values = np.asarray(target)
    is_time = values.dtype.kind in "mM"  # as objects these are whole numbers
    found = [None if is_time else figure_of(value) for value in values.astype(object)]
    if None in found:
        row = found.index(None)
        raise DataError(
            f"{place(row)}: {about} holds {say_value(values[row])}, which is no plain number.",
            hint="Write every target as a number, such as 1234.5.",
        )
    figures = np.array(found, dtype=float)
    refuse_rows(~np.isfinite(figures), f"{about} is infinite or no number", place)
    return figures


def _check_classes(values: Any, beside: str) -> None:
    _refuse_damaged(values.unique())
    _refuse_one_value(values, "class", beside)
    classes = values.nunique()
    if classes == len(values) and len(values) > 2:
        raise DataError(
            f"the target has {len(values)} rows and no two in one class.",
            hint="Is it an identifier, or a number to predict by regression?",
        )
    if _is_number_column(values):
        figures = values.to_numpy(dtype=float)
        if not np.all(np.isfinite(figures)) or np.any(figures != np.round(figures)):
            raise DataError(
                "the target holds fractions or infinite numbers, which are no classes.",
                hint="Use regression, or turn it into text or whole numbers.",
            )


def _refuse_damaged(labels: Iterable[Any]) -> None:
    """Raise for a label that no file of a run can hold."""
    for label in labels:
        if isinstance(label, str) and (lack := no_file_keeps(label)):
            raise DataError(f"the target holds {label!a}, which has {lack}.", hint="Remove it.")


def _check_quantities(values: Any, beside: str) -> None:
    if not _is_number_column(values):
        raise DataError(
            f"the target holds values such as {say_value(values.iloc[0])}, which are no numbers.",
            hint="Use classification, or turn it into numbers.",
        )
    figures = values.to_numpy(dtype=float)
    refuse_rows(~np.isfinite(figures), "the target is infinite")
    refuse_rows(
        np.abs(figures) > LARGEST_TARGET,
        f"the target is beyond {LARGEST_TARGET:g}, where no squared error is finite,",
        hint="Are these values right? If so, divide the target by a power of ten.",
    )
    _refuse_one_value(values, "value", beside)
    if np.abs(figures).max() >= FIRST_INEXACT and np.ptp(figures) == 0:
        raise DataError(
            "the values of the target are whole numbers from 2**53 on, which are one as floats.",
            hint="Subtract the least from all of them.",
        )
    if np.ptp(figures) < LEAST_SPREAD:
        raise DataError(
            f"the values of the target differ by less than {LEAST_SPREAD:g}, where squared errors "
            "are rounded to 0.",
            hint="Multiply the target by a power of ten.",
        )


def _series(y: Any) -> Any:
    import pandas as pd

    if isinstance(y, pd.Series):
        return y
    values = np.asarray(y)
    if values.ndim != 1:
        raise DataError(f"the target must be one column, not an array of shape {values.shape}.")
    return pd.Series(values)


def _is_number_column(values: Any) -> bool:
    try:
        return _kind(values, "the target") == "numeric"
    except DataError:
        return False


def column_kinds(X: Any) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """Divide the columns of a table into numbers and categories.

    Both are column names, or positions for an array and for names other than text. Numbers of any
    width are numeric; text, booleans and categories are categorical. A column unfit for a pipeline
    raises a DataError with its name and the cure.
    """
    frame = frame_of(X)
    check_labels(frame)
    texts = hasattr(X, "columns") and all(isinstance(name, str) for name in frame.columns)
    labels = list(frame.columns) if texts else list(range(frame.shape[1]))
    kinds = [
        kind_of_column(frame.iloc[:, place], f"column '{name}'")
        for place, name in enumerate(frame.columns)
    ]
    pairs = list(zip(labels, kinds, strict=True))
    return (
        tuple(label for label, kind in pairs if kind == "numeric"),
        tuple(label for label, kind in pairs if kind == "categorical"),
    )


def has_gaps(X: Any, numeric: Iterable[Any]) -> bool:
    """Return True if a number is missing in one of these columns, by name or by position."""
    frame = frame_of(X)
    columns = (frame[name] if isinstance(name, str) else frame.iloc[:, name] for name in numeric)
    return any(bool(column.isna().any()) for column in columns)


def frame_of(X: Any) -> Any:
    """Return a frame, or an array as a frame; raise for anything else."""
    import pandas as pd

    if isinstance(X, pd.DataFrame):
        return X
    if not isinstance(X, np.ndarray):
        raise DataError(
            f"the features are a {type(X).__name__}.",
            hint="Give a pandas DataFrame or a numpy array.",
        )
    if X.ndim != 2:
        raise DataError(f"the features must be a table, not an array of shape {X.shape}.")
    return pd.DataFrame(X)


def check_classes(target: Any) -> None:
    """Raise if a target for a classifier holds no classes, but a quantity."""
    from sklearn.utils.multiclass import check_classification_targets

    try:
        check_classification_targets(target)
    except ValueError as problem:
        reason = str(problem).partition(". ")[0]
        raise DataError(
            f"{reason}: the target holds a quantity, not classes.",
            hint="Fit an AutoMLRegressor, or give the classes as text, by y.astype(str).",
        ) from problem


def check_labels(frame: Any) -> None:
    """Raise if columns have no names of one kind, or two share one."""
    names = list(frame.columns)
    if not names:
        raise DataError("the table has no columns to learn from.")
    texts = sum(isinstance(name, str) for name in names)
    # scikit-learn refuses mixed names, but only in the middle of a fit.
    if 0 < texts < len(names):
        other = next(name for name in names if not isinstance(name, str))
        raise DataError(
            f"some column names are text and others are not, such as {say_value(other)}.",
            hint="Rename: frame.columns = frame.columns.astype(str).",
        )
    if not frame.columns.is_unique:
        twice = frame.columns[frame.columns.duplicated()][0]
        raise DataError(f"two columns are named '{twice}'.", hint="Rename one.")
    check_characters(names)


def check_characters(names: Iterable[Any]) -> None:
    """Raise on a name that no file of a run can hold."""
    for name in names:
        if isinstance(name, str) and (lack := no_file_keeps(name)):
            raise DataError(f"the column name {name!a} has {lack}.", hint="Rename it.")


def kind_of_column(column: Any, title: str) -> Kind:
    """Return the kind of a column; raise, with its title, for one unfit for a pipeline."""
    kind = _kind(column, title)
    if kind == "numeric" and _has_infinite(column, title):
        raise DataError(
            f"{title} holds infinite numbers.", hint="Replace them by missing ones (NaN)."
        )
    return kind


def _has_infinite(column: Any, title: str) -> bool:
    try:
        return bool(np.isinf(figures_of(column)).any())
    except OverflowError as problem:
        raise DataError(
            f"{title} holds whole numbers beyond all floats.",
            hint="Make texts of them if they are codes, or divide them.",
        ) from problem


def figures_of(column: Any) -> Any:
    """Return the values of a column of numbers, NaN for missing ones; floats of numpy uncopied."""
    if isinstance(column.dtype, np.dtype) and column.dtype.kind == "f":
        return column.to_numpy()
    return column.to_numpy(dtype=float, na_value=np.nan)


def _kind(column: Any, title: str) -> Kind:
    from pandas import CategoricalDtype
    from pandas.api import types

    dtype = column.dtype
    # Before the numbers: to pandas a boolean is one.
    if isinstance(dtype, CategoricalDtype) or types.is_bool_dtype(dtype):
        return "categorical"
    if types.is_complex_dtype(dtype):
        raise DataError(f"{title} holds complex numbers.", hint="Part them into two columns.")
    if types.is_numeric_dtype(dtype):
        return "numeric"
    if types.is_object_dtype(dtype):
        return _object_kind(column, title)
    if types.is_string_dtype(dtype):
        return "categorical"
    raise DataError(
        f"{title} holds {dtype}, which no component takes.",
        hint="Turn it into numbers, such as the year or the days since a date, or drop it.",
    )


def _object_kind(column: Any, title: str) -> Kind:
    """Tell by the values: pandas keeps anything in a column of objects."""
    kinds = set(column.dropna().map(type))
    if all(issubclass(kind, (str, bool, np.bool_)) for kind in kinds):
        if len({issubclass(kind, str) for kind in kinds}) < 2:
            return "categorical"
    elif all(issubclass(kind, (numbers.Real, Decimal)) for kind in kinds):
        return "numeric"
    named = ", ".join(sorted(kind.__name__ for kind in kinds))
    mixed = any(issubclass(kind, str) for kind in kinds)
    raise DataError(
        f"{title} holds {named}.",
        hint="Make it all text with astype(str), or all numbers with pandas.to_numeric."
        if mixed
        else "Turn it into numbers or text, or drop it.",
    )


def check_columns(frame: Any, expected: Sequence[str]) -> Any:
    """Bring a table to predict into the shape of the training table.

    The order is restored, unknown columns are left out, and missing values become NaN; a missing
    column raises.
    """
    check_names(frame.columns, expected, frame.index.names)
    return plain_missing(frame[list(expected)])


def check_names(
    found: Sequence[str], expected: Sequence[str], index: Sequence[object] = ()
) -> None:
    """Raise if an expected column is missing; the hint has the name that may be meant, or all.

    `index` has the names of the table's index, in which the column may be.
    """
    names, wanted = set(found), set(expected)
    missing = [name for name in expected if name not in names]
    if missing:
        others = [name for name in found if name not in wanted]
        # Five are enough to see a pattern; a wide table may lack thousands.
        listed = ", ".join(f"'{name}'" for name in missing[:5])
        more = f" and {len(missing) - 5} more" if len(missing) > 5 else ""
        hint = nearest(missing[0], others) or _list_columns(found)
        if missing[0] in map(str, index):
            hint = f"'{missing[0]}' is the index of the table: reset_index() makes it a column."
        raise DataError(f"columns are missing: {listed}{more}.", hint=hint)


def _list_columns(found: Sequence[str], shown: int = 12) -> str | None:
    """List the columns of a table in their order; None if it has none."""
    # Of a file that was read wrongly all may be one name.
    listed = ", ".join(shorten(str(name), LONGEST_NAME) for name in list(found)[:shown])
    return f"The table has: {listed}{', …' if len(found) > shown else '.'}" if listed else None
