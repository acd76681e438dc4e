"""The script of a run reads a file as `predict` does, or refuses it in a line."""

from __future__ import annotations

import bz2
import gzip
import lzma
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow.feather import write_feather

from automl_admm.core.errors import DataError
from automl_admm.data.reading.file_options import file_options
from automl_admm.data.reading.tables import read_table as read_as_predict
from automl_admm.data.table_schema import MISSING_TEXTS, schema_of
from automl_admm.runs.config import RunConfig
from automl_admm.runs.finish.script import csv_manner
from automl_admm.runs.finish.script.csv_manner import training_file
from automl_admm.runs.finish.script.more_forms import read_arff, tidied
from automl_admm.runs.finish.script.table_parts import read_table

FRAME = pd.DataFrame(
    {
        "a": [1.5, np.nan, -3.25],
        "n": [1, 2, 3],
        "t": ["x", "Ulm, Süd", "NA"],
        "b": [True, False, True],
    }
)
COMMAS = {"encoding": "utf-8-sig", "sep": ";", "decimal": ",", "thousands": "."}
PLAIN = {"encoding": "utf-8-sig"}


def columns_of(frame: pd.DataFrame) -> dict[str, Any]:
    return {one["name"]: one for one in schema_of(frame).describe()}


def read(
    path: Path, frame: pd.DataFrame = FRAME, csv: Any = PLAIN, more: Any = None
) -> pd.DataFrame:
    table, _ = read_table(path, columns_of(frame), sorted(MISSING_TEXTS), csv, more or {})
    assert isinstance(table, pd.DataFrame)
    return table


WRITERS = {
    "a.csv": lambda path: FRAME.to_csv(path, index=False),
    "a.csv.gz": lambda path: FRAME.to_csv(path, index=False),
    "b.csv": lambda path: path.write_bytes(gzip.compress(FRAME.to_csv(index=False).encode())),
    "a.zip": lambda path: FRAME.to_csv(path, index=False),
    "a.parquet": FRAME.to_parquet,
    "a.feather": FRAME.to_feather,
    "index.parquet": lambda path: FRAME.set_index(["t", "a"]).to_parquet(path),
    "range.parquet": lambda path: FRAME.set_index("n").to_parquet(path),
    "index.feather": lambda path: write_feather(pa.Table.from_pandas(FRAME.set_index("b")), path),
    "a.jsonl": lambda path: FRAME.to_json(path, orient="records", lines=True),
    "a.json": lambda path: FRAME.to_json(path, orient="records"),
}


@pytest.mark.parametrize("name", WRITERS)
def test_a_file_is_known_by_its_content(name: str, tmp_path: Path) -> None:
    WRITERS[name](tmp_path / name)
    found = read(tmp_path / name)
    expected = read_as_predict(tmp_path / name, schema=schema_of(FRAME))
    pd.testing.assert_frame_equal(found, expected[list(found)])
    assert found["a"].equals(FRAME["a"])


def test_one_number_beyond_a_narrow_type_leaves_the_digits_of_the_others(tmp_path: Path) -> None:
    trained = pd.DataFrame({"a": np.array([0.1, -7.3], dtype="float32")})
    pd.DataFrame({"a": [0.1, -7.3, 1e40]}).to_csv(tmp_path / "later.csv", index=False)
    found = read(tmp_path / "later.csv", trained)
    assert found["a"].tolist() == [*trained["a"].astype(float), 1e40]


HEADER = "a;n;t;b"
ROWS = ("1,5;1;x;True", ";2;y;False", "1.234,5;3;z;1")
LATER = {
    "the training file's": (HEADER, *ROWS),
    "UTF-8 where training was not": (HEADER, *ROWS, "2,5;4;Süd;0"),
    "quotes": (HEADER, *ROWS, '2,5;4;"a;b";0'),
    "blank lines": (HEADER, ROWS[0], "", *ROWS[1:]),
}


@pytest.mark.parametrize("name", LATER)
def test_decimal_commas_are_read_as_predict_reads_them(name: str, tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("\n".join(LATER[name]) + "\n", encoding="utf-8")
    manner = COMMAS | {"encoding": "Latin-1"}
    expected = read_as_predict(path, schema=schema_of(FRAME))
    pd.testing.assert_frame_equal(read(path, csv=manner), expected)
    assert expected["a"].tolist()[2] == 1234.5


# A file, the manner of training, and what is said of it.
REFUSED = {
    "a bad number": (
        "a,n,t,b\n1,1,x,True\nhigh,1,x,True\n",
        PLAIN,
        "line 3: column 'a' holds 'high'",
    ),
    "a bad truth": ("a,n,t,b\n1,1,x,perhaps\n", PLAIN, "line 2: column 'b' holds 'perhaps'"),
    "an underscore": ("a,n,t,b\n1_0,1,x,True\n", PLAIN, "line 2: column 'a' holds '1_0'"),
    "a field too many": (
        "a,n,t,b\n1,1,x,True,9\n",
        PLAIN,
        "line 2: 5 fields, but the header has 4",
    ),
    "a field too few": ("a,n,t,b\n1,1,x\n", PLAIN, "line 2: 3 fields, but the header has 4"),
    "points after commas": (
        "a;n;t;b\n1.5;1;x;True\n",
        COMMAS,
        "line 2: column 'a' holds '1.5', and held numbers with decimal commas",
    ),
    "points that may be either": ("a;n;t;b\n1.234;1;x;True\n", COMMAS, "1.234 in column 'a'"),
    "another separator": ("a;n;t;b\n1;1;x;True\n", PLAIN, "there is no column 'a'. CSV is read as"),
    "decimal commas": (
        "a;n;t;b\n1,5;1;x;True\n",
        PLAIN,
        (
            "line 2: 2 fields, but the header has 1. CSV is read as the training file was "
            "written: separator ',', decimal '.'. Save the file like this, or change CSV in this"
        ),
    ),
    "single quotes": ("'a','n','t','b'\n1,1,'x',True\n", PLAIN, "there is no column 'a'"),
    "a comment": (
        "# of May\na,n,t,b\n1,1,x,True\n",
        PLAIN,
        "line 2: 4 fields, but the header has 1",
    ),
    "a separator named": ("sep=;\na;n;t;b\n1;1;x;True\n", COMMAS, "line 2: 4 fields, but"),
    "blanks": ("a n t b\n1 1 x True\n", PLAIN, "there is no column 'a'"),
    "an open quote": ('a,n,t,b\n1,1,"x,True\n', PLAIN, "cannot be read"),
    "fewer twins": (
        "a,n,t,b\n1,1,x,True\n",
        PLAIN | {"alike": {"a": ["a", "a.1"]}},
        "columns named 'a': 1; in training there were 2",
    ),
    "twins": ("a,a,n,t,b\n1,1,1,x,True\n", PLAIN, "two columns have one name"),
    "a header alone": ("a,n,t,b\n", PLAIN, "holds no rows"),
    "nothing": ("", PLAIN, "cannot be read"),
    "ARFF": ("@relation x\n@attribute a numeric\n@data\n1\n", PLAIN, "Save it as CSV"),
    "no JSON": ('{"a": 1}\n{"a": \n', PLAIN, "line 2: this is no JSON record"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_would_be_read_wrongly_is_refused_in_a_line(name: str, tmp_path: Path) -> None:
    text, manner, said = REFUSED[name]
    path = tmp_path / "a.csv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(DataError) as raised:
        read(path, csv=manner)
    assert said in str(raised.value)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("content", [b"a,n\n\xfc,1\n", b"\x1f\x8b\x08damaged", b"PAR1 damaged"])
def test_damaged_bytes_are_refused_in_a_line(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(content)
    with pytest.raises(DataError, match=r"a\.csv cannot be read: .*") as raised:
        read(tmp_path / "a.csv")
    assert "\n" not in str(raised.value)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"new\.csv cannot be read: .*No such file"):
        read(tmp_path / "new.csv")


# Training files that are no plain CSV: their script reads the same kinds.
UNTIDY = {
    "single quotes": "'a','n','t','b'\n1.5,1,'it, too',True\n,2,'y',False\n",
    "sep=;": "sep=;\na;n;t;b\n1.5;1;x;True\n;2;y;False\n",
    "blanks": "a n t b\n1.5   1 x True\n2.5   2 y False\n",
    "comments": "# of May\n# by us\na,n,t,b\n1.5,1,x,True\n,2,y,False\n",
}


@pytest.mark.parametrize("name", UNTIDY)
def test_a_script_reads_the_untidy_form_of_its_training_file(name: str, tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text(UNTIDY[name], encoding="utf-8")
    manner = training_file(RunConfig(source=str(path)))
    assert manner.is_tidied
    found = read(path, csv=dict(manner.csv), more={"tidy": tidied})
    pd.testing.assert_frame_equal(found, read_as_predict(path, schema=schema_of(FRAME)))


def test_a_script_of_an_arff_run_reads_arff(tmp_path: Path) -> None:
    path = tmp_path / "a.arff"
    kinds = ("a numeric", "n numeric", "t {x,'Ulm, Süd'}", "b {true,false}")
    head = "".join(f"@attribute {kind}\n" for kind in kinds)
    path.write_text(f"@relation r\n{head}@data\n1.5,1,'Ulm, Süd',true\n?,2,x,false\n", "utf-8")
    manner = training_file(RunConfig(source=str(path)))
    assert manner.form == ".arff"
    found = read(path, csv=dict(manner.csv), more={"arff": read_arff})
    pd.testing.assert_frame_equal(found, read_as_predict(path, schema=schema_of(FRAME)))
    path.write_text(path.read_text("utf-8").replace("?,2", "?,two"), "utf-8")
    with pytest.raises(DataError, match="line 8: 'two' in the numeric attribute 'n'"):
        read(path, csv=dict(manner.csv), more={"arff": read_arff})


def test_a_carriage_return_alone_moves_no_cell(tmp_path: Path) -> None:
    path = tmp_path / "mac.csv"
    path.write_bytes(b'a,n,t,b\r1.5,1,"x\ry",True\r\r,3,z,False\r')
    found = read(path)
    assert found["t"].tolist() == ["x\ry", "z"]
    assert found["n"].tolist() == [1, 3]


@pytest.mark.parametrize("line", ["", " \t"], ids=["empty", "blanks"])
def test_a_blank_line_between_the_rows_of_one_column_is_refused(line: str, tmp_path: Path) -> None:
    path = tmp_path / "one.csv"
    path.write_text(f'a\n1.5\n""\n{line}\n')
    assert len(read(path, FRAME[["a"]])) == 2
    path.write_text(f"a\n1.5\n{line}\n2.5\n")
    with pytest.raises(DataError, match=r"one\.csv, line 3 is empty: a missing value, or no row"):
        read(path, FRAME[["a"]])


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress])
def test_all_streams_of_a_packed_file_are_read_or_it_is_refused(
    pack: Callable[[bytes], bytes], tmp_path: Path
) -> None:
    lines = FRAME.to_csv(index=False).encode().splitlines(keepends=True)
    first, second = pack(b"".join(lines[:2])), pack(b"".join(lines[2:]))
    path = tmp_path / "a.csv.packed"
    path.write_bytes(first + second + bytes(4))
    assert read(path)["n"].tolist() == read_as_predict(path)["n"].tolist() == [1, 2, 3]
    for behind in (b"x" + second[1:], second[:-5], b"more"):
        path.write_bytes(first + behind)
        with pytest.raises(DataError, match="cannot be read"):
            read(path)


@pytest.mark.parametrize("pack", [bz2.compress, lzma.compress])
def test_what_follows_the_last_stream_is_told(
    pack: Callable[[bytes], bytes], tmp_path: Path
) -> None:
    """A newline behind a whole stream of xz was said to be a stream that is cut off."""
    path, whole = tmp_path / "a.csv.packed", pack(FRAME.to_csv(index=False).encode())
    for behind, said in ((b"\n", "something follows its last stream"), (whole[:2], "ends within")):
        path.write_bytes(whole + behind)
        for reads in (read, read_as_predict):
            with pytest.raises(DataError, match=said):
                reads(path)


def test_a_stream_of_lzma_behind_one_of_xz_is_refused_as_by_predict(tmp_path: Path) -> None:
    path = tmp_path / "a.csv.xz"
    lines = FRAME.to_csv(index=False).encode().splitlines(keepends=True)
    behind = lzma.compress(b"".join(lines[2:]), lzma.FORMAT_ALONE)
    path.write_bytes(lzma.compress(b"".join(lines[:2])) + behind)
    for reads in (read, read_as_predict):
        with pytest.raises(DataError, match="something follows its last stream"):
            reads(path)


def test_an_empty_stream_of_bzip2_may_come_first(tmp_path: Path) -> None:
    path = tmp_path / "a.csv.bz2"
    path.write_bytes(bz2.compress(b"") + bz2.compress(FRAME.to_csv(index=False).encode()))
    assert read(path)["n"].tolist() == read_as_predict(path)["n"].tolist() == [1, 2, 3]


SIGNS = pd.DataFrame({"a": [1.5, 2.5, 3.5], "t": ["Süd", "é", "x"]})
TEXTS = {
    "a.csv": SIGNS.to_csv(index=False),
    "a.jsonl": SIGNS.to_json(orient="records", lines=True, force_ascii=False),
}


@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize("encoding", ["latin-1", "cp1252", "utf-8"])
def test_an_encoding_that_the_user_named_is_that_of_the_training_file(
    name: str, encoding: str, tmp_path: Path
) -> None:
    """Bytes that may be UTF-8, too, were read as that, so classes had other names."""
    path = tmp_path / name
    path.write_bytes(TEXTS[name].encode())
    expected = read_as_predict(path, options=file_options(encoding=encoding))
    manner = dict(training_file(RunConfig(source=str(path), encoding=encoding)).csv)
    assert read(path, SIGNS, manner)["t"].tolist() == expected["t"].tolist()
    assert (expected["t"][0] == "Süd") == (encoding == "utf-8")
    new = manner | {"is_given": False}
    assert read(path, SIGNS, new)["t"].tolist() == read_as_predict(path)["t"].tolist()


@pytest.mark.parametrize("name", TEXTS)
def test_an_encoding_that_was_found_is_kept_for_every_form_of_text(
    name: str, tmp_path: Path
) -> None:
    path = tmp_path / name
    path.write_bytes(TEXTS[name].encode("latin-1"))
    manner = dict(training_file(RunConfig(source=str(path))).csv)
    assert manner == {"encoding": "Latin-1"}
    assert read(path, SIGNS, manner)["t"].tolist() == read_as_predict(path)["t"].tolist()


def as_one_line(frame: pd.DataFrame) -> str:
    return str(frame.to_json(orient="records", force_ascii=False))


def as_csv(frame: pd.DataFrame) -> str:
    return str(frame.to_csv(index=False))


@pytest.mark.parametrize(
    ("written", "encoding", "named"),
    [
        (as_one_line, "latin-1", "latin-1"),
        (as_one_line, "latin-1", None),
        (as_one_line, "utf-8", "latin-1"),
        (as_one_line, "utf-8", None),
        (as_csv, "utf-16", "utf-16"),
        (as_csv, "utf-16", None),
        (as_csv, "utf-16-be", "utf-16-be"),
        (as_csv, "utf-32", None),
    ],
)
def test_the_encoding_of_a_large_training_file_is_known(
    written: Callable[[pd.DataFrame], str],
    encoding: str,
    named: str | None,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Its beginning was cut within a sign, or was nothing where it was one line."""
    path = tmp_path / "large"
    path.write_bytes(written(pd.concat([SIGNS] * 20)).encode(encoding))
    expected = read_as_predict(path, options=file_options(encoding=named))["t"].tolist()
    for looked_at in range(120, 128):
        monkeypatch.setattr(csv_manner, "LOOKED_AT", looked_at)
        manner = dict(training_file(RunConfig(source=str(path), encoding=named)).csv)
        assert read(path, SIGNS, manner)["t"].tolist() == expected


def test_an_encoding_found_behind_the_beginning_is_that_of_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The beginning alone looked like UTF-8, and the script could not read its training file."""
    path = tmp_path / "a.csv"
    path.write_bytes(("a;t\n" + "1,5;x\n" * 99 + "1,5;Süd\n").encode("latin-1"))
    monkeypatch.setattr(csv_manner, "LOOKED_AT", 120)
    config = RunConfig(source=str(path), found_encoding="Latin-1")
    manner = dict(training_file(config).csv)
    assert manner["encoding"] == "Latin-1"
    assert "is_given" not in manner
    assert read(path, SIGNS, manner)["t"].tolist() == read_as_predict(path)["t"].tolist()


@pytest.mark.parametrize("end", ["\r", "\r\n", "\n"], ids=["r", "rn", "n"])
def test_the_beginning_of_a_large_file_ends_with_a_row(
    end: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(f"a;t{end}{f'1,5;x{end}' * 99}".encode())
    for looked_at in range(60, 70):
        monkeypatch.setattr(csv_manner, "LOOKED_AT", looked_at)
        manner = dict(training_file(RunConfig(source=str(path))).csv)
        assert (manner["sep"], manner["decimal"]) == (";", ",")


def test_an_encoding_that_was_named_is_that_of_a_training_file_that_is_gone(
    tmp_path: Path,
) -> None:
    path = tmp_path / "a.csv"
    for source in ("-", None, str(path)):
        manner = dict(training_file(RunConfig(source=source, encoding="latin-1")).csv)
        assert manner == {"encoding": "latin-1", "is_given": True}
    path.write_bytes(TEXTS["a.csv"].encode())
    assert read(path, SIGNS, manner)["t"].tolist() == ["S\xc3\xbcd", "\xc3\xa9", "x"]


def zipped(path: Path, *names: str) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name in names:
            archive.writestr(name, "" if name.endswith("/") else FRAME.to_csv(index=False))
    return path


@pytest.mark.parametrize("beside", ["data/", "__MACOSX/._a.csv", ".DS_Store"])
def test_a_zip_archive_is_read_beside_folders_and_what_systems_add(
    beside: str, tmp_path: Path
) -> None:
    path = zipped(tmp_path / "a.zip", beside, "data/a.csv")
    assert read(path)["n"].tolist() == read_as_predict(path)["n"].tolist() == [1, 2, 3]


@pytest.mark.parametrize("names", [(), ("a.csv", "b.csv"), ("[Content_Types].xml", "a.csv")])
def test_a_zip_archive_of_other_than_one_file_is_refused_as_by_predict(
    names: tuple[str, ...], tmp_path: Path
) -> None:
    path, said = zipped(tmp_path / "a.zip", *names), []
    for reads in (read, read_as_predict):
        with pytest.raises(DataError) as raised:
            reads(path)
        said.append(str(raised.value).splitlines()[0])
    assert said[0] == said[1]


def test_a_text_that_begins_like_bzip2_is_text(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    FRAME.rename(columns={"t": "BZh"})[["BZh", "a"]].to_csv(path, index=False)
    assert read(path, FRAME[["a"]])["a"].equals(FRAME["a"])


def test_zstd_is_refused_with_the_way_to_unpack_it(tmp_path: Path) -> None:
    path = tmp_path / "a.csv.zst"
    path.write_bytes(b"\x28\xb5\x2f\xfd rest")
    with pytest.raises(DataError, match=r"a\.csv\.zst is compressed by zstd") as raised:
        read(path)
    assert "zstd -d" in f"{raised.value} {raised.value.hint}"
