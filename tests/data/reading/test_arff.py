"""ARFF files: types by their header, quotes and escapes, and mistakes with their line."""

from __future__ import annotations

from pathlib import Path

import pytest

from automl_admm.core.errors import DataError
from automl_admm.data.reading.tables import read_table

HEADER = """% made by hand
@RELATION 'my table'
@attribute 'a b' NUMERIC
@attribute n integer
@attribute kind {x, 'y, z', "it's"}
@attribute flag {TRUE,FALSE}
@attribute note string
@attribute day date "yyyy-MM-dd"
@attribute code {007, 7}

@DATA
"""


def read(rows: str, folder: Path, header: str = HEADER) -> object:
    path = folder / "t.arff"
    path.write_text(header + rows)
    return read_table(path, keep_codes=True)


def test_values_have_the_types_of_their_attributes(tmp_path: Path) -> None:
    frame = read(
        "1.5, 2, x, TRUE, 'a, \\'b\\'', \"2024-01-31\", 007\n"
        "\n% between\n"
        "?,3,'y, z',FALSE,'?',?,7\n"
        '-1e3,?,"it\'s",TRUE,two words,2024-02-01,007\n',
        tmp_path,
    )
    assert list(frame) == ["a b", "n", "kind", "flag", "note", "day", "code"]
    assert frame["a b"].fillna(0).tolist() == [1.5, 0, -1000]
    assert frame["n"].fillna(0).tolist() == [2, 3, 0]
    assert frame["kind"].tolist() == ["x", "y, z", "it's"]
    assert frame["flag"].dtype == bool
    assert frame["note"].tolist() == ["a, 'b'", "?", "two words"]
    assert frame["day"].isna().tolist() == [False, True, False]
    assert frame["code"].tolist() == ["007", "7", "007"]


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ("{0 1.5, 2 x}\n", "line 12: sparse rows of ARFF are not read"),
        ("1,2,x,TRUE,n,d\n", "line 12: 6 values, but the header has 7 attributes"),
        ("1,2,x,TRUE,n,d,7,{5}\n", "line 12: 8 values.*weights as a column"),
        ("1,2,x,TRUE,n,d,7\n\n%\n1,2,'x,TRUE,n,d,7\n", "line 15: there is a quote without"),
        ("1,2,x,TRUE,n,d,7\none,2,x,TRUE,n,d,7\n", "line 13: 'one' in the numeric attribute 'a b'"),
        ("1_0,2,x,TRUE,n,d,7\n", "line 12: '1_0' in the numeric"),
        ("", "holds a header and no rows"),
    ],
)
def test_mistakes_in_rows_have_their_line(rows: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=said):
        read(rows, tmp_path)


@pytest.mark.parametrize(
    ("header", "said"),
    [
        ("@relation r\n@attribute a numeric\n", "has no @data"),
        ("@relation r\n@data\n1\n", "declares no attribute"),
        ("@relation r\n@attribute a relational\n@data\n1\n", "line 2: attributes of the type 'rel"),
        ("@relation r\n@attribute a\n@data\n1\n", "line 2: this declares no attribute"),
    ],
)
def test_mistakes_in_a_header_are_told(header: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=said):
        read("", tmp_path, header)
