"""Text of two possible readings: as UTF-8, and in the encoding named for the training file.

Few texts may: 女 in GBK has the bytes of "Ů" in UTF-8. What tells them apart are signs: most of
those of a file in UTF-8 are in the encoding of training, too, or stand in words of Latin letters.
"""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass

from automl_admm.data.reading.text_blocks import (
    BLOCK,
    HIGH,
    SEVERAL_BYTES,
    UTF_8,
    Likenesses,
    TextFile,
    foreign,
    signs_of_utf8,
)

# So many signs of three bytes hardly ever come by chance in text of another encoding.
SEVERAL = 2
# Signs of many writings: an encoding has one of them at least, or is one of single bytes.
EASTERN = "漢あ"
FOREIGN = f"é{EASTERN}"
ASCII = "a1,\n"
# Signs that no text has; the lines of EBCDIC may end in \x85.
CONTROLS = re.compile(r"[\x00-\x08\x0e-\x1f\x80-\x84\x86-\x9f]")
# The first signs of so many in UTF-8.
THREE_BYTES, FOUR_BYTES = "\u0800", "\U00010000"
# In GB 18030 four bytes are a sign that no other encoding of Chinese has.
RARE = 4


@dataclass(frozen=True, slots=True)
class NamedEncoding:
    """The encoding named for a training file.

    The bytes of the file `told` the same one, or "utf-8" if a wrong one was named, such as latin-1
    for text in UTF-8. None if they left it open, or nobody noted it.
    """

    name: str
    told: str | None = None

    @property
    def is_in_ascii(self) -> bool:
        """True if it writes all other signs in ASCII, such as ISO-2022-JP."""
        written = FOREIGN.encode(self.name, "ignore")
        return self.has_ascii and bool(written) and written.isascii()

    @property
    def has_ascii(self) -> bool:
        """True if it has the bytes of ASCII for its signs, unlike UTF-16."""
        return ASCII.encode(self.name, "ignore") == ASCII.encode()

    @property
    def has_more(self) -> bool:
        """True if it has ASCII and other bytes: then a text with a mistake may be of it, too."""
        return self.has_ascii and bool(HIGH.decode(self.name, "ignore"))

    @property
    def is_eastern(self) -> bool:
        """True if it has several bytes for a sign of Chinese, Japanese or Korean text."""
        return any(len(sign.encode(self.name, "ignore")) > 1 for sign in EASTERN)

    def has(self, sign: str) -> bool:
        """Return True if text of this encoding may well have the sign."""
        return 0 < len(sign.encode(self.name, "ignore")) < RARE

    def explains_zeros(self, text: TextFile) -> bool:
        """Return True if text of this encoding has zeros, and all of a file is such text."""
        return self._is_wide and text.is_in(self.name)

    def explains_other_bytes(self, text: TextFile) -> bool:
        """Return True if a text without zeros, and no UTF-8, may be of this encoding.

        If the encoding has no bytes beside ASCII, or other ones in its place, all of it must fit.
        """
        if self.has_more:
            return True
        if self._is_wide or not text.is_in(self.name):
            return False
        with text.source.open("rb") as file:
            start = codecs.getincrementaldecoder(self.name)().decode(file.read(BLOCK))
        return not CONTROLS.search(start)

    def explains_utf8(self, text: TextFile) -> bool:
        """Return True if valid UTF-8 may be of this encoding, by all of it if the time allows."""
        seen = Likenesses()
        for block in foreign(text.blocks()) if self.has_ascii else ():
            seen.add(block)
            if self._are_utf8_alone(seen.signs):
                return False
        is_known = all(map(self.has, seen.signs))
        is_usual = seen.are_many and (seen.are_in_words or is_known)
        return bool(seen.signs) and not is_usual and self._fits_letters(text)

    def explains_broken_utf8(self, text: TextFile) -> bool:
        """Return True if a text, much of it like UTF-8, is of this encoding after all.

        If the training file was UTF-8 itself, this one is read as the model learned to.
        """
        if self.told == UTF_8:
            return text.is_in(self.name)
        if not self.has_ascii or not self._fits_letters(text):
            return False
        signs = set[str]().union(*map(signs_of_utf8, foreign(text.blocks())))
        return self.is_eastern or not any(map(self.has, signs))

    def tells_utf8(self, seen: Likenesses) -> bool:
        """Return True if likenesses of UTF-8 in a text said to be of this encoding prove it.

        By chance text in this encoding looks like UTF-8 in few places, or in letters alone.
        """
        has_several = sum(sign >= THREE_BYTES for sign in seen.signs) >= SEVERAL
        if self.is_eastern or all(map(self._is_of_letters, seen.signs)):
            return self.is_eastern and has_several
        has_words = seen.are_in_words and seen.are_many
        return has_several or has_words or any(map(self.has, seen.signs))

    def _is_of_letters(self, sign: str) -> bool:
        """Return True if the bytes of a sign in UTF-8 are letters in this encoding."""
        return sign.encode().decode(self.name, "ignore").isalpha()

    @property
    def _is_wide(self) -> bool:
        """True if it has zeros in each sign of ASCII, such as UTF-16."""
        return 0 in ASCII.encode(self.name, "ignore")

    def _are_utf8_alone(self, signs: set[str]) -> bool:
        """Return True if no text in this encoding looks like these signs of UTF-8.

        Eastern text has three bytes a sign there, and by chance it seldom looks like that.
        """
        if self.is_eastern:
            return any(sign >= THREE_BYTES for sign in signs)
        return any(sign >= FOUR_BYTES or self.has(sign) for sign in signs)

    def _fits_letters(self, text: TextFile) -> bool:
        """Return True if all of a file is text in this encoding.

        Any bytes are text in one of single bytes: there all likenesses of UTF-8 must be letters.
        """
        if not text.is_in(self.name):
            return False
        alike = () if self.is_eastern else map(SEVERAL_BYTES.findall, foreign(text.blocks()))
        return all(one.decode(self.name).isalpha() for found in alike for one in set(found))
