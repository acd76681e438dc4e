"""The bytes of a text file, a block at a time, and the likenesses of UTF-8 in them."""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Iterator
from pathlib import Path

Clock = Callable[[], bool]

UTF_8 = "utf-8"
BLOCK = 1 << 20
# Two, three or four bytes of one sign in UTF-8.
SEVERAL_BYTES = re.compile(
    rb"[\xc2-\xdf][\x80-\xbf]|[\xe1-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}"
)
HIGH = bytes(range(0x80, 0x100))


def blocks_of(source: Path, is_late: Clock) -> Iterator[bytes]:
    """Yield the blocks of a file, one at least, until the time ends."""
    with source.open("rb") as file:
        while block := file.read(BLOCK):
            yield block
            if is_late():
                return


def is_text_in(encoding: str, source: Path, is_late: Clock, *, is_whole: bool) -> bool:
    """Return True if a file is text in an encoding, by all of it that there is time for.

    A file that is not whole may end within a sign.
    """
    decoder = codecs.getincrementaldecoder(encoding)()
    try:
        for block in blocks_of(source, is_late):
            decoder.decode(block)
        decoder.decode(b"", final=is_whole and not is_late())
    except UnicodeError:
        return False
    return True


def count_signs(block: bytes) -> tuple[int, int]:
    """Return the number of likenesses of UTF-8, and of the other bytes outside ASCII."""
    if block.isascii():
        return 0, 0
    rest, of_utf8 = SEVERAL_BYTES.subn(b"", block)
    return of_utf8, len(rest) - len(rest.translate(None, HIGH))
