"""What a certificate leaves of a model's use, beside what others get with a check on held-out rows.

Each method gets the same rows of a table and one limit, and returns decisions that have passed a
test at 95 % confidence, or no answer. Both are judged on the rest of the table, which no method
saw: is the limit broken there, and what is the balanced accuracy? No answer counts as a constant.

It needs fairlearn, optuna, flaml and seldonian-engine beside the package, in an environment of its
own; `--set-up` makes it. Searches are small: a logistic regression and a boosted model, 12
evaluations. Interrupted, it goes on where it was; what a method took is told, and nothing is timed.

    python benchmarks/certified_rivals.py --set-up build/rivals
    build/rivals/bin/python benchmarks/certified_rivals.py --data ../shared/data --out build/r.jsonl
    python benchmarks/certified_rivals.py --report build/r.jsonl
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from certified_tasks import SETTINGS, SPLITS, Task, balanced, task_of
from threadpoolctl import threadpool_limits

ROOT = Path(__file__).parents[1]
# The pins of seldonian-engine are older than Python 3.11; it runs with newer libraries.
PACKAGES = ("fairlearn", "optuna", "flaml[automl]", "autograd", "cma", "graphviz", "tqdm")
Record = dict[str, Any]


def set_up(folder: Path) -> None:
    """Make an environment with the package and all rivals."""
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    install = [str(folder / "bin" / "python"), "-m", "pip", "install", "--quiet"]
    subprocess.run([*install, str(ROOT), *PACKAGES, "matplotlib"], check=True)
    subprocess.run([*install, "--no-deps", "seldonian-engine"], check=True)


def run_all(folder: Path, out: Path) -> None:
    """Run what is missing; all settings of a split come before those of the next."""
    for split in SPLITS:
        for table, limit in SETTINGS:
            known = _kept(out, table, limit, split)
            for record in _run(task_of(folder, table, limit, split), known):
                with out.open("a", encoding="utf-8") as stream:
                    stream.write(json.dumps(record) + "\n")


def read(out: Path) -> list[Record]:
    """Return all records of a file."""
    lines = out.read_text(encoding="utf-8").splitlines() if out.exists() else []
    return [json.loads(line) for line in lines]


def _kept(out: Path, table: str, limit: str, split: int) -> set[str]:
    place = [table, limit, split]
    return {
        one["method"] for one in read(out) if [one["table"], one["limit"], one["split"]] == place
    }


def _run(task: Task, known: set[str]) -> Iterator[Record]:
    """Yield the missing records of a task; all methods test on the rows that ours sets aside."""
    from certified_rival_methods import parted, rivals_of

    rivals = rivals_of(task)
    if not set(rivals) - known:
        return
    rows, safe = parted(task)
    for name, rival in rivals.items():
        if name not in known:
            begun = time.process_time()
            try:
                decide, error = rival(task, rows, safe), ""
            except Exception as problem:  # noqa: BLE001 - a rival's failure is a result
                decide, error = None, f"{type(problem).__name__}: {problem}"[:200]
            yield _judged(task, name, decide, len(safe.truth), begun) | {"error": error}


def _judged(task: Task, method: str, decide: Any, rows: int, begun: float) -> Record:
    """Return what the future says of the decisions."""
    record: Record = {
        "table": task.table,
        "limit": task.asked.text,
        "split": task.split,
        "method": method,
        "rows": rows,
        "answers": decide is not None,
        "seconds": round(time.process_time() - begun, 2),
    }
    if decide is None:
        return record
    called, truth = np.asarray(decide(task.future)), task.future_truth
    return record | {
        "value": round(task.asked.value(called, truth, task.future), 5),
        "balanced": round(balanced(called, truth), 5),
        "recall": round(float(called[truth].mean()), 5),
    }


def main() -> None:
    """Set up, run, or make the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--set-up", type=Path, help="make an environment in this folder")
    parser.add_argument("--data", type=Path, help="the folder of the tables")
    parser.add_argument("--out", type=Path, help="the file of the records; it is gone on with")
    parser.add_argument("--report", type=Path, help="make the tables of this file")
    parser.add_argument("--commit", default="", help="the commit that was measured")
    given = parser.parse_args()
    if given.set_up:
        set_up(given.set_up)
    elif given.report:
        from certified_rivals_tables import write

        write(read(given.report), given.commit)
    else:
        import certified_rival_methods  # noqa: F401 - what is loaded later has no limit

        with threadpool_limits(1), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            run_all(given.data, given.out)


if __name__ == "__main__":
    main()
