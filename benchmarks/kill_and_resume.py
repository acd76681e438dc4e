"""What is lost when a run is killed (-9) at random moments, again and again, and resumed.

One run with two workers is killed `--kills` times, at a moment between its start and twice the time
that its first evaluation took to come, and resumed. What it told of (`-v`) was acknowledged: it has
to be in the store, once, whatever happened since. Children that outlive their run are counted, too.
Prints a line now and then and the table; exits with 1 if anything was lost, made twice or left.

    python benchmarks/kill_and_resume.py --kills 100
"""

from __future__ import annotations

import argparse
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, cast

import numpy as np
import psutil

from automl_admm.store.sqlite.log import SqliteStore

# A reason may follow the pipeline.
TOLD = re.compile(r" *(?P<number>\d+) +\S+ +[\d.]+ s  (?P<text>\S.*?\))(  \(.*\))?$")
FIRST_PATIENCE = 120.0
LAST_PATIENCE = 30.0
MANY = 100_000


@dataclass
class Run:
    """One process of the program: what it has told so far, in a thread that always reads."""

    folder: Path
    arguments: tuple[str, ...]
    told: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.begun = time.monotonic()
        self.process = subprocess.Popen(
            [sys.executable, "-m", "automl_admm", *self.arguments, "-v"],
            cwd=self.folder,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.stream = cast("IO[str]", self.process.stderr)
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def _read(self) -> None:
        for line in self.stream:
            if match := TOLD.match(line):
                self.told.append(f"{match['number']} {match['text']}")

    def await_first(self) -> float:
        """The seconds until it told of an evaluation."""
        while not self.told:
            if self.process.poll() is not None or time.monotonic() > self.begun + FIRST_PATIENCE:
                sys.exit("the run ended, or told of nothing, before it could be killed")
            time.sleep(0.01)
        return time.monotonic() - self.begun

    def kill_at(self, seconds: float) -> list[psutil.Process]:
        """Kill it so long after its start; the processes below it that are still there later."""
        time.sleep(max(self.begun + seconds - time.monotonic(), 0.0))
        below = list(descendants(self.process.pid))
        os.kill(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self.reader.join()
        self.stream.close()
        _, alive = psutil.wait_procs(below, timeout=LAST_PATIENCE)
        return list(alive)


def descendants(pid: int) -> Iterator[psutil.Process]:
    """What a process has started, if it is there."""
    try:
        yield from psutil.Process(pid).children(recursive=True)
    except psutil.Error:
        return


@dataclass(frozen=True)
class Outcome:
    """What was told, what the store has, and what was left alive."""

    told: tuple[str, ...]
    stored: Counter[str]
    keys: Counter[str]
    left: int

    @property
    def lost(self) -> int:
        """Evaluations that were acknowledged and are not in the store."""
        return sum(line not in self.stored for line in self.told)

    @property
    def twice(self) -> int:
        """Evaluations that were made, or acknowledged, more than once."""
        kept = [count - 1 for count in self.keys.values()]
        return sum(kept) + len(self.told) - len(set(self.told))


def kill_again_and_again(folder: Path, kills: int, seed: int) -> Outcome:
    """One run, killed and resumed so many times."""
    rng = np.random.default_rng(seed)
    few = ("--grammar", "tiny", "--max-evaluations", str(MANY), "--workers", "2", "--out", "run")
    run = Run(folder, ("fit", *few))
    usual = run.await_first()
    told, left = [], 0
    for kill in range(1, kills + 1):
        left += len(run.kill_at(0.0 if kill == 1 else rng.uniform(0.0, 2.0 * usual)))
        told += run.told
        if kill % 10 == 0:
            print(f"{kill} kills, {len(told)} evaluations acknowledged", flush=True)
        run = Run(folder, ("resume", "run"))
    run.await_first()
    left += len(run.kill_at(0.0))
    told += run.told
    store = SqliteStore(folder / "run" / "store.sqlite")
    rows = store.read()
    store.close()
    stored = Counter(f"{row.number} {row.text}" for row in rows)
    return Outcome(tuple(told), stored, Counter(row.key for row in rows), left)


def main() -> int:
    """Kill, count, print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        found = kill_again_and_again(Path(folder), options.kills, options.seed)
    print("kills  acknowledged  in the store  lost  made twice  processes left alive")
    counts = (len(found.told), sum(found.stored.values()), found.lost, found.twice, found.left)
    print(f"{options.kills:>5}  {counts[0]:>12}  {counts[1]:>12}  {counts[2]:>4}", end="")
    print(f"  {counts[3]:>10}  {counts[4]:>20}")
    return 1 if found.lost or found.twice or found.left else 0


if __name__ == "__main__":
    sys.exit(main())
