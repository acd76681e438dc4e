"""What rows cost: processor and clock seconds to the first evaluation, and the peak of memory.

A table of 22 columns, four of them text, as Parquet and CSV. Memory is the proportional share (PSS)
of each process, so that pages shared by several count once; it is read every 0.1 seconds. Rates
are another question: how good the model is after a budget on generated tables of a million rows,
searched on as many cells as each rate allows a second. On a busy machine a large table is read, or
kept, in part; `--whole` takes all of it, so that two versions do the same work.

    python benchmarks/scale.py [--rows 1000 50000 1000000] [--suffixes .parquet .csv] [--whole]
    python benchmarks/scale.py --rates 10000 40000 160000 --budget 60
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from first_evaluation import children_of, seconds_below

BUDGET = 120
MEGABYTE = 1024.0  # kilobytes
SET_RATE = (
    "import sys; from automl_admm.runs.prepare import searched_rows as one; "
    "one.CELLS_A_SECOND = float(sys.argv.pop(1)); from automl_admm.__main__ import run; run()"
)

PLAIN = ("-m", "automl_admm")
IN_WHOLE = (
    "from automl_admm.data import row_portions as one; one.portion_in_time = lambda *_: None; "
    "from automl_admm.data.reading import timed_reading; "
    "timed_reading._clock = lambda until: lambda: False; "
    "from automl_admm.__main__ import run; run()"
)
WHOLE = ("-c", IN_WHOLE)


@dataclass(frozen=True)
class Peak:
    """Megabytes: the largest of the program alone, and of all processes together."""

    program: float = 0.0
    together: float = 0.0

    def with_more(self, program: float, together: float) -> Peak:
        """Return the peak after another look."""
        return Peak(max(self.program, program), max(self.together, together))


def write_table(path: Path, rows: int, seed: int = 0) -> None:
    """A table with interactions, noise, gaps and text, for a target of two classes."""
    rng = np.random.default_rng(seed)
    numbers = rng.normal(size=(rows, 18)).astype(np.float32)
    table = pd.DataFrame({f"x{i}": numbers[:, i] for i in range(18)})
    for number in range(4):
        table[f"c{number}"] = rng.choice(np.array(list("abcdefgh"), dtype=object), rows)
    signal = numbers[:, 0] * numbers[:, 1] + np.sin(2 * numbers[:, 2]) + numbers[:, 3]
    signal += (table["c0"] < "c").to_numpy() * numbers[:, 4] + rng.normal(size=rows)
    table.loc[rng.random(rows) < 0.1, "x5"] = np.nan
    table["target"] = np.where(signal > 0.3, "yes", "no")
    if path.suffix == ".csv":
        table.to_csv(path, index=False)
    else:
        table.to_parquet(path, index=False)


def measure(data: Path, budget: int, program_of: Sequence[str] = PLAIN) -> str:
    """Run the program until its first evaluation has ended."""
    with tempfile.TemporaryDirectory() as folder:
        options = ["--target", "target", "--budget", f"{budget}s", "-v", "--out", f"{folder}/run"]
        begun = time.perf_counter()
        with subprocess.Popen(
            [sys.executable, *program_of, "fit", str(data), *options],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        ) as program:
            watch = Watch(program.pid)
            said = []
            for line in program.stderr or ():
                said.append(line)
                if line.split()[:1] in (["1"], ["2"]):
                    break
            clock, spent = time.perf_counter() - begun, list(seconds_below(program.pid))
            peak = watch.end()
            program.terminate()
            program.communicate()
    total = sum(sum(one) for one in spent)
    searched = next((line.strip() for line in said if "searched on" in line), "searched on all")
    return (
        f"{total:6.1f} s of processor, {clock:6.1f} s; {peak.program:6.0f} MB in the program, "
        f"{peak.together:6.0f} MB in all; {searched}"
    )


class Watch:
    """A thread that looks at the memory of a program and of all below it."""

    def __init__(self, pid: int) -> None:
        self._pid, self._peak, self._ends = pid, Peak(), threading.Event()
        self._thread = threading.Thread(target=self._look)
        self._thread.start()

    def end(self) -> Peak:
        """Stop looking, and return what was seen."""
        self._ends.set()
        self._thread.join()
        return self._peak

    def _look(self) -> None:
        while not self._ends.wait(0.1):
            with suppress(OSError):
                all_of_them = [megabytes(pid) for pid in tree(self._pid)]
                self._peak = self._peak.with_more(all_of_them[0], sum(all_of_them))


def tree(pid: int) -> list[int]:
    """Return a process and all below it."""
    return [pid, *(below for child in children_of(pid) for below in tree(child))]


def megabytes(pid: int) -> float:
    """Return the proportional share of memory; nothing for a process that has ended."""
    with suppress(OSError):
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii").splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) / MEGABYTE
    return 0.0


def held_out(data: Path, rate: float, budget: int) -> str:
    """Return the held-out score of a run at a rate, and its evaluations."""
    with tempfile.TemporaryDirectory() as folder:
        options = ["--target", "target", "--budget", f"{budget}s", "-q", "--json"]
        printed = subprocess.run(
            [
                *(sys.executable, "-c", SET_RATE, str(rate), "fit", str(data), *options),
                *("--out", f"{folder}/run"),
            ],
            stdout=subprocess.PIPE,
            text=True,
            check=False,
        ).stdout
    summary = json.loads(printed)
    score, counts = summary["held_out_score"], summary["evaluations"]
    return f"{score} held out, {summary['rows_searched']} rows, {counts}"


def main() -> None:
    """Print a line for each number of rows and each format, or for each rate."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, nargs="+", default=[1000, 50_000, 1_000_000, 3_000_000])
    parser.add_argument("--suffixes", nargs="+", default=[".parquet", ".csv"])
    parser.add_argument("--rates", type=float, nargs="+")
    parser.add_argument("--budget", type=int, default=BUDGET)
    parser.add_argument("--whole", action="store_true")
    asked = parser.parse_args()
    print(f"load {os.getloadavg()[0]:.1f}")
    with tempfile.TemporaryDirectory() as folder:
        for rows in asked.rows:
            for suffix in asked.suffixes:
                data = Path(folder, f"table{suffix}")
                write_table(data, rows)
                for rate in asked.rates or ():
                    print(f"{rows:9} {rate:9.0f}: {held_out(data, rate, asked.budget)}", flush=True)
                if not asked.rates:
                    found = measure(data, asked.budget, WHOLE if asked.whole else PLAIN)
                    print(f"{rows:9} {suffix:9} {found}", flush=True)
                data.unlink()
    print(f"load {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
