"""Rows for a saved model, from files or from memory, in the form of its training rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from automl_admm.core.errors import DataError, StoreError
from automl_admm.core.messages import say_count
from automl_admm.data.columns import check_columns
from automl_admm.data.conforming import Place, conform, row_of, with_gaps_by_texts
from automl_admm.data.ingest.applying import make_columns
from automl_admm.data.ingest.records import Ingest, read_ingest
from automl_admm.data.plain_columns import plain_missing
from automl_admm.data.plain_types import inferred_columns
from automl_admm.data.python_rows import plain_rows
from automl_admm.data.reading.chunks import read_chunks
from automl_admm.data.reading.file_options import NO_OPTIONS, FileOptions
from automl_admm.data.reading.named_encoding import NamedEncoding
from automl_admm.data.reading.tables import (
    place_in,
    read_table,
    without_infinities,
)
from automl_admm.data.table_schema import Schema, had_decimal_commas, read_schema
from automl_admm.data.unique_names import with_unique_names
from automl_admm.runs.finish.model_file import encoding_before
from automl_admm.store.json_content import RESTORE


@dataclass(frozen=True)
class TrainedRows:
    """The form of a model's rows: their columns in order, and the schema of the training table.

    An `ingest` makes other columns of them for the model; it may leave some of the user's columns
    out, which need not be there then.

    A model of an array is given an array again: sums of the same numbers in another order of memory
    differ in their last digit. With `had_commas` the training file had decimal commas, and
    `encoding` is the one that the user named for it. `known` are all columns of the training table.
    """

    columns: tuple[str, ...]
    schema: Schema
    is_array: bool = False
    ingest: Ingest | None = None
    had_commas: bool = False
    known: frozenset[str] | None = None
    encoding: NamedEncoding | None = None

    @classmethod
    def of_model(cls, manifest: Mapping[str, Any]) -> TrainedRows:
        """Return the form that a manifest describes."""
        columns, schema = tuple(manifest["columns"]), read_schema(manifest)
        known = frozenset(schema.by_name())
        unknown = [name for name in columns if name not in known]
        if unknown:
            raise StoreError(
                f"the schema of the run's table has no column '{unknown[0]}'.", hint=RESTORE
            )
        schema, ingest = schema.part(columns), read_ingest(manifest)
        had_commas, encoding = had_decimal_commas(manifest), encoding_before(manifest)
        return cls(columns, schema, manifest["is_array"], ingest, had_commas, known, encoding)

    def read(self, data: Path, options: FileOptions = NO_OPTIONS) -> Any:
        """Return the rows of a file."""
        options = self._completed(options)
        rows = read_table(data, schema=self.schema, options=options)
        return self._in_order(rows, place_in(data, options))

    def read_chunks(
        self, data: Path, options: FileOptions = NO_OPTIONS, keep: Sequence[str] = ()
    ) -> Iterator[tuple[Any, Any]]:
        """Yield the rows of a file piece by piece, each with its columns to keep (None: none)."""
        options = replace(self._completed(options), sole=keep)
        for chunk in read_chunks(data, self.schema, keep, options):
            yield self._in_order(chunk.frame, chunk.place), chunk.kept if keep else None

    def _completed(self, options: FileOptions) -> FileOptions:
        """Add what is known of the training file."""
        return replace(
            options,
            had_commas=self.had_commas,
            known=self.known,
            encoding_before=self.encoding,
        )

    def take(self, X: Any) -> Any:
        """Return rows given in Python: a frame by its names, an array by its places.

        They mean what they mean in a file: texts such as NA are missing unless they were values in
        training, and infinite numbers are missing.
        """
        frame = self._as_frame(X if hasattr(X, "iloc") else plain_rows(X))
        if not len(frame):
            raise DataError("X holds a header and no rows.")
        frame = conform(with_gaps_by_texts(plain_missing(frame), self.schema), self.schema)
        return self._in_order(without_infinities(frame))

    def named(self, frame: Any) -> Any:
        """Return a frame with the names of columns that a file of it has."""
        texts = frame.set_axis([str(name) for name in frame.columns], axis=1)
        return with_unique_names(texts, known=self.known)[0]

    def _as_frame(self, X: Any) -> Any:
        import pandas as pd

        if isinstance(X, pd.DataFrame):
            return self._named(X)
        names = self.columns if self.ingest is None else tuple(self.ingest.by_name())
        shape, wanted = np.shape(X), len(names)
        if len(shape) != 2:
            raise DataError(
                f"the rows are a {type(X).__name__} of shape {shape}, and no table.",
                hint="Give a frame, or an array with a line for each row.",
            )
        if shape[1] != wanted:
            found = say_count(shape[1], "column")
            raise DataError(f"the rows have {found}, and in training they had {wanted}.")
        return inferred_columns(pd.DataFrame(np.asarray(X), columns=list(names)))

    def _named(self, frame: Any) -> Any:
        """Return the columns of the model under the names of a file."""
        named = self.named(frame)
        wanted = named.loc[:, named.columns.isin(self.columns)]
        # A missing column is told with the names that might be meant.
        return wanted if len(wanted.columns) == len(self.columns) else named

    def _in_order(self, frame: Any, place: Place = row_of) -> Any:
        """Return the columns of training in their order, with the names of training."""
        ordered = check_columns(frame, self.columns)
        if self.ingest is not None:
            return make_columns(ordered, self.ingest, place)
        names = self.schema.by_name()
        named = ordered.set_axis([names[name].name for name in self.columns], axis=1)
        return _as_array(named, self.schema) if self.is_array else named


def _as_array(frame: Any, schema: Schema) -> Any:
    """Return rows as `fit` has them of an array: of numbers, or of objects if there are others."""
    is_numeric = all(column.holds == "number" for column in schema.columns)
    return np.ascontiguousarray(frame.to_numpy(dtype=None if is_numeric else object))
