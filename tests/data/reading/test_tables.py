"""Reading files: what is right is read as it stands, what is wrong is named with its line."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from automl_admm.core.errors import DataError
from automl_admm.data.columns import check_columns
from automl_admm.data.reading.csv_rows import check_header, line_of
from automl_admm.data.reading.dialects import COMMAS
from automl_admm.data.reading.tables import read_table, split_target
from automl_admm.data.sample_table import shipped_table
from automl_admm.data.table_schema import schema_of


@pytest.fixture
def write(tmp_path):
    def write(content, name="table.csv"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


def test_missing_values_are_read_as_missing(write):
    frame = read_table(write("a,b,c\n1,?,x\n,NA, y\n3,2.5,\n"))
    assert frame["a"].isna().tolist() == [False, True, False]
    assert frame["b"].dtype == float
    assert frame["c"].tolist()[:2] == ["x", "y"]
    assert frame.isna().sum().sum() == 4


def test_infinite_numbers_are_missing(write):
    frame = read_table(write("a,b\n1,inf\n2,-inf\n3,1.5\n"))
    assert frame["b"].isna().tolist() == [True, True, False]
    assert np.isfinite(frame["a"]).all()


def test_a_mark_at_the_start_belongs_to_no_name(write):
    assert list(read_table(write("\ufeffa,b\n1,2\n"))) == ["a", "b"]


def test_quotes_blank_lines_and_line_ends_are_read(write):
    frame = read_table(write('a,"b,c"\r\n1,"x\r\ny"\r\n\r\n2,"he said ""no"""\r\n'))
    assert list(frame.columns) == ["a", "b,c"]
    assert frame["b,c"].tolist() == ["x\r\ny", 'he said "no"']


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty"),
        (b"a,b\n", "a header and no rows"),
        (b"\n\n", "holds no header"),
        (b"a,b\n1,2\n3\n", "line 3: 1 field, but the header has 2"),
        (b"a,b\n1,2\n\n1,2,3\n", "line 4: 3 fields"),
        (b"a,b\n1,2,3\n4,5,6\n", "line 2: 3 fields"),
        (b'a,b\n1,"2\n3,4\n', "line 3: unexpected end of data"),
        (b"a;b\n1;2;3\n", "line 2: 3 fields.* a needless semicolon"),
        (
            b"a,b\n" + b"1,K\xc3\xb6ln\n" * 200 + b"2,K\xf6ln\n1,x\n",
            r"UTF-8 text for the most part, but not in line 202 \(byte 0xf6\)\. Correct that line",
        ),
        (b"a,b\n" + b"1,\xc3\x81\n" * 9 + b"2,\xe9\n", r"but not in line 11 \(byte 0xe9\)"),
        # A sign stands in two blocks of reading, which is no mistake of the file.
        (b"a,b\n" + b"1,\xc3\xa9" * 300_000 + b"\n2,\xe9\n", r"not in line 3 \(byte 0xe9\)"),
        (b"a,b\n" + b"1,2\n" * 9000 + b"3,\x81\n", "line 9002: this is neither UTF-8"),
        (b"a,b\n1,\xe9\x00\n", "is no text, and no table of a known kind"),
        (b"\x1f\x8b\x08\x00rubbish", "is cut off or damaged: it cannot be unpacked"),
        (b"a,b\n1," + b"x" * 200_000 + b"\n", "field larger than field limit"),
    ],
)
def test_what_is_wrong_with_a_file_is_said(write, content, message):
    with pytest.raises(DataError, match=message) as caught:
        read_table(write(content))
    assert caught.value.exit_code == 3
    assert "table.csv" in str(caught.value)


@pytest.mark.parametrize(
    ("name", "save", "is_what"),
    [
        ("t.orc", lambda frame, path: frame.to_orc(path), "is an ORC file"),
        ("t.pickle", lambda frame, path: frame.to_pickle(path), "is a pickle"),
        ("t.html", lambda frame, path: frame.to_html(path), "is a page of HTML"),
    ],
)
def test_a_file_of_another_kind_is_told_for_what_it_is(tmp_path, name, save, is_what):
    path = tmp_path / name
    save(pd.DataFrame({"a": [1, 2], "b": ["x", "y"]}), path)
    with pytest.raises(DataError, match=rf"{name} {is_what}.* can be read, also compressed\. ."):
        read_table(path)


@pytest.mark.parametrize("header", ["ORC,b", "FEA1,b", "PAR1,b", "BZh1,b", "%PDF,b", "ARROW1,b"])
def test_a_header_that_begins_like_another_kind_of_file_is_a_header(write, header):
    assert list(read_table(write(f"{header}\n1,2\n"))) == header.split(",")


def test_a_parquet_file_is_read_whatever_its_name_is(tmp_path):
    frame = pd.DataFrame({"a": [1, 2], "b": ["x", None]})
    frame.to_parquet(tmp_path / "t.csv")
    found = read_table(tmp_path / "t.csv")
    assert found["a"].tolist() == [1, 2]
    assert found["b"].isna().tolist() == [False, True]


def test_core_reads_tables_without_arrow(write):
    path = write("a,b,c\n1,x,True\n,y,\n")
    code = f"""
import sys
sys.modules["pyarrow"] = None  # as if it were not installed
from automl_admm.data.python_rows import follow, plain_rows, schema_of_rows
from automl_admm.data.table_schema import schema_of
from automl_admm.data.reading.tables import read_table
frame = read_table({str(path)!r})
schema = schema_of_rows(frame)
again = follow(plain_rows(read_table({str(path)!r}, schema=schema).astype(object)), schema)
assert again.equals(frame), again.dtypes
"""
    subprocess.run([sys.executable, "-W", "ignore", "-c", code], check=True, timeout=300)


def test_an_empty_field_that_may_be_a_text_or_a_gap_is_refused(write):
    frame = pd.DataFrame({"a": ["", None, "x"], "b": ["", "y", "z"]})
    schema = schema_of(frame)
    found = read_table(write("a,b\nx,\n"), schema=schema)
    assert found["b"].tolist() == [""]
    with pytest.raises(DataError, match=r"line 3: an empty field in column 'a'.*Parquet file"):
        read_table(write("a,b\nx,y\n,z\n"), schema=schema)


def test_a_misspelt_file_name_is_mended(write, tmp_path):
    write("a\n1\n", "customers.csv")
    with pytest.raises(DataError, match=r"no file .*custmers.csv.*'customers.csv'"):
        read_table(tmp_path / "custmers.csv")
    with pytest.raises(DataError, match="no file"):
        read_table(tmp_path / "nowhere" / "customers.csv")


def test_a_folder_and_a_pipe_are_no_tables(tmp_path):
    with pytest.raises(DataError, match="is a folder"):
        read_table(tmp_path)
    os.mkfifo(tmp_path / "pipe.csv")
    with pytest.raises(DataError, match="no ordinary file"):
        read_table(tmp_path / "pipe.csv")


def test_a_broken_parquet_file_is_a_data_error(write):
    with pytest.raises(DataError, match=r"(?i)parquet"):
        read_table(write(b"not a parquet file", "table.parquet"))


@given(st.binary(max_size=60))
def test_any_bytes_are_read_or_refused(tmp_path_factory, content):
    path = tmp_path_factory.mktemp("bytes") / "table.csv"
    path.write_bytes(content)
    try:
        frame = read_table(path)
    except DataError:
        return
    assert len(frame) > 0


def test_the_target_is_parted_from_the_features():
    frame = pd.DataFrame({"a": [1, 2], "y": ["p", "q"], "b": [3, 4]})
    X, y = split_target(frame, "y")
    assert list(X) == ["a", "b"]
    assert y.tolist() == ["p", "q"]
    assert list(frame) == ["a", "y", "b"]


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (pd.DataFrame({"clas": [1], "b": [2]}), "Did you mean 'clas'"),
        (pd.DataFrame([[1, 2, 3]], columns=["class", "b", "class"]), "stands twice"),
        (pd.DataFrame({"class": [1]}), "no column but the target"),
        (
            pd.DataFrame({"class": [1, None, None], "b": 1}),
            "2 of 3 rows, first in row 1",
        ),
        (
            pd.DataFrame({"class": [1, 2, np.inf], "b": 1}),
            "infinite in 1 .* in row 2",
        ),
    ],
)
def test_a_target_that_cannot_be_used_is_refused(frame, message):
    with pytest.raises(DataError, match=message):
        split_target(frame, "class")


class Counted(str):
    """A name that counts how often one is compared with another."""

    __slots__ = ()
    comparisons = 0
    __hash__ = str.__hash__

    def __eq__(self, other):
        Counted.comparisons += 1
        return str.__eq__(self, other)


def test_wide_tables_take_time_that_grows_with_their_columns_and_no_faster(monkeypatch):
    monkeypatch.setattr(Counted, "comparisons", 0)
    names = [Counted(f"c{i}") for i in range(5000)]
    check_header(Path("wide.csv"), names)
    frame = pd.DataFrame(np.zeros((1, len(names))), columns=pd.Index(names, dtype=object))
    assert list(check_columns(frame, names[::-1])) == names[::-1]
    with pytest.raises(DataError, match="missing: 'absent'"):
        check_columns(frame, ["absent", *names])
    assert Counted.comparisons < 20 * len(names)


def test_forty_thousand_columns_are_read(write):
    names = [f"c{i}" for i in range(40_000)]
    line = ",".join(["1"] * len(names))
    frame = read_table(write("\n".join([",".join(names), line, line])))
    assert frame.shape == (2, 40_000)
    few = [*names[:4_000], "c7"]
    doubled = read_table(write("\n".join([",".join(few), ",".join("1" for _ in few)])))
    assert doubled.columns[-1] == "c7.1"


def test_the_shipped_table_is_there():
    frame, target = shipped_table()
    assert frame.shape == (1000, 22)
    assert frame[target].value_counts().to_dict() == {"good": 700, "bad": 300}


@pytest.mark.parametrize("quote", ["", '"'])
def test_codes_that_would_be_one_number_stay_what_they_are(tmp_path: Path, quote: str) -> None:
    rows = [("007", "0", "0.5", "1"), ("7", "10", "", "2"), ("07", "-3", "1e3", "")]
    lines = ["code,whole,part,gap", *(",".join(f"{quote}{x}{quote}" for x in row) for row in rows)]
    path = tmp_path / "t.csv"
    path.write_text("\n".join(lines) + "\n")
    frame = read_table(path, keep_codes=True)
    assert frame["code"].tolist() == ["007", "7", "07"]
    assert [str(frame[name].dtype) for name in ("whole", "part")] == ["int64", "float64"]
    assert read_table(path)["code"].tolist() == [7, 7, 7]


def test_codes_with_a_blank_behind_them_stay_what_they_are(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("a,b\n007 ,1\n7 ,2\n")
    assert read_table(path, keep_codes=True)["a"].tolist() == ["007 ", "7 "]


@pytest.mark.parametrize("line", ["", "  ", "\t", " \t \r"], ids=["empty", "blanks", "tab", "both"])
def test_a_blank_line_between_the_rows_of_one_column_is_refused(write, line):
    with pytest.raises(DataError, match="line 3 is empty: a missing value, or no row at all"):
        read_table(write(f"a\n1\n{line}\n2\n"))


def test_lines_of_blanks_below_one_column_are_no_rows_and_quoted_ones_are(write):
    path = write('a\nx\n" "\n\xa0\n"\n  \n"\n\t\n  \n')
    assert read_table(path)["a"].tolist() == ["x", " ", "\xa0", "\n  \n"]
    assert line_of(path, COMMAS, 3) == f"{path}, line 7"


def test_a_gap_in_quotes_and_blank_lines_around_the_rows_of_one_column_are_read(write):
    frame = read_table(write('\na\n1\n""\n2\n\n\n'))
    assert frame["a"].isna().tolist() == [False, True, False]


def test_blank_lines_between_rows_of_several_columns_are_no_rows(write):
    assert len(read_table(write("a,b\n1,2\n\n,\n3,4\n"))) == 3
