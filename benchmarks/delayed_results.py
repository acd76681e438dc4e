"""What it costs a search that several workers ask before earlier results are known.

A `Study` has k trials pending at any time: a result is told when the next k − 1 are asked for, in
the order of asking. With k = 1 it is the search of one worker. Compared is the best loss among the
first evaluations, by seed; each seed is a problem of its own.

The problems: the artificial objective of the papers (an objective for each seed), planted orders of
six modules (see `planted_order`), and with `--data` tables of real trainings. "Late" is one worker
k − 1 evaluations earlier: so far behind is a search that loses nothing else by the delay.

    python benchmarks/delayed_results.py --seeds 40 --data ../shared/data/hpo
"""

from __future__ import annotations

import argparse
import json
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
from paired import compare
from planted_order import GRAMMAR, PlantedOrder
from threadpoolctl import threadpool_limits
from utilisation import Imitated, Training

from automl_admm import Study
from automl_admm.core.space import Order, SearchSpace
from automl_admm.grammar import compile_text
from automl_admm.plugins.loading import load_plugins
from automl_admm.testing.lookup_tables import read_table
from automl_admm.testing.objectives import ArtificialObjective

PENDING = (1, 2, 4, 8)
SHOWN = (10, 20, 40)
STRATEGIES = ("admm", "joint")


@cache
def ordered_modules() -> SearchSpace:
    """Return the space of the planted orders."""
    components = load_plugins().components["regression"]
    return compile_text(GRAMMAR, "planted", components).pipelines.space


@dataclass(frozen=True)
class Planted:
    """A planted order as a function of values."""

    seed: int

    @property
    def space(self) -> SearchSpace:
        """Return where it is searched."""
        return ordered_modules()

    def __call__(self, values: Mapping[str, Any]) -> float:
        """Return the loss of the selection; parameters do not matter."""
        picks = {
            one.name: tuple(values[one.name]) if isinstance(one, Order) else values[one.name]
            for one in self.space.decisions
            if one.name in values
        }
        return PlantedOrder.of(self.space, self.seed)(self.space.complete(picks))


def delayed(problem: Imitated, seed: int, pending: int, strategy: str) -> list[float]:
    """Return the best loss after each evaluation, with so many trials pending."""
    losses: list[float] = []
    waiting = deque[Any]()
    most = SHOWN[-1]
    with Study(problem.space, max_evaluations=most, random_state=seed, strategy=strategy) as study:
        while len(losses) < most:
            asked = study.ask() if len(waiting) < pending else None
            if asked is not None:
                waiting.append(asked)
                continue
            if not waiting:
                break
            trial = waiting.popleft()
            losses.append(problem(trial.values))
            study.tell(trial, losses[-1])
    best = list(np.minimum.accumulate(losses))
    # A space may be used up before.
    return best + [best[-1]] * (most - len(best))


def rows_of(strategy: str, runs: Mapping[int, np.ndarray]) -> list[list[str]]:
    """Return a row for each number of pending trials: medians, pairs with one worker, and late."""
    alone = runs[PENDING[0]]
    rows = []
    for pending, found in runs.items():
        row = [strategy, str(pending)]
        for count in SHOWN:
            here, late = found[:, count - 1], alone[:, count - pending]
            row.append(f"{np.median(here):.4g}")
            row.append("" if pending == 1 else str(compare(list(here), list(alone[:, count - 1]))))
            row.append("" if pending == 1 else f"{np.median(late):.4g}")
        rows.append(row)
    return rows


def columns() -> list[str]:
    """Return the heads of the table."""
    counts = [[f"after {n}", f"{n}: better/worse/equal", f"{n}: late"] for n in SHOWN]
    return ["strategy", "pending", *(name for three in counts for name in three)]


def measure(
    make: Callable[[int], Imitated], seeds: Sequence[int], strategies: Sequence[str]
) -> list[list[str]]:
    """Return the rows of the strategies on one kind of problem."""
    rows: list[list[str]] = []
    for strategy in strategies:
        runs = {
            pending: np.array([delayed(make(seed), seed, pending, strategy) for seed in seeds])
            for pending in PENDING
        }
        rows += rows_of(strategy, runs)
    return rows


def main() -> None:
    """Run, print, and write if asked to."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=40)
    parser.add_argument("--first", type=int, default=2000, help="first seed")
    parser.add_argument("--only", nargs="+", help="names of problems")
    parser.add_argument("--strategies", nargs="+", default=STRATEGIES)
    parser.add_argument("--data", type=Path, help="folder of tables NAME.npz")
    parser.add_argument("--write", type=Path, help="a JSON file for the tables")
    given = parser.parse_args()
    seeds = range(given.first, given.first + given.seeds)
    problems: dict[str, Callable[[int], Imitated]] = {
        "artificial": ArtificialObjective,
        "planted": Planted,
    }
    for path in sorted(given.data.glob("*.npz")) if given.data else ():
        table = read_table(path)
        problems[path.stem] = partial(Training, table)
    tables = {}
    with threadpool_limits(1):
        for name in given.only or problems:
            rows = measure(problems[name], seeds, given.strategies)
            tables[name] = {"columns": columns(), "rows": rows}
            print(name, *map("  ".join, [columns(), *rows]), sep="\n", flush=True)
    if given.write:
        text = json.dumps({"tables": tables}, ensure_ascii=False, indent=1)
        given.write.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
