"""The energy counters of Linux: one of each processor package, in the folder `powercap`."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import psutil

POWERCAP = Path("/sys/class/powercap")
# Of Intel and of AMD; a name with a second colon is a part of a package, and counted in it.
DOMAINS = "intel-rapl:[0-9]*"
BUSY = ("user", "nice", "system", "irq", "softirq", "steal")


@dataclass(frozen=True, slots=True)
class Counter:
    """A counter of microjoules that begins again at 0 beyond `most`."""

    file: Path
    most: int

    def read(self) -> int:
        """Return the microjoules now."""
        return int(self.file.read_text(encoding="ascii"))


@dataclass(frozen=True, slots=True)
class Reading:
    """The counters at a moment, the busy seconds of all processors, and those of this process."""

    counters: tuple[Counter, ...]
    counts: tuple[int, ...]
    busy: float
    own: float

    @classmethod
    def now(cls, counters: Sequence[Counter]) -> Reading:
        """Read all of it."""
        counts = tuple(counter.read() for counter in counters)
        return cls(tuple(counters), counts, busy_seconds(), time.process_time())

    def joules_until(self, later: Reading) -> float:
        """Return this process's part of the energy since: E · own / busy.

        Others use the processors, too, and a counter knows no processes.
        """
        pairs = zip(self.counters, self.counts, later.counts, strict=True)
        spent = sum((then - now) % (counter.most + 1) for counter, now, then in pairs)
        own, busy = later.own - self.own, later.busy - self.busy
        # The seconds of all processors are counted in ticks, and may be behind.
        return spent / 1e6 * own / max(busy, own)


def busy_seconds() -> float:
    """Return the seconds that all processors of the machine have worked."""
    times = psutil.cpu_times()
    return float(sum(getattr(times, name, 0.0) for name in BUSY))


def find_counters() -> tuple[Counter, ...]:
    """Return the counters of all packages; none if one of them cannot be read.

    Most systems let only their administrator read them.
    """
    try:
        folders = [path for path in POWERCAP.glob(DOMAINS) if path.name.count(":") == 1]
        return tuple(map(_counter, filter(_is_package, sorted(folders))))
    except (OSError, ValueError):
        return ()


def _is_package(folder: Path) -> bool:
    return (folder / "name").read_text(encoding="ascii").startswith("package")


def _counter(folder: Path) -> Counter:
    counter = Counter(folder / "energy_uj", int((folder / "max_energy_range_uj").read_text()))
    counter.read()
    return counter
