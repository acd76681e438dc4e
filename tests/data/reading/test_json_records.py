"""JSON: records a line or in one list; what is no record is told with its place."""

from __future__ import annotations

from pathlib import Path

import pytest

from automl_admm.core.errors import DataError
from automl_admm.data.reading.tables import read_table


def read(text: str, folder: Path) -> object:
    path = folder / "t.json"
    path.write_text(text)
    return read_table(path, keep_codes=True)


@pytest.mark.parametrize("text", ["{}\n{}\n{}\n", "[{}, {},\n {}]", "\ufeff\n {}\n\n{}\r\n{}"])
def test_records_are_rows_and_absent_names_are_gaps(text: str, tmp_path: Path) -> None:
    records = (
        '{"a": 1, "b": "007", "c": true, "e": null}',
        '{"b": "NA", "a": 2.5, "c": false}',
        '{"d": 9007199254740993, "c": true}',
    )
    for record in records:
        text = text.replace("{}", record, 1)
    frame = read(text, tmp_path)
    assert list(frame) == ["a", "b", "c", "e", "d"]
    assert frame["a"].fillna(0).tolist() == [1, 2.5, 0]
    assert frame["b"].tolist()[:2] == ["007", "NA"]
    assert frame["c"].dtype == bool
    assert frame["e"].isna().all()
    assert frame["e"].dtype == float


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"a": 1}\n\n{"a": 1,}\n', r"line 3: this is no JSON record"),
        ('{"a": 1}\n[1]\n', "line 2: a list or a single value, and no record"),
        ('{"a": 1, "a": 2}\n', "line 1: 'a' stands twice in a record. Give each"),
        ('[{"a": 1, "a": 2}]', "json: 'a' stands twice in a record. Give each"),
        ('[{"a": 1}, 3]', "record 2: a list or a single value"),
        ('[{"a": 1}, {"a"]', "is no JSON that can be read"),
        ("[[1, 2]]", "record 1: a list"),
        ('{"a": {"0": 1}, "b": {"0": 2}}', "holds columns, and no records"),
        ('{"a": [1, 2], "b": [3, 4]}', "holds columns, and no records"),
        ('{"a": ' + "[" * 100_000, "this is no JSON record"),
        ("[]", "no rows"),
        ("{}", "no rows"),
    ],
)
def test_what_is_no_record_is_told(text: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=said):
        read(text, tmp_path)
