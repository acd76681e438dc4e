"""The largest memory of this process while something went on."""

from __future__ import annotations

import resource
import sys
from pathlib import Path

RESET = Path("/proc/self/clear_refs")
STATUS = Path("/proc/self/status")
FORGET_PEAK = "5"  # resets VmHWM, see proc(5)
KIB = 1024 / 1e6


def forget_peak() -> None:
    """Restart the peak of memory, if the system can; otherwise it goes on."""
    try:
        RESET.write_text(FORGET_PEAK, encoding="ascii")
    except OSError:
        return


def peak_mb() -> float:
    """The largest resident memory since then, or of the life of the process, in megabytes."""
    try:
        lines = STATUS.read_text(encoding="ascii", errors="replace").splitlines()
    except OSError:
        lines = []
    found = next((line.split()[1] for line in lines if line.startswith("VmHWM:")), None)
    if found is not None:
        return int(found) * KIB
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    # Bytes on macOS, KiB elsewhere.
    return peak / 1e6 if sys.platform == "darwin" else peak * KIB
