"""Read a table within a time (all of it, or rows from all over it), and the same rows later."""

from __future__ import annotations

import io
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from automl_admm.data.reading.feeding import Feed, IrregularError
from automl_admm.data.reading.formats import PARQUET, format_of
from automl_admm.data.reading.parquet_rows import rows_in_time
from automl_admm.data.reading.pieces import Piece, cut, evenly
from automl_admm.data.reading.shares import Share, share_of_pieces, written_out
from automl_admm.data.reading.tables import (
    check_header,
    parse,
    read_table,
    with_text_names,
    without_infinities,
)
from automl_admm.data.table_schema import Schema

# Parts of the time: seeing where rows end; that, and checking and taking apart the text. The rest
# is for making numbers of it, which is about as much work as the second.
CUTTING, FEEDING = 0.4, 0.7
# A third of a gigabyte is seen in so many seconds: rows from the beginning alone are worse.
LEAST_CUTTING = 0.25
# What is shorter is read in less time than it takes to find out where to cut it.
SHORT_BYTES = 1 << 20


def read_in_time(source: Path, seconds: float) -> tuple[Any, Share | None]:
    """Read a table, and return the share read of its file; None for all of it.

    A file refused by `read_table` is refused in the same words. A file with possible quotes
    anywhere is read whole: only a reader from its start knows the ends of its rows.
    """
    begun = time.monotonic()
    form, size = format_of(source), source.stat().st_size
    if size <= SHORT_BYTES:
        return read_table(source, keep_codes=True), None
    try:
        if form == PARQUET:
            return _read_parquet(source, size, _clock(begun + FEEDING * seconds))
        cutting = max(CUTTING * seconds, LEAST_CUTTING)
        header, *rest = cut(source, _clock(begun + cutting))
        pieces = evenly(tuple(rest))
        frame, taken = read_pieces(source, header, pieces, _clock(begun + FEEDING * seconds))
    # Read whole after all: `read_table` gives the precise message, or copes with it.
    except (IrregularError, ImportError, OSError, ValueError, OverflowError):
        return read_table(source, keep_codes=True), None
    return frame, share_of_pieces(size, (header, *taken))


def read_again(source: Path, schema: Schema | None, share: Share | None) -> Any:
    """Read the same rows of a file as before: all, or those of the share."""
    if share is None:
        return read_table(source, schema=schema)
    if share.rows is not None:
        return read_table(source, schema=schema, rows=share.pieces)
    with written_out(source, share) as part:
        return read_table(part, schema=schema)


def _clock(until: float) -> Callable[[], bool]:
    return lambda: time.monotonic() > until


def _read_parquet(source: Path, size: int, is_late: Callable[[], bool]) -> tuple[Any, Share | None]:
    frame, rows, pieces = rows_in_time(source, is_late)
    if frame.empty:
        raise IrregularError
    return without_infinities(with_text_names(frame)), share_of_pieces(size, pieces, rows)


def read_pieces(
    source: Path, header: Piece, pieces: Sequence[Piece], is_late: Callable[[], bool]
) -> tuple[Any, list[Piece]]:
    """Read pieces until it is late; return their rows in the order of the file, and the pieces."""
    with Feed(source, header, pieces, is_late) as feed:
        check_header(source, feed.names)
        frame = parse(io.BufferedReader(feed), ())
        order = _in_order_of_file(feed)
    # The parser saw other rows than the check, so the order would be wrong.
    if len(frame) != len(order):
        raise IrregularError
    codes = [name for name in frame.select_dtypes("number").columns if name in feed.codes]
    if codes:
        with Feed(source, header, feed.taken) as again:
            written = parse(io.BufferedReader(again), codes, only=codes)
        frame[codes] = written[codes]
    return without_infinities(frame.take(order).reset_index(drop=True)), feed.taken


def _in_order_of_file(feed: Feed) -> Any:
    """Return the order of rows in their file, from that of the pieces read."""
    ends = np.cumsum(feed.rows)
    places = np.argsort([begin for begin, _ in feed.taken])
    return np.concatenate([np.arange(ends[p] - feed.rows[p], ends[p]) for p in places])
