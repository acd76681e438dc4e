"""An index of pandas in a table of Arrow, and metadata that other programs have made stale."""

from __future__ import annotations

import json
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest

from automl_admm.data.exact_arrays import frame_of_arrow

LARGE = 2**53 + 1


def indexed() -> pd.DataFrame:
    frame = pd.DataFrame({"id": ["a", "b", "c"], "big": pd.array([LARGE, None, 3], dtype="Int64")})
    frame["town"] = pd.Categorical(["Ulm", "Bonn", "Ulm"])
    return frame.assign(x=[1.5, 2.5, 3.5])


@pytest.mark.parametrize(
    ("index", "asked", "columns", "left"),
    [
        ("id", (), ["big", "town", "x"], ["id"]),
        ("id", ("x", "other"), ["big", "town", "x"], ["id"]),
        ("id", ("id",), ["big", "town", "x", "id"], [None]),
        (["id", "x"], ("x",), ["big", "town", "x"], ["id"]),
        (["id", "x"], frozenset({"id", "x"}), ["big", "town", "id", "x"], [None]),
        ("town", ("town",), ["id", "big", "x", "town"], [None]),
    ],
)
def test_an_index_is_a_column_if_its_name_is_asked_for(
    index: str | list[str], asked: tuple[str, ...], columns: list[str], left: list[str | None]
) -> None:
    found = frame_of_arrow(pa.Table.from_pandas(indexed().set_index(index)), asked)
    assert list(found) == columns
    assert list(found.index.names) == left
    for name in columns:
        assert found[name].tolist()[::2] == indexed()[name].tolist()[::2]
    assert found.dtypes["town"] == indexed().dtypes["town"]


def test_an_index_without_a_name_is_no_column() -> None:
    for index in (pd.Index([5, 7, 6]), pd.RangeIndex(3)):
        table = pa.Table.from_pandas(indexed().set_index(index))
        assert list(frame_of_arrow(table, ("None", "id"))) == list(indexed())


def test_a_range_that_is_the_index_is_a_column_of_the_rows_it_was_written_for() -> None:
    table = pa.Table.from_pandas(indexed().set_index(pd.RangeIndex(8, 2, -2, name="row")))
    assert frame_of_arrow(table, ("row",))["row"].tolist() == [8, 6, 4]
    assert list(frame_of_arrow(table)) == list(indexed())
    part = frame_of_arrow(table.slice(1, 2), ("row",), ([(1, 3)], 3))
    assert part["row"].tolist() == [6, 4]
    # Another program has deleted a row.
    assert "row" not in frame_of_arrow(table.slice(1, 2), ("row",))


def test_an_index_of_large_whole_numbers_keeps_them_beside_gaps() -> None:
    table = pa.Table.from_pandas(indexed().set_index("big"))
    assert frame_of_arrow(table, ("big",))["big"].tolist()[::2] == [LARGE, 3]


def with_metadata(said: Any) -> pa.Table:
    written = said if isinstance(said, bytes) else json.dumps(said).encode()
    return written_table().replace_schema_metadata({"pandas": written})


def written_table() -> pa.Table:
    return pa.Table.from_pandas(indexed().set_index("id"))


def said_of(column: str, **changes: Any) -> dict[str, Any]:
    said: dict[str, Any] = json.loads(written_table().schema.metadata[b"pandas"])
    for one in said["columns"]:
        if one["name"] == column:
            one.update(changes)
    return said


WHOLE = said_of("x")
NO_JSON = (b"{nope", b"\xff\xfe", b"", b"[]", b"{}", b'{"index_columns": 3}')
STALE = {
    "an absent index": WHOLE | {"index_columns": ["gone"]},
    "an odd index": WHOLE | {"index_columns": [{"kind": "odd"}]},
    "no range": WHOLE | {"index_columns": [{"kind": "range", "name": "x", "step": "2"}]},
    "a number": WHOLE | {"index_columns": [0]},
    "no word of the index": WHOLE | {"columns": WHOLE["columns"][:-1]},
    "no columns": {"index_columns": ["id"]},
    "another type": said_of("town", numpy_type="Int64"),
    "an unknown type": said_of("town", numpy_type="foo[bar]"),
    "no type": said_of("x", numpy_type=None),
    "other names": WHOLE | {"column_indexes": [{"pandas_type": "int64", "numpy_type": "int64"}]},
}


@pytest.mark.parametrize("written", NO_JSON)
def test_metadata_that_cannot_be_read_are_left_out(written: bytes) -> None:
    found = frame_of_arrow(with_metadata(written))
    assert found["id"].tolist() == indexed()["id"].tolist()
    assert found["big"].tolist()[::2] == [LARGE, 3]
    assert found.dtypes["town"] == indexed().dtypes["town"]


@pytest.mark.parametrize("said", STALE.values(), ids=STALE)
def test_stale_metadata_are_left_out(said: dict[str, Any]) -> None:
    found = frame_of_arrow(with_metadata(said), ("id",))
    assert set(found) == set(indexed())
    for name in found:
        assert found[name].tolist()[::2] == indexed()[name].tolist()[::2]


def test_an_index_in_stale_metadata_is_no_column_unless_it_is_asked_for() -> None:
    said = said_of("town", numpy_type="foo[bar]")
    assert list(frame_of_arrow(with_metadata(said))) == ["big", "town", "x"]
    table = pa.Table.from_pandas(indexed().set_index(pd.Index([5, 7, 6])))
    nameless = table.replace_schema_metadata({"pandas": "{nope"})
    assert list(frame_of_arrow(nameless)) == list(indexed())
