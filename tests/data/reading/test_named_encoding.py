"""Text with bytes of UTF-8 that may be in the encoding named for the training file."""

from __future__ import annotations

from pathlib import Path

import pytest

from automl_admm.core.errors import DataError
from automl_admm.data.reading.encodings import (
    LATIN,
    OR_ELSE,
    Encoding,
    find_encoding,
    told_by_bytes,
)
from automl_admm.data.reading.file_options import FileOptions
from automl_admm.data.reading.named_encoding import NamedEncoding
from automl_admm.data.reading.plain_files import LIKE_UTF_8, never_late
from automl_admm.data.reading.tables import read_table
from automl_admm.data.reading.text_blocks import blocks_of

WOMEN = "女\n" * 30


def known(name: str | None) -> NamedEncoding | None:
    """Return an encoding that was named for a file in it."""
    return None if name is None else NamedEncoding(name, name)


def found(path: Path, text: str, encoding: str, before: str, broken: bytes = b"") -> Encoding:
    path.write_bytes(b"x\n" + text.encode(encoding) + broken)
    return find_encoding(path, "t", never_late, before=known(before))


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
    assert find_encoding(path, "t", lambda: True, before=known("cp1250")) == Encoding("cp1250")


@pytest.mark.parametrize("named", ["utf-16-be", "utf-16-le", "utf-32-be"])
def test_zeros_without_a_mark_are_of_the_wide_encoding_of_training(
    named: str, tmp_path: Path
) -> None:
    """Of Chinese text in UTF-16 few bytes are zeros, and it was called no text."""
    path = tmp_path / "t.csv"
    path.write_bytes("城市名称\n北京\n".encode(named))
    assert find_encoding(path, "t", never_late, before=known(named)) == Encoding(named)
    path.write_bytes(b"\0" + path.read_bytes())
    for before in (named, "gbk", None):
        with pytest.raises(DataError, match="no text"):
            find_encoding(path, "t", never_late, before=known(before))


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
    assert found(path, text, written, before) == Encoding(before, is_either=True)
    read_table(path, options=FileOptions(encoding_before=known(before), tell=told.append))
    assert told == [f"t.csv: {before} as in training{OR_ELSE.format('UTF-8')}"]
    sure = FileOptions(encoding_before=known(before), must_be_sure=True)
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
        assert find_encoding(path, "t", never_late, before=known("cp500")) == Encoding("cp500")


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
    read_table(path, options=FileOptions(encoding_before=known(before), tell=said.append))
    assert said == [f"t.csv: {line}" for line in told]


CITIES = "München\nKöln\n"


@pytest.mark.parametrize(
    ("told", "name", "is_either"),
    [("latin-1", "utf-8", False), ("utf-8", "latin-1", False), (None, "utf-8", True)],
)
def test_what_the_bytes_of_training_told_decides_on_a_later_file_like_it(
    told: str | None, name: str, is_either: bool, tmp_path: Path
) -> None:
    path, before = tmp_path / "t.csv", NamedEncoding("latin-1", told)
    path.write_bytes(CITIES.encode())
    assert find_encoding(path, "t", never_late, before=before) == Encoding(name, "", is_either)
    path.write_bytes(CITIES.encode("latin-1"))
    assert find_encoding(path, "t", never_late, before=before).name == "latin-1"
    path.write_bytes(CITIES.encode("utf-16"))
    assert find_encoding(path, "t", never_late, before=before).name == "UTF-16"


@pytest.mark.parametrize(
    ("content", "named", "noted"),
    [
        (CITIES.encode(), "latin-1", "utf-8"),
        (CITIES.encode() + b"caf\xe9\n", "latin-1", "utf-8"),
        (CITIES.encode("utf-8-sig"), "cp1252", "utf-8"),
        (CITIES.encode("latin-1"), "latin-1", "latin-1"),
        (b"Ulm\n", "latin-1", "latin-1"),
        (WOMEN.encode("gbk"), "gbk", None),
        (CITIES.encode(), "utf8", "utf-8"),
        (CITIES.encode("latin-1"), None, "Latin-1"),
    ],
    ids=["wrong", "broken", "marked", "right", "ascii", "either", "utf8", "found"],
)
def test_the_encoding_by_the_bytes_is_noted(
    content: bytes, named: str | None, noted: str | None, tmp_path: Path
) -> None:
    path, notes, said = tmp_path / "t.csv", list[str](), list[str]()
    path.write_bytes(b"\xef\xbb\xbf"[: 3 * content.startswith(b"\xef")] + b"x\n" + content)
    read_table(path, options=FileOptions(encoding=named, note=notes.append, tell=said.append))
    assert notes == ([] if noted is None else [noted])
    assert any(LIKE_UTF_8 in line for line in said) == (noted == "utf-8" and named != "utf8")


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("Å²\nÅ³\n", "latin-1"),
        ("NESTLÉ®\n", "latin-1"),
        ("Ä¶\n", "latin-1"),
        ("CAFÉ™\n", "cp1252"),
        ("Spaß…\nBEYONCÉ’S\nÖ–Z\n", "cp1252"),
        ("“École”\n", "mac-roman"),
        ("小写些笑\n", "gbk"),
        ("女A\n拢B\n牛C\n苹D\n露E\n", "gbk"),
        ("Москва\nОмск\nРЎ\n", "cp1251"),
        ("сам\nтам\nтип\nток\nход\n", "cp866"),
        ("Łódź\nKraków\n", "cp1250"),
        ("東京\n大阪\n", "shift_jis"),
        (CITIES, "utf-16"),
    ],
)
def test_an_honest_file_is_never_told_to_be_in_utf8(text: str, named: str, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(f"x\n{text}".encode(named))
    assert told_by_bytes(blocks_of(path, never_late), named) in (named, None)


def test_the_first_signs_tell_so_that_time_is_left_for_the_rows(tmp_path: Path) -> None:
    path, asked = tmp_path / "t.csv", list[None]()
    path.write_bytes(("x\n" + "a\n" * 600_000 + "é\n" * 2_000_000).encode("latin-1"))
    blocks = blocks_of(path, lambda: bool(asked.append(None)))
    assert told_by_bytes(blocks, "latin-1") == "latin-1"
    assert len(asked) <= 2


def test_a_mark_of_utf8_is_no_text_in_another_encoding(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text(f"city\n{CITIES}", "utf-8-sig")
    table = read_table(path, options=FileOptions(encoding="latin-1"))
    assert list(table.columns) == ["city"]
    before = FileOptions(encoding_before=NamedEncoding("latin-1", "utf-8"))
    assert read_table(path, options=before).equals(table)
    older = find_encoding(path, "t", never_late, before=NamedEncoding("latin-1"))
    assert older == Encoding("utf-8")


@pytest.mark.parametrize("content", [b"PK\0\1\xff", "城市\n".encode("utf-16-le")])
def test_a_file_that_is_no_text_is_refused_after_a_wrong_name_too(
    content: bytes, tmp_path: Path
) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(content)
    for told in ("utf-8", "latin-1", None):
        with pytest.raises(DataError, match="no text"):
            find_encoding(path, "t", never_late, before=NamedEncoding("latin-1", told))
    path.write_bytes(CITIES.encode() + b"caf\xe9\n")
    before = NamedEncoding("latin-1", "utf-8")
    assert find_encoding(path, "t", never_late, before=before) == Encoding("latin-1")
