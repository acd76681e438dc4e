"""The words of pandas about a frame in a table of Arrow: its index, and its own types."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Sequence
from typing import Any

import numpy as np

KEY = b"pandas"
# An index without a name.
NAMELESS = re.compile(r"__index_level_\d+__")
# The rows of a table in its file from a number to another one, and the number of rows of the file.
Part = tuple[Sequence[tuple[int, int]], int]


def with_index_columns(table: Any, asked: Collection[str], part: Part | None = None) -> Any:
    """Return a table of Arrow in which an index is a column if its name is asked for.

    Without that pandas makes it the index of the frame again. Metadata that pandas cannot use are
    left out: other programs change the columns, and not what is said of them.
    """
    metadata = dict(table.schema.metadata or {})
    if KEY not in metadata:
        return table
    index = _index_in(metadata[KEY])
    wanted = [one for one in index if _name_of(one) in asked]
    changed = _with_columns(table, wanted, part or ([(0, len(table))], len(table)))
    if wanted:
        rest = [one for one in index if one not in wanted]
        said = json.dumps({**json.loads(metadata[KEY]), "index_columns": rest}).encode()
        changed = changed.replace_schema_metadata({**metadata, KEY: said})
    if _is_usable(changed.schema):
        return changed
    del metadata[KEY]
    left = [
        name
        for name in table.column_names
        if (NAMELESS.fullmatch(name) or name in index) and name not in wanted
    ]
    return changed.replace_schema_metadata(metadata).drop_columns(left)


def _index_in(written: bytes) -> list[Any]:
    """Return the columns that are an index, and ranges of which no column is kept."""
    try:
        return list(json.loads(written)["index_columns"])
    except (ValueError, KeyError, TypeError):
        return []


def _name_of(one: Any) -> str | None:
    name = one.get("name") if isinstance(one, dict) else one
    return name if isinstance(name, str) else None


def _with_columns(table: Any, wanted: Sequence[Any], part: Part) -> Any:
    """Return the table with a column of each range: even ids are one since pandas 3."""
    import pyarrow as pa

    pieces, rows = part
    for one in wanted:
        values = _range_of(one)
        if values is not None and len(values) == rows and one["name"] not in table.column_names:
            places = np.concatenate([np.arange(begin, end) for begin, end in pieces])
            numbers = pa.array(values.start + values.step * places)
            table = table.append_column(one["name"], numbers)
    return table


def _range_of(one: Any) -> range | None:
    try:
        return range(one["start"], one["stop"], one["step"])
    except (KeyError, TypeError, ValueError):
        return None


def _is_usable(schema: Any) -> bool:
    """Return True if pandas can use the metadata; a table without rows tells."""
    try:
        schema.empty_table().to_pandas()
    except Exception:  # noqa: BLE001 - stale metadata may fail anywhere in pandas and Arrow
        return False
    return True
