"""The last output of a process, often the reason of its crash."""

from __future__ import annotations

import os
from pathlib import Path

from automl_admm.core.messages import shorten
from automl_admm.execution.task_folders import open_regular

SHOWN_OUTPUT = 4_000  # bytes from the end: the reason stands last
SHOWN_LINE = 120
TRACEBACK = "Traceback (most recent call last)"


def last_output(output: Path) -> str:
    """Return the end of an output file; empty if there is none."""
    try:
        with open_regular(output) as file:
            file.seek(max(os.fstat(file.fileno()).st_size - SHOWN_OUTPUT, 0))
            return file.read(SHOWN_OUTPUT).decode(errors="replace")
    except OSError:
        return ""


def last_line(log: Path) -> str:
    """Return the last line of a server: a library that fails to start names the limit in its way.

    OpenBLAS prints it and then interrupts the process; the traceback comes later.
    """
    said, _, _ = last_output(log).partition(TRACEBACK)
    lines = said.strip().splitlines()
    return f", saying '{shorten(lines[-1].strip(), SHOWN_LINE)}'" if lines else ""
