"""Rows may end with a carriage return alone: no cell moves to another column by it."""

from __future__ import annotations

import csv
import io
from dataclasses import replace
from itertools import permutations, product
from pathlib import Path

import pandas as pd
import pytest

from automl_admm.core.errors import DataError
from automl_admm.data.reading import line_ends
from automl_admm.data.reading.file_options import NO_OPTIONS
from automl_admm.data.reading.line_ends import has_returns_alone, with_newlines
from automl_admm.data.reading.plain_files import never_late
from automl_admm.data.reading.tables import read_table
from automl_admm.runs.finish.script.table_parts import with_newlines as with_newlines_in

ROWS = ["1.0,2.0", "", ",2.0", ",", "", "", '"a\rb",-2.0', ",7"]
LINES = ["", ",", ",2", "1,", "x,y", '"",', '5" x,1', '5" x,"y z"']

# Every line after every other one, and some that stand between two.
THREES = list(product(LINES, repeat=3))[::11]


def written(path: Path, text: str) -> Path:
    path.write_bytes(text.encode())
    return path


@pytest.mark.parametrize("end", ["\r", "\r\n", "\r\r\n"], ids=["old Mac", "Windows", "doubled"])
def test_no_cell_moves_by_the_end_of_a_line(end: str, tmp_path: Path) -> None:
    plain = written(tmp_path / "plain.csv", "\n".join(["a,b", *ROWS, ""]))
    other = written(tmp_path / "other.csv", end.join(["a,b", *ROWS, ""]))
    found = read_table(other)
    pd.testing.assert_frame_equal(found, read_table(plain))
    assert found["b"].tolist()[1] == 2.0
    assert found["a"].tolist()[-2] == "a\rb"


def test_every_short_table_is_the_same_with_each_end(tmp_path: Path) -> None:
    for number, lines in enumerate([*product(LINES, repeat=2), *THREES]):
        text = "\n".join(["a,b", *lines, "3,4", ""])
        first = read_table(written(tmp_path / f"n{number}.csv", text))
        second = read_table(written(tmp_path / f"r{number}.csv", text.replace("\n", "\r")))
        pd.testing.assert_frame_equal(first, second)


CELLS = (
    *('1,5" pipe', '1,"5"" pipe"', '1, "a\rb"', '1,"a"b"', '1,"",', '"\r""\r",5"', '1,""""'),
    *('1,"', '1, 5" a,"\rb"', '  "\r"', '1,"\r",\' "'),
)


@pytest.mark.parametrize("size", [1, 2, 3, 1 << 20])
@pytest.mark.parametrize("cells", CELLS)
def test_a_quote_opens_a_cell_only_at_its_start(
    cells: str, size: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The reader of the standard library tells the carriage returns within a cell."""
    monkeypatch.setattr(line_ends, "BLOCK", size)
    text = f'{cells}\r\r,7 pipe\r"x\r",5\r'
    made = b"".join(with_newlines(written(tmp_path / "t.csv", text))).decode()
    read = [
        list(csv.reader(io.StringIO(one, newline=""), skipinitialspace=True))
        for one in (text, made, with_newlines_in(text, ","))
    ]
    assert read[0] == read[1] == read[2]
    within = sum(cell.count("\r") for row in read[0] for cell in row)
    assert (made.count("\r"), len(made)) == (within, len(text))


def test_a_sign_of_inches_moves_no_cell(tmp_path: Path) -> None:
    rows = ["a,b,c", '1,5" pipe,x', ",7,z", "", ",p,q", '7,"m\rn",t', ""]
    plain = read_table(written(tmp_path / "plain.csv", "\n".join(rows)))
    other = read_table(written(tmp_path / "other.csv", "\r".join(rows)))
    pd.testing.assert_frame_equal(other, plain)
    assert plain["b"].tolist() == ['5" pipe', "7", "p", "m\rn"]


def test_a_return_alone_within_single_quotes_is_a_newline(tmp_path: Path) -> None:
    path = written(tmp_path / "t.csv", "'x','n'\n'1','a\rb'\n'2','c'\n")
    assert read_table(path)["n"].tolist() == ["a\nb", "c"]


def test_a_quote_after_another_sign_than_the_named_separator_is_a_sign(tmp_path: Path) -> None:
    path = written(tmp_path / "t.csv", 'a;b\r1;x,"\r;3\r')
    found = read_table(path, options=replace(NO_OPTIONS, separator=";"))
    assert found["b"].tolist() == ['x,"', "3"]


@pytest.mark.parametrize("above", ["", "# of 2020; by hand | twice"], ids=["", "comment"])
@pytest.mark.parametrize(("sign", "other"), [*permutations(",;\t|", 2)])
def test_after_a_sign_that_parts_no_columns_a_quote_opens_no_cell(
    sign: str, other: str, above: str, tmp_path: Path
) -> None:
    """Nobody names the separator: the first rows tell it."""
    rows = [["a", "b", "c"], ["1", f'size{other} "L', "x"], ["", "7", "z"], [], ["", "p", "q"]]
    lines = [*filter(None, [above]), *map(sign.join, rows), ""]
    plain = read_table(written(tmp_path / "plain.csv", "\n".join(lines)))
    pd.testing.assert_frame_equal(
        read_table(written(tmp_path / "other.csv", "\r".join(lines))), plain
    )
    assert plain["b"].tolist() == [f'size{other} "L', "7", "p"]


@pytest.mark.parametrize("size", [1, 2, 3, 1 << 20])
def test_lines_keep_their_places(
    size: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(line_ends, "BLOCK", size)
    path = written(tmp_path / "t.csv", '\ufeffa,b\r\r"x\r""\r\n",1\r\n\r,2\r')
    assert has_returns_alone(path, never_late)
    made = b"".join(with_newlines(path)).decode()
    assert made == '\ufeffa,b\n\n"x\r""\r\n",1\r\n\n,2\n'


def test_a_file_with_newlines_is_taken_as_it_stands(tmp_path: Path) -> None:
    path = written(tmp_path / "t.csv", 'a,b\r\n"x\ry",1\r\n\n')
    assert not has_returns_alone(path, never_late)


def test_a_mistake_has_its_line(tmp_path: Path) -> None:
    path = written(tmp_path / "t.csv", "a,b\r1,2\r\r3\r")
    with pytest.raises(DataError, match=r"t\.csv, line 4: 1 field"):
        read_table(path, options=NO_OPTIONS)
