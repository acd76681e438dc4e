"""Compare ADMM with joint searches and random search on tables of measured pipelines.

Each row is a strategy with its solvers, as the command line names them; every run has the same
start, and no search is told how long it will be. What a run had after 32, 64, … evaluations is
compared in pairs of the same table and seed: how often ADMM as shipped has the lower loss, the
higher, or the same, and the share of pairs that it wins (a tie is half a pair), with an exact sign
test, corrected by Holm over the cells of a setting; `--base` names another one for it. The settings
of a table are no limits, and two limits that a tenth of its pipelines are within. A regret is the
loss above the least one of the table within the limits, in hundredths; a run without anything
within counts as the worst.

    python benchmarks/table_study.py --tables default-vehicle paper-a3-pc4 --keep runs.jsonl

SMAC ends after 128 evaluations and Optuna after 256: the cost of a proposal grows with each.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
from admm_parts import no_multipliers
from artificial_objective import commit_here
from dual_changes import balanced, each_evaluation, relaxed
from paired import Paired, compare, corrected
from table_changes import joint_blocks, z_min_first
from table_objective import table_of
from table_runs import Ended, Method, run, tight_limits

SHIPPED = "ADMM as shipped"
COUNTS = (32, 64, 128, 256, 512)
MOST = 256


METHODS = {
    SHIPPED: Method(),
    "z-min first": Method(change=z_min_first),
    "joint blocks": Method(change=joint_blocks),
    "μ = λ = 0": Method(change=no_multipliers),
    "balanced ρ": Method(change=balanced),
    "over-relaxed": Method(change=relaxed),
    "μ by evaluation": Method(change=each_evaluation),
    "joint tpe": Method("joint", "tpe"),
    "joint ctpe": Method("joint", "ctpe"),
    "joint smac": Method("joint", "smac"),
    "joint optuna": Method("joint", "optuna"),
    "joint random": Method("joint", "random"),
}
LONGEST = {"joint smac": 128, "joint optuna": 256}
SETTINGS = {"no limits": None, "a tenth within": 0.1}

TITLES = {
    "regrets": "mean regret (in hundredths) after so many evaluations",
    "pairs": "share of pairs that {base} wins, wins/losses/ties",
}


@dataclass(frozen=True)
class Job:
    """One run."""

    name: str
    table: str
    setting: str
    seed: int
    most: int = MOST

    @property
    def key(self) -> str:
        """The same in every call of the script."""
        return json.dumps(list(asdict(self).values()))

    def perform(self) -> Ended:
        """Search."""
        share, table = SETTINGS[self.setting], table_of(self.table)
        limits = () if share is None else tight_limits(table, share)
        return run(METHODS[self.name], self.table, limits, self.seed, self.counts)

    @property
    def counts(self) -> tuple[int, ...]:
        """The numbers of evaluations after which the run is looked at."""
        last = min(LONGEST.get(self.name, self.most), self.most)
        return tuple(count for count in COUNTS if count <= last)


def perform(job: Job) -> tuple[str, Ended]:
    """Perform a job in a process of the pool."""
    return job.key, job.perform()


def jobs_of(arguments: argparse.Namespace) -> Iterator[Job]:
    """Yield every run, seed by seed, so that the first seeds are worth a table."""
    for seed in range(arguments.first, arguments.first + arguments.seeds):
        for table in arguments.tables:
            for setting in arguments.settings:
                for name in arguments.methods:
                    yield Job(name, table, setting, seed, arguments.most)


@dataclass(frozen=True)
class Kept:
    """A run on file, and the commit it was made at."""

    ended: Ended
    commit: str


def read_runs(path: Path) -> dict[str, Kept]:
    """Return the runs that were made, by the key of their job; a torn last line is none."""
    found = {}
    for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else ():
        try:
            key, ended, commit = json.loads(line)
        except ValueError:
            continue
        run = Ended(tuple(ended["best"]), tuple(ended["within"]), ended["seconds"])
        found[key] = Kept(run, commit)
    return found


def make_runs(jobs: Sequence[Job], path: Path, processes: int) -> None:
    """Make the runs that are missing, and append each to the file when it ends."""
    known, commit = read_runs(path), commit_here()
    missing = [job for job in jobs if job.key not in known]
    if not missing:
        return
    with get_context("spawn").Pool(processes) as pool, path.open("a", encoding="utf-8") as file:
        file.write("\n")  # ends a line that was cut off
        for key, ended in pool.imap(perform, missing):
            file.write(json.dumps([key, asdict(ended), commit]) + "\n")
            file.flush()


def regrets(jobs: Sequence[Job], runs: Mapping[str, Kept]) -> np.ndarray:
    """Return the regrets of jobs, a row each, a column for each count; NaN if it ended before."""
    rows = np.full((len(jobs), len(COUNTS)), math.nan)
    for row, job in zip(rows, jobs, strict=True):
        table, share = table_of(job.table), SETTINGS[job.setting]
        limits = () if share is None else tight_limits(table, share)
        worst = float(np.nanmax(table.columns["loss"]))
        best = runs[job.key].ended.best
        row[: len(best)] = np.minimum(best, worst) - table.least(limits)
    return rows


Regrets = Mapping[str, np.ndarray]


def by_method(jobs: Sequence[Job], runs: Mapping[str, Kept], setting: str) -> Regrets:
    """Return the regrets of each method at a setting, its rows in the same order of pairs."""
    here = [job for job in jobs if job.setting == setting]
    names = dict.fromkeys(job.name for job in here)
    return {name: regrets([job for job in here if job.name == name], runs) for name in names}


def regret_rows(found: Regrets) -> list[list[str]]:
    """Return the mean regrets of each method, in hundredths."""
    return [[name, *map(_hundredths, values.mean(axis=0))] for name, values in found.items()]


def _hundredths(value: float) -> str:
    return "-" if math.isnan(value) else f"{100.0 * value:.2f}"


def pair_rows(found: Regrets, base: str = SHIPPED) -> list[list[str]]:
    """Return a method against each other one after each count, tests corrected over all cells."""
    cells: dict[str, Paired] = {}
    for name, values in found.items():
        columns = zip(COUNTS, found[base].T, values.T, strict=True)
        cells |= {
            f"{name} {count}": compare(ours.tolist(), theirs.tolist())
            for count, ours, theirs in columns
            if name != base and not np.isnan(theirs).any()
        }
    told = corrected({cell: paired.p for cell, paired in cells.items()})
    shown = {cell: f"{_share(paired)} (p {told[cell]:.2g})" for cell, paired in cells.items()}
    names = [name for name in found if name != base]
    return [[name, *(shown.get(f"{name} {count}", "-") for count in COUNTS)] for name in names]


def _share(paired: Paired) -> str:
    """Return the share of pairs won, a tie as half a pair, and wins, losses and ties."""
    count = paired.wins + paired.losses + paired.ties
    share = (paired.wins + 0.5 * paired.ties) / count
    return f"{share:.0%}, {paired.wins}/{paired.losses}/{paired.ties}"


def tables_of(
    jobs: Sequence[Job], runs: Mapping[str, Kept], about: str, base: str = SHIPPED
) -> dict[str, Any]:
    """Return the tables of a study: regrets of each setting, and pairs of one method with all."""
    tables: dict[str, Any] = {}
    shown = [count for count in COUNTS if any(count <= job.most for job in jobs)]
    shared = {
        "commit": ", ".join(sorted({runs[job.key].commit for job in jobs})),
        "columns": ["", *map(str, shown)],
    }
    for place, setting in enumerate(SETTINGS):
        if all(job.setting != setting for job in jobs):
            continue
        found = by_method(jobs, runs, setting)
        for kind, rows in (("regrets", regret_rows(found)), ("pairs", pair_rows(found, base))):
            title = f"{TITLES[kind].format(base=base)}, {setting}: {about}"
            cells = [row[: 1 + len(shown)] for row in rows]
            tables[f"{kind}-{place}"] = {**shared, "title": title, "rows": cells}
    return tables


def main() -> None:
    """Make what is missing, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", nargs="+", required=True, help="names of files in tables/")
    parser.add_argument("--keep", type=Path, required=True, help="a file of runs")
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=list(METHODS))
    parser.add_argument("--settings", nargs="+", choices=SETTINGS, default=list(SETTINGS))
    parser.add_argument("--most", type=int, choices=COUNTS, default=MOST, help="evaluations")
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--base", choices=METHODS, default=SHIPPED, help="compared with each other")
    parser.add_argument("--write", type=Path, help="a JSON file for the table")
    arguments = parser.parse_args()
    arguments.methods = list(dict.fromkeys([SHIPPED, arguments.base, *arguments.methods]))
    jobs = list(jobs_of(arguments))
    make_runs(jobs, arguments.keep, arguments.processes)
    about = f"{', '.join(arguments.tables)}; {arguments.seeds} seeds from {arguments.first}"
    tables = tables_of(jobs, read_runs(arguments.keep), about, arguments.base)
    for table in tables.values():
        print(f"\n{table['title']}; commit {table['commit']}")
        for row in [table["columns"], *table["rows"]]:
            print(" | ".join(row))
    if arguments.write:
        text = json.dumps({"tables": tables}, ensure_ascii=False, indent=1)
        arguments.write.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
