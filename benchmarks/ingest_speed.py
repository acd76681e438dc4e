"""Time of the ingest: finding the facts of a table, and reading later rows by them.

    python benchmarks/ingest_speed.py

A service predicts one row at a time, so one row is to take less than 5 ms. It prints a line for
each number of rows.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "helpers"))

import numpy as np
import pandas as pd
from messy_table import messy_table

from automl_admm.data.conforming import row_of
from automl_admm.data.ingest.applying import make_columns
from automl_admm.data.ingest.deciding import decide
from automl_admm.data.ingest.forms.number import read_number, recognise_number

ROWS = (240, 10_000, 100_000)
READ = (1, 10, 1_000)
REPEATS = 21
NUMBERS = 1_000_000
MOST_MILLISECONDS = 5.0


def milliseconds(work: Callable[[], Any], repeats: int = REPEATS) -> float:
    """Return the median processor time of a call, which other programs disturb least."""
    work()
    taken = []
    for _ in range(repeats):
        begun = time.process_time()
        work()
        taken.append(1e3 * (time.process_time() - begun))
    return sorted(taken)[repeats // 2]


def time_numbers() -> None:
    """Print the times to recognise, and to read, a million texts that are distinct numbers."""
    figures = np.exp(np.random.default_rng(0).normal(7, 1.2, NUMBERS))
    for name, write in (("plain", "{:.5f}"), ("percent", "{:.4f}%"), ("thousands", "${:,.2f}")):
        column = pd.Series([write.format(figure) for figure in figures], name=name)
        facts = recognise_number(column) or {}
        found = milliseconds(partial(recognise_number, column), repeats=3)
        read = milliseconds(partial(read_number, column, facts, row_of), repeats=3)
        print(f"{NUMBERS} numbers, {name}: recognised in {found:.0f} ms, read in {read:.0f} ms")


def main() -> int:
    """Print the times; exit with 1 if one row takes too long."""
    time_numbers()
    for rows in ROWS:
        frame = messy_table(rows).drop(columns="bought")
        found = milliseconds(partial(decide, frame), repeats=3)
        print(f"{rows:>7} rows, {frame.shape[1]} columns: facts found in {found:8.1f} ms")
    train = messy_table().drop(columns="bought")
    ingest, later = decide(train), messy_table(READ[-1], seed=6).drop(columns="bought")
    taken = {}
    for rows in READ:
        part = later.head(rows)
        taken[rows] = milliseconds(partial(make_columns, part, ingest))
        print(f"{rows:>7} rows read by the facts in {taken[rows]:8.1f} ms")
    return int(taken[1] > MOST_MILLISECONDS)


if __name__ == "__main__":
    raise SystemExit(main())
