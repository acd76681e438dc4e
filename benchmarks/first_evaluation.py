"""Processor seconds from the start of the program to its first finished evaluation, by process.

User and system seconds of the program, its fork server and the evaluations, taken when the line of
the first evaluation is printed. Above them stands what importing alone costs in a process of its
own: on a busy machine all of it takes more processor time, up to twice as much.

    python benchmarks/first_evaluation.py [--rows 1000] [--workers 1 2] [--repeats 5]
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

PROGRAM = (sys.executable, "-m", "automl_admm", "fit")
TICKS = os.sysconf("SC_CLK_TCK")
LONGEST = 300
IMPORTS = ("pass", "import numpy", "import pandas", "import sklearn.ensemble, sklearn.compose")


@dataclass(frozen=True)
class Spent:
    """Processor seconds by process, and seconds on the clock."""

    program: float
    server: float
    evaluations: float
    clock: float

    @property
    def total(self) -> float:
        """All of the processor's."""
        return self.program + self.server + self.evaluations


def write_table(path: Path, rows: int) -> None:
    """A table of 20 columns, four of them text, with a target that hangs on both kinds."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(rows, 16)), columns=[f"x{i}" for i in range(16)])
    for number in range(4):
        table[f"c{number}"] = rng.choice(list("abcdef"), rows)
    signal = table["x0"] + (table["c0"] < "c") + rng.normal(size=rows)
    table.assign(target=np.where(signal > 0.5, "yes", "no")).to_csv(path, index=False)


def measure(data: Path, workers: int) -> Spent:
    """Run the program until its first evaluation has ended, and kill it."""
    with tempfile.TemporaryDirectory() as folder:
        begun = time.perf_counter()
        options = ["--target", "target", "--budget", f"{LONGEST}s", "--workers", str(workers), "-v"]
        with subprocess.Popen(
            [*PROGRAM, str(data), *options, "--out", f"{folder}/run"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        ) as program:
            for line in program.stderr or ():
                if line.split()[:1] == ["1"]:
                    break
            clock, spent = time.perf_counter() - begun, list(seconds_below(program.pid))
            program.terminate()
            program.communicate()
    mine, servers, evaluations = (sum(one[kind] for one in spent) for kind in range(3))
    return Spent(mine, servers, evaluations, clock)


def seconds_below(pid: int) -> Iterator[tuple[float, float, float]]:
    """The seconds of a program, of its children, and of theirs; what has ended counts, too."""
    own, ended = seconds_of(pid)
    yield own, ended, 0.0
    for server in children_of(pid):
        own, ended = seconds_of(server)
        yield 0.0, own, ended + sum(sum(seconds_of(child)) for child in children_of(server))


def seconds_of(pid: int) -> tuple[float, float]:
    """Processor seconds of a process, and of its children that have ended."""
    text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    user, system, of_users, of_systems = (int(field) / TICKS for field in text[11:15])
    return user + system, of_users + of_systems


def children_of(pid: int) -> list[int]:
    """Return the children of a process."""
    text = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii")
    return [int(child) for child in text.split()]


def import_seconds(statement: str) -> float:
    """Processor seconds of an interpreter with one statement."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-c", statement], check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    """Print a line for each way of importing, and one for each number of workers."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1000)
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--repeats", type=int, default=5)
    asked = parser.parse_args()
    print(f"load {os.getloadavg()[0]:.1f}")
    for statement in IMPORTS:
        took = statistics.median(import_seconds(statement) for _ in range(asked.repeats))
        print(f"{took:6.2f} s  python -c '{statement}'")
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder, "table.csv")
        write_table(data, asked.rows)
        for workers in asked.workers:
            all_spent = [measure(data, workers) for _ in range(asked.repeats)]
            spent = sorted(all_spent, key=lambda one: one.total)[len(all_spent) // 2]
            print(
                f"{spent.total:6.2f} s  {workers} workers: program {spent.program:.2f}, server "
                f"{spent.server:.2f}, evaluations {spent.evaluations:.2f}; {spent.clock:.2f} s on "
                f"the clock; least {min(one.total for one in all_spent):.2f}",
                flush=True,
            )
    print(f"load {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
