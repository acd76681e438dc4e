"""What an evaluation in a child process of its own costs above the same work called here.

The same little fit runs inline and under `local`, in turns and on warm executors, so that both meet
the same machine. Shown are medians, and the difference: start, watching, reading the result, and
removing the folder. The issue allows 40 ms.

    python benchmarks/isolation_cost.py [--repeats 100]
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from automl_admm.builtin.executors import build_inline, build_local
from automl_admm.core.protocols import Executor, Task
from automl_admm.plugins.records import ExecutorSetting, NoOptions

ALLOWED_MS = 40.0
ROWS = 200


class Fit:
    """A work that shares a table and fits a small tree on it; 50 MB besides are only inherited."""

    def __init__(self) -> None:
        rng = np.random.default_rng(0)
        self.X = rng.normal(size=(ROWS, 5))
        self.y = self.X[:, 0] > 0
        self.ballast = np.ones(50_000_000 // 8)

    def prepare(self) -> None:
        """Import before the first child is forked."""
        import sklearn.ensemble
        import sklearn.tree  # noqa: F401 - both are what a run would have imported

    def evaluate(self, folder: Path, seed: int) -> Mapping[str, Any]:
        """Fit and score."""
        from sklearn.tree import DecisionTreeClassifier

        begun = time.perf_counter()
        tree = DecisionTreeClassifier(max_depth=3, random_state=seed).fit(self.X, self.y)
        np.savez(folder / "predictions.npz", predictions=tree.predict_proba(self.X))
        return {"loss": 1 - tree.score(self.X, self.y), "took": time.perf_counter() - begun}


def call(executor: Executor, number: int) -> tuple[float, float]:
    """Milliseconds from handing out a task to having its result, and of the fit alone."""
    begun = time.perf_counter()
    executor.submit(Task(number, "evaluate", {"seed": number}, 60.0))
    (finished,) = executor.wait(60.0)
    whole = time.perf_counter() - begun
    if "took" not in finished.result:
        raise SystemExit(f"{finished.status}: {finished.message}")
    return 1e3 * whole, 1e3 * float(finished.result["took"])


def describe(name: str, pairs: list[tuple[float, float]]) -> str:
    """One line of the table: medians, and the 95 % quantile of the whole."""
    whole, fit = ([pair[place] for pair in pairs] for place in (0, 1))
    late = statistics.quantiles(whole, n=20)[-1]
    return (
        f"{name:22} {statistics.median(whole):9.2f} {statistics.median(fit):9.2f} "
        f"{statistics.median(a - b for a, b in pairs):9.2f} {late:9.2f}"
    )


def main() -> None:
    """Measure in turns and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=100)
    repeats = parser.parse_args().repeats
    ways = {
        "inline": build_inline(Fit(), ExecutorSetting(), NoOptions()),
        "local": build_local(Fit(), ExecutorSetting(), NoOptions()),
        "local, memory limit": build_local(Fit(), ExecutorSetting(1, 10**9), NoOptions()),
    }
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in ways}
    try:
        for number in range(repeats + 5):
            for name, executor in ways.items():
                pair = call(executor, number)
                if number >= 5:
                    found[name].append(pair)
    finally:
        for executor in ways.values():
            executor.close()
    print(f"{'ms, medians':22} {'whole':>9} {'the fit':>9} {'above it':>9} {'95 %':>9}")
    for name, pairs in found.items():
        print(describe(name, pairs))
    inline = statistics.median(whole for whole, _ in found["inline"])
    for name in list(ways)[1:]:
        more = statistics.median(whole for whole, _ in found[name]) - inline
        print(f"{name}: {more:.1f} ms more than inline; {ALLOWED_MS:g} are allowed")


if __name__ == "__main__":
    main()
