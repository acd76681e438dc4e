"""ADMM against random search over the same space on real data sets: 1 − AUROC, same split.

Both have the same wall time and two workers. Prints the validation loss by data set and seed, its
median, the evaluations per second, and the share of the wall time that is the parent's own work
(everything but waiting for child processes).

    python benchmarks/real_data.py --data ../shared/data --seconds 60 --seeds 5
"""

from __future__ import annotations

import argparse
import json
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import pandas as pd

from automl_admm.runs.config import RunConfig
from automl_admm.runs.pipelines import run_pipelines
from automl_admm.runs.prepare.preparation import prepare

SEARCHES = {
    "ADMM(gp, cmab)": {"strategy": "admm", "theta_solver": "gp", "z_solver": "cmab"},
    "ADMM(random, cmab)": {"strategy": "admm", "theta_solver": "random", "z_solver": "cmab"},
    "ADMM(random, random)": {"strategy": "admm", "theta_solver": "random", "z_solver": "random"},
    "random search": {"strategy": "joint", "theta_solver": "random"},
}


@dataclass(frozen=True)
class Measured:
    """What is reported of one run."""

    loss: float
    per_second: float
    overhead: float


def measure(path: Path, search: dict[str, Any], seconds: float, seed: int) -> Measured:
    """One run; the split hangs on nothing but the seed."""
    facts = json.loads(path.with_suffix(".json").read_text())
    frame = pd.read_csv(path, dtype=dict.fromkeys([*facts["categorical"], facts["target"]], str))
    X, y = frame.drop(columns=facts["target"]), frame[facts["target"]]
    config = RunConfig(
        task="classification",
        scoring="roc_auc",
        time_budget=seconds,
        n_jobs=2,
        cv=0.2,
        random_state=seed,
        **search,
    )
    result = run_pipelines(prepare(config, X, y)).result
    if result.best is None:
        raise SystemExit(f"{path.name}: no pipeline could be evaluated in {seconds:g} s")
    waited = result.ledger["wait"]
    return Measured(
        loss=result.best.loss,
        per_second=len(result.evaluations) / result.seconds,
        overhead=(result.search_seconds - waited) / result.search_seconds,
    )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--sets", nargs="+", default=["fri_c2", "pc4", "sylvine"])
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument(
        "--searches", nargs="+", default=["ADMM(gp, cmab)", "random search", "ADMM(random, cmab)"]
    )
    arguments = parser.parse_args()

    print(f"{'data':<10} {'search':<22} {'median':>8}  {'eval/s':>6}  {'own work':>8}  by seed")
    for name in arguments.sets:
        for search in arguments.searches:
            runs = [
                measure(arguments.data / f"{name}.csv", SEARCHES[search], arguments.seconds, seed)
                for seed in range(arguments.seeds)
            ]
            losses = " ".join(f"{run.loss:.4f}" for run in runs)
            print(
                f"{name:<10} {search:<22} {median(run.loss for run in runs):>8.4f}"
                f"  {median(run.per_second for run in runs):>6.2f}"
                f"  {median(run.overhead for run in runs):>8.1%}  {losses}",
                flush=True,
            )


if __name__ == "__main__":
    main()
