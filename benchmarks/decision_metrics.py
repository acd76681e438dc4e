"""Processor seconds of a search for a metric of decisions: scikit-learn's scorers, and quick forms.

Each line is two searches in this process with the same seed, of the first 800 rows of a table; in
the first the scorers are asked for every threshold and weight of a class that is tried. Both find
the same to the last bit, or the script fails.

    OMP_NUM_THREADS=1 python benchmarks/decision_metrics.py ../shared/data
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pandas as pd
from artificial_objective import commit_here

from automl_admm import AutoMLClassifier

MEASURED = Path(__file__).parent / "measured" / "decision_metrics.json"
USERS = ("by_score", "decider")
ROWS, EVALUATIONS, FOLDS = 800, 12, 4
COLUMNS = ("set", "metric", "limit", "certified", "s each, scorers", "s each, now", "gain")


@dataclass(frozen=True)
class Task:
    """A search of a table."""

    table: str
    metric: str
    limit: str = ""
    certify: float | None = None


TASKS = (
    Task("sonar", "accuracy"),
    Task("german_credit", "balanced_accuracy"),
    Task("ionosphere", "f1"),
    Task("german_credit", "f1_macro", "fpr <= 0.3"),
    Task("german_credit", "balanced_accuracy", "fpr <= 0.3", 0.95),
    Task("vehicle", "balanced_accuracy", "min_recall{class} >= 0.6"),
)


def search(task: Task, data: Path) -> tuple[float, list[Any]]:
    """Return the processor seconds of an evaluation, and what was found."""
    about = json.loads((data / f"{task.table}.json").read_text())
    X = pd.read_csv(data / f"{task.table}.csv").head(ROWS)
    y = X.pop(about["target"])
    begun = time.process_time()
    found = AutoMLClassifier(
        scoring=task.metric,
        constraints=[task.limit] if task.limit else [],
        certify=task.certify,
        on_infeasible="closest",
        max_evaluations=EVALUATIONS,
        cv=FOLDS,
        executor="inline",
        random_state=0,
    ).fit(X, y)
    seconds = (time.process_time() - begun) / EVALUATIONS
    return seconds, [found.best_score_, found.best_text_, np.asarray(found.predict(X)).tolist()]


def rows(data: Path) -> Iterator[list[Any]]:
    """Yield a row of the table for each task."""
    for task in TASKS:
        with ExitStack() as stack:
            for module in USERS:
                place = f"automl_admm.pipelines.thresholds.{module}.decision_score"
                stack.enter_context(patch(place, lambda *_: None))
            before, slowly = search(task, data)
        now, quickly = search(task, data)
        if slowly != quickly:
            raise SystemExit(f"{task}: the two searches differ")
        certified = "yes" if task.certify else "no"
        seconds = [f"{before:.2f}", f"{now:.2f}", f"{before / now:.1f}×"]
        yield [task.table, task.metric, task.limit or "none", certified, *seconds]


def main() -> None:
    """Print a line a task, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--write", action="store_true", help="put it into the measured numbers")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    search(TASKS[0], asked.data)  # the first search of a process pays for imports
    found = []
    for row in rows(asked.data):
        found.append(row)
        print(" | ".join(map(str, row)), flush=True)
    if asked.write:
        title = f"processor seconds of an evaluation; {EVALUATIONS} evaluations, {FOLDS} folds"
        table = {"title": title, "columns": list(COLUMNS), "rows": found}
        whole = {"commit": commit_here(), "tables": {"decisions": table}}
        text = json.dumps(whole, indent=1, ensure_ascii=False)
        MEASURED.write_text(f"{text}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
