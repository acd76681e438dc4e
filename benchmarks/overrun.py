"""How far `automl-admm fit` runs over its budget on a machine that is loaded with two busy loops.

Fifty runs, each a process of its own, with budgets from 5 to 60 s, one or two workers, seeds and
data sets in turn. The clock is this script's: it runs from before the process is started until it
has ended. It takes about 20 minutes.

    python benchmarks/overrun.py --data ../shared/data

A data set is NAME.csv with NAME.json, which names its target; without --data it is the one that
ships with the package.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

LOAD = 2
# It ends by itself where this script is killed.
BUSY = "import os\nparent = os.getppid()\nwhile os.getppid() == parent: pass"
PATIENCE = 120.0


@dataclass(frozen=True)
class Plan:
    """One run: what it is given."""

    budget: float
    workers: int
    seed: int
    data: Path | None

    def command(self, folder: Path) -> list[str]:
        """The program and its arguments."""
        given = ["--budget", f"{self.budget:.1f}s", "--workers", str(self.workers)]
        given += ["--seed", str(self.seed), "--out", str(folder), "-q"]
        if self.data is not None:
            facts = json.loads(self.data.with_suffix(".json").read_text())
            given = [str(self.data), "--target", facts["target"], *given]
        return [sys.executable, "-m", "automl_admm", "fit", *given]


@dataclass(frozen=True)
class Ended:
    """How it ended: seconds on the clock, exit code, whether there is a model, last words."""

    plan: Plan
    seconds: float
    code: int
    has_model: bool
    words: str

    @property
    def overrun(self) -> float:
        """Seconds beyond the budget; negative where it ended before."""
        return self.seconds - self.plan.budget

    @property
    def allowed(self) -> float:
        """The promise: 2 s, or 1 % of the budget if that is more."""
        return max(2.0, 0.01 * self.plan.budget)


def plan_runs(count: int, shortest: float, longest: float, data: Sequence[Path]) -> list[Plan]:
    """Budgets spread evenly on a log scale."""
    ratio = longest / shortest
    return [
        Plan(
            budget=round(shortest * ratio ** (number / max(count - 1, 1)), 1),
            workers=1 + number % 2,
            seed=number,
            data=data[number % len(data)] if data else None,
        )
        for number in range(count)
    ]


def run(plan: Plan) -> Ended:
    """Run it, and see what is left."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "out"
        begun = time.monotonic()
        try:
            done = subprocess.run(
                plan.command(folder),
                capture_output=True,
                text=True,
                check=False,
                timeout=plan.budget + PATIENCE,
            )
            code, words = done.returncode, (done.stderr.strip().splitlines() or [""])[-1]
        except subprocess.TimeoutExpired:
            code, words = -9, f"killed {PATIENCE:g} s after its budget"
        seconds = time.monotonic() - begun
        return Ended(plan, seconds, code, (folder / "model.skops").is_file(), words)


@contextmanager
def loaded_machine(loops: int) -> Iterator[None]:
    """Keep so many cores busy meanwhile."""
    with ExitStack() as stack:
        for _ in range(loops):
            busy = stack.enter_context(subprocess.Popen([sys.executable, "-c", BUSY]))
            stack.callback(busy.kill)
        yield


def report(ended: Ended) -> str:
    """One line a run."""
    plan = ended.plan
    name = "(shipped)" if plan.data is None else plan.data.stem
    what = f"{plan.budget:6.1f} s  {plan.workers} workers  {name:<15}"
    how = f"{ended.seconds:7.2f} s  {ended.overrun:+6.2f} s  exit {ended.code}"
    return f"{what}  {how}  {'' if ended.code == 0 else ended.words}".rstrip()


def main() -> None:
    """Print a line a run, and what the promise comes to."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=50)
    parser.add_argument("--shortest", type=float, default=5.0, help="seconds")
    parser.add_argument("--longest", type=float, default=60.0, help="seconds")
    parser.add_argument("--load", type=int, default=LOAD, help="busy loops beside the runs")
    parser.add_argument("--data", type=Path, help="a folder of NAME.csv with NAME.json")
    arguments = parser.parse_args()
    folder = arguments.data
    data = [] if folder is None else [p for p in sorted(folder.glob("*.csv")) if _is_described(p)]
    plans = plan_runs(arguments.runs, arguments.shortest, arguments.longest, data)
    found: list[Ended] = []
    with loaded_machine(arguments.load):
        for plan in plans:
            found.append(run(plan))
            print(report(found[-1]), flush=True)
    worst = max(found, key=lambda ended: ended.overrun)
    late = [ended for ended in found if ended.overrun > ended.allowed]
    without = sum(not ended.has_model for ended in found)
    print(f"\nmost overrun: {worst.overrun:.2f} s, of a budget of {worst.plan.budget:.1f} s")
    print(f"over max(2 s, 1 %): {len(late)} of {len(found)} runs (promised: 0)")
    print(f"without a model: {without}")


def _is_described(table: Path) -> bool:
    return table.with_suffix(".json").is_file()


if __name__ == "__main__":
    main()
