"""Run AutoML systems side by side and report; README.md says how.

python -m benchmarks.peers --install build/peers
python -m benchmarks.peers --budget 60 --data all --seeds 3
python -m benchmarks.peers --budget 60 --limits all --seeds 1
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TypeVar

from .environments import SETS, install
from .limits import SETTINGS
from .limits_report import limits_report
from .report import report
from .results import Results
from .running import Place, Run, run_once
from .systems import LIMITED, ROOT, SYSTEMS, System, obstacle, python_of
from .tasks import find_sets, read_set, split_set

T = TypeVar("T")


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    """Return the options."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.peers", description=__doc__)
    parser.add_argument("--install", type=Path, metavar="FOLDER", help="make the environments")
    parser.add_argument("--environments", type=Path, default=ROOT / "build" / "peers")
    parser.add_argument("--budget", type=float, nargs="+", default=[60.0], help="seconds")
    parser.add_argument("--data", default="all", help="all, or names with commas")
    parser.add_argument("--limits", help="all, or names of limits with commas: settings with them")
    parser.add_argument("--folder", type=Path, default=ROOT.parent / "shared" / "data")
    parser.add_argument("--seeds", type=int, default=3, help="number of splits, from seed 0")
    parser.add_argument("--systems", help="names with commas; the first is compared with each")
    parser.add_argument("--core", type=int, default=0, help="the core that all are pinned to")
    parser.add_argument("--out", type=Path, help="file of results; goes on where it ended")
    parser.add_argument("--report", action="store_true", help="report what is in the file, no more")
    return parser.parse_args(arguments)


def chosen(text: str | None, known: Mapping[str, T], kind: str) -> list[T]:
    """Return what was asked for by names with commas, all of it by default."""
    names = list(known) if text in (None, "all") else str(text).split(",")
    strange = [name for name in names if name not in known]
    if strange:
        raise SystemExit(f"no {kind} {', '.join(strange)}; there are: {', '.join(known)}")
    return [known[name] for name in names]


def systems_of(asked: argparse.Namespace) -> list[System]:
    """Return the systems that were asked for, of those with limits if there are limits."""
    return chosen(asked.systems, SYSTEMS if asked.limits is None else LIMITED, "system")


def runnable(systems: list[System], environments: Path) -> list[System]:
    """Return the systems that have an environment; say in a line why another has none."""
    found = []
    for system in systems:
        if python_of(system, environments) is not None:
            found.append(system)
            continue
        reason = obstacle(system.environment) or f"make it with --install {environments}"
        sys.stderr.write(f"{system.name}: left out, no environment: {reason}\n")
    if not found:
        raise SystemExit("none of these systems has an environment")
    return found


def runs_of(asked: argparse.Namespace, systems: list[System]) -> Iterator[Run]:
    """Yield all runs; those of one split follow each other, so that a part is worth a report."""
    names = None if asked.data == "all" else asked.data.split(",")
    paths = find_sets([asked.folder, asked.environments / SETS], names)
    if not paths:
        raise SystemExit(f"no data sets in {asked.folder} nor in {asked.environments / SETS}")
    for budget in asked.budget:
        for seed in range(asked.seeds):
            for path in paths.values():
                found = read_set(path)
                split = split_set(found, seed)
                for system in systems:
                    yield Run(system, found, split, seed, budget)


def limited_runs_of(asked: argparse.Namespace, systems: list[System]) -> Iterator[Run]:
    """Yield the runs with limits, all systems of one setting before the next setting."""
    kinds = chosen(asked.limits, {limit.name: limit.name for _, limit in SETTINGS}, "limit")
    settings = [(name, limit) for name, limit in SETTINGS if limit.name in kinds]
    folders = [asked.folder, asked.environments / SETS]
    for budget in asked.budget:
        for seed in range(asked.seeds):
            for name, limit in settings:
                found = read_set(find_sets(folders, [name])[name])
                split = split_set(found, seed)
                for system in systems:
                    yield Run(system, found, split, seed, budget, limit)


def run_all(asked: argparse.Namespace, systems: list[System], results: Results) -> None:
    """Do the runs that are not in the file of results."""
    place = Place(asked.environments, asked.core)
    for run in (runs_of if asked.limits is None else limited_runs_of)(asked, systems):
        if results.has(run.key):
            continue
        record = run_once(run, place)
        results.add(record)
        told = record.get("error") or record["scores"] | record.get("limited", {})
        sys.stderr.write(
            f"{run.budget:g} s, seed {run.seed}, {run.found.name}, {run.system.name}: {told}"
            f" ({record['wall_seconds']:.0f} s)\n"
        )


def main() -> None:
    """Install, or run and report."""
    asked = parse()
    if asked.install is not None:
        for problem in install(asked.install, systems_of(asked)):
            sys.stderr.write(problem + "\n")
        return
    systems = systems_of(asked)
    results = Results(asked.out or asked.environments / "results.jsonl")
    if not asked.report:
        systems = runnable(systems, asked.environments)
        run_all(asked, systems, results)
    tell = report if asked.limits is None else limits_report
    sys.stdout.write(tell(results.records, [system.name for system in systems]) + "\n")


if __name__ == "__main__":
    main()
