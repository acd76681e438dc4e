"""The peak of memory, in a process of its own: not every system can forget an earlier peak."""

from __future__ import annotations

import subprocess
import sys

PROGRAM = """
from automl_admm.pipelines.memory_peak import forget_peak, peak_mb

forget_peak()
before = peak_mb()
held = bytearray(b"x") * 200_000_000
print(peak_mb() - before)
"""


def test_the_peak_grows_with_what_is_held_at_once() -> None:
    ended = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True
    )
    assert 150 < float(ended.stdout) < 250
