"""Evaluations for each second of the processor, this version beside an older one, set by set.

Each set is searched by both versions in turn with the same seeds and numbers of evaluations, one
worker and one thread. Counted are all seconds of the processor, of the program and its children:
start, reading, evaluations, solvers and the final fit, but no ensemble. `classes19` is a generated
table of 500 rows, 35 columns and 19 classes. The older version has an environment of its own:

    git worktree add --detach ../older c6dc620
    uv venv ../older/.venv && uv pip install --python ../older/.venv/bin/python -e ../older
    python benchmarks/evaluation_rate.py ../shared/data --before ../older/.venv/bin/python
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
from sklearn.datasets import make_classification

GENERATED = "classes19"
ROWS, COLUMNS, CLASSES = 500, 35, 19
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")


@dataclass(frozen=True)
class Table:
    """A data set: its file and its target."""

    name: str
    path: Path
    target: str


@dataclass(frozen=True)
class Spent:
    """Seconds of the processor for an evaluation, and the best score that was found."""

    seconds: float
    score: float


def write_classes(folder: Path) -> Table:
    """Write the table of many classes."""
    X, y = make_classification(
        n_samples=ROWS,
        n_features=COLUMNS,
        n_informative=20,
        n_redundant=5,
        n_classes=CLASSES,
        n_clusters_per_class=1,
        class_sep=2.0,
        random_state=0,
    )
    table = pd.DataFrame(X, columns=[f"x{i}" for i in range(COLUMNS)]).round(4)
    path = folder / f"{GENERATED}.csv"
    table.assign(label=[f"c{number:02d}" for number in y]).to_csv(path, index=False)
    return Table(GENERATED, path, "label")


def tables(data: Path, names: Sequence[str], folder: Path) -> Iterator[Table]:
    """Yield the data sets of these names."""
    for name in names:
        if name == GENERATED:
            yield write_classes(folder)
        else:
            about = json.loads((data / f"{name}.json").read_text())
            yield Table(name, data / f"{name}.csv", about["target"])


def run(python: str, table: Table, evaluations: int, seed: int, *more: str) -> Spent:
    """Search in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        options = ["--max-evaluations", str(evaluations), "--seed", str(seed), "--workers", "1"]
        command = [python, "-m", "automl_admm", "fit", str(table.path), "--target", table.target]
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(
            [*command, *options, *more, "--out", f"{folder}/run"],
            env=os.environ | ONE_THREAD,
            cwd=folder,
            check=True,
            capture_output=True,
        )
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        model = json.loads(Path(folder, "run", "model.json").read_text())
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Spent(spent / evaluations, float(model["validation_score"]))


def main() -> None:
    """Print a row a data set, and the median of the gains."""
    parser = argparse.ArgumentParser()
    parser.add_argument("data", type=Path)
    parser.add_argument("--before", required=True, help="the Python of the older version")
    parser.add_argument("--sets", nargs="+", default=["vehicle", "sonar", "german_credit", "adult"])
    parser.add_argument("--evaluations", type=int, default=20)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    asked = parser.parse_args()
    head = (
        f"{'set':14} {'seed':>4} {'s each, before':>15} {'now':>6} {'gain':>6}  score before  now"
    )
    sys.stdout.write(f"{head}\n")
    gains = []
    with tempfile.TemporaryDirectory() as folder:
        for table in tables(asked.data, asked.sets, Path(folder)):
            for seed in asked.seeds:
                old = run(asked.before, table, asked.evaluations, seed)
                new = run(sys.executable, table, asked.evaluations, seed, "--no-ensemble")
                gains.append(old.seconds / new.seconds)
                row = f"{table.name:14} {seed:4d} {old.seconds:15.2f} {new.seconds:6.2f}"
                found = f"{old.score:12.4f} {new.score:6.4f}"
                sys.stdout.write(f"{row} {gains[-1]:5.1f}×  {found}\n")
                sys.stdout.flush()
    sys.stdout.write(f"median gain: {statistics.median(gains):.1f}×\n")


if __name__ == "__main__":
    main()
