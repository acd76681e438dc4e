"""z-solvers side by side: how good is the best selection that they find.

Two tables of 8 x 11 x 7 x 11 = 6 776 selections whose every rank is known: an additive loss with
interactions of pairs, and the artificial objective of the papers with every parameter at its
default. Prints the rank, in per cent, of the best selection after 32, 128 and 512 evaluations (0
is the best there is), the place among the z-solvers, and the microseconds a decision. Then whole
runs: ADMM(gp, z) on the artificial objective, with its parameters, against `random`.

    python benchmarks/z_solvers.py --seeds 20 --runs 10
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass
from functools import cache
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import rankdata
from threadpoolctl import threadpool_limits

from automl_admm import minimize
from automl_admm.builtin.z.exhaustive import all_selections
from automl_admm.core.space import Choice, SearchSpace, Selection
from automl_admm.core.subproblems import Observation, SelectionSubproblem
from automl_admm.plugins.loading import load_plugins
from automl_admm.runs.prepare.assembly import build_solver
from automl_admm.testing.objectives import ArtificialObjective

SHAPE = (8, 11, 7, 11)
SHOWN = (32, 128, 512)
BASE = "random"
PLOT = Path(__file__).parent / "plots" / "z_solvers.png"


@dataclass(frozen=True)
class Trace:
    """One run: the best rank in per cent after each evaluation, and microseconds a decision."""

    ranks: list[float]
    microseconds: float

    def shown(self) -> list[float]:
        """The ranks that are printed."""
        return [self.ranks[n - 1] for n in SHOWN]


def landscape(seed: int) -> tuple[SearchSpace, dict[Selection, float]]:
    """Four choices, each with an effect of its own, and interactions of half their size."""
    rng = np.random.default_rng([seed, 99])
    places = np.indices(SHAPE)
    loss = sum(rng.normal(size=size)[places[i]] for i, size in enumerate(SHAPE))
    for i in range(len(SHAPE)):
        for j in range(i):
            loss = loss + 0.5 * rng.normal(size=(SHAPE[i], SHAPE[j]))[places[i], places[j]]
    labels = [tuple(map(str, range(size))) for size in SHAPE]
    names = zip("abcd", labels, strict=True)
    space = SearchSpace(tuple(Choice(name, alternatives) for name, alternatives in names))
    losses = {
        selection: float(loss[tuple(int(str(pick)) for _, pick in selection)])
        for selection in all_selections(space)
    }
    return space, losses


def artificial(seed: int) -> tuple[SearchSpace, dict[Selection, float]]:
    """The papers' objective with every parameter at its default."""
    objective = ArtificialObjective(seed)
    space, theta = objective.space, objective.space.default_theta()
    losses = {
        selection: objective(space.values(space.candidate(selection, theta)))
        for selection in all_selections(space)
    }
    return space, losses


TABLES: Mapping[str, Callable[[int], tuple[SearchSpace, dict[Selection, float]]]] = {
    "landscape": landscape,
    "artificial": artificial,
}


@cache
def table_of(name: str, seed: int) -> tuple[SearchSpace, dict[Selection, float], list[float]]:
    """A table of selections, its losses, and these sorted."""
    space, losses = TABLES[name](seed)
    return space, losses, sorted(losses.values())


def search_table(solver: str, table: str, seed: int) -> dict[str, Any]:
    """One z-solver on one table; of equal losses the best rank counts."""
    space, losses, ordered = table_of(table, seed)
    evaluations = SHOWN[-1]
    built = build_solver(load_plugins().z_solvers, solver)
    best, found, spent = np.inf, [], 0.0
    with threadpool_limits(1):
        begun = time.process_time()
        start = space.sample(np.random.default_rng([seed, 7]))
        built.begin(SelectionSubproblem(space, start, evaluations=evaluations, seed=seed))
        spent += time.process_time() - begun
        for _ in range(evaluations):
            begun = time.process_time()
            point = built.ask(1, [])[0]
            spent += time.process_time() - begun
            best = min(best, losses[point])
            found.append(100.0 * float(np.searchsorted(ordered, best)) / len(ordered))
            begun = time.process_time()
            built.tell([Observation(point, losses[point], losses[point])])
            spent += time.process_time() - begun
    return asdict(Trace(found, 1e6 * spent / len(found)))


def search_whole(solver: str, evaluations: int, seed: int) -> dict[str, Any]:
    """ADMM(gp, solver) on the artificial objective, parameters and all."""
    objective = ArtificialObjective(seed)
    result = minimize(
        objective,
        objective.space,
        max_evaluations=evaluations,
        theta_solver="gp",
        z_solver=solver,
        random_state=seed,
    )
    return {"loss": float(result.loss)}


def perform(job: tuple[str, str, Any, int]) -> dict[str, Any]:
    """One job: what, by which solver, on what, with which seed."""
    what, solver, where, seed = job
    return (search_table if what == "table" else search_whole)(solver, where, seed)


def collect(jobs: list[tuple[str, str, Any, int]], keep: Path | None, processes: int) -> list[Any]:
    """The results of all jobs; those on file are not repeated."""
    known: dict[str, Any] = json.loads(keep.read_text()) if keep and keep.exists() else {}
    open_jobs = [job for job in jobs if repr(job) not in known]
    with get_context("spawn").Pool(processes) as pool:
        for job, result in zip(open_jobs, pool.imap(perform, open_jobs), strict=True):
            known[repr(job)] = result
            if keep:
                keep.write_text(json.dumps(known))
    return [known[repr(job)] for job in jobs]


Runs = dict[tuple[str, str], list[Trace]]


def cell(middle: float, mean: float) -> str:
    """A median and a mean."""
    return f"{middle:.3f} ({mean:.3f})"


def print_ranks(runs: Runs, solvers: list[str]) -> None:
    """Median ranks, the mean place among the z-solvers, and the cost."""
    shown = np.array(
        [[[t.shown() for t in runs[solver, table]] for table in TABLES] for solver in solvers]
    )
    places = rankdata(shown, axis=0)
    print(
        "rank of the best selection after 32 / 128 / 512 evaluations, per cent, median (mean); "
        "mean place"
    )
    print(f"{'':<16}" + "".join(f"{table:>52}" for table in TABLES) + "   place   us a decision")
    order = sorted(range(len(solvers)), key=lambda i: float(np.mean(places[i])))
    for i in order:
        cells = ""
        for values in shown[i]:
            pairs = zip(np.median(values, axis=0), values.mean(axis=0), strict=True)
            cells += f"{' / '.join(cell(mid, mean) for mid, mean in pairs):>52}"
        cost = np.median([t.microseconds for table in TABLES for t in runs[solvers[i], table]])
        print(f"{solvers[i]:<16}{cells}{np.mean(places[i]):>8.2f}{cost:>16.0f}")
    print("\nmean place by table and number of evaluations")
    print(f"{'':<16}" + "".join(f"{f'{table} {n}':>16}" for table in TABLES for n in SHOWN))
    for i in order:
        means = places[i].mean(axis=1).ravel()
        row = "".join(f"{mean:>16.2f}" for mean in means)
        print(f"{solvers[i]:<16}{row}")


def print_whole(losses: Mapping[str, list[float]], evaluations: int) -> None:
    """Whole runs: the loss, its ratio to that of `random`, and the place."""
    names = list(losses)
    table = np.array([losses[name] for name in names])
    places = rankdata(table, axis=0).mean(axis=1)
    ratios = table / table[names.index(BASE)]
    print(
        f"\nADMM(gp, z) on the artificial objective, {evaluations} evaluations, "
        f"{table.shape[1]} seeds: median loss; ratio to z = {BASE}, geometric mean; seeds won"
    )
    print(f"{'':<16}{'loss':>10}{'ratio':>8}{'won':>6}{'lost':>6}{'place':>8}")
    for i in np.argsort(places):
        mean = float(np.exp(np.log(ratios[i]).mean()))
        won, lost = int((ratios[i] < 1.0).sum()), int((ratios[i] > 1.0).sum())
        print(
            f"{names[i]:<16}{np.median(table[i]):>10.4f}{mean:>8.3f}{won:>6}{lost:>6}"
            f"{places[i]:>8.2f}"
        )


def draw(runs: Runs, solvers: Iterable[str], path: Path) -> None:
    """The median rank after each evaluation, one panel a table."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(1, len(TABLES), figsize=(13, 5), layout="constrained")
    for axis, table in zip(axes, TABLES, strict=True):
        for solver in solvers:
            middle = np.mean([trace.ranks for trace in runs[solver, table]], axis=0)
            counts = range(1, len(middle) + 1)
            axis.plot(counts, np.maximum(middle, 0.005), label=solver)
        axis.set(title=table, xscale="log", yscale="log", xlabel="evaluations")
        axis.set_ylabel("mean rank of the best selection, %")
    axes[-1].legend(fontsize="small")
    path.parent.mkdir(exist_ok=True)
    figure.savefig(path, dpi=80)


def main() -> None:
    """Run everything, print the tables, draw the plot."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--runs", type=int, default=10, help="seeds of the whole runs")
    parser.add_argument("--evaluations", type=int, default=256, help="of a whole run")
    parser.add_argument("--solvers", nargs="+", help="all of them, unless some are named")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--keep", type=Path, help="a JSON file of runs: those are not repeated")
    parser.add_argument("--plot", type=Path, default=PLOT, help="the picture")
    arguments = parser.parse_args()
    solvers = arguments.solvers or [record.name for record in load_plugins().z_solvers]
    jobs = [
        ("table", s, table, seed)
        for table in TABLES
        for seed in range(arguments.seeds)
        for s in solvers
    ]
    whole = [
        ("whole", s, arguments.evaluations, seed) for seed in range(arguments.runs) for s in solvers
    ]
    results = collect(jobs + whole, arguments.keep, arguments.processes)
    runs: Runs = {}
    losses: dict[str, list[float]] = {solver: [] for solver in solvers}
    for (what, solver, where, _), result in zip(jobs + whole, results, strict=True):
        if what == "table":
            runs.setdefault((solver, where), []).append(Trace(**result))
        else:
            losses[solver].append(result["loss"])
    print_ranks(runs, solvers)
    if arguments.runs:
        print_whole(losses, arguments.evaluations)
    draw(runs, solvers, arguments.plot)


if __name__ == "__main__":
    main()
