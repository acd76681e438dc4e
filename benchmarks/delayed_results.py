"""What it costs a search that several workers ask before earlier results are known.

A `Study` has k trials pending at any time: a result is told when the next k − 1 are asked for, in
the order of asking. With k = 1 it is the search of one worker. Compared is the best loss among the
first evaluations, by seed; each seed is a problem of its own.

The problems: the artificial objective of the papers (an objective for each seed), planted orders of
six modules (see `planted_order`), and with `--data` tables of real trainings. "Late" is one worker
k − 1 evaluations earlier: so far behind is a search that loses nothing else by the delay.

    python benchmarks/delayed_results.py --seeds 40 --data ../shared/data/hpo

The curves of other code, kept by `--keep`, stand beside these `--against` them.
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


Runs = dict[int, np.ndarray]


def measure(make: Callable[[int], Imitated], seeds: Sequence[int], strategy: str) -> Runs:
    """Return the curves of a strategy on one kind of problem, by the number of pending trials."""
    return {
        pending: np.array([delayed(make(seed), seed, pending, strategy) for seed in seeds])
        for pending in PENDING
    }


def pairs_of(strategy: str, runs: Runs, before: Runs) -> list[list[str]]:
    """Return a row for each number of pending trials: medians before and now, and the pairs."""
    rows = []
    for pending, found in runs.items():
        row = [strategy, str(pending)]
        for count in SHOWN:
            now, then = found[:, count - 1], before[pending][:, count - 1]
            row += [f"{np.median(then):.4g}", f"{np.median(now):.4g}"]
            row.append(str(compare(list(now), list(then))) if (now != then).any() else "the same")
        rows.append(row)
    return rows


def pair_columns() -> list[str]:
    """Return the headings of the table of pairs."""
    counts = [[f"{n}: before", f"{n}: now", f"{n}: better/worse/equal"] for n in SHOWN]
    return ["strategy", "pending", *(name for three in counts for name in three)]


def read_curves(path: Path) -> dict[str, dict[str, Runs]]:
    """Return the curves that `--keep` wrote, by problem and strategy."""
    found = json.loads(path.read_text(encoding="utf-8"))
    return {
        problem: {
            strategy: {int(pending): np.array(curves) for pending, curves in runs.items()}
            for strategy, runs in by.items()
        }
        for problem, by in found.items()
    }


def as_plain(curves: dict[str, dict[str, Runs]]) -> dict[str, Any]:
    """Return curves as JSON has them."""
    return {
        problem: {
            strategy: {str(pending): found.tolist() for pending, found in runs.items()}
            for strategy, runs in by.items()
        }
        for problem, by in curves.items()
    }


def parse() -> argparse.Namespace:
    """Return the options."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=40)
    parser.add_argument("--first", type=int, default=2000, help="first seed")
    parser.add_argument("--only", nargs="+", help="names of problems")
    parser.add_argument("--strategies", nargs="+", default=STRATEGIES)
    parser.add_argument("--data", type=Path, help="folder of tables NAME.npz")
    parser.add_argument("--write", type=Path, help="a JSON file for the tables")
    parser.add_argument("--keep", type=Path, help="a JSON file for the curves")
    parser.add_argument("--against", type=Path, help="curves of other code, of the same seeds")
    return parser.parse_args()


def problems_of(folder: Path | None) -> dict[str, Callable[[int], Imitated]]:
    """Return the problems by name."""
    found: dict[str, Callable[[int], Imitated]] = {
        "artificial": ArtificialObjective,
        "planted": Planted,
    }
    for path in sorted(folder.glob("*.npz")) if folder else ():
        found[path.stem] = partial(Training, read_table(path))
    return found


def main() -> None:
    """Run, print, and write if asked to."""
    given = parse()
    seeds = range(given.first, given.first + given.seeds)
    problems = problems_of(given.data)
    before = read_curves(given.against) if given.against else {}
    tables: dict[str, Any] = {}
    kept: dict[str, dict[str, Runs]] = {}
    with threadpool_limits(1):
        for name in given.only or problems:
            kept[name] = {one: measure(problems[name], seeds, one) for one in given.strategies}
            rows = [row for one, runs in kept[name].items() for row in rows_of(one, runs)]
            tables[name] = {"columns": columns(), "rows": rows}
            if name in before:
                rows = [
                    row
                    for one, runs in kept[name].items()
                    for row in pairs_of(one, runs, before[name][one])
                ]
                tables[f"{name}-before"] = {"columns": pair_columns(), "rows": rows}
            for title in (one for one in (name, f"{name}-before") if one in tables):
                found = tables[title]
                print(title, *map("  ".join, [found["columns"], *found["rows"]]), sep="\n")
    if given.write:
        text = json.dumps({"tables": tables}, ensure_ascii=False, indent=1)
        given.write.write_text(text + "\n", encoding="utf-8")
    if given.keep:
        given.keep.write_text(json.dumps(as_plain(kept)), encoding="utf-8")


if __name__ == "__main__":
    main()
