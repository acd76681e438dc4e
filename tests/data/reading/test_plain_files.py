"""Plain copies of files: unpacked, and in UTF-8; what is broken or too large is told."""

from __future__ import annotations

import bz2
import errno
import gzip
import io
import lzma
import sys
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from automl_admm.core.errors import DataError, DiskFullError
from automl_admm.data.reading import plain_files, unpacking
from automl_admm.data.reading.file_options import file_options
from automl_admm.data.reading.plain_files import plain_file
from automl_admm.data.reading.shares import read_share
from automl_admm.data.reading.tables import read_table
from automl_admm.data.reading.timed_reading import read_again, read_in_time

TEXT = "a;name\n1,5;Müller\n2;Übel\n"


def zipped(content: bytes, *names: str) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in names or ("t.csv",):
            archive.writestr(name, content)
    return file.getvalue()


PACK: Mapping[str, Callable[[bytes], bytes]] = {
    "gz": gzip.compress,
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "zip": zipped,
}
ENCODINGS = {
    "utf-8-sig": None,
    "utf-16": "UTF-16",
    "utf-16-le": "UTF-16LE",
    "utf-16-be": "UTF-16BE",
    "utf-32": "UTF-32",
    "latin-1": "Latin-1 ('Müller')",
}


@pytest.mark.parametrize("packing", PACK)
@pytest.mark.parametrize("encoding", ENCODINGS)
def test_packed_text_in_any_encoding_is_the_same_table(
    packing: str, encoding: str, tmp_path: Path
) -> None:
    path, told = tmp_path / f"t.csv.{packing}", list[str]()
    path.write_bytes(PACK[packing](TEXT.encode(encoding)))
    found = read_table(path, options=file_options(tell=told.append))
    assert found["a"].tolist() == [1.5, 2]
    assert found["name"].tolist() == ["Müller", "Übel"]
    known = {"gz": "gzip", "bz2": "bzip2"}.get(packing, packing)
    words = [known, ENCODINGS[encoding], "semicolons", "decimal commas"]
    assert told == [f"{path.name}: {', '.join(filter(None, words))}"]


def test_windows_is_told_from_latin(tmp_path: Path) -> None:
    path, told = tmp_path / "t.csv", list[str]()
    path.write_bytes("a,b\n1,5 €\n2,“Ä”\n".encode("cp1252"))
    assert read_table(path, options=file_options(tell=told.append))["b"].tolist() == ["5 €", "“Ä”"]
    assert told == ["t.csv: Windows-1252 ('€')"]


def test_bytes_that_are_utf8_are_utf8_unless_the_user_says_otherwise(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(b"a,b\n1,\xc3\xa9\n")
    assert read_table(path)["b"].tolist() == ["é"]
    assert read_table(path, options=file_options(encoding="latin-1"))["b"].tolist() == ["Ã©"]
    path.write_bytes("a,b\n1,Łódź\n".encode("cp1250"))
    assert read_table(path, options=file_options(encoding="cp1250"))["b"].tolist() == ["Łódź"]


def test_text_with_a_mistake_in_a_named_encoding_has_a_line(tmp_path: Path) -> None:
    path = tmp_path / "t.csv.gz"
    path.write_bytes(gzip.compress(b"a,b\n1,2\n3,\xe4\n"))
    with pytest.raises(DataError, match=r"t\.csv\.gz, line 3: this is no UTF-8 text"):
        read_table(path, options=file_options(encoding="utf-8"))


@pytest.mark.parametrize("packing", PACK)
def test_mistakes_in_packed_files_are_told_of_the_source(packing: str, tmp_path: Path) -> None:
    path = tmp_path / f"t.csv.{packing}"
    path.write_bytes(PACK[packing]("a,b\n1,ä\n1,2,3\n".encode("latin-1")))
    with pytest.raises(DataError, match="line 3: 3 fields") as caught:
        read_table(path)
    assert str(caught.value).startswith(f"{path}, line 3")
    assert "automl-admm-tmp" not in str(caught.value)


@pytest.mark.parametrize("packing", PACK)
def test_a_packed_file_that_is_cut_off_is_refused(packing: str, tmp_path: Path) -> None:
    path = tmp_path / f"t.csv.{packing}"
    path.write_bytes(PACK[packing](b"a,b\n" + bytes(range(48, 58)) * 500)[:-30])
    with pytest.raises(DataError, match="is cut off or damaged: it cannot be unpacked"):
        read_table(path)


@pytest.mark.parametrize("packing", ["gz", "bz2", "xz"])
def test_streams_in_a_row_are_one_table(packing: str, tmp_path: Path) -> None:
    path, padding = tmp_path / f"t.csv.{packing}", b"" if packing == "gz" else bytes(8)
    path.write_bytes(PACK[packing](b"a,b\n1,2\n") + padding + PACK[packing](b"3,4\n") + bytes(4))
    assert read_table(path)["a"].tolist() == [1, 3]


@pytest.mark.parametrize("packing", ["gz", "bz2", "xz"])
@pytest.mark.parametrize("place", [0, 2, -3])
def test_damage_in_any_stream_is_refused(packing: str, place: int, tmp_path: Path) -> None:
    """The rows of a second stream with a damaged start were dropped without a word."""
    path, second = tmp_path / f"t.csv.{packing}", bytearray(PACK[packing](b"3,4\n"))
    second[place] ^= 1
    for behind in (second, PACK[packing](b"3,4\n")[:3], b"more"):
        path.write_bytes(PACK[packing](b"a,b\n1,2\n") + bytes(behind))
        with pytest.raises(DataError, match="is cut off or damaged: it cannot be unpacked"):
            read_table(path)


def test_padding_of_xz_is_a_multiple_of_four(tmp_path: Path) -> None:
    path = tmp_path / "t.csv.xz"
    path.write_bytes(lzma.compress(b"a,b\n1,2\n") + bytes(3))
    with pytest.raises(DataError, match="cut off or damaged"):
        read_table(path)
    path.write_bytes(lzma.compress(b"a,b\n1,2\n") + bytes(400_000))
    assert len(read_table(path)) == 1


def test_a_zip_has_one_table(tmp_path: Path) -> None:
    path = tmp_path / "t.zip"
    path.write_bytes(zipped(b"a,b\n1,2\n", "one.csv", "two.csv"))
    with pytest.raises(DataError, match=r"is a zip archive of 2 files: one\.csv, two\.csv"):
        read_table(path)
    path.write_bytes(zipped(b"<x/>", "[Content_Types].xml", "xl/workbook.xml"))
    with pytest.raises(DataError, match="is an Excel sheet"):
        read_table(path)
    path.write_bytes(zipped(b"a,b\n1,2\n", "folder/t.csv", "__MACOSX/._t.csv"))
    assert len(read_table(path)) == 1


def test_a_packed_parquet_file_is_read(tmp_path: Path) -> None:
    frame = pd.DataFrame({"a": [1, 2], "b": ["x", "y"]})
    frame.to_parquet(tmp_path / "t.parquet")
    path = tmp_path / "t.parquet.gz"
    path.write_bytes(gzip.compress((tmp_path / "t.parquet").read_bytes()))
    pd.testing.assert_frame_equal(read_table(path), frame, check_dtype=False)


def test_a_missing_package_for_zstd_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "t.csv.zst"
    path.write_bytes(b"\x28\xb5\x2f\xfd and more")
    monkeypatch.setattr(unpacking, "ZSTD_MODULES", ("nowhere_at_all",))
    with pytest.raises(DataError, match=r"pip install 'automl-admm\[zstd\]'"):
        read_table(path)


def test_zstd_is_unpacked(tmp_path: Path) -> None:
    zstd = pytest.importorskip(
        "backports.zstd" if sys.version_info < (3, 14) else "compression.zstd"
    )
    path = tmp_path / "t.csv.zst"
    path.write_bytes(zstd.compress(TEXT.encode()))
    assert read_table(path)["name"].tolist() == ["Müller", "Übel"]
    whole = path.read_bytes()
    inside = bytearray(whole)
    inside[4] ^= 8  # a reserved bit
    for damaged in (whole[:-4], bytes(inside), whole + b"more", whole + bytes(4)):
        path.write_bytes(damaged)
        with pytest.raises(DataError, match="cut off or damaged"):
            read_table(path)


def test_what_becomes_too_large_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "bomb.csv.gz"
    path.write_bytes(gzip.compress(b"a,b\n" + b"1,2\n" * 3_000_000))
    monkeypatch.setattr(plain_files, "_room_in_memory", lambda: 5_000_000)
    with pytest.raises(DataError, match=r"becomes more than 0\.005 GB, and this machine has no"):
        read_table(path)


@pytest.mark.parametrize("has_some", [True, False], ids=["too little", "none"])
def test_a_disk_without_room_for_a_copy_is_no_fault_of_the_data(
    has_some: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*given: Any) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(plain_files, "_room_on_disk", (lambda folder: 5) if has_some else refused)
    path = tmp_path / "t.csv.gz"
    path.write_bytes(gzip.compress(b"a,b\n1,2\n"))
    with pytest.raises(DiskFullError, match=r"no room left in .* for a copy of .*t\.csv\.gz,"):
        read_table(path)


def test_no_copy_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plain_files.tempfile, "tempdir", str(tmp_path / "tmp"))
    (tmp_path / "tmp").mkdir()
    path = tmp_path / "t.csv.gz"
    path.write_bytes(gzip.compress(TEXT.encode("latin-1")))
    with plain_file(path) as plain:
        assert plain.path.is_relative_to(tmp_path / "tmp")
        assert plain.path.read_text() == TEXT
    assert not list((tmp_path / "tmp").iterdir())


def test_a_file_too_large_to_unpack_in_time_is_read_from_its_beginning(tmp_path: Path) -> None:
    path = tmp_path / "t.csv.gz"
    rows = "".join(f"{i};{i},25;é\n" for i in range(400_000))
    path.write_bytes(gzip.compress(f"n;part;text\n{rows}".encode("latin-1")))
    frame, share = read_in_time(path, 0.0)
    assert share is not None
    assert 0 < share.part < 0.5
    assert (frame["part"] == frame["n"] + 0.25).all()
    assert set(frame["text"]) == {"é"}
    said = read_share(str(share))
    assert said == share
    pd.testing.assert_frame_equal(read_again(path, None, said), frame)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"x" * 20_000_000, "no end of a line in its first 16 MB"),
        (b"\xe4" * 20_000_000, "no end of a line in its first 16 MB"),
        (b"a,b\n1," + b"0" * 20_000_000, r"bomb\.csv\.gz: no row ends in its first [\d.]+ MB"),
    ],
)
def test_a_bomb_is_not_unpacked_to_its_end(content: bytes, said: str, tmp_path: Path) -> None:
    path = tmp_path / "bomb.csv.gz"
    path.write_bytes(gzip.compress(content, 1))
    with pytest.raises(DataError, match=said):
        read_in_time(path, 0.0) if b"," in content else read_table(path)
