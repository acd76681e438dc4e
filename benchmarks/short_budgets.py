"""Whether short runs on a loaded machine end in time, and with a model.

Fifty runs, each a process of its own, with budgets from 5 to 60 s on tables of 1 000 to 500 000
rows, beside two busy loops. A row each: the budget, the rows, what it took, the exit code, and what
shipped: a pipeline that was evaluated, or one that is marked as a fallback. It takes about 25
minutes; a part of it is quick:

    python benchmarks/short_budgets.py
    python benchmarks/short_budgets.py --runs 4 --longest 10
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from overrun import LOAD, PATIENCE, loaded_machine

SHAPES = ((1_000, 20), (2_600, 29), (20_000, 41), (500_000, 10))
ALLOWED = 2.0


@dataclass(frozen=True)
class Ended:
    """How a run ended; `shipped` is "evaluated", the kind of a fallback, or "nothing"."""

    budget: float
    rows: int
    seconds: float
    code: int
    shipped: str

    def __str__(self) -> str:
        took = f"{self.seconds:6.1f} s  {self.seconds - self.budget:+5.1f} s"
        return (
            f"{self.budget:5.1f} s  {self.rows:7d} rows  {took}  exit {self.code}  {self.shipped}"
        )


def make_table(folder: Path, rows: int, columns: int) -> Path:
    """Write numbers, and a column of text, with a target of two classes."""
    rng = np.random.default_rng(0)
    numbers = rng.normal(size=(rows, columns - 1)).round(4)
    frame = pd.DataFrame(numbers, columns=[f"x{place}" for place in range(columns - 1)])
    frame["town"] = rng.choice(["Bonn", "Kiel", "Ulm"], rows)
    noisy = numbers[:, 0] + 0.5 * numbers[:, 1] ** 2 + rng.normal(size=rows)
    frame["y"] = np.where(noisy > 0.5, "yes", "no")
    path = folder / f"{rows}.csv"
    frame.to_csv(path, index=False)
    return path


def run(budget: float, rows: int, table: Path, seed: int) -> Ended:
    """Run the program, and see what is left."""
    with tempfile.TemporaryDirectory() as scratch:
        out = Path(scratch) / "out"
        given = ["--target", "y", "--budget", f"{budget:.1f}s", "--seed", str(seed), "-q"]
        command = [sys.executable, "-m", "automl_admm", "fit", str(table), *given]
        begun = time.monotonic()
        try:
            done = subprocess.run(
                [*command, "--out", str(out)],
                capture_output=True,
                check=False,
                timeout=budget + PATIENCE,
            )
            code = done.returncode
        except subprocess.TimeoutExpired:
            code = -9
        seconds = time.monotonic() - begun
        return Ended(budget, rows, seconds, code, _shipped(out))


def _shipped(out: Path) -> str:
    if not (out / "model.skops").is_file():
        return "nothing"
    return str(json.loads((out / "model.json").read_text())["fallback"] or "evaluated")


def main() -> None:
    """Print a line a run, and the counts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=50)
    parser.add_argument("--shortest", type=float, default=5.0, help="seconds")
    parser.add_argument("--longest", type=float, default=60.0, help="seconds")
    parser.add_argument("--load", type=int, default=LOAD, help="busy loops beside the runs")
    arguments = parser.parse_args()
    ratio = arguments.longest / arguments.shortest
    found: list[Ended] = []
    with tempfile.TemporaryDirectory() as folder, loaded_machine(arguments.load):
        tables = [(rows, make_table(Path(folder), rows, columns)) for rows, columns in SHAPES]
        for seed in range(arguments.runs):
            rows, table = tables[seed % len(tables)]
            budget = arguments.shortest * ratio ** (seed / max(arguments.runs - 1, 1))
            found.append(run(round(budget, 1), rows, table, seed))
            print(found[-1], flush=True)
    late = sum(ended.seconds > ended.budget + ALLOWED for ended in found)
    print(f"\nshipped: {dict(Counter(ended.shipped for ended in found))}")
    print(f"more than {ALLOWED:g} s over: {late} of {len(found)}")


if __name__ == "__main__":
    main()
