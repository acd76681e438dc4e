"""The dialect of a CSV file: its separator and its decimal sign, found in its first rows.

A sign separates the columns if every row has as many of them as the header. Two such signs are
ambiguous, and refused. All later rows are checked anyway, so a wrong guess is an error with a line.
"""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from automl_admm.core.errors import DataError
from automl_admm.data.reading.decimals import SEMICOLON, decimal_of_columns
from automl_admm.data.reading.file_options import FileOptions
from automl_admm.data.unique_names import UniqueNames, unique_header

# Ordered: a file that fits none is read with commas, and its mistake is told.
SIGNS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar"}
WORDS = {sign: f"{name}s" for sign, name in SIGNS.items()}
SAMPLE, LONGEST_SAMPLE = 1 << 18, 1 << 24
LEAST_LINES = 3
END_OF_LINE = re.compile(rb"[\r\n]")


@dataclass(frozen=True, slots=True)
class Dialect:
    """The signs that a CSV file is written with.

    `is_settled` is True if no later row can change the decimal sign. If numbers such as 1.234 are
    all that there is, `has_doubtful_points` says that their points may part thousands. `unique` has
    the names of the columns if some are alike, or have none.
    """

    separator: str = ","
    decimal: str = "."
    is_settled: bool = False
    has_doubtful_points: bool = False
    unique: UniqueNames | None = None

    def names(self, header: Sequence[str]) -> list[str]:
        """Return the names of the columns under a header."""
        return list(header if self.unique is None else self.unique.names)

    def reader(self, text: Iterable[str]) -> Any:
        """Return a strict reader of rows."""
        return csv.reader(text, delimiter=self.separator, skipinitialspace=True, strict=True)

    def tell(self) -> tuple[str, ...]:
        """Say what is not plain."""
        told = [] if self.separator == "," else [WORDS[self.separator]]
        told += [] if self.decimal == "." else ["decimal commas"]
        return (*told, *([] if self.unique is None else [self.unique.tell()]))


COMMAS = Dialect()


@dataclass(frozen=True)
class Sample:
    """The first rows of a file, as they are parted by a separator."""

    separator: str
    rows: Sequence[Sequence[str]]
    is_broken: bool

    @property
    def width(self) -> int:
        """The number of columns in the header."""
        return len(self.rows[0]) if self.rows else 0

    @cached_property
    def agreeing(self) -> float:
        """The share of rows as wide as the header."""
        return sum(len(row) == self.width for row in self.rows) / max(len(self.rows), 1)

    @cached_property
    def alike(self) -> float:
        """The share of rows with the commonest number of columns, of several."""
        widths = Counter(len(row) for row in self.rows if len(row) > 1)
        return max(widths.values(), default=0) / max(len(self.rows), 1)

    @property
    def fits(self) -> bool:
        """True if it parts every row into as many columns as the header, and these into several."""
        return self.width > 1 and self.agreeing == 1.0 and not self.is_broken


def find_dialect(path: Path, options: FileOptions) -> Dialect:
    """Return the dialect of a text file in UTF-8; what the options name is not looked for."""
    text, is_cut = beginning(path)
    # Blanks have become commas by now.
    named = "," if options.separator == " " else options.separator
    signs = _signs_in(text) if named is None else (named,)
    samples = [sample_of(text, sign, is_cut=is_cut) for sign in signs]
    chosen = samples[0] if len(samples) == 1 else _choose(path, samples)
    unique = _unique_names(path, chosen, options)
    if options.decimal is not None:
        return Dialect(chosen.separator, options.decimal, is_settled=True, unique=unique)
    sign, is_settled = decimal_of_columns(path, chosen.rows, chosen.separator)
    is_doubtful = options.had_commas or chosen.separator == SEMICOLON
    return Dialect(chosen.separator, sign, is_settled, is_doubtful, unique)


def likely_separator(path: Path) -> str:
    """Return the sign that parts most of the first rows alike, whatever the ends of lines.

    It is asked of a file as it came: comments may stand above its header.
    """
    with path.open("rb") as file:
        text, is_cut = file.read(SAMPLE).decode("utf-8-sig", "replace"), bool(file.read(1))
    samples = [sample_of(text, sign, is_cut=is_cut) for sign in _signs_in(text)]
    return max(samples, key=lambda one: (one.fits, one.alike, one.width)).separator


def _signs_in(text: str) -> list[str]:
    """List the separators that stand in a text, and the comma.

    Each takes a pass over the sample. The comma is that of a file that fits none.
    """
    return [sign for sign in SIGNS if sign == "," or sign in text]


def _unique_names(path: Path, sample: Sample, options: FileOptions) -> UniqueNames | None:
    found = unique_header(sample.rows[0], options.known) if sample.rows else None
    if found is not None:
        found.check(str(path), options.sole, options.known)
    return found


def beginning(path: Path) -> tuple[str, bool]:
    """Return some lines of text, and True if there are more."""
    with path.open("rb") as file:
        content = file.read(SAMPLE)
        # The header of a wide table alone may be longer than that.
        while content.count(b"\n") < LEAST_LINES and len(content) < LONGEST_SAMPLE:
            more = file.read(SAMPLE)
            if not more:
                break
            content += more
        is_cut = bool(file.read(1))
    if is_cut and len(content) >= LONGEST_SAMPLE and not END_OF_LINE.search(content):
        raise DataError(f"{path} has no end of a line in its first 16 MB: it is no table.")
    return content.decode("utf-8-sig", "replace"), is_cut


def sample_of(text: str, separator: str, *, is_cut: bool, quote: str = '"') -> Sample:
    """Part the first lines of a file by a separator."""
    rows: list[Sequence[str]] = []
    is_broken = False
    try:
        rows.extend(filter(None, _reader(text, separator, quote)))
    except csv.Error:
        # A sample may end within quotes.
        is_broken = not is_cut
    # The last row of a part may be cut as well.
    return Sample(separator, rows[:-1] if is_cut and len(rows) > 1 else rows, is_broken)


def _reader(text: str, separator: str, quote: str) -> Iterator[list[str]]:
    lines = io.StringIO(text, newline="")
    return csv.reader(
        lines, delimiter=separator, quotechar=quote, skipinitialspace=True, strict=True
    )


def _choose(path: Path, samples: Sequence[Sample]) -> Sample:
    fitting = [sample for sample in samples if sample.fits]
    if len(fitting) > 1 and len(fitting[0].rows) > 1:
        raise DataError(
            f"{path}: its columns may be parted by {_listed(fitting)}.",
            hint="Say which: --separator comma, semicolon, tab or bar.",
        )
    if fitting:
        return fitting[0]
    _refuse_two_separators(path, samples)
    # A row has a mistake: it is told with its line. `max` takes the first of equals, the comma.
    several = [sample for sample in samples if sample.width > 1]
    return max(several, key=lambda sample: sample.agreeing) if several else samples[0]


def _listed(fitting: Sequence[Sample]) -> str:
    """Return text such as: commas (2) or semicolons (3)."""
    return " or ".join(f"{WORDS[one.separator]} ({one.width} columns)" for one in fitting)


def _refuse_two_separators(path: Path, samples: Sequence[Sample]) -> None:
    """Raise if the header has one separator, and all rows have another."""
    of_header = [one for one in samples if one.width > 1 and all(len(r) == 1 for r in one.rows[1:])]
    of_rows = [
        one
        for one in samples
        if one.width == 1 and len(one.rows) > 1 and min(len(row) for row in one.rows[1:]) > 1
    ]
    if of_header and of_rows and len(of_header[0].rows) > 1:
        header, rows = WORDS[of_header[0].separator], WORDS[of_rows[0].separator]
        raise DataError(
            f"{path}: its header is parted by {header}, and its rows by {rows}.",
            hint="Write the header with the separator of the rows.",
        )
