"""Compare searches side by side on tables of measured pipelines, after so many evaluations each.

Each row is a strategy with its solvers, as the command line names them; every run has the same
start. What a run had after 32, 64, … evaluations is compared in pairs of the same table, setting
and seed: the share of pairs in which the row is better than ADMM as shipped (a tie is half a pair),
by a Wilcoxon test over the mean shares of the seeds, corrected by Holm. The settings of a table are
no limits, and two limits that a tenth of its pipelines are within. A regret is the loss above the
least one of the table within the limits; a run without anything within counts as the worst.

    python benchmarks/table_study.py --tables default-ionosphere --keep runs.jsonl --first 100
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
from admm_parts import interval, shares_better
from artificial_objective import commit_here
from paired import corrected
from scipy.stats import wilcoxon
from table_objective import table_of
from table_runs import Ended, Method, run, tight_limits

SHIPPED = "ADMM as shipped"
COUNTS = (16, 32, 64, 128)
METHODS = {
    SHIPPED: Method(),
    "joint tpe": Method("joint", "tpe"),
    "joint ctpe": Method("joint", "ctpe"),
    "joint optuna": Method("joint", "optuna"),
    "joint random": Method("joint", "random"),
    "ADMM, n_t = 4 + 4 t": Method("admm:first=4,step=4"),
    "ADMM, n_t = 8 + 8 t": Method("admm:first=8,step=8"),
    "ADMM, best-first": Method(z_solver="best-first"),
    "ADMM, policy": Method(z_solver="policy"),
    "ADMM, rbf": Method(theta_solver="rbf"),
}
SETTINGS = {"no limits": None, "a tenth within": 0.1}
COLUMNS = ["", "setting", *(f"regret after {count}" for count in COUNTS)]
COLUMNS += ["within", "share better (95 %)", "p (Holm)"]


@dataclass(frozen=True)
class Job:
    """One run."""

    name: str
    table: str
    setting: str
    seed: int

    @property
    def key(self) -> str:
        """The same in every call of the script."""
        return json.dumps(list(asdict(self).values()))

    def perform(self) -> Ended:
        """Search."""
        share, table = SETTINGS[self.setting], table_of(self.table)
        limits = () if share is None else tight_limits(table, share)
        return run(METHODS[self.name], self.table, limits, self.seed, COUNTS)


def perform(job: Job) -> tuple[str, Ended]:
    """Perform a job in a process of the pool."""
    return job.key, job.perform()


def jobs_of(arguments: argparse.Namespace) -> Iterator[Job]:
    """Yield every run, seed by seed, so that the first seeds are worth a table."""
    for seed in range(arguments.first, arguments.first + arguments.seeds):
        for table in arguments.tables:
            for setting in SETTINGS:
                for name in arguments.methods:
                    yield Job(name, table, setting, seed)


def read_runs(path: Path) -> dict[str, Ended]:
    """Return the runs that were made, by the key of their job; a torn last line is none."""
    found = {}
    for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else ():
        try:
            key, ended = json.loads(line)
        except ValueError:
            continue
        found[key] = Ended(tuple(ended["best"]), tuple(ended["within"]), ended["seconds"])
    return found


def make_runs(jobs: Sequence[Job], path: Path, processes: int) -> None:
    """Make the runs that are missing, and append each to the file when it ends."""
    known = read_runs(path)
    missing = [job for job in jobs if job.key not in known]
    with get_context("spawn").Pool(processes) as pool, path.open("a", encoding="utf-8") as file:
        file.write("\n")  # ends a line that was cut off
        for key, ended in pool.imap(perform, missing):
            file.write(json.dumps([key, asdict(ended)]) + "\n")
            file.flush()


def regrets(jobs: Sequence[Job], runs: Mapping[str, Ended]) -> np.ndarray:
    """Return the regrets of jobs, a row each, a column for each count."""
    rows = []
    for job in jobs:
        table, share = table_of(job.table), SETTINGS[job.setting]
        limits = () if share is None else tight_limits(table, share)
        worst = float(np.nanmax(table.columns["loss"]))
        best = np.minimum(runs[job.key].best, worst)
        rows.append(best - table.least(limits))
    return np.array(rows)


def rows_of(jobs: Sequence[Job], runs: Mapping[str, Ended], setting: str) -> list[list[Any]]:
    """Return the rows of a setting; pairs are judged over all counts."""
    names = list(dict.fromkeys(job.name for job in jobs))
    seeds = len({job.seed for job in jobs})
    mine = {n: [j for j in jobs if j.name == n and j.setting == setting] for n in names}
    found = {name: regrets(of, runs) for name, of in mine.items()}
    by_seed = {name: values.reshape(seeds, -1) for name, values in found.items()}
    shares = {n: shares_better(v, by_seed[SHIPPED]) for n, v in by_seed.items() if n != SHIPPED}
    tests = {
        name: float(wilcoxon(one - 0.5).pvalue) if np.any(one != 0.5) else 1.0
        for name, one in shares.items()
    }
    told, rows = corrected(tests), []
    for name in names:
        ended = [runs[job.key] for job in mine[name]]
        within = np.mean([one.within[-1] / COUNTS[-1] for one in ended])
        row = [name, setting, *(f"{value:.4f}" for value in found[name].mean(axis=0))]
        row.append(f"{within:.0%}")
        if name != SHIPPED:
            low, high = interval(shares[name])
            row += [f"{shares[name].mean():.2f} ({low:.2f} to {high:.2f})", f"{told[name]:.2g}"]
        rows.append(row + [""] * (len(COLUMNS) - len(row)))
    return rows


def main() -> None:
    """Make what is missing, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", nargs="+", required=True, help="names of files in tables/")
    parser.add_argument("--keep", type=Path, required=True, help="a file of runs")
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=list(METHODS))
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--write", type=Path, help="a JSON file for the table")
    arguments = parser.parse_args()
    arguments.methods = list(dict.fromkeys([SHIPPED, *arguments.methods]))
    commit, jobs = commit_here(), list(jobs_of(arguments))
    make_runs(jobs, arguments.keep, arguments.processes)
    runs = read_runs(arguments.keep)
    rows = [row for setting in SETTINGS for row in rows_of(jobs, runs, setting)]
    for row in [COLUMNS, *rows]:
        print(" | ".join(map(str, row)))
    if arguments.write:
        title = f"{', '.join(arguments.tables)}: {arguments.seeds} seeds from {arguments.first}"
        table = {"commit": commit, "title": title, "columns": COLUMNS, "rows": rows}
        text = json.dumps({"tables": {"searches": table}}, ensure_ascii=False, indent=1)
        arguments.write.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
