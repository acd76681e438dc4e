"""Feed a CSV file to a parser piece by piece, each checked, until the deadline.

The parser sees one table: all pieces together decide the type of a column, as for a whole file. The
deadline is checked between pieces.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from automl_admm.data.reading.dialects import COMMAS, Dialect
from automl_admm.data.reading.pieces import FEWEST, QUOTE, Piece

# A number would lose the zero, and 007 and 7 would be one code.
CODE = re.compile(r"0\d+")
NEWLINE, RETURN, ZERO, NINE = b"\n\r09"
# A table of bytes: looking up beats comparing with each separator.
BEFORE_CODES = np.zeros(256, dtype=bool)
BEFORE_CODES[list(b', "\t\n\r\v\f;|')] = True


def is_code(cell: object) -> bool:
    """Return True for a text of digits with a zero before them, whatever blanks are around it."""
    return isinstance(cell, str) and CODE.fullmatch(cell.strip()) is not None


class IrregularError(Exception):
    """Raised on a piece against the header, or possibly cut within a text."""


@cache
def regular(separator: str) -> re.Pattern[bytes]:
    """Return the pattern of rows as every program writes them.

    What else there may be counts its quotes otherwise, and pieces may be cut in a text.
    """
    sign = re.escape(separator).encode()
    return re.compile(rb'(?:(?: *+"(?:[^"]++|"")*+"|[^"%b\r\n]*+)(?:%b|\r?\n|\Z))*+' % (sign, sign))


class Feed(io.RawIOBase):
    """A stream of a file's header and its pieces.

    `taken` are the pieces handed out so far, `rows` their numbers of rows. The columns in `codes`
    have a number with a leading zero, such as 007.
    """

    def __init__(
        self,
        source: Path,
        header: Piece,
        pieces: Sequence[Piece],
        is_late: Callable[[], bool] = lambda: False,
        dialect: Dialect = COMMAS,
    ) -> None:
        self._file = source.open("rb")
        self._dialect = dialect
        self._pieces, self._is_late = pieces, is_late
        self._left = memoryview(self._read(header))
        self.names = dialect.names(_fields(bytes(self._left), dialect)[0])
        self.taken: list[Piece] = []
        self.rows: list[int] = []
        self.codes: set[str] = set()

    # io.BufferedReader asks by this name; without it every file is read whole, however late it is.
    def readable(self) -> bool:
        """Return True: a feed is readable."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Hand out as much as there is room for."""
        if not self._left:
            self._left = memoryview(self._next())
        room = memoryview(buffer)
        count = min(len(room), len(self._left))
        room[:count] = self._left[:count]
        self._left = self._left[count:]
        return count

    def close(self) -> None:
        """Close the file."""
        self._file.close()
        super().close()

    def _next(self) -> bytes:
        number = len(self.taken)
        # An empty answer is the end of the file to the parser.
        if number == len(self._pieces) or (number >= FEWEST and self._is_late()):
            return b""
        content = self._read(self._pieces[number])
        self.rows.append(self._check(content))
        self.taken.append(self._pieces[number])
        # Another piece may follow the last of the file, which need not end in a newline.
        return content if content.endswith(b"\n") else content + b"\n"

    def _read(self, piece: Piece) -> bytes:
        self._file.seek(piece[0])
        return self._file.read(piece[1] - piece[0])

    def _check(self, content: bytes) -> int:
        """Return the number of rows; raise if one has not as many fields as the header."""
        found = np.frombuffer(content, np.uint8)
        # Counting in numpy is far quicker than taking rows apart; most files have no quotes.
        rows = _count_plain(found, len(self.names), self._dialect) if QUOTE not in content else None
        if rows is not None and not _may_hold_codes(found):
            return rows
        table = _fields(content, self._dialect)
        if any(len(fields) != len(self.names) for fields in table):
            raise IrregularError
        coded = {place for row in table for place, cell in enumerate(row) if is_code(cell)}
        self.codes.update(self.names[place] for place in coded)
        return len(table)


def _count_plain(found: Any, columns: int, dialect: Dialect) -> int | None:
    """Count the rows of text without quotes; None if its lines need a closer look."""
    ends = np.flatnonzero(found == NEWLINE)
    separators = np.flatnonzero(found == ord(dialect.separator))
    if columns < 2 or not len(ends) or ends[-1] + 1 < len(found) or (found == RETURN).any():
        return None
    in_each = np.diff(np.searchsorted(separators, ends), prepend=0)
    return len(ends) if (in_each == columns - 1).all() else None


def _may_hold_codes(found: Any) -> bool:
    zeros = np.flatnonzero(found == ZERO)
    zeros = zeros[zeros < len(found) - 1]
    following = found[zeros + 1]
    zeros = zeros[(following >= ZERO) & (following <= NINE)]
    return bool(((zeros == 0) | BEFORE_CODES[found[zeros - 1]]).any())


def _fields(content: bytes, dialect: Dialect) -> list[list[str]]:
    """Return the fields of rows, blank ones left out."""
    if QUOTE in content and not regular(dialect.separator).fullmatch(content):
        raise IrregularError
    with io.TextIOWrapper(io.BytesIO(content), encoding="utf-8-sig", newline="") as text:
        try:
            return [row for row in dialect.reader(text) if row]
        except (UnicodeDecodeError, csv.Error) as problem:
            raise IrregularError from problem
