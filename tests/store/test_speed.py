"""A store does not get slow as it grows; the benchmark measures it and holds it to that."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

BENCHMARK = Path(__file__).parents[2] / "benchmarks" / "store_speed.py"


@pytest.mark.fault(
    "F34", injected="100 000 rows", expected="read in < 5 s, a row written in < 10 ms"
)
def test_a_store_of_many_rows_is_quick(tmp_path: Path, seen: Callable[[str], None]) -> None:
    done = subprocess.run(
        [sys.executable, str(BENCHMARK), "--folder", str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
    )
    lines = [line for line in done.stdout.splitlines() if " < " in line]
    seen("; ".join(" ".join(line.split()) for line in lines[:2]))
    assert done.returncode == 0, done.stdout + done.stderr
    assert len(lines) == 3
