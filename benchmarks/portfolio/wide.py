"""Searches on generated wide tables that no portfolio was learned from: the best loss by the clock.

    python -m benchmarks.portfolio.wide

A table has more columns than rows. Few columns count, hidden factors are behind many, blocks of
skewed columns are alike, or a threshold decides. Seconds are the processor's.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from threadpoolctl import threadpool_limits

from automl_admm.core.evaluations import Evaluation
from automl_admm.core.space import Array
from automl_admm.runs.config import RunConfig
from automl_admm.runs.pipelines import run_pipelines
from automl_admm.runs.prepare.preparation import prepare

SEEDS = (11, 12)
SECONDS = (2.0, 4.0, 8.0)
# Never reached: a search with a budget begins as one of a few seconds does.
BUDGET = 3000.0
EVALUATIONS = 14
Made = tuple[str, Array, Any]


def tables(seed: int) -> Iterator[Made]:
    """Yield the name, the columns and the target of each table."""
    random = np.random.default_rng(seed)
    X = random.standard_normal((200, 1200))
    yield "few columns, classes", X, _classes(random, X[:, :8] @ random.choice([-1, 1], 8), 0.5)
    factors, X = _of_factors(random, 150, 1600)
    yield "factors, classes", X, _classes(random, 2 * factors[:, 0] + factors[:, 1], 0.5)
    blocks = random.standard_normal((200, 100))
    X = np.exp(np.repeat(blocks, 12, axis=1) / 2 + 0.35 * random.standard_normal((200, 1200)))
    score = blocks[:, 0] - blocks[:, 1] + blocks[:, 2] * blocks[:, 3]
    yield "skewed blocks, classes", X, _classes(random, score, 0.3)
    X = random.standard_normal((250, 1000))
    score = np.where(X[:, 0] > 0, X[:, 1], -X[:, 2]) + 1.5 * (X[:, 3] > 0.5) - 0.4
    yield "thresholds, classes", X, _classes(random, score, 0.3)
    X = random.standard_normal((150, 1500))
    score = X[:, :10] @ random.uniform(0.5, 1.5, 10) + random.standard_normal(150)
    yield "few columns, quantity", X, 100 + 20 * score
    factors, X = _of_factors(random, 150, 2000)
    noise = 0.3 * random.standard_normal(150)
    yield "factors, quantity", X, factors[:, 0] + 0.3 * factors[:, 1] ** 2 + noise


def _classes(random: np.random.Generator, score: Array, noise: float) -> Any:
    return np.where(score + noise * random.logistic(size=len(score)) > 0, "yes", "no")


def _of_factors(random: np.random.Generator, rows: int, columns: int) -> tuple[Array, Array]:
    factors = random.standard_normal((rows, 6))
    mixed = 0.4 * factors @ random.standard_normal((6, columns))
    return factors, mixed + random.standard_normal((rows, columns))


@dataclass
class Watch:
    """Notes the best loss by the processor's seconds, and stops the search after the last."""

    begun: float = field(default_factory=time.process_time)
    losses: dict[float, float] = field(default_factory=dict)

    def evaluation_finished(self, evaluation: Evaluation) -> None:
        """Note an evaluation."""
        spent = time.process_time() - self.begun
        if evaluation.is_ranked:
            self.losses[spent] = evaluation.loss
        if spent > SECONDS[-1]:
            raise KeyboardInterrupt

    def best_after(self, seconds: float) -> float:
        """Return the best loss after so many seconds; NaN before the first."""
        return min((v for t, v in self.losses.items() if t <= seconds), default=math.nan)


def search(X: Array, y: Any) -> Watch:
    """Search on a table."""
    watch, is_class = Watch(), y.dtype.kind != "f"
    config = RunConfig(
        task="classification" if is_class else "regression",
        scoring="roc_auc" if is_class else "r2",
        time_budget=BUDGET,
        max_evaluations=EVALUATIONS,
        executor="inline",
        callbacks=(watch,),
    )
    prepared = prepare(config, pd.DataFrame(X).add_prefix("x"), pd.Series(y, name="target"))
    watch.begun = time.process_time()
    run_pipelines(prepared)
    return watch


def main() -> None:
    """Search on all tables, and print a line for each."""
    heads = "".join(f"{f'{limit:g} s':>8}" for limit in SECONDS)
    sys.stdout.write(f"{'':28}{heads}\n")
    with threadpool_limits(limits=1):
        for seed in SEEDS:
            for name, X, y in tables(seed):
                watch = search(X, y)
                losses = "".join(f"{watch.best_after(limit):8.3f}" for limit in SECONDS)
                sys.stdout.write(f"{f'{name}, {seed}':28}{losses}\n")


if __name__ == "__main__":
    main()
