"""CSV files with comment lines, single quotes or blanks between columns, rewritten as plain CSV.

Each line stays where it was, and one that is no row becomes blank, so mistakes keep their lines.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from automl_admm.core.errors import DataError
from automl_admm.data.conforming import figure_of
from automl_admm.data.reading.dialects import SIGNS, beginning, sample_of
from automl_admm.data.reading.file_options import FileOptions
from automl_admm.data.table_schema import MISSING_TEXTS

COMMENT = re.compile(r"^#", re.MULTILINE)
# What Excel writes above the header to name the separator.
SEPARATOR_LINE = re.compile(r'"?sep=.?"?\r?\n', re.IGNORECASE)
WORD = re.compile(r'"(?:[^"]|"")*"|[^ "]+')
WRAPPED = re.compile(rf"'[^']*'(?:[{re.escape(''.join(SIGNS))}] *'[^']*')+")
ROWS_A_BLOCK = 4096
# A table with mistakes in many more rows than this is none.
LEAST_AGREEING = 0.5


class _UnclearLineError(Exception):
    """Raised on a line that may be a comment or a row."""


@dataclass(frozen=True, slots=True)
class Tidying:
    """A way to rewrite a file: what it is told as, and the rows or lines it makes of text."""

    said: str
    rewrite: Callable[[Iterable[str]], Iterator[str]]

    def blocks(self, path: Path) -> Iterator[bytes]:
        """Return the rewritten text, block by block."""
        with path.open(encoding="utf-8-sig", newline="") as text:
            lines = self.rewrite(text)
            try:
                while block := "".join(islice(lines, ROWS_A_BLOCK)):
                    yield block.encode()
            except _UnclearLineError as problem:
                raise DataError(
                    f"{path}, line {problem} begins with #: is it a comment, or a row?",
                    hint="Delete it, or put its first field into quotes.",
                ) from problem
            except (UnicodeDecodeError, csv.Error) as problem:
                raise DataError(f"{path} cannot be read: {problem}.") from problem


def tidying_of(path: Path, options: FileOptions) -> Tidying | None:
    """Return the way to rewrite a CSV file; None for a plain one."""
    text, is_cut = beginning(path)
    return tidying_in(text, options, is_cut=is_cut)


def tidying_in(text: str, options: FileOptions, *, is_cut: bool) -> Tidying | None:
    """Return the way to rewrite a CSV file by its beginning; more follows if that `is_cut`."""
    if options.separator == " ":
        return Tidying("blanks", _of_blanks)
    if SEPARATOR_LINE.match(text):
        return Tidying("a line that names the separator", _without_first)
    if COMMENT.search(text) and (found := _comments(text, is_cut=is_cut)) is not None:
        return Tidying("comment lines", found)
    if '"' not in text and "'" in text and (sign := _single_quotes(text, is_cut=is_cut)):
        return Tidying("single quotes", lambda lines: _of_single_quotes(lines, sign))
    header = next((line for line in text.splitlines() if line.strip()), "")
    has_blanks = " " in header.strip() and not any(sign in header for sign in SIGNS)
    if has_blanks and options.separator is None and _are_blanks_sure(text, is_cut=is_cut):
        return Tidying("blanks", _of_blanks)
    return None


def _without_first(lines: Iterable[str]) -> Iterator[str]:
    rest = iter(lines)
    next(rest, None)
    yield "\n"
    yield from rest


def _comments(text: str, *, is_cut: bool) -> Callable[[Iterable[str]], Iterator[str]] | None:
    """Return how to blank comments: lines after a # that are not as wide as the table.

    One that is as wide may be the header, or a row.
    """
    marked = list(_marked(text.splitlines(keepends=True)))
    rest = "".join(line for line, is_comment in marked if not is_comment)
    samples = [one for sign in SIGNS if (one := sample_of(rest, sign, is_cut=is_cut)).width > 1]
    found = max(samples, key=lambda one: one.agreeing, default=None)
    comments = [line for line, is_comment in marked if is_comment]
    if found is None or found.agreeing < LEAST_AGREEING:
        return None
    # Of the lines above the first row the last is the header, unless there is a header below it.
    above = next((at for at, (line, is_one) in enumerate(marked) if line.strip() and not is_one), 0)
    is_wide = above > 0 and _width(marked[above - 1][0], found.separator) == found.width
    header = above - 1 if is_wide and not _is_header(found.rows) else None
    are_rows = all(_width(line, found.separator) == found.width for line in comments)
    if are_rows and (header is not None or not above):
        return None
    return lambda lines: _blanked(lines, found.separator, found.width, above, header)


def _marked(lines: Iterable[str]) -> Iterator[tuple[str, bool]]:
    """Return lines, each with True if it begins with a # that is not within quotes."""
    quotes = 0
    for line in lines:
        is_comment = quotes % 2 == 0 and line.startswith("#")
        quotes += 0 if is_comment else line.count('"')
        yield line, is_comment


def _is_header(rows: Sequence[Sequence[str]]) -> bool:
    """Return True if the first row is of words, and a column below it of numbers."""
    header, *body = rows
    words = not any(_is_number(cell) for cell in header) and len(set(header)) == len(header)
    columns = zip(*body, strict=True)
    return words and any(all(map(_is_number, column)) for column in columns)


def _is_number(cell: str) -> bool:
    written = cell.strip().replace(",", ".")
    return figure_of(written) is not None or (written in MISSING_TEXTS and written != "")


def _width(line: str, separator: str) -> int:
    return len(next(csv.reader([line], delimiter=separator, skipinitialspace=True), []))


def _blanked(
    lines: Iterable[str], separator: str, width: int, above: int, header: int | None
) -> Iterator[str]:
    for number, (line, is_comment) in enumerate(_marked(lines)):
        if not is_comment or number == header:
            yield line
        elif number < above or _width(line, separator) != width:
            yield "\n"
        else:
            raise _UnclearLineError(number + 1)


def _single_quotes(text: str, *, is_cut: bool) -> str | None:
    """Return the separator of a file with single quotes; None if they may be apostrophes.

    They are quotes where every name of the header has them, or where the rows have one width with
    them and several without.
    """
    header = next((line for line in text.splitlines() if line.strip()), "")
    quoted = [sample_of(text, sign, is_cut=is_cut, quote="'") for sign in SIGNS]
    fitting = [one for one in quoted if one.fits]
    if len(fitting) != 1:
        return None
    plain = [sample_of(text, sign, is_cut=is_cut) for sign in SIGNS]
    is_sure = WRAPPED.fullmatch(header.strip()) or not any(one.fits for one in plain)
    return fitting[0].separator if is_sure else None


def _of_single_quotes(lines: Iterable[str], separator: str) -> Iterator[str]:
    reader = csv.reader(lines, delimiter=separator, quotechar="'", skipinitialspace=True)
    return _written(reader)


def _are_blanks_sure(text: str, *, is_cut: bool) -> bool:
    """Return True if blanks can only separate columns.

    Words of one text have blanks between them as well, so most of the columns must be numbers, and
    every row as wide as the header.
    """
    rows = [words for line in text.splitlines() if (words := _words(line))]
    header, *body = rows[:-1] if is_cut else rows
    if not body or len(header) < 2 or any(len(row) != len(header) for row in body):
        return False
    numbers = sum(all(map(_is_number, column)) for column in zip(*body, strict=True))
    is_named = not any(map(_is_number, header))
    return is_named and (numbers == len(header) or (len(header) > 2 and 2 * numbers >= len(header)))


def _words(line: str) -> list[str]:
    return [_unquoted(word) for word in WORD.findall(line.replace("\t", " ").strip())]


def _unquoted(word: str) -> str:
    return word[1:-1].replace('""', '"') if len(word) > 1 and word[0] == word[-1] == '"' else word


def _of_blanks(lines: Iterable[str]) -> Iterator[str]:
    return _written(map(_words, lines))


def _written(rows: Iterable[Sequence[Any]]) -> Iterator[str]:
    """Return rows as CSV with commas; a line without a row stays blank."""
    made = io.StringIO()
    writer = csv.writer(made, lineterminator="\n")
    for row in rows:
        if row:
            writer.writerow(row)
        else:
            made.write("\n")
        yield made.getvalue()
        made.seek(0)
        made.truncate()
