"""A store of many rows is opened, read, written and backed up as its benchmark does it.

The table of faults has the benchmark do so with 100 000 rows, and holds it to its bounds.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
import store_speed

ROWS = os.environ.get("AUTOML_ADMM_ROWS")


@pytest.mark.fault(
    "F34", injected="100 000 rows", expected="read in < 5 s, a row written in < 10 ms"
)
def test_a_store_of_many_rows_is_quick(tmp_path: Path, seen: Callable[[str], None]) -> None:
    path, rows = tmp_path / "store.sqlite", int(ROWS or 2000)
    store_speed.fill(path, rows)
    bounded = [line for line in store_speed.measure(path, rows) if line.bound]
    seen("; ".join(" ".join(str(line).split()) for line in bounded[:2]))
    assert len(bounded) == 3
    assert ROWS is None or all(line.is_kept for line in bounded)
