"""The schema of the training table, followed by every later reading of a table.

A file does not define its types: `True` is text in one column and a boolean in another, `007` a
number or a code, `NA` a gap or a country. A new guess from other rows gives other types, and a
model with other types answers wrongly without an error. So the schema is saved beside the model.
"""

from __future__ import annotations

import numbers
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any, Literal, get_args

import numpy as np

from automl_admm.core.errors import StoreError
from automl_admm.data.narrow_floats import NARROW, WIDE, float_of_values
from automl_admm.data.plain_types import exact_whole

Content = Literal["boolean", "number", "text", "other"]

# Texts that mean a missing value in a CSV file, unless they were values when it was trained.
MISSING_TEXTS = frozenset(
    {
        *("", "?", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND"),
        *("1.#QNAN", "<NA>", "N/A", "NA", "NULL", "NaN", "None", "n/a", "nan", "null"),
    }
)


# The key of the decimal sign of the training file, of text files with commas alone.
DECIMAL = "decimal"


@dataclass(frozen=True, slots=True)
class Column:
    """A column as it was in training.

    `holds` is the kind of its cells, `other` if the ingest alone reads them or nobody does, and
    `dtype` their type in pandas. A column of the type `category` has its `categories`, with the
    digits of wide floats: `float_type` is that of training. `texts` are its values with the look of
    a missing value, and `has_gaps` is True if some values were missing.
    """

    name: Any
    holds: Content
    dtype: str
    categories: tuple[Any, ...] | None = None
    is_ordered: bool = False
    texts: tuple[str, ...] = ()
    has_gaps: bool = False
    float_type: str = WIDE

    def describe(self) -> dict[str, Any]:
        """Return it as plain JSON data, defaults left out."""
        described: dict[str, Any] = {
            # JSON knows no integers of numpy.
            "name": int(self.name) if isinstance(self.name, numbers.Integral) else str(self.name),
            "holds": self.holds,
            "dtype": self.dtype,
        }
        if self.categories is not None:
            described |= {"categories": list(self.categories), "is_ordered": self.is_ordered}
        if self.texts:
            described["texts"] = list(self.texts)
        if self.has_gaps:
            described["has_gaps"] = True
        if self.float_type != WIDE:
            described["float"] = self.float_type
        return described


@dataclass(frozen=True, slots=True)
class Schema:
    """The columns of a table in their order; those of a plain array have their places as names.

    With `had_commas` the training file had decimal commas.
    """

    columns: tuple[Column, ...]
    is_named: bool = True
    had_commas: bool = False

    def part(self, names: Iterable[Any]) -> Schema:
        """Return the schema of some of the columns."""
        wanted = set(map(str, names))
        chosen = tuple(column for column in self.columns if str(column.name) in wanted)
        return replace(self, columns=chosen)

    def leaving(self, names: Iterable[Any]) -> Schema:
        """Return the schema without a word on the values of some columns: others read them."""
        raw = set(map(str, names))
        columns = (
            replace(column, holds="other", categories=None) if str(column.name) in raw else column
            for column in self.columns
        )
        return replace(self, columns=tuple(columns))

    def by_name(self) -> dict[str, Column]:
        """Return the columns by their names, as a file has them."""
        return {str(column.name): column for column in self.columns}

    def describe(self) -> list[dict[str, Any]]:
        """Return it as JSON can hold it."""
        return [column.describe() for column in self.columns]


def schema_of(frame: Any, *, is_named: bool = True) -> Schema:
    """Return the schema of a frame."""
    return Schema(tuple(_column(name, column) for name, column in frame.items()), is_named)


def _column(name: Any, column: Any) -> Column:
    from pandas import CategoricalDtype

    dtype, categories, is_ordered = column.dtype, None, False
    holds = content_of(column)
    if isinstance(dtype, CategoricalDtype) and holds != "other":  # JSON has no dates, for example
        categories = tuple(map(_plain_category, dtype.categories))
        is_ordered = bool(dtype.ordered)
    texts = sorted(MISSING_TEXTS.intersection(column.unique())) if holds == "text" else ()
    # Later an empty field can only be told from a gap if training had just one of them.
    gaps = bool(column.isna().any())
    kind = WIDE if categories is None else float_of_values(column)
    return Column(name, holds, str(dtype), categories, is_ordered, tuple(texts), gaps, kind)


def _plain_category(category: Any) -> Any:
    """Return it as JSON can hold it."""
    if isinstance(category, Decimal):
        whole = exact_whole(category)
        return float(category) if whole is None else whole
    return category.item() if isinstance(category, np.generic) else category


def content_of(column: Any) -> Content:
    """Return the kind of the cells of a column, missing ones aside."""
    from pandas import CategoricalDtype
    from pandas.api import types

    if isinstance(column.dtype, CategoricalDtype):
        return content_of(column.dtype.categories.to_series())
    dtype = column.dtype
    if types.is_bool_dtype(dtype):
        return "boolean"
    if types.is_numeric_dtype(dtype):
        return "other" if types.is_complex_dtype(dtype) else "number"
    if types.is_object_dtype(dtype):
        return _of_objects(column)
    return "text" if types.is_string_dtype(dtype) else "other"


def _of_objects(column: Any) -> Content:
    kinds = set(column.dropna().map(type))
    if all(issubclass(kind, str) for kind in kinds):
        return "text"
    if all(issubclass(kind, (bool, np.bool_)) for kind in kinds):
        return "boolean"
    if all(issubclass(kind, (numbers.Real, Decimal)) for kind in kinds):
        return "number"
    return "other"


def read_schema(manifest: Mapping[str, Any]) -> Schema:
    """Return the schema of a manifest."""
    try:
        columns = tuple(map(_read_column, manifest["schema"]))
        return Schema(columns, had_commas=had_decimal_commas(manifest))
    except (KeyError, TypeError, ValueError, AttributeError) as problem:
        raise StoreError(
            f"the schema of the run's table makes no sense: {problem!r}.",
            hint="It was changed after the run: fit again.",
        ) from problem


def had_decimal_commas(manifest: Mapping[str, Any]) -> bool:
    """Return True if the training file of a model had decimal commas."""
    return manifest.get(DECIMAL) == ","


def _read_column(described: Mapping[str, Any]) -> Column:
    name, holds, dtype = (described[key] for key in ("name", "holds", "dtype"))
    if holds not in get_args(Content) or not isinstance(dtype, str):
        raise ValueError(f"column {name!r} holds {holds!r} of {dtype!r}")
    categories, kind = described.get("categories"), described.get("float", WIDE)
    if kind not in (*NARROW, WIDE):
        raise ValueError(f"column {name!r} has numbers in {kind!r}")
    return Column(
        name,
        holds,
        dtype,
        None if categories is None else _hashable(categories),
        bool(described.get("is_ordered", False)),
        tuple(map(str, described.get("texts", ()))),
        bool(described.get("has_gaps", False)),
        kind,
    )


def _hashable(categories: Sequence[Any]) -> tuple[Any, ...]:
    found = tuple(categories)
    if len(set(found)) < len(found):
        raise ValueError("a category stands twice")
    return found
