"""What growing fits saves: halving with rough answers on few rows, of few trees, and grown.

The same search three times, with the same seeds: rough answers of a share of the rows; of a share
of the trees, each fitted anew; and of a share of the trees, with fits that go on. The last two make
the same evaluations with the same losses, which is checked. A line of JSON a search: processor
seconds, evaluations, and the score on held-out rows. `--climb` measures one pipeline instead: its
estimator with 30, 90 and 300 trees, anew and grown, with all that keeping costs.

    python benchmarks/growing.py ../shared/data --sets vehicle sonar --seeds 2
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.model_selection import train_test_split

from automl_admm import AutoMLClassifier, AutoMLRegressor
from automl_admm.pipelines.growing import GrowingFit
from automl_admm.pipelines.kept_fits import KeptFits
from automl_admm.plugin_api import BuildContext, ComponentPlugin, Growth
from automl_admm.plugins.loading import load_plugins
from automl_admm.plugins.records import LearningTask

NAMES = ("random_forest", "extra_trees", "gradient_boosting", "hist_gradient_boosting")
GRAMMAR = "%import components (impute, {0})\nstart: impute ({1})\n"
WAYS = ("rows", "anew", "grown")


@dataclass(frozen=True)
class Setting:
    """A search of a benchmark: whole evaluations to spend, the least fidelity, the folds."""

    evaluations: int
    least: float
    folds: int


def records(task: LearningTask, way: str) -> Iterator[ComponentPlugin]:
    """Yield the estimators under names of their own, which are the same in every way."""
    for name in NAMES:
        record = replace(load_plugins().components[task].get(name), name=f"own_{name}")
        if way == "rows":
            record = replace(record, fidelity="", growth=None)
        yield record if way == "grown" else replace(record, growth=None)


def run(path: Path, way: str, seed: int, setting: Setting) -> tuple[dict[str, Any], list[Any]]:
    """Return the figures of a search, and the losses of its evaluations."""
    about = json.loads(path.with_suffix(".json").read_text())
    X = pd.read_csv(path)
    y = X.pop(about["target"])
    task: LearningTask = "regression" if about["task"] == "regression" else "classification"
    parts = train_test_split(X, y, test_size=0.3, random_state=seed)
    own = [f"own_{name}" for name in NAMES]
    made = AutoMLRegressor if task == "regression" else AutoMLClassifier
    search = made(
        GRAMMAR.format(", ".join(own), " | ".join(own)),
        components=list(records(task, way)),
        z_solver="halving",
        min_fidelity=setting.least,
        max_evaluations=setting.evaluations,
        cv=setting.folds,
        executor="inline",
        portfolio=False,
        ensemble=False,
        random_state=seed,
    )
    begun = time.process_time()
    search.fit(parts[0], parts[2])
    seconds = time.process_time() - begun
    found = search.cv_results_
    figures = {
        "set": path.stem,
        "way": way,
        "seed": seed,
        "seconds": round(seconds, 2),
        "evaluations": search.n_evaluations_,
        "rough": int((found["fidelity"] < 1.0).sum()),
        "score": round(float(search.score(parts[1], parts[3])), 4),
    }
    return figures, list(found["mean_test_score"])


def climb(path: Path, name: str) -> dict[str, Any]:
    """Return the processor seconds of an estimator of 30, 90 and 300 trees, anew and grown."""
    about = json.loads(path.with_suffix(".json").read_text())
    X = pd.read_csv(path)
    y = X.pop(about["target"])
    task: LearningTask = "regression" if about["task"] == "regression" else "classification"
    table = X.select_dtypes("number").fillna(0.0).to_numpy()
    record = load_plugins().components[task].get(name)
    growth = record.growth or Growth()
    seconds = {}
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder, "kept")
        place.mkdir()
        for way in ("anew", "grown"):
            begun = time.process_time()
            for size in (30, 90, 300):
                values = {record.fidelity: size}
                model = record.factory(values, BuildContext(task)).set_params(random_state=0)
                kept = KeptFits(place, 10**9)
                fit = GrowingFit(growth, record.fidelity, kept, Path(folder), size < 300)
                fit.fit(model, table, y, None) if way == "grown" else model.fit(table, y)
            seconds[way] = round(time.process_time() - begun, 2)
    return {"set": path.stem, "estimator": name, **seconds}


def main() -> None:
    """Print a line for each search."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--sets", nargs="+", required=True)
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--evaluations", type=int, default=8)
    parser.add_argument("--least", type=float, default=0.1)
    parser.add_argument("--folds", type=int, default=2)
    parser.add_argument("--climb", action="store_true")
    asked = parser.parse_args()
    if asked.climb:
        for name in asked.sets:
            for estimator in NAMES:
                print(json.dumps(climb(asked.folder / f"{name}.csv", estimator)), flush=True)
        return
    setting = Setting(asked.evaluations, asked.least, asked.folds)
    for name in asked.sets:
        for seed in range(asked.seeds):
            losses: dict[str, list[Any]] = {}
            for way in WAYS:
                path = asked.folder / f"{name}.csv"
                figures, losses[way] = run(path, way, seed, setting)
                print(json.dumps(figures), flush=True)
            if not np.array_equal(losses["anew"], losses["grown"], equal_nan=True):
                sys.exit(f"{name}, seed {seed}: the grown fits are other models.")


if __name__ == "__main__":
    main()
