"""The bytes of a text file, a block at a time, and the likenesses of UTF-8 in them."""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

Clock = Callable[[], bool]

UTF_8 = "utf-8"
BLOCK = 1 << 20
# Two, three or four bytes of one sign in UTF-8.
SEVERAL_BYTES = re.compile(
    rb"[\xc2-\xdf][\x80-\xbf]|[\xe1-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}"
)
HIGH = bytes(range(0x80, 0x100))
# A word of Latin letters, one of them with an accent, or a unit such as °C.
WITH_ASCII = re.compile(rb"[\xc2-\xdf][\x80-\xbf](?:[A-Za-z]|(?<=[A-Za-z][\xc2-\xdf][\x80-\xbf]))")
# So many signs of Eastern text hardly ever all look like UTF-8.
MANY = 4


def blocks_of(source: Path, is_late: Clock) -> Iterator[bytes]:
    """Yield the blocks of a file, one at least, until the time ends."""
    with source.open("rb") as file:
        while block := file.read(BLOCK):
            yield block
            if is_late():
                return


@dataclass(frozen=True, slots=True)
class TextFile:
    """The bytes of a text file, all that there is time for.

    A file that is not whole may end within a sign.
    """

    source: Path
    is_late: Clock
    is_whole: bool = True

    def blocks(self) -> Iterator[bytes]:
        """Yield the blocks, one at least, until the time ends."""
        return blocks_of(self.source, self.is_late)

    def is_in(self, encoding: str) -> bool:
        """Return True if it is text in an encoding."""
        decoder = codecs.getincrementaldecoder(encoding)()
        try:
            for block in self.blocks():
                decoder.decode(block)
            decoder.decode(b"", final=self.is_whole and not self.is_late())
        except UnicodeError:
            return False
        return True


@dataclass(slots=True)
class Likenesses:
    """The likenesses of UTF-8 in a text: their signs, and True if one of them is in a word."""

    signs: set[str] = field(default_factory=set)
    are_in_words: bool = False

    def add(self, block: bytes) -> None:
        """Add those of a block, but for one on its edge."""
        self.signs |= signs_of_utf8(block)
        self.are_in_words = self.are_in_words or WITH_ASCII.search(block) is not None

    @property
    def are_many(self) -> bool:
        """True if there are many different signs."""
        return len(self.signs) >= MANY


def foreign(blocks: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the blocks that are not all ASCII: in the others there is nothing to find."""
    return (block for block in blocks if not block.isascii())


def signs_of_utf8(block: bytes) -> set[str]:
    """Return the signs of several bytes; those on the edge of the block are left out."""
    found = set(SEVERAL_BYTES.findall(block))
    return set(b"".join(found).decode("utf-8", "ignore"))


def count_signs(block: bytes) -> tuple[int, int]:
    """Return the number of likenesses of UTF-8, and of the other bytes outside ASCII."""
    if block.isascii():
        return 0, 0
    rest, of_utf8 = SEVERAL_BYTES.subn(b"", block)
    return of_utf8, len(rest) - len(rest.translate(None, HIGH))
