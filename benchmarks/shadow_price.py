"""Multipliers where the shadow price of a limit is known: their course, and each part's worth.

A limit that binds in every selection, and costs the same in each (`priced_problem.py`): the loss
falls by π for each unit that the limit is raised by. Three widths W say how much the measure
varies: with W = 1 it is between 0.05 and 2.5 limits, with W = 0.01 within 1.5 % of the limit, as
the accuracy of good classifiers is near any limit on it. Each seed draws another problem.

Printed is for each width the table of parts: each row is the search with one part taken out or set
otherwise, in pairs with the search that ships, counted and tested as in admm_parts.py. The second
table is the course of the multipliers in longer runs: the median and the quartiles of μ / π, where
μ is in losses for a unit of the limit.

    python benchmarks/shadow_price.py --keep runs --first 100 --seeds 20
"""

from __future__ import annotations

import argparse
import json
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import astuple, dataclass
from functools import cache
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
from admm_parts import (
    COLUMNS,
    VARIANTS,
    WORST,
    Ended,
    Variant,
    make_runs,
    no_multipliers,
    read_runs,
    table_of,
)
from artificial_objective import commit_here
from dual_changes import balanced, each_evaluation, relaxed
from limits_rivals import unguarded
from paired import Paired, compare, corrected
from priced_problem import BASE, LIMIT, UNIT, PricedProblem
from threadpoolctl import threadpool_limits

from automl_admm.core.admm_state import AdmmState
from automl_admm.core.evaluations import Evaluation
from automl_admm.plugins.loading import Plugins, load_plugins
from automl_admm.runs.config import RunConfig
from automl_admm.runs.prepare.assembly import plan_search
from automl_admm.search.admm import pricing
from automl_admm.search.protocol import Search, SearchProblem

WIDTHS = (1.0, 0.1, 0.01)
RUNS, COURSES = "parts.jsonl", "courses.jsonl"


def a_tenth_of_the_limit() -> AbstractContextManager[Any]:
    """Take a tenth of the limit for the unit of a constraint, however little it varies."""

    def unit(limit: Any, values: object) -> float:
        del values
        return float(pricing.TOLERANCE * limit.bound)

    return patch.object(pricing, "_constraint_unit", unit)


PRICED = {"theta_solver": "gp:limits=priced"}
PAPER = {**PRICED, "strategy": "admm:form=paper", "z_solver": "cmab:upper=0.7,prior=10"}
# Rows of admm_parts.py that have nothing to do with prices.
OTHERWISE_SEEN = ("n_t = 16 + 16 t", "cmab in z-min", "random θ-min", "ctpe in θ-min")
ROWS = {
    **{name: variant for name, variant in VARIANTS.items() if name not in OTHERWISE_SEEN},
    "unit: 10 % of the limit": Variant(change=a_tenth_of_the_limit),
    "priced gp": Variant(PRICED),
    "priced gp, μ = λ = 0": Variant(PRICED, no_multipliers),
    "the papers' form": Variant(PAPER),
    "the papers' form, μ = λ = 0": Variant(PAPER, no_multipliers),
}
# Compared with what ships on seeds of their own.
CHANGES = {
    "balanced ρ": Variant(change=balanced),
    "over-relaxed": Variant(change=relaxed),
    "μ by evaluation": Variant(change=each_evaluation),
}
EVERY = {**ROWS, **CHANGES}
WITHOUT = {
    "ADMM as shipped": "μ = λ = 0",
    "priced gp": "priced gp, μ = λ = 0",
    "the papers' form": "the papers' form, μ = λ = 0",
}
FOLLOWED = ("ADMM as shipped", "unit: 10 % of the limit", "priced gp", "the papers' form")


@dataclass(frozen=True)
class Job:
    """A run: of a row, on the problem of a width and a seed."""

    name: str
    width: float
    seed: int
    evaluations: int

    @property
    def key(self) -> str:
        """The same in every call of the script."""
        return json.dumps(astuple(self))


@cache
def plugins() -> Plugins:
    """Load the plugins once a process."""
    return load_plugins()


def events_of(job: Job) -> list[Evaluation | AdmmState]:
    """Make a run."""
    variant, problem = EVERY[job.name], PricedProblem.of(job.width, job.seed)
    plan = plan_search(RunConfig(random_state=job.seed, **variant.chosen), plugins())

    def make(task: SearchProblem) -> Search:
        found: Search = unguarded(plan).search(task, None)
        return found

    with threadpool_limits(1), warnings.catch_warnings(), variant.change():
        warnings.simplefilter("ignore")
        return list(problem.search(make, job.seed, job.evaluations))


def run(job: Job) -> tuple[str, Ended]:
    """Return the loss above the least one, in units of v, and the share within the limit."""
    found = [event for event in events_of(job) if isinstance(event, Evaluation)]
    within = [one.loss for one in found if LIMIT.holds(one.constraints[0])]
    regret = (min(within, default=np.inf) - BASE) / UNIT
    return job.key, Ended(min(regret, WORST), len(within) / len(found))


def course(job: Job) -> list[tuple[int, float, float]]:
    """Return evaluations, μ / π and the largest |λ| after each outer iteration."""
    price = PricedProblem.of(job.width, job.seed).price
    states = [event for event in events_of(job) if isinstance(event, AdmmState)]
    return [
        (one.evaluations, float(one.shadow_prices[0] / price), float(np.abs(one.dual).max()))
        for one in states
    ]


def courses(jobs: Sequence[Job], path: Path) -> dict[str, list[list[float]]]:
    """Return the course of each job by its key; those in the file are not followed again."""
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    known = dict(map(json.loads, lines))
    with path.open("a", encoding="utf-8") as file:
        for job in jobs:
            if job.key not in known:
                known[job.key] = course(job)
                file.write(json.dumps([job.key, known[job.key]]) + "\n")
                file.flush()
    return known


def jobs_of(names: Sequence[str], seeds: Sequence[int], evaluations: int) -> Iterator[Job]:
    """Yield the jobs seed by seed, so that a part is worth a table."""
    for seed in seeds:
        for width in WIDTHS:
            yield from (Job(name, width, seed, evaluations) for name in names)


def parts_table(runs: Mapping[str, Ended], jobs: Sequence[Job], width: float) -> Mapping[str, Any]:
    """Return the table of parts of a width."""
    ended = {name: _ended(runs, jobs, name, width) for name in _names(jobs)}
    rows = table_of(
        {name: np.array([[one.loss] for one in found]) for name, found in ended.items()},
        {name: np.array([[one.share] for one in found]) for name, found in ended.items()},
    )
    title = f"W = {width:g}: {_shape(jobs)}"
    columns = [COLUMNS[0], "mean regret", *COLUMNS[2:]]
    return {"commit": commit_here(), "title": title, "columns": columns, "rows": rows}


def duals_table(runs: Mapping[str, Ended], jobs: Sequence[Job]) -> Mapping[str, Any]:
    """Return each form beside itself without multipliers, on the same problems."""
    rows: list[list[Any]] = []
    found: dict[str, Paired] = {}
    for width in WIDTHS:
        for name, other in WITHOUT.items():
            mine, theirs = (_ended(runs, jobs, one, width) for one in (name, other))
            found[f"{name} {width}"] = compare(
                [one.loss for one in mine], [one.loss for one in theirs]
            )
            regrets = [f"{np.mean([one.loss for one in ended]):.3f}" for ended in (mine, theirs)]
            shares = [f"{np.mean([one.share for one in ended]):.0%}" for ended in (mine, theirs)]
            rows.append([name, f"{width:g}", *regrets, *shares])
    told = corrected({key: pair.p for key, pair in found.items()})
    for row, (key, pair) in zip(rows, found.items(), strict=True):
        row += [f"{pair.wins}/{pair.losses}/{pair.ties}", f"{told[key]:.2g}"]
    columns = ["", "W", "regret", "μ = λ = 0", "within", "μ = λ = 0", "better/worse/level", "p"]
    title = f"with multipliers and without: {_shape(jobs)}"
    return {"commit": commit_here(), "title": title, "columns": columns, "rows": rows}


def _ended(runs: Mapping[str, Ended], jobs: Sequence[Job], name: str, width: float) -> list[Ended]:
    return [runs[job.key] for job in jobs if (job.name, job.width) == (name, width)]


def _names(jobs: Sequence[Job]) -> list[str]:
    return list(dict.fromkeys(job.name for job in jobs))


def _shape(jobs: Sequence[Job]) -> str:
    return f"{len({job.seed for job in jobs})} seeds, {jobs[0].evaluations} evaluations"


def course_table(
    found: Mapping[str, Sequence[Sequence[float]]], jobs: Sequence[Job]
) -> Mapping[str, Any]:
    """Return the quartiles of μ / π by evaluations, and of the last |λ| the median."""
    most = jobs[0].evaluations
    shown = (most // 8, most // 4, most // 2, most)
    rows = []
    for width in WIDTHS:
        for name in _names(jobs):
            mine = [found[job.key] for job in jobs if (job.name, job.width) == (name, width)]
            cells = [_quartiles([_dual_after(one, count) for one in mine]) for count in shown]
            last = np.median([one[-1][2] for one in mine])
            steps = np.median([len(one) for one in mine])
            rows.append([name, f"{width:g}", *cells, f"{last:.3f}", f"{steps:g}"])
    columns = ["", "W", *(f"μ / π after {count}" for count in shown), "λ", "iterations"]
    title = f"the course: {_shape(jobs)}"
    return {"commit": commit_here(), "title": title, "columns": columns, "rows": rows}


def _dual_after(course: Sequence[Sequence[float]], count: int) -> float:
    """Return μ / π of the last iteration that ended by then; before the first it is 0."""
    return next((one[1] for one in reversed(course) if one[0] <= count), 0.0)


def _quartiles(values: Sequence[float]) -> str:
    low, middle, high = np.quantile(values, [0.25, 0.5, 0.75])
    return f"{middle:.2f} ({low:.2f} to {high:.2f})"


def main() -> None:
    """Make what is missing, and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--keep", type=Path, required=True, help="folder of the runs")
    parser.add_argument("--first", type=int, default=100, help="the first seed")
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--evaluations", type=int, default=60)
    parser.add_argument("--followed", type=int, default=240, help="evaluations of a course")
    parser.add_argument("--rows", nargs="+", choices=EVERY, default=list(ROWS))
    parser.add_argument("--courses", nargs="+", choices=EVERY, default=list(FOLLOWED))
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--write", type=Path, help="a JSON file for the tables")
    arguments = parser.parse_args()
    arguments.keep.mkdir(parents=True, exist_ok=True)
    seeds = range(arguments.first, arguments.first + arguments.seeds)
    jobs = list(jobs_of(arguments.rows, seeds, arguments.evaluations))
    make_runs(jobs, arguments.keep / RUNS, arguments.processes, run)
    runs = read_runs(arguments.keep / RUNS)
    followed = list(jobs_of(arguments.courses, seeds, arguments.followed))
    found = courses(followed, arguments.keep / COURSES)
    tables = {
        f"parts-{width:g}".replace(".", "-"): parts_table(runs, jobs, width) for width in WIDTHS
    }
    if {*WITHOUT, *WITHOUT.values()} <= {*arguments.rows}:
        tables["duals"] = duals_table(runs, jobs)
    tables["course"] = course_table(found, followed)
    for table in tables.values():
        print(f"\n{table['title']}")
        for row in [table["columns"], *table["rows"]]:
            print(" | ".join(map(str, row)))
    if arguments.write:
        text = json.dumps({"tables": tables}, ensure_ascii=False, indent=1)
        arguments.write.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
