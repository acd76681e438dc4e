"""What decisions cost on new rows: chosen by `--cost`, and by the rules that others use.

All ways decide by the pipeline of a search for the log loss. Costs change its decisions, and
another pipeline ships where it would then decide one class for all rows. Of two classes a missed
row of the rarer one costs 5 or 20, a false alarm 1. Of several classes each mistake costs 1 to 20,
drawn for each table. Two splits each, up to 1 000 rows to learn from; of the rest up to 5 000 are
new.

    OMP_NUM_THREADS=1 python benchmarks/cost_decisions.py --data ../shared/data
"""

from __future__ import annotations

import argparse
import json
import warnings
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
import pandas as pd
from paired import compare
from sklearn.base import clone
from sklearn.datasets import load_digits, load_wine
from sklearn.metrics import make_scorer
from sklearn.model_selection import TunedThresholdClassifierCV, train_test_split

from automl_admm import AutoMLClassifier

SPLITS, MOST, NEW = 2, 1000, 5000
TWO = ("german_credit", "pc4", "sylvine", "wind", "oil_spill", "compas", "adult", "credit_default")
OURS, PLAIN, BAYES, TUNED = (
    "ours, `--cost`",
    "no costs",
    "least expected cost by the probabilities as they are",
    "scikit-learn's TunedThresholdClassifierCV",
)
SEARCH: dict[str, Any] = {
    "scoring": "neg_log_loss",
    "max_evaluations": 8,
    "cv": 4,
    "executor": "inline",
    "random_state": 0,
    "ensemble": False,
}
Costs = Mapping[tuple[str, str], float]


@dataclass(frozen=True)
class Task:
    """Rows to learn from and new ones; `costs` are of a true class and a decision."""

    title: str
    X: pd.DataFrame
    y: Any
    later: pd.DataFrame
    later_y: Any
    costs: Costs

    @property
    def classes(self) -> list[str]:
        """The classes in their order."""
        return sorted(set(self.y))

    def paid(self, decided: Any) -> float:
        """Return the mean cost of decisions on the new rows."""
        return mean_cost(self.later_y, decided, costs=self.costs)


def mean_cost(y: Any, decided: Any, *, costs: Costs) -> float:
    """Return the mean of c(true class, decision)."""
    return float(np.mean([costs.get(pair, 0.0) for pair in zip(y, decided, strict=True)]))


def tasks(data: Path) -> Iterator[Task]:
    """Yield all tasks, split by split."""
    for split in range(SPLITS):
        for name in TWO:
            X, y = _read(data, name)
            rarer, other = y.value_counts().index[::-1]
            for missed in (5.0, 20.0):
                costs = {(rarer, other): missed, (other, rarer): 1.0}
                yield _split(f"{name}, {missed:g} to 1", X, y, costs, split)
        for name in ("digits", "wine", "vehicle"):
            X, y = _several(data, name)
            rng, labels = np.random.default_rng(crc32(name.encode())), sorted(set(y))
            pairs = [(one, other) for one in labels for other in labels if one != other]
            costs = {pair: float(rng.integers(1, 21)) for pair in pairs}
            yield _split(name, X, y, costs, split)


def _read(data: Path, name: str) -> tuple[pd.DataFrame, pd.Series]:
    target = json.loads((data / f"{name}.json").read_text(encoding="utf-8"))["target"]
    X = pd.read_csv(data / f"{name}.csv").dropna(subset=[target])
    y = X.pop(target).map(lambda label: f"class {label}")
    return X, y


def _several(data: Path, name: str) -> tuple[pd.DataFrame, pd.Series]:
    if name == "vehicle":
        return _read(data, name)
    found = (load_digits if name == "digits" else load_wine)(as_frame=True)
    return found.data, found.target.map(lambda label: f"class {label}")


def _split(title: str, X: Any, y: Any, costs: Costs, seed: int) -> Task:
    size = min(MOST, int(0.6 * len(y)))
    parts = train_test_split(X, y, train_size=size, stratify=y, random_state=seed)
    own, new, own_y, later_y = (one.reset_index(drop=True) for one in parts)
    return Task(title, own, own_y, new, later_y, costs)


def pay(task: Task) -> dict[str, float]:
    """Return the mean cost on new rows by each way."""
    plain = AutoMLClassifier(**SEARCH).fit(task.X, task.y)
    costed = AutoMLClassifier(**SEARCH, cost=dict(task.costs)).fit(task.X, task.y)
    found = {
        OURS: task.paid(costed.predict(task.later)),
        PLAIN: task.paid(plain.predict(task.later)),
    }
    table = np.array([[task.costs.get((a, b), 0.0) for b in task.classes] for a in task.classes])
    expected = plain.predict_proba(task.later) @ table
    found[BAYES] = task.paid(np.array(task.classes)[expected.argmin(axis=1)])
    if len(task.classes) == 2:
        found[TUNED] = task.paid(_tuned(task, plain).predict(plain.pipeline_rows(task.later)))
    return found


def _tuned(task: Task, plain: Any) -> Any:
    score = make_scorer(partial(mean_cost, costs=task.costs), greater_is_better=False)
    tuned = TunedThresholdClassifierCV(clone(plain.best_pipeline_), scoring=score, cv=4)
    return tuned.fit(plain.pipeline_rows(task.X), task.y)


def main() -> None:
    """Print the mean cost of each task and way, and the pairs."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    warnings.simplefilter("ignore")
    runs: dict[str, list[dict[str, float]]] = defaultdict(list)
    for task in tasks(parser.parse_args().data):
        runs[task.title].append(pay(task))
        print(task.title, runs[task.title][-1], flush=True)
    ways = (OURS, PLAIN, BAYES, TUNED)
    print("| task |", " | ".join(ways), "|")
    for title, found in runs.items():
        means = [np.mean([one.get(way, np.nan) for one in found]) for way in ways]
        print(f"| {title} |", " | ".join(f"{mean:.4f}" for mean in means), "|")
    every = [one for found in runs.values() for one in found]
    for way in ways[1:]:
        known = [one for one in every if way in one]
        ours, theirs = [one[OURS] for one in known], [one[way] for one in known]
        ratio = np.exp(np.mean([np.log(a / b) for a, b in zip(ours, theirs, strict=True) if a * b]))
        print(f"ours beside {way}: better/worse/level {compare(ours, theirs)}, ratio {ratio:.3f}")


if __name__ == "__main__":
    main()
