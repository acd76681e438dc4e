"""Measure every pipeline of a small space on real data, once, so that searches cost nothing.

The spaces are grammars (`default`: tables/default.lark, a sub-space of the grammar that ships;
`paper-a3`: limits_space.lark) whose numbers stand on grids (grid_space.py). Each pipeline is fitted
and measured on the folds of a set (measured_sets.py): loss and processor seconds of each fold,
latency, size, and the gap in AUROC between the groups of sets with a protected column.

What was measured is kept in a file of lines in the folder `--keep`, so that the script may be
stopped at any time and goes on from there. A set that is measured whole becomes a compressed file
of numpy in `--tables`, which `table_objective.py` reads without the data.

    python benchmarks/pipeline_tables.py --data ../shared/data --keep runs
    python benchmarks/pipeline_tables.py --data ../shared/data --keep runs --space paper-a3
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import date
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from artificial_objective import commit_here
from measured_sets import Deal, Measured, MeasuredSet, prepare_set
from threadpoolctl import threadpool_limits

HERE = Path(__file__).parent
TABLES = HERE / "tables"
SPACES = {"default": TABLES / "default.lark", "paper-a3": HERE / "limits_space.lark"}
SETS = (
    *("ionosphere", "german_credit", "compas", "pc4"),
    *("sonar", "adult", "fri_c2", "vehicle"),
)
# Raise it when the meaning of a field changes.
FORMAT = 1
LARGEST_MB = 10
LIBRARIES = ("automl-admm", "scikit-learn", "numpy", "scipy")


def read_lines(path: Path) -> dict[str, Measured]:
    """Return what was measured before, by the text of the pipeline; a torn last line is none."""
    found = {}
    for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else ():
        try:
            text, known = json.loads(line)
        except ValueError:
            continue
        found[text] = Measured(**known)
    return found


def measure_all(ready: MeasuredSet, path: Path, until: float) -> dict[str, Measured] | None:
    """Measure what is missing, in an order drawn once; return None if the time is up before."""
    known = read_lines(path)
    every = {ready.grid.text(candidate): candidate for candidate in ready.grid.every()}
    texts = [text for text in every if text not in known]
    order = np.random.default_rng(ready.seed).permutation(len(texts))
    with path.open("a", encoding="utf-8") as file, TemporaryDirectory() as scratch:
        file.write("\n")  # ends a line that was cut off
        for place in order:
            if time.monotonic() > until:
                return None
            text = texts[place]
            known[text] = ready.measure(every[text], Path(scratch))
            file.write(json.dumps([text, asdict(known[text])]) + "\n")
            file.flush()
    return {text: known[text] for text in every}


def write_table(path: Path, found: Mapping[str, Measured], facts: Mapping[str, Any]) -> None:
    """Write a table: a row for each pipeline, and the facts as text."""
    rows = list(found.values())
    path.parent.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(
        path,
        facts=np.array(json.dumps({"format": FORMAT, **facts}, ensure_ascii=False)),
        pipelines=np.array(list(found)),
        losses=np.array([row.losses for row in rows], dtype=np.float32),
        seconds=np.array([row.seconds for row in rows], dtype=np.float32),
        latency=np.array([row.latency for row in rows], dtype=np.float32),
        size=np.array([row.size for row in rows], dtype=np.float32),
        gap=np.array([row.gap for row in rows], dtype=np.float32),
        messages=np.array([row.message for row in rows]),
    )
    if path.stat().st_size > LARGEST_MB * 1e6:
        raise SystemExit(f"{path} has more than {LARGEST_MB} MB: measure fewer pipelines.")


def facts_of(name: str, space: str, deal: Deal, ready: MeasuredSet, commit: str) -> dict[str, Any]:
    """Return what a reader must know of a table to make its space again, and to cite it."""
    return {
        "set": name,
        "space": space,
        "grammar": SPACES[space].read_text(encoding="utf-8"),
        "scoring": ready.scoring,
        "deal": asdict(deal),
        "rows": len(ready.work.table.y),
        "columns": ready.work.table.shape[1],
        "commit": commit,
        "date": date.today().isoformat(),
        "versions": {library: version(library) for library in LIBRARIES},
    }


def make_tables(arguments: argparse.Namespace, names: Sequence[str]) -> None:
    """Make the tables that are missing, set by set, until the time is up."""
    until = time.monotonic() + 60 * arguments.minutes
    commit = commit_here()  # before it can change while this runs
    deal = Deal(arguments.rows, arguments.folds, arguments.seed)
    for name in names:
        target = arguments.tables / f"{arguments.space}-{name}.npz"
        if target.exists():
            print(f"{target.name}: is there")
            continue
        ready = prepare_set(arguments.data / f"{name}.csv", SPACES[arguments.space], deal)
        key = f"{arguments.space}-{name}-{deal.rows}-{deal.folds}-{deal.seed}"
        found = measure_all(ready, arguments.keep / f"{key}.jsonl", until)
        if found is None:
            print("the time is up; the same command goes on from here")
            return
        write_table(target, found, facts_of(name, arguments.space, deal, ready, commit))
        print(f"{target.name}: {len(found)} pipelines, {target.stat().st_size / 1e6:.2f} MB")


def main() -> None:
    """Make the tables that are asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="folder of the sets")
    parser.add_argument("--keep", type=Path, required=True, help="folder of what was measured")
    parser.add_argument("--tables", type=Path, default=TABLES, help="folder of the tables")
    parser.add_argument("--space", choices=SPACES, default="default")
    parser.add_argument("--sets", nargs="+", default=list(SETS))
    parser.add_argument("--rows", type=int, default=Deal.rows, help="most rows that are taken")
    parser.add_argument("--folds", type=int, default=Deal.folds)
    parser.add_argument("--seed", type=int, default=Deal.seed, help="of rows, folds and fits")
    parser.add_argument("--minutes", type=float, default=60.0, help="stop after so many")
    arguments = parser.parse_args()
    arguments.keep.mkdir(parents=True, exist_ok=True)
    with threadpool_limits(1):
        make_tables(arguments, arguments.sets)


if __name__ == "__main__":
    main()
