"""Hyperband with SMAC's model (as BOHB, with a forest) beside searches with and without rungs.

Every search has the same rows, folds and budget, which counts an evaluation by its share of the
rows: 1/9, 1/3 or 1. Two measures: the best validated loss of a whole evaluation (1 − AUROC) after
so many evaluations' worth, and 1 − accuracy of what ships on rows that no search saw. They are
compared in pairs of a set and a seed, by an exact sign test with Holm's correction.

    python benchmarks/hyperband.py ../shared/data --sets adult pc4 --keep runs.jsonl
"""

from __future__ import annotations

import argparse
import json
import math
import time
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import mean, median
from typing import Any

import numpy as np
from artificial_objective import commit_here
from paired import Paired, compare, corrected
from peers.tasks import read_set
from sklearn.model_selection import train_test_split

from automl_admm import AutoMLClassifier

BASE = "SMAC, Hyperband"
GRAMMAR = Path(__file__).with_name("hyperband.lark")
# Two rungs below a whole evaluation.
LEAST = 1 / 9
FOLDS, TEST_ROWS = 2, 2000
RUNGS = {"min_fidelity": LEAST}
METHODS: Mapping[str, Mapping[str, Any]] = {
    BASE: {"strategy": "joint", "theta_solver": "smac", **RUNGS},
    "draws, Hyperband": {
        "strategy": "joint",
        "theta_solver": "smac:random=1,retrain_after=64",
        **RUNGS,
    },
    "joint SMAC": {"strategy": "joint", "theta_solver": "smac:hyperband=false"},
    "joint tpe": {"strategy": "joint", "theta_solver": "tpe"},
    "joint random": {"strategy": "joint", "theta_solver": "random"},
    "ADMM as shipped": {},
    "ADMM, halving": {"z_solver": "halving", **RUNGS},
}
MEDIANS = ("made", "rough", "spent", "seconds")
Record = Mapping[str, Any]


@dataclass(frozen=True)
class Run:
    """A search: set, seed, method, rows to learn from, and whole evaluations to spend."""

    data: str
    seed: int
    method: str
    rows: int
    budget: int

    def is_of(self, record: Record) -> bool:
        """Return True if a record is of this run."""
        return all(record[name] == value for name, value in vars(self).items())


@dataclass
class Course:
    """The best whole loss after each third of a budget, and what was spent in the end."""

    budget: int
    spent: float = 0.0
    made: int = 0
    rough: int = 0
    best: list[float] = field(default_factory=lambda: [math.inf] * 3)

    def add(self, fidelity: float, loss: float) -> None:
        """Count an evaluation; one that went over a mark counts after it."""
        self.spent += fidelity
        self.made += 1
        self.rough += fidelity < 1.0
        if fidelity == 1.0 and math.isfinite(loss):
            for place, mark in enumerate(marks(self.budget)):
                if self.spent <= mark + 1e-9:
                    self.best[place] = min(self.best[place], loss)


def marks(budget: int) -> list[float]:
    """Return a third, two thirds and the whole of a budget."""
    return [budget * part / 3 for part in (1, 2, 3)]


def search(run: Run, folder: Path) -> dict[str, Any]:
    """Make a run, and return its figures."""
    found = read_set(folder / f"{run.data}.csv")
    y = (found.y == found.positive).astype(int)
    own, rest, y_own, y_rest = train_test_split(
        found.X, y, train_size=run.rows, stratify=y, random_state=run.seed
    )
    made = AutoMLClassifier(
        GRAMMAR,
        scoring="roc_auc",
        max_evaluations=run.budget,
        cv=FOLDS,
        executor="inline",
        racing=False,
        portfolio=False,
        ensemble=False,
        random_state=run.seed,
        **{"min_fidelity": 1.0, **METHODS[run.method]},
    )
    begun = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made.fit(own, y_own)
    seconds = time.process_time() - begun
    course = Course(run.budget)
    results = made.cv_results_
    for fidelity, score in zip(results["fidelity"], results["mean_test_score"], strict=True):
        course.add(float(fidelity), 1.0 - float(score))
    test = 1.0 - made.score(rest[:TEST_ROWS], y_rest[:TEST_ROWS])
    return {
        "seconds": round(seconds, 2),
        "spent": round(course.spent, 2),
        "made": course.made,
        "rough": course.rough,
        "best": course.best,
        "test": test,
    }


def make_runs(runs: Sequence[Run], folder: Path, path: Path) -> list[Record]:
    """Make the runs that are not in the file, append each, and return the records of all."""
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    records = [json.loads(line) for line in text.splitlines()]
    commit = commit_here()
    for run in runs:
        if not any(run.is_of(record) for record in records):
            record = {**vars(run), "commit": commit, **search(run, folder)}
            with path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(record) + "\n")
            records.append(record)
    return [record for record in records if any(run.is_of(record) for run in runs)]


def of(records: Sequence[Record], method: str) -> list[Record]:
    """Return the records of a method, by set and seed."""
    found = [record for record in records if record["method"] == method]
    return sorted(found, key=lambda record: (record["data"], record["seed"]))


def rank_means(records: Sequence[Record]) -> dict[str, float]:
    """Return the mean rank of each method by the errors on unseen rows; ties share theirs."""
    losses = np.array([[record["test"] for record in of(records, name)] for name in METHODS])
    below = (losses[None] < losses[:, None]).sum(axis=1)
    level = (losses[None] == losses[:, None]).sum(axis=1)
    ranks = below + (level + 1) / 2
    return dict(zip(METHODS, ranks.mean(axis=1).tolist(), strict=True))


def outcomes(records: Sequence[Record]) -> list[list[str]]:
    """Return a row a method: mean losses, mean rank, and medians of evaluations and seconds."""
    rows, ranks = [], rank_means(records)
    for name in METHODS:
        own = of(records, name)
        best = [_shown(mean(record["best"][place] for record in own)) for place in range(3)]
        test = f"{mean(record['test'] for record in own):.4f}"
        middle = [f"{median(record[key] for record in own):.1f}" for key in MEDIANS]
        rows.append([name, *best, test, f"{ranks[name]:.2f}", *middle])
    return rows


def _shown(loss: float) -> str:
    return f"{loss:.4f}" if math.isfinite(loss) else "-"


def pairs(records: Sequence[Record]) -> list[list[str]]:
    """Return the base against each method, the p values corrected over all cells."""
    cells: dict[tuple[str, str], Paired] = {}
    ours = of(records, BASE)
    for name in METHODS:
        theirs = of(records, name)
        if name != BASE:
            validated = [[record["best"][-1] for record in some] for some in (ours, theirs)]
            tested = [[record["test"] for record in some] for some in (ours, theirs)]
            cells[name, "validated"] = compare(*validated)
            cells[name, "test"] = compare(*tested)
    told = corrected({" ".join(cell): paired.p for cell, paired in cells.items()})
    shown = {
        cell: f"{one.wins}/{one.losses}/{one.ties} (p {told[' '.join(cell)]:.2g})"
        for cell, one in cells.items()
    }
    names = [name for name in METHODS if name != BASE]
    return [[name, shown[name, "validated"], shown[name, "test"]] for name in names]


def tables(records: Sequence[Record], budget: int) -> dict[str, Any]:
    """Return both tables of the study."""
    commit = ", ".join(sorted({record["commit"] for record in records}))
    after = [f"after {mark:g}" for mark in marks(budget)]
    return {
        "outcomes": {
            "commit": commit,
            "columns": [
                *("search", *after, "test error", "mean rank"),
                *("evaluations", "rough", "worth", "s"),
            ],
            "rows": outcomes(records),
        },
        "pairs": {
            "commit": commit,
            "columns": [f"{BASE} against", "validated loss", "test error"],
            "rows": pairs(records),
        },
    }


def main() -> None:
    """Make what is missing, and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--sets", nargs="+", required=True)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--rows", type=int, default=400)
    parser.add_argument("--budget", type=int, default=18, help="whole evaluations")
    parser.add_argument("--keep", type=Path, required=True, help="a file of runs")
    asked = parser.parse_args()
    runs = [
        Run(data, seed, method, asked.rows, asked.budget)
        for seed in range(asked.first, asked.first + asked.seeds)
        for data in asked.sets
        for method in METHODS
    ]
    found = tables(make_runs(runs, asked.folder, asked.keep), asked.budget)
    for table in found.values():
        for row in [table["columns"], *table["rows"]]:
            print(" | ".join(map(str, row)))


if __name__ == "__main__":
    main()
