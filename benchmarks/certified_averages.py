"""Real runs in which an average of pipelines is certified, and the monitor on their models.

As in certified_findings.py 1 200 rows of a table are for the run, 40 % of them set aside, and the
rest says what is true; but 6 evaluations for AUROC, so that there is something to average, and
limits that thresholds move alone: on fpr, on fnr, or on both, by turns. Rooms are 0, 25 and 50 % of
the mean of three runs for balanced accuracy without limits. Where an average was offered to the
tests, in half of the runs the same run follows with the best single pipeline in its place, and
without a certificate. The models of all runs are watched: see monitored_models.py.

    python benchmarks/certified_averages.py --data ../shared/data --out build/averages.jsonl
    python benchmarks/certified_averages.py --report build/averages.jsonl

Processes may share the work, each with a file of its own: `--part 0/2` and `--part 1/2`.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import certified_tasks
import numpy as np
import pandas as pd
from certified_findings import (
    Record,
    fitted,
    found_of,
    inner,
    quick_and_quiet,
    read,
    reference_of,
    seen_by,
    utility,
)
from certified_kinds import Kind, Seen, World, dumped, facts
from monitored_models import as_commanded, watched

from automl_admm.core.space import Array

TABLES = ("adult", "compas", "credit_default", "sylvine", "wind")
RUNS = 132  # of each table, so that more than 200 runs ship an average
ROOMS = (0.0, 0.25, 0.5)
ASKED = (("fpr",), ("fnr",), ("fpr", "fnr"))
WITH_TWINS = (9, 18)  # the first nine of eighteen runs: all kinds of limits and rooms once
METRIC = "roc_auc"  # of smooth metrics an average is better more often than of decisions
COMMANDED = 2  # runs of each table whose looks are made by the command line, too
NO_LIMIT = 1.0


def of_averages() -> tuple[Kind, ...]:
    """Return the kinds: one minus the recall of either class."""
    return (
        Kind("fpr", lambda one: float(1.0 - one.recalls()[0]), ROOMS, bound="binomial"),
        Kind("fnr", lambda one: float(1.0 - one.recalls()[1]), ROOMS, bound="binomial"),
    )


@cache
def world(folder: Path, table: str) -> World:
    """Return a table of two classes, yes and no."""
    X, truth, _ = certified_tasks.read(folder, table)
    y = pd.Series(np.where(truth, "yes", "no"), index=X.index, name="target")
    return World("averages", X, y, "", of_averages())


def run_all(folder: Path, out: Path, seeds: range, part: tuple[int, int]) -> None:
    """Run what is missing; the file is gone on with."""
    done = {(one["world"], one["seed"]) for one in read(out)}
    places = [(seed, table) for seed in (-1, *seeds) for table in TABLES]
    for number, (seed, table) in enumerate(places):
        is_mine = seed < 0 or number % part[1] == part[0]
        if is_mine and (table, seed) not in done:
            here = world(folder, table)
            record = reference_of(here) if seed < 0 else _run(here, seed, _known(out, table))
            with out.open("a", encoding="utf-8") as stream:
                stream.write(dumped({"world": table, "seed": seed} | record))


def _known(out: Path, table: str) -> Mapping[str, float]:
    return next(one["reference"] for one in read(out) if (one["world"], one["seed"]) == (table, -1))


def _run(here: World, seed: int, reference: Mapping[str, float]) -> Record:
    """Return what a run found, what is true, and what its twins and the monitor say."""
    room, asked = seed % len(ROOMS), ASKED[seed // len(ROOMS) % len(ASKED)]
    kinds = tuple(kind for kind in here.kinds if kind.text in asked)
    limits = {kind.text: kind.limit(reference[kind.text], room) for kind in kinds}
    texts = tuple(kind.written(limits[kind.text]) for kind in kinds)
    record: Record = {"room": room, "limits": limits}
    with tempfile.TemporaryDirectory() as place:
        outcome = fitted(here, seed, texts, 0.95, scoring=METRIC, work_dir=Path(place) / "run")
        mine, proof = seen_by(outcome, here, seed), outcome.certificate
        # A single pipeline is named by its key, an average by those of its members.
        is_offered = proof is not None and any("×" in name for name in proof.order)
        record |= {
            "is_offered": is_offered,
            "members": _members(outcome),
            "certified": _of_model(here, kinds, outcome, mine, limits),
        }
        if is_offered and seed % WITH_TWINS[1] < WITH_TWINS[0]:
            single = fitted(here, seed, texts, 0.95, scoring=METRIC, ensemble=False)
            plain = fitted(here, seed, texts, None, scoring=METRIC)
            for name, one in (("single", single), ("plain", plain)):
                seen = seen_by(one, here, seed)
                record[name] = _of_model(here, kinds, one, seen, limits)
        given = Path(place) / "run", here, seed, mine, limits
        record["monitor"] = watched(*given)
        if seed < COMMANDED:
            record["command"] = as_commanded(*given)
    return record


def _members(outcome: Any) -> int:
    ensemble = outcome.refit.ensemble
    return 1 if ensemble is None else len(ensemble.members)


def _of_model(
    here: World, kinds: Sequence[Kind], outcome: Any, seen: Seen, limits: Mapping[str, float]
) -> Record:
    """Return the findings about a model, and its truth on the rest."""
    asked = World(here.task, here.X, here.y, "", tuple(kinds))
    return {
        "is_certified": outcome.is_certified,
        "model": type(inner(outcome.model)).__name__,
        "findings": None if outcome.certificate is None else found_of(asked, outcome.certificate),
        "values": facts(here.kinds, seen),
        "rows": {"fpr": int((~seen.is_positive).sum()), "fnr": int(seen.is_positive.sum())},
        "utility": utility(here, seen),
        "oracle": best_within(seen, limits),
    }


def best_within(seen: Seen, limits: Mapping[str, float]) -> float | None:
    """Return the best mean recall at a threshold of the scores at which all limits truly hold."""
    order = np.argsort(-seen.scores, kind="stable")
    positive = np.asarray(seen.is_positive)[order]
    ends = np.append(np.flatnonzero(np.diff(seen.scores[order])), len(order) - 1)
    fpr = _shares(~positive, ends)
    fnr = 1.0 - _shares(positive, ends)
    inside = (fpr <= limits.get("fpr", NO_LIMIT)) & (fnr <= limits.get("fnr", NO_LIMIT))
    means = 1.0 - (fpr + fnr) / 2.0
    return round(float(means[inside].max()), 5) if inside.any() else None


def _shares(of: Any, ends: Any) -> Array:
    """Return the share of some rows that is called positive, at no row and at each threshold."""
    found: Array = np.append(0.0, np.cumsum(of)[ends] / of.sum())
    return found


def main() -> None:
    """Run, or make the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, help="the folder of the tables")
    parser.add_argument("--out", type=Path, help="the file of the records; it is gone on with")
    parser.add_argument("--runs", type=int, default=RUNS, help="so many of each table")
    parser.add_argument("--first", type=int, default=0, help="begin with this one")
    parser.add_argument("--part", default="0/1", help="this part of the runs of so many")
    parser.add_argument("--report", type=Path, nargs="+", help="make the tables of these files")
    parser.add_argument("--commit", default="", help="the commit that was measured")
    given = parser.parse_args()
    if given.report:
        from certified_averages_tables import write

        write([one for path in given.report for one in read(path)], given.commit)
        return
    first, parts = map(int, given.part.split("/"))
    with quick_and_quiet():
        run_all(given.data, given.out, range(given.first, given.runs), (first, parts))


if __name__ == "__main__":
    main()
