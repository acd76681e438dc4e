"""What racing saves, and what it costs: the same evaluations with all folds, and raced.

A search makes its evaluations with `--no-racing`. Then its log is read from the start as a race
would have gone: one that is clearly behind the best one by then would have stopped after its first
folds. A row a data set: the evaluations, the part of them that would have been stopped, the fits
that are left, how often the best by all folds would have been stopped (then the second best ships),
and what that costs in the metric.

    python benchmarks/racing.py ../shared/data --evaluations 40 --seeds 3
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from automl_admm.core.evaluations import Evaluation
from automl_admm.pipelines.racing import is_behind
from automl_admm.plugins.records import LearningTask
from automl_admm.runs.config import RunConfig
from automl_admm.runs.pipelines import run_pipelines
from automl_admm.runs.prepare.preparation import prepare


@dataclass(frozen=True)
class Replay:
    """A search as a race: numbers of evaluations and fits, and the loss of what ships."""

    evaluations: int
    stopped: int
    fits: int
    fits_raced: int
    lost: float


def search(path: Path, evaluations: int, seed: int) -> Sequence[Evaluation]:
    """Return the evaluations of a search that runs all folds."""
    about = json.loads(path.with_suffix(".json").read_text())
    X = pd.read_csv(path)
    y = X.pop(about["target"])
    task: LearningTask = "regression" if about["task"] == "regression" else "classification"
    config = RunConfig(max_evaluations=evaluations, random_state=seed, task=task, racing=False)
    found = run_pipelines(prepare(config, X, y)).result.evaluations
    return sorted((one for one in found if one.is_ranked), key=lambda one: one.number)


def replay(evaluations: Sequence[Evaluation]) -> Replay:
    """Race the evaluations in their order; a metric's loss is its best value less the score."""
    best, stopped, raced = evaluations[0], 0, len(_losses(evaluations[0]))
    for one in evaluations[1:]:
        own, rival = _losses(one), _losses(best)
        done = next((k for k in range(1, len(own)) if is_behind(own[:k], rival)), len(own))
        raced += done
        if done < len(own):
            stopped += 1
        elif one.loss < best.loss:
            best = one
    fits = sum(len(_losses(one)) for one in evaluations)
    lost = best.loss - min(one.loss for one in evaluations)
    return Replay(len(evaluations), stopped, fits, raced, lost)


def _losses(evaluation: Evaluation) -> list[float]:
    return [-score for score in evaluation.details["scores"]]


def main() -> None:
    """Print a row a data set."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--evaluations", type=int, default=40)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--sets", nargs="*")
    asked = parser.parse_args()
    names = asked.sets or sorted(path.stem for path in asked.folder.glob("*.csv"))
    head = f"{'set':16} {'folds':>5} {'made':>5} {'stopped':>8} {'fits':>6} {'raced':>6}  lost"
    sys.stdout.write(f"{head}\n")
    for name in names:
        paths = [asked.folder / f"{name}.csv"] * asked.seeds
        found = [search(path, asked.evaluations, seed) for seed, path in enumerate(paths)]
        runs = [replay(evaluations) for evaluations in found]
        made, stopped = sum(run.evaluations for run in runs), sum(run.stopped for run in runs)
        fits, raced = sum(run.fits for run in runs), sum(run.fits_raced for run in runs)
        lost = " ".join(f"{run.lost:.4f}" for run in runs)
        folds = len(_losses(found[0][0]))
        row = f"{name:16} {folds:5d} {made:5d} {stopped / made:8.0%} {fits:6d} {raced / fits:6.0%}"
        sys.stdout.write(f"{row}  {lost}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
