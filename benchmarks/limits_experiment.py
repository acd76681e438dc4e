"""The papers' experiment on limits (figures 2 and 3), on credit_default.

Minimised is 1 − AUROC within a limit on the latency a row and one on the largest gap in AUROC
between age groups. First five limits on the latency with the gap fixed, then five on the gap with
the latency fixed: those at which about 2, 5, 10, 25 and 50 % of all pipelines are within both. The
fixed limit is the one that FIXED of them meet.

Five methods search the same space (limits_space.lark) with as many evaluations of the same
objective (limits_objective.py) on the same split, from the same start: ADMM with the limits; ADMM
without them, of whose evaluations those outside are dropped (one run of a seed serves all
settings); the joint space by c-TPE and by Optuna's TPE with constraints; and FLAML's BlendSearch
with `metric_constraints`. Every pipeline of the space is measured first, once: that takes some
minutes of the processor, and the runs then no more than their solvers do.

FLAML asks for an older Optuna than ours: give it an environment of its own (`pip install
"flaml[blendsearch]"` and this package), run it there with `--methods FLAML`, then run the rest.
What was measured and run stays in the folder `--keep`, so that the script may be stopped at any
time, and goes on from there.

A star is the best median over the seeds of the best loss within the limits, or one within 0.001 of
it. Who is better is asked of pairs: a method is better than another at a setting where a paired
test over the seeds says so (two-sided Wilcoxon, p < 0.05; a run without anything within counts as
worst). That a test does not tell two methods apart is no win for either.

    python benchmarks/limits_experiment.py --data ../shared/data/credit_default.csv --keep runs
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from limits_objective import Cache, CachedWork, Outcome, every_pipeline, prepare_problem
from limits_report import Cell, Setting, draw_plot, print_against, print_pairs, print_table
from limits_rivals import FILTERED, METHODS, Trial, best_feasible, share_feasible, spend
from threadpoolctl import threadpool_limits

from automl_admm.core.space import Candidate
from automl_admm.runs.prepare.preparation import Preparation

Runs = dict[str, tuple[list[Outcome], float]]
SHARES = (0.02, 0.05, 0.10, 0.25, 0.50)
FIXED = 0.60
ORDER_SEED, PART = 0, 20
RUNS = "runs.jsonl"


@dataclass(frozen=True)
class Job:
    """One run; `keep` is the folder of the cache and of the runs."""

    data: Path
    keep: Path
    method: str
    trial: Trial

    @property
    def key(self) -> str:
        """The same in every call of the script."""
        return json.dumps([self.method, *asdict(self.trial).values()])


@cache
def problem(data: Path, keep: Path) -> tuple[Preparation, CachedWork]:
    """The data and the cache, once a process."""
    prepared = prepare_problem(data)
    work = prepared.work
    rows = b"".join(np.asarray(part).tobytes() for part in work.splits[0])
    split = hashlib.sha256(rows + np.asarray(work.table.X).tobytes()).hexdigest()[:16]
    return prepared, CachedWork(work, Cache(keep / "outcomes.sqlite", split))


def measure(job: tuple[Path, Path, tuple[Candidate, ...]]) -> list[Outcome]:
    """The outcomes of some candidates, from the cache if they are there."""
    data, keep, candidates = job
    _, work = problem(data, keep)
    with threadpool_limits(1), warnings.catch_warnings(), TemporaryDirectory() as scratch:
        warnings.simplefilter("ignore")
        return [work.outcome(candidate, Path(scratch)) for candidate in candidates]


def measure_space(
    data: Path, keep: Path, processes: int, sample: int | None = None
) -> list[Outcome]:
    """The outcome of every pipeline of the space, or of a sample; what is known costs nothing.

    The pipelines that a sample leaves out are measured when a run asks for them.
    """
    space = problem(data, keep)[0].grammar.pipelines.space
    candidates = np.array(list(every_pipeline(space)), dtype=object)
    mixed = np.random.default_rng(ORDER_SEED).permutation(len(candidates))[:sample]
    parts = np.array_split(mixed, max(len(mixed) // PART, 1))
    jobs = [(data, keep, tuple(candidates[part])) for part in parts]
    outcomes: list[Outcome] = []
    with get_context("spawn").Pool(processes) as pool:
        for found in pool.imap(measure, jobs):
            outcomes += found
            print(f"\r{len(outcomes)}/{len(mixed)} pipelines", end="", flush=True)
    print()
    if len(mixed) < len(candidates):
        print(f"limits, and the best of all, are of {len(mixed)} of {len(candidates)} pipelines")
    return outcomes


def settings_of(outcomes: Sequence[Outcome]) -> list[Setting]:
    """The ten settings: the varied limit is a quantile among those within the fixed one."""
    latency = np.array([outcome.latency for outcome in outcomes])
    gap = np.array([outcome.gap for outcome in outcomes])
    fast, fair = (_limit(np.nanquantile(values, FIXED)) for values in (latency, gap))
    latencies, gaps = np.sort(latency[gap <= fair]), np.sort(gap[latency <= fast])
    last = [round(share * len(outcomes)) - 1 for share in SHARES]
    pairs = list(zip(SHARES, last, strict=True))
    return [
        *(Setting("latency", share, _limit(latencies[place]), fair) for share, place in pairs),
        *(Setting("gap", share, fast, _limit(gaps[place])) for share, place in pairs),
    ]


def _limit(value: float) -> float:
    """A limit as one would write it, and at which the value is within."""
    return math.ceil(float(value) * 1000.0) / 1000.0


def run(job: Job) -> tuple[Job, list[list[float]], float]:
    """Run a job; its outcomes as rows of loss, latency and gap."""
    prepared, work = problem(job.data, job.keep)
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        spent = spend(METHODS[job.method], prepared, work, job.trial)
    return job, [[o.loss, o.latency, o.gap] for o in spent.outcomes], spent.solver_seconds


def jobs_of(
    arguments: argparse.Namespace, settings: Sequence[Setting], methods: Iterable[str]
) -> Iterator[Job]:
    """Every run, seed by seed."""
    for seed in range(arguments.seeds):
        for name in methods:
            each = [()] if name in FILTERED.values() else [setting.bounds for setting in settings]
            for bounds in each:
                trial = Trial(bounds, seed, arguments.evaluations)
                yield Job(arguments.data, arguments.keep, name, trial)


def read_runs(keep: Path) -> Runs:
    """What has been run, by the key of its job; a line that was cut off is left out."""
    found: Runs = {}
    path = keep / RUNS
    for line in path.read_text().splitlines() if path.exists() else ():
        try:
            key, rows, seconds = json.loads(line)
        except ValueError:
            continue
        found[key] = [Outcome(loss, latency, gap, 0.0) for loss, latency, gap in rows], seconds
    return found


def make_runs(jobs: Sequence[Job], keep: Path, processes: int) -> None:
    """Make the runs that are missing, and append each to the file when it ends."""
    known = read_runs(keep)
    missing = [job for job in jobs if job.key not in known]
    if not missing:
        return
    with get_context("spawn").Pool(processes) as pool, (keep / RUNS).open("a") as file:
        file.write("\n")  # ends a line that was cut off
        for number, (job, rows, seconds) in enumerate(pool.imap_unordered(run, missing), 1):
            file.write(json.dumps([job.key, rows, seconds]) + "\n")
            file.flush()
            print(f"\r{number}/{len(missing)} runs", end="", flush=True)
    print()


def cell_of(runs: Runs, arguments: argparse.Namespace, name: str, setting: Setting) -> Cell:
    """A method's runs at a setting."""
    bounds = () if name in FILTERED.values() else setting.bounds
    trials = (Trial(bounds, seed, arguments.evaluations) for seed in range(arguments.seeds))
    found = [runs[Job(arguments.data, arguments.keep, name, trial).key] for trial in trials]
    return Cell(
        tuple(best_feasible(outcomes, setting.bounds) for outcomes, _ in found),
        tuple(share_feasible(outcomes, setting.bounds) for outcomes, _ in found),
        tuple(seconds for _, seconds in found),
    )


def main() -> None:
    """Make what is missing, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="credit_default.csv")
    parser.add_argument("--keep", type=Path, required=True, help="folder of the cache and runs")
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=list(METHODS))
    parser.add_argument("--settings", nargs="+", type=int, default=list(range(10)))
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--evaluations", type=int, default=60)
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--sample", type=int, help="pipelines measured before (default: all)")
    parser.add_argument("--plot", type=Path)
    arguments = parser.parse_args()
    arguments.keep.mkdir(parents=True, exist_ok=True)
    outcomes = measure_space(arguments.data, arguments.keep, arguments.processes, arguments.sample)
    every = settings_of(outcomes)
    settings = [every[place] for place in arguments.settings]
    jobs = list(jobs_of(arguments, settings, arguments.methods))
    make_runs(jobs, arguments.keep, arguments.processes)
    runs = read_runs(arguments.keep)
    missing = {j.method for j in jobs_of(arguments, settings, METHODS) if j.key not in runs}
    names = [name for name in METHODS if name not in missing]
    table = {s: {n: cell_of(runs, arguments, n, s) for n in names} for s in settings}
    print_table(table, {s: best_feasible(outcomes, s.bounds) for s in settings})
    for mine in FILTERED:
        if mine in names:
            print_pairs(table, mine)
    for mine, other in FILTERED.items():
        if {mine, other} <= set(names):
            print_against(table, mine, other)
    if arguments.plot:
        draw_plot(table, arguments.plot)


if __name__ == "__main__":
    main()
