"""The encoding of a text file, found by its bytes.

Valid UTF-8 is UTF-8: text in another encoding hardly ever is by chance, unless it is short (see
`named_encoding`). Other text has the encoding named for the training file, if it can be of that.
Without one it is taken for Latin-1 or, with its signs from 0x80 to 0x9F, for Windows-1252.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from automl_admm.core.errors import DataError
from automl_admm.data.reading.file_options import check_encoding
from automl_admm.data.reading.named_encoding import NamedEncoding
from automl_admm.data.reading.text_blocks import (
    BLOCK,
    UTF_8,
    Clock,
    Likenesses,
    TextFile,
    blocks_of,
    count_signs,
)

LATIN, WINDOWS = "Latin-1", "Windows-1252"
# Longer marks first: that of UTF-32 begins like that of UTF-16.
MARKS = (
    (codecs.BOM_UTF8, UTF_8),
    (codecs.BOM_UTF32_LE, "UTF-32"),
    (codecs.BOM_UTF32_BE, "UTF-32"),
    (codecs.BOM_UTF16_LE, "UTF-16"),
    (codecs.BOM_UTF16_BE, "UTF-16"),
)
OF_WINDOWS = re.compile(rb"[\x80-\x9f]")
UNUSED = re.compile(rb"[\x81\x8d\x8f\x90\x9d]")
FOREIGN_WORD = re.compile(rb"[\w.-]*[\x80-\xff][\w\x80-\xff.-]*")
# Signs that no text has; a file with them is of another kind.
CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")
ZERO = b"\x00"
LONGEST_WORD = 24
LOOKED_AT = 1 << 16
LEAST_UTF16 = 4
UTF_8_NAMES = ("utf-8", "utf-8-sig")  # as the registry of codecs has them
OR_ELSE = ", though it may be {} with other text: --encoding says which"
KINDS_HINT = "Save the table as CSV or Parquet."
HINT = "Name its encoding, such as --encoding cp1250, or save it as UTF-8."
MOSTLY_HINT = "Correct that line and save the table as UTF-8, or name the encoding of all of it."


@dataclass(frozen=True, slots=True)
class Encoding:
    """The encoding of a file; `example` is a word of it with a sign outside ASCII.

    It `is_either` if the text may be in UTF-8, and may be in the encoding of training.
    """

    name: str
    example: str = ""
    is_either: bool = False

    @property
    def is_plain(self) -> bool:
        """True if the bytes can be read as UTF-8 as they stand."""
        return self.name == UTF_8

    def __str__(self) -> str:
        """Say it to a user, with a word by which a wrong guess is seen."""
        return f"{self.name} ('{self.example}')" if self.example else self.name


def find_encoding(
    source: Path,
    title: str,
    is_late: Clock,
    *,
    is_whole: bool = True,
    before: NamedEncoding | None = None,
) -> Encoding:
    """Return the encoding of a text file, by all of it that there is time for.

    A part of a file may end within a sign. `before` is the encoding named for the training file. If
    its bytes were UTF-8, a later file like it is read as the model learned to.
    """
    text = TextFile(source, is_late, is_whole)
    found = _by_bytes(text, title, before)
    if before is None or before.told == before.name or not (found.is_plain or found.is_either):
        return found
    is_alike = found.is_plain and _is_ascii(source)
    if is_alike or not text.is_in(before.name):
        return found
    if before.told == UTF_8:
        return Encoding(before.name)
    is_unknown = before.told is None and before.has_more and not has_utf8_mark(source)
    return replace(found, is_either=True) if is_unknown else found


def told_by_bytes(blocks: Iterable[bytes], named: str) -> str | None:
    """Return UTF-8 or the encoding named for a text, by its bytes; None if both may be.

    UTF-8 stands for broken UTF-8, too, and needs proof: Å² in Latin-1 has the bytes of Ų in UTF-8.
    """
    before, decoder = NamedEncoding(named, named), codecs.getincrementaldecoder(UTF_8)()
    if not before.has_ascii:
        return named
    seen = Likenesses()
    for place, block in enumerate(blocks):
        if place == 0 and block.startswith(codecs.BOM_UTF8):
            return UTF_8
        if block.isascii():
            continue
        is_valid = _decodes(decoder, block)
        of_utf8, others = count_signs(block)
        if not is_valid and of_utf8 < others:
            return named
        seen.add(block)
        if before.tells_utf8(seen):
            return UTF_8
        if not is_valid:
            return named
    return None if seen.signs else named


def _decodes(decoder: codecs.IncrementalDecoder, block: bytes) -> bool:
    try:
        decoder.decode(block)
    except UnicodeDecodeError:
        return False
    return True


def has_utf8_mark(source: Path) -> bool:
    """Return True if a file begins with the mark of UTF-8, which is no text in any encoding."""
    with source.open("rb") as file:
        return file.read(len(codecs.BOM_UTF8)) == codecs.BOM_UTF8


def _by_bytes(text: TextFile, title: str, named: NamedEncoding | None) -> Encoding:
    """Return the encoding by the bytes, beside the one `named` for the training file."""
    with text.source.open("rb") as file:
        start = file.read(BLOCK)
    marked = next((name for mark, name in MARKS if start.startswith(mark)), None)
    if told := marked or _utf16_without_mark(start):
        return Encoding(told)
    if ZERO in start[:LOOKED_AT]:
        if named is None or not named.explains_zeros(text):
            raise _no_text(title)
        return Encoding(named.name)
    if named is not None and start.isascii() and named.is_in_ascii:
        return Encoding(named.name)
    if text.is_in(UTF_8):
        if named is not None and named.explains_utf8(text):
            return Encoding(named.name, is_either=True)
        return Encoding(UTF_8)
    return _of_other_bytes(text, title, named)


def _of_other_bytes(text: TextFile, title: str, named: NamedEncoding | None) -> Encoding:
    """Return the encoding of a text that is no UTF-8."""
    if named is None or not named.explains_other_bytes(text):
        return _of_one_byte(text, title)
    if _is_mostly_utf8(text) and not named.explains_broken_utf8(text):
        return _of_one_byte(text, title)
    return Encoding(named.name)


def is_utf8_name(name: str) -> bool:
    """Return True for a name of UTF-8, such as utf8."""
    check_encoding(name)
    return codecs.lookup(name).name in UTF_8_NAMES


def is_misnamed(named: str | None, told: str | None) -> bool:
    """Return True if an encoding was named for a text whose bytes told UTF-8.

    Later files like it are read in that one, too, as the model learned to.
    """
    return named is not None and told == UTF_8 and not is_utf8_name(named)


def say_beside(found: Encoding, before: str, source: Path) -> tuple[str, ...]:
    """Return words on an encoding beside that of training; ASCII is the same in most of them."""
    if codecs.lookup(found.name).name == codecs.lookup(before).name:
        said, other = f"{found} as in training", "UTF-8"
    elif found.is_plain and _is_ascii(source):
        return ()
    else:
        said, other = f"{found} (in training {before})", before
    return (f"{said}{OR_ELSE.format(other) if found.is_either else ''}",)


def _is_ascii(source: Path) -> bool:
    return all(block.isascii() for block in blocks_of(source, lambda: False))


def _of_one_byte(text: TextFile, title: str) -> Encoding:
    """Tell Latin-1 from Windows-1252; raise if the text may as well be UTF-8 with a mistake.

    An umlaut before a quotation mark looks like a sign of UTF-8, so most of the bytes decide.
    """
    name, example, of_utf8, others, unknown, lines = LATIN, "", 0, 0, 0, 1
    for block in text.blocks():
        # Any bytes can be read as Latin-1.
        if CONTROL.search(block):
            raise _no_text(title)
        if not unknown and (unused := UNUSED.search(block)):
            unknown = lines + block[: unused.start()].count(b"\n")
        alike, single = count_signs(block)
        of_utf8, others = of_utf8 + alike, others + single
        if alike or single:
            name = WINDOWS if OF_WINDOWS.search(block) else name
            example = example or _word_of(block)
        lines += block.count(b"\n")
    if of_utf8 >= others:
        raise _mostly_utf8(text.source, title)
    if unknown:
        raise _unknown(title, unknown)
    return Encoding(name, example)


def _is_mostly_utf8(text: TextFile) -> bool:
    counts = map(count_signs, text.blocks())
    of_utf8, others = map(sum, zip(*counts, strict=True))
    return of_utf8 >= others


def _mostly_utf8(source: Path, title: str) -> DataError:
    """Name the first byte that is no UTF-8; a sign may stand in two blocks."""
    decoder, line, is_over = codecs.getincrementaldecoder(UTF_8)(), 1, False
    with source.open("rb") as file:
        while not is_over:
            block = file.read(BLOCK)
            is_over = not block
            try:
                decoder.decode(block, final=is_over)
            except UnicodeDecodeError as problem:
                line += problem.object[: problem.start].count(b"\n")
                byte = f"0x{problem.object[problem.start]:02x}"
                return DataError(
                    f"{title} is UTF-8 text for the most part, but not in line {line} "
                    f"(byte {byte}).",
                    hint=MOSTLY_HINT,
                )
            line += block.count(b"\n")
    return _unknown(title, line)


def _unknown(title: str, line: int) -> DataError:
    return DataError(
        f"{title}, line {line}: this is neither UTF-8 text nor Windows-1252.", hint=HINT
    )


def _no_text(title: str) -> DataError:
    return DataError(f"{title} is no text, and no table of a known kind.", hint=KINDS_HINT)


def _word_of(line: bytes) -> str:
    found = FOREIGN_WORD.search(line)
    return found[0].decode("cp1252", "replace")[:LONGEST_WORD] if found else ""


def _utf16_without_mark(start: bytes) -> str | None:
    """Tell UTF-16 without a mark by its zeros: every second byte of its ASCII signs is one."""
    even, odd = start[0::2], start[1::2]
    for name, zeros, others in (("UTF-16LE", odd, even), ("UTF-16BE", even, odd)):
        if len(start) >= LEAST_UTF16 and zeros.count(0) > len(zeros) / 2 and not others.count(0):
            return name
    return None
