"""Read a table within a time (all of it, or rows from all over it), and the same rows later."""

from __future__ import annotations

import io
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from automl_admm.core.errors import DataError
from automl_admm.data.reading import lines_in_time
from automl_admm.data.reading.csv_rows import check_header, parse, settle_decimal
from automl_admm.data.reading.dialects import COMMAS, Dialect, find_dialect
from automl_admm.data.reading.feeding import Feed, IrregularError
from automl_admm.data.reading.file_options import NO_OPTIONS, FileOptions
from automl_admm.data.reading.formats import ARFF, CSV, JSON_LINES, PARQUET, format_of
from automl_admm.data.reading.parquet_rows import rows_in_time
from automl_admm.data.reading.pieces import Piece, cut, evenly
from automl_admm.data.reading.plain_files import (
    PlainFile,
    local_file,
    not_in_time,
    plain_copy,
    plain_file,
)
from automl_admm.data.reading.shares import MEGABYTE, Share, share_of_pieces, written_out
from automl_admm.data.reading.tables import (
    Manner,
    index_left_out,
    names_found,
    read_csv_table,
    read_plain,
    read_table,
    tell_found,
    without_infinities,
)
from automl_admm.data.reading.typed_tables import line_table, with_text_names
from automl_admm.data.reading.whole_numbers import with_whole_numbers
from automl_admm.data.table_schema import Schema

# Parts of the time: unpacking; that, and seeing where rows end; both, and checking and taking apart
# the text. The rest is for making numbers of it, which is about as much work as the last.
UNPACKING, CUTTING, FEEDING = 0.25, 0.4, 0.7
# Before that, a stream may arrive for this part of it; the others are of the rest then.
ARRIVING = 0.5
# A third of a gigabyte is seen in so many seconds: rows from the beginning alone are worse.
LEAST_CUTTING = 0.25
# What is shorter is read in less time than it takes to find out where to cut it.
SHORT_BYTES = 1 << 20


def read_in_time(
    source: Path, seconds: float, options: FileOptions = NO_OPTIONS
) -> tuple[Any, Share | None]:
    """Read a table, and return the share read of its file; None for all of it.

    A file refused by `read_table` is refused in the same words. A file with possible quotes
    anywhere is read whole: only a reader from its start knows the ends of its rows.
    """
    begun = time.monotonic()
    with local_file(source, _clock(begun + ARRIVING * seconds)) as local:
        left = Time(max(begun + seconds - time.monotonic(), 0.0))
        with plain_copy(local, options, left.clock(UNPACKING)) as plain:
            found = _read_some(plain, left, options)
        if found is not None:
            return found
        if not local.is_whole:
            raise not_in_time(local.title)
        with plain_copy(local, options) as plain:
            return read_plain(plain, Manner(keep_codes=True, options=options)), None


def _read_some(
    plain: PlainFile, time_left: Time, options: FileOptions
) -> tuple[Any, Share | None] | None:
    """Read the rows there is time for; None if a file that is not whole has to be."""
    form, manner = format_of(plain.path), Manner(keep_codes=True, options=options)
    if plain.is_whole and plain.path.stat().st_size <= SHORT_BYTES:
        return read_plain(plain, manner), None
    try:
        read = _read_pieces_of_csv if form == CSV else partial(_read_typed, form)
        return read(plain, time_left, options)
    except DataError:
        if not plain.is_whole:
            raise
        return read_plain(plain, manner), None
    # Read whole after all: that gives the precise message, or copes with it.
    except (IrregularError, ImportError, OSError, ValueError, OverflowError):
        return (read_plain(plain, manner), None) if plain.is_whole else None


def _read_pieces_of_csv(
    plain: PlainFile, time_left: Time, options: FileOptions
) -> tuple[Any, Share | None]:
    """Read as many pieces of a CSV file as there is time for."""
    dialect = find_dialect(plain.path, options)
    is_late = time_left.clock(CUTTING, least=LEAST_CUTTING)
    header, *rest = cut(plain.path, is_late, is_whole=plain.is_whole)
    if not rest and not plain.is_whole:
        size = plain.path.stat().st_size
        raise DataError(f"{plain.path}: no row ends in its first {size / MEGABYTE:.3g} MB.")
    is_late = time_left.clock(FEEDING)
    frame, taken, dialect = read_pieces(plain.path, header, evenly(tuple(rest)), is_late, dialect)
    tell_found(options, plain, dialect)
    frame = without_infinities(frame, options.exact)
    return frame, share_of_pieces(plain.source_size, (header, *taken), None, plain.content)


def read_again(
    source: Path,
    schema: Schema | None,
    share: Share | None,
    options: FileOptions = NO_OPTIONS,
) -> Any:
    """Read the same rows of a file as before: all, or those of the share."""
    if share is None:
        return read_table(source, schema=schema, options=options)
    manner = Manner(schema=schema, options=options)
    enough = math.inf if share.rows is not None else share.pieces[-1][1]
    with plain_file(source, options, enough=enough) as plain:
        form = format_of(plain.path)
        if form != CSV:
            # The first piece of lines is their header.
            pieces = share.pieces if share.rows is not None else share.pieces[1:]
            return read_plain(plain, replace(manner, rows=pieces))
        # The dialect is that of the file; its rows in this part may tell less.
        dialect = find_dialect(plain.path, manner.asked)
        with written_out(plain.path, share) as part:
            return read_csv_table(replace(plain, path=part), dialect, manner)


def _clock(until: float) -> Callable[[], bool]:
    return lambda: time.monotonic() > until


class Time:
    """The time for reading, from now on."""

    def __init__(self, seconds: float) -> None:
        self._begun, self._seconds = time.monotonic(), seconds

    def clock(self, part: float, *, least: float = 0.0) -> Callable[[], bool]:
        """Return a function that is True when the part is over, and so many seconds from now."""
        return _clock(max(self._begun + part * self._seconds, time.monotonic() + least))


def _read_typed(
    form: str, plain: PlainFile, time_left: Time, options: FileOptions
) -> tuple[Any, Share | None]:
    """Read rows of a format that knows its types; raise IrregularError to read all of them."""
    is_late = time_left.clock(FEEDING)
    if form == PARQUET and plain.is_whole:
        frame, rows, pieces = rows_in_time(plain.path, is_late, options.asked)
        share = share_of_pieces(plain.source_size, pieces, rows)
    elif form in (ARFF, JSON_LINES):
        table = line_table(plain.path, form)
        rows_read, pieces = lines_in_time.rows_in_time(table, is_late, is_whole=plain.is_whole)
        frame = table.frame(rows_read)
        header = (0, table.end)
        share = share_of_pieces(plain.source_size, (header, *pieces), None, plain.content)
    else:
        raise IrregularError
    if frame.empty:
        raise IrregularError
    names = names_found(plain.path, form, options)
    tell_found(options, plain, names, index_left_out(frame, options))
    return without_infinities(with_text_names(frame), options.exact), share


def read_pieces(
    source: Path,
    header: Piece,
    pieces: Sequence[Piece],
    is_late: Callable[[], bool],
    dialect: Dialect = COMMAS,
) -> tuple[Any, list[Piece], Dialect]:
    """Read pieces until it is late.

    Return their rows in the order of the file, the pieces, and the dialect of these rows.
    """
    with Feed(source, header, pieces, is_late, dialect) as feed:
        check_header(source, feed.names)
        frame = parse(io.BufferedReader(feed), (), dialect=dialect)
        order = _in_order_of_file(feed)
    # The parser saw other rows than the check, so the order would be wrong.
    if len(frame) != len(order):
        raise IrregularError

    def parse_again(found: Dialect, text: Sequence[str]) -> Any:
        if found == dialect and not text:
            return frame
        with Feed(source, header, feed.taken, dialect=found) as again:
            return parse(io.BufferedReader(again), text, only=text or None, dialect=found)

    frame, dialect = settle_decimal(source, dialect, parse_again)
    codes = [name for name in frame.select_dtypes("number").columns if name in feed.codes]
    if codes:
        frame[codes] = parse_again(dialect, codes)[codes]
    frame = with_whole_numbers(frame, parse_again, dialect)
    return frame.take(order).reset_index(drop=True), feed.taken, dialect


def _in_order_of_file(feed: Feed) -> Any:
    """Return the order of rows in their file, from that of the pieces read."""
    ends = np.cumsum(feed.rows)
    places = np.argsort([begin for begin, _ in feed.taken])
    return np.concatenate([np.arange(ends[p] - feed.rows[p], ends[p]) for p in places])
