"""Reading files: what is right is read as it stands, what is wrong is named with its line."""

from __future__ import annotations

import os

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from automl_admm.data.samples import shipped_table
from automl_admm.data.tables import read_table, split_target
from automl_admm.errors import DataError


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
        (b"a,b\n1,2\n3\n", "line 3: 1 fields, but the header has 2"),
        (b"a,b\n1,2\n\n1,2,3\n", "line 4: 3 fields"),
        (b"a,b\n1,2,3\n4,5,6\n", "line 2: 3 fields"),
        (b'a,b\n1,"2\n3,4\n', "line 3: unexpected end of data"),
        (b"a,b,a\n1,2,3\n", "two columns are named 'a'"),
        (b"a;b\n1;2\n", "parted by semicolons"),
        (b"a\tb\n1\t2\n", "parted by tabs"),
        (b"a,b\n1,\xff\xfe\n", "no UTF-8 text"),
        (b"\x1f\x8b\x08\x00rubbish", "no UTF-8 text"),
        (b"a,b\n1," + b"x" * 200_000 + b"\n", "field larger than field limit"),
    ],
)
def test_what_is_wrong_with_a_file_is_said(write, content, message):
    with pytest.raises(DataError, match=message) as caught:
        read_table(write(content))
    assert caught.value.exit_code == 3
    assert "table.csv" in str(caught.value)


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
        (pd.DataFrame({"class": [1, None, None], "b": 1}), "missing in 2 of 3 rows"),
    ],
)
def test_a_target_that_cannot_be_used_is_refused(frame, message):
    with pytest.raises(DataError, match=message):
        split_target(frame, "class")


def test_the_shipped_table_is_there():
    frame, target = shipped_table()
    assert frame.shape == (1000, 22)
    assert frame[target].value_counts().to_dict() == {"good": 700, "bad": 300}
