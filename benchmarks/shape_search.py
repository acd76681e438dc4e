"""Whether the search finds the shape of a pipeline: against every fixed order, at equal time.

`order`, `views` and `shipped` are tables on which the shape decides (shape_tasks.py). The search
over a grammar with `any_order` (and `union`, or all of `shapes.lark`) and the search over each
fixed order of the same components have the same processor time on one core, solver and evaluations
together, so that other work on the machine distorts nothing. Printed is R² on 4 000 fresh rows: the
median over seeds, and the seeds in which the search is ahead. The best fixed order is the one of
the best median: it is chosen with hindsight.

    python benchmarks/shape_search.py --seconds 4 --seeds 10 --plot benchmarks/plots
    python benchmarks/shape_search.py --tasks shipped --seconds 10 --seeds 10
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from pathlib import Path
from statistics import median

import numpy as np
from shape_tasks import DataTask, data_tasks
from sklearn.metrics import r2_score
from threadpoolctl import threadpool_limits

from automl_admm.core.evaluations import Evaluation
from automl_admm.core.run import RunInfo
from automl_admm.runs.config import RunConfig
from automl_admm.runs.pipelines import run_pipelines
from automl_admm.runs.prepare.preparation import prepare

ENDLESS = 1_000_000
HELD_OUT = 0.4
LOWEST_SHOWN = -0.1
Scores = dict[tuple[str, int], float]


class ProcessorTime:
    """An observer that ends a run after so many seconds of this process's own processor time."""

    def __init__(self, seconds: float) -> None:
        self._end = time.process_time() + seconds

    def should_stop(self, info: RunInfo, evaluations: int, incumbent: Evaluation | None) -> bool:
        """Stop once the time is used up and there is something to show for it."""
        del info, evaluations
        return incumbent is not None and time.process_time() >= self._end


def measure(task: DataTask, name: str, seconds: float, seed: int) -> float:
    """One run: R² of the pipeline that ships on fresh rows; how far below −1 does not matter."""
    sample = task.draw(seed)
    with tempfile.TemporaryDirectory() as folder, threadpool_limits(1):
        path = Path(folder) / "grammar.lark"
        path.write_text(task.grammars[name])
        config = RunConfig(
            grammar=path,
            task="regression",
            scoring="r2",
            max_evaluations=ENDLESS,
            cv=HELD_OUT,
            executor="inline",
            random_state=seed,
            callbacks=(ProcessorTime(seconds),),
        )
        model = run_pipelines(prepare(config, sample.X, sample.y)).model
    return max(float(r2_score(sample.y_test, model.predict(sample.X_test))), -1.0)


def run_task(task: DataTask, seconds: float, seeds: range, keep: Path | None) -> Scores:
    """Every grammar with every seed; what is on file is not repeated."""
    known: dict[str, float] = json.loads(keep.read_text()) if keep and keep.exists() else {}
    found: Scores = {}
    for seed in seeds:
        for name in task.grammars:
            job = repr((task.name, name, seconds, seed))
            if job not in known:
                known[job] = measure(task, name, seconds, seed)
            found[name, seed] = known[job]
            if keep:
                keep.write_text(json.dumps(known))
    return found


def best_fixed(task: DataTask, scores: Scores, seeds: range) -> str:
    """The fixed order of the best median over the seeds."""
    return max(task.fixed, key=lambda name: median(scores[name, seed] for seed in seeds))


def print_task(task: DataTask, scores: Scores, seeds: range) -> None:
    """A row for each grammar; the seeds in which the first one, the search, is ahead of it."""
    kinds = [task.draw(seed).kind for seed in seeds]
    distinct = sorted(set(kinds))
    search, chosen = task.searches[0], best_fixed(task, scores, seeds)
    print(f"\n{task.name}: R² on fresh rows, {len(seeds)} seeds; how often '{search}' is ahead")
    heads = "".join(f"{kind:>18}" for kind in distinct)
    print(f"{'':<26}{'median':>8}{heads}{'ahead':>7}  by seed")
    for name in task.grammars:
        row = [scores[name, seed] for seed in seeds]
        by_kind = "".join(
            f"{median(r for r, k in zip(row, kinds, strict=True) if k == kind):>18.3f}"
            for kind in distinct
        )
        ahead = sum(scores[search, seed] > scores[name, seed] for seed in seeds)
        text = "-" if name == search else str(ahead)
        mark = "  best fixed" if name == chosen else ""
        listed = " ".join(f"{value:.2f}" for value in row)
        print(f"{name:<26}{median(row):>8.3f}{by_kind}{text:>7}  {listed}{mark}")
    oracle = [max(scores[name, seed] for name in task.fixed) for seed in seeds]
    print(f"{'best fixed of each seed':<26}{median(oracle):>8.3f}")


def draw(task: DataTask, scores: Scores, seeds: range, folder: Path) -> None:
    """One point a run, a bar at the median."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    figure, axis = plt.subplots(figsize=(8, 4), layout="constrained")
    names = list(task.grammars)
    kinds = [task.draw(seed).kind for seed in seeds]
    for kind in dict.fromkeys(kinds):
        chosen = [seed for seed, other in zip(seeds, kinds, strict=True) if other == kind]
        pairs = [(place, scores[name, s]) for place, name in enumerate(names) for s in chosen]
        places, values = np.array(pairs).T
        axis.scatter(np.clip(values, LOWEST_SHOWN, None), places, label=kind, s=18)
    for place, name in enumerate(names):
        axis.plot([median(scores[name, s] for s in seeds)] * 2, [place - 0.3, place + 0.3], "k")
    axis.set(yticks=range(len(names)), yticklabels=names, xlabel="R² on fresh rows; bar: median")
    axis.invert_yaxis()
    axis.legend(fontsize="small")
    folder.mkdir(parents=True, exist_ok=True)
    figure.savefig(folder / f"shapes_{task.name}.png", dpi=80)


def main() -> None:
    """Print the tables, draw the plots."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tasks", nargs="+", default=["order", "views"])
    parser.add_argument("--seconds", type=float, default=4.0, help="processor time of a run")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--keep", type=Path, help="a JSON file of runs: those are not repeated")
    parser.add_argument("--plot", type=Path, help="a folder for the plots")
    arguments = parser.parse_args()
    seeds = range(arguments.seeds)
    for task in data_tasks():
        if task.name in arguments.tasks:
            scores = run_task(task, arguments.seconds, seeds, arguments.keep)
            print_task(task, scores, seeds)
            if arguments.plot:
                draw(task, scores, seeds, arguments.plot)


if __name__ == "__main__":
    main()
