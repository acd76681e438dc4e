"""Comments, single quotes and blanks: read where they are sure, and what they are not, is not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from automl_admm.core.errors import DataError
from automl_admm.data.reading.file_options import file_options
from automl_admm.data.reading.tables import read_table
from automl_admm.data.reading.timed_reading import read_again, read_in_time


def read(text: str, folder: Path, **said: str) -> tuple[list[list[Any]], list[str]]:
    path, told = folder / "t.csv", list[str]()
    path.write_text(text)
    frame = read_table(path, keep_codes=True, options=file_options(**said, tell=told.append))
    return [list(frame), *frame.astype(object).to_numpy().tolist()], told


@pytest.mark.parametrize(
    ("text", "rows", "said"),
    [
        ("# made by hand\n#\na,b\n1,2\n# end of\n", [["a", "b"], [1, 2]], "comment lines"),
        ("# a, b\nc;d\n1;2\n", [["c", "d"], [1, 2]], "comment lines, semicolons"),
        ("# x, y\nc,d\n1,p\n2,q\n", [["c", "d"], [1, "p"], [2, "q"]], "comment lines"),
        (
            'a,b\n1,"x\n# y"\n# no row\n2,z\n',
            [["a", "b"], [1, "x\n# y"], [2, "z"]],
            "comment lines",
        ),
        ("# made by hand\n#id,y\n1,2\n", [["#id", "y"], [1, 2]], "comment lines"),
        ("#id,y\n1,2\n", [["#id", "y"], [1, 2]], ""),
        ("tag,y\n#a,1\n#b,2\n", [["tag", "y"], ["#a", 1], ["#b", 2]], ""),
        ("sep=;\na;b\n1;2\n", [["a", "b"], [1, 2]], "a line that names the separator, semicolons"),
        ("'a, b','c'\n'1, 2',3\n", [["a, b", "c"], ["1, 2", 3]], "single quotes"),
        ("a;b\n1;'x; y'\n2;'z'\n", [["a", "b"], [1, "x; y"], [2, "z"]], "single quotes"),
        ("a,b\n1,it's\n2,'tis\n", [["a", "b"], [1, "it's"], [2, "'tis"]], ""),
        (
            "a  b   c\n 1 2.5  x\n10   3 y\n",
            [["a", "b", "c"], [1, 2.5, "x"], [10, 3, "y"]],
            "blanks",
        ),
        ("a b\n1 2\n? 4\n", [["a", "b"], [1, 2], [None, 4]], "blanks"),
        ('a b c\n1 2 "x y"\n', [["a", "b", "c"], [1, 2, "x y"]], "blanks"),
        ("full name\nAda L\nAlan T\n", [["full name"], ["Ada L"], ["Alan T"]], ""),
        ("street no\nMain 5\nElm 7\n", [["street no"], ["Main 5"], ["Elm 7"]], ""),
        ("a code no\nx 1_0 5\ny 2_0 7\n", [["a code no"], ["x 1_0 5"], ["y 2_0 7"]], ""),
        ("first name,y\nAda L,1\n", [["first name", "y"], ["Ada L", 1]], ""),
    ],
)
def test_what_is_sure_is_read(text: str, rows: list[list[Any]], said: str, tmp_path: Path) -> None:
    found, told = read(text, tmp_path)
    assert [[None if pd.isna(cell) else cell for cell in row] for row in found] == rows
    assert told == ([f"t.csv: {said}"] if said else [])


def test_blanks_are_separators_if_the_user_says_so(tmp_path: Path) -> None:
    assert read("street no\nMain 5\n", tmp_path, separator="blanks")[0] == [
        ["street", "no"],
        ["Main", 5],
    ]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("# one\na,b\n1,2\n# two\n1,2,3\n", "line 5: 3 fields"),
        ("'a','b'\n'1','x, y'\n'1','2','3'\n", "line 3: 3 fields|line 2: 3 fields"),
        ("# one\na,b\n1,2\n# x, y\n", "line 4 begins with #: is it a comment, or a row"),
    ],
)
def test_mistakes_have_the_lines_of_the_source(text: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=said) as caught:
        read(text, tmp_path)
    assert str(caught.value).startswith(str(tmp_path / "t.csv"))


def test_text_that_is_not_what_the_user_says_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(b"# one\na,b\n1,\xe9\n")
    with pytest.raises(DataError, match=r"t\.csv cannot be read: 'utf-8' codec"):
        read_table(path, options=file_options(encoding="utf-8"))


def test_a_share_of_a_file_with_comments_is_read_again(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("# made by hand\nn,y\n" + "".join(f"{i},{i % 7}\n" for i in range(300_000)))
    frame, share = read_in_time(path, 0.0)
    assert share is not None
    assert 0 < len(frame) < 300_000
    assert (frame["y"] == frame["n"] % 7).all()
    assert read_again(path, None, share).equals(frame)
