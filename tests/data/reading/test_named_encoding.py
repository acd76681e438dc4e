"""Text with bytes of UTF-8 that may be in the encoding named for the training file."""

from __future__ import annotations

from pathlib import Path

import pytest

from automl_admm.core.errors import DataError
from automl_admm.data.reading.encodings import LATIN, OR_UTF8, Encoding, find_encoding
from automl_admm.data.reading.file_options import FileOptions
from automl_admm.data.reading.plain_files import never_late
from automl_admm.data.reading.tables import read_table

WOMEN = "女\n" * 30


def found(path: Path, text: str, encoding: str, before: str, broken: bytes = b"") -> Encoding:
    path.write_bytes(b"x\n" + text.encode(encoding) + broken)
    return find_encoding(path, "t", never_late, before=before)


@pytest.mark.parametrize(
    ("text", "written"),
    [
        (WOMEN, "gbk"),
        (WOMEN, "gb18030"),
        (f"{WOMEN}男\n", "gbk"),
        ("a\n" * 600_000 + WOMEN, "gbk"),
        ("сам\n", "cp866"),
        ("сам\n" * 20 + "тот, №\n", "cp866"),
        ("漢字\n", "utf-8"),
        ("naïve\nStraße\nÜbung\nCafé\n", "utf-8"),
        ("Łódź\n€\n", "utf-8"),
        ("Москва\n", "utf-8"),
        ("👍 20°C\n", "utf-8"),
        ("👍\n", "utf-8"),
    ],
)
def test_a_text_is_read_as_it_was_written(text: str, written: str, tmp_path: Path) -> None:
    befores = ("gbk", "latin-1", "cp1252", "cp866") if written == "utf-8" else (written,)
    names = {before: found(tmp_path / "t.csv", text, written, before).name for before in befores}
    assert names == dict.fromkeys(befores, written)


def test_the_encoding_of_training_is_known_however_late_it_is(tmp_path: Path) -> None:
    """Without time no sign was counted, and Ă© for a likeness of UTF-8 made it Latin-1."""
    path = tmp_path / "t.csv"
    path.write_bytes("čeština\nřeč\nĂ©\n".encode("cp1250"))
    assert find_encoding(path, "t", lambda: True, before="cp1250") == Encoding("cp1250")


@pytest.mark.parametrize("named", ["utf-16-be", "utf-16-le", "utf-32-be"])
def test_zeros_without_a_mark_are_of_the_wide_encoding_of_training(
    named: str, tmp_path: Path
) -> None:
    """Of Chinese text in UTF-16 few bytes are zeros, and it was called no text."""
    path = tmp_path / "t.csv"
    path.write_bytes("城市名称\n北京\n".encode(named))
    assert find_encoding(path, "t", never_late, before=named) == Encoding(named)
    path.write_bytes(b"\0" + path.read_bytes())
    for before in (named, "gbk", None):
        with pytest.raises(DataError, match="no text"):
            find_encoding(path, "t", never_late, before=before)


@pytest.mark.parametrize(
    ("text", "before"),
    [
        *[("猫\n", "gbk"), ("女\n猫\n", "gb18030"), ("сам\n", "cp866"), ("20 °\n", "gbk")],
        *[("£5\n", one) for one in ("gbk", "gb18030", "cp949", "big5")],
        ("שלום\n", "gbk"),
    ],
)
def test_text_that_may_be_either_is_as_in_training_and_told(
    text: str, before: str, tmp_path: Path
) -> None:
    path, told = tmp_path / "t.csv", list[str]()
    written = "utf-8" if any(sign in text for sign in "°£ש") else before
    assert found(path, text, written, before) == Encoding(before, may_be_utf8=True)
    read_table(path, options=FileOptions(encoding_before=before, tell=told.append))
    assert told == [f"t.csv: {before} as in training{OR_UTF8}"]
    sure = FileOptions(encoding_before=before, must_be_sure=True)
    with pytest.raises(DataError, match=f"can be read in {before}.*and as UTF-8") as refused:
        read_table(path, options=sure)
    assert f"--encoding {before} or --encoding utf-8" in str(refused.value.hint)


WITHOUT_HIGH_BYTES = ("utf-16", "utf-16-le", "utf-32", "ascii", "iso-2022-jp", "utf-7", "cp500")


@pytest.mark.parametrize("before", WITHOUT_HIGH_BYTES)
def test_a_text_that_the_encoding_of_training_cannot_hold_is_guessed_as_without_it(
    before: str, tmp_path: Path
) -> None:
    lines = "Müller,£7\n" * 3
    assert found(tmp_path / "t.csv", lines, "latin-1", before).name == LATIN
    assert found(tmp_path / "t.csv", lines.replace("\n", "\r\n"), "latin-1", before).name == LATIN


def test_ebcdic_is_no_encoding_in_ascii(tmp_path: Path) -> None:
    """It has é as a byte of ASCII, so every file in ASCII was read as EBCDIC."""
    path = tmp_path / "t.csv"
    assert found(path, "Muller,7\n", "ascii", "cp500") == Encoding("utf-8")
    for text in ("x,é\nMüller,7\n", "x,é\x85Müller,7\x85"):
        path.write_bytes(text.encode("cp500"))
        assert find_encoding(path, "t", never_late, before="cp500") == Encoding("cp500")


@pytest.mark.parametrize("text", ["20°C\n£\n", "Straße\n", "Łódź\n", "Ärger\n"])
@pytest.mark.parametrize("before", ["latin-1", "cp1252"])
def test_a_broken_byte_in_utf8_is_told(text: str, before: str, tmp_path: Path) -> None:
    with pytest.raises(DataError, match="UTF-8 text for the most part"):
        found(tmp_path / "t.csv", text * 9, "utf-8", before, b"20\xb0C\n")


@pytest.mark.parametrize(
    ("text", "encoding", "before", "told"),
    [
        ("é\n", "utf-16", "utf16", ["UTF-16 as in training"]),
        ("é\n", "utf-16", "gbk", ["UTF-16 (in training gbk)"]),
        ("é\n", "utf-8", "latin-1", ["utf-8 (in training latin-1)"]),
        ("é\n", "latin-1", "iso-8859-1", ["iso-8859-1 as in training"]),
        ("e\n", "utf-8", "utf-16", []),
    ],
)
def test_the_line_says_what_differs(
    text: str, encoding: str, before: str, told: list[str], tmp_path: Path
) -> None:
    path, said = tmp_path / "t.csv", list[str]()
    path.write_bytes(f"x,y\n1,{text}".encode(encoding))
    read_table(path, options=FileOptions(encoding_before=before, tell=said.append))
    assert said == [f"t.csv: {line}" for line in told]
