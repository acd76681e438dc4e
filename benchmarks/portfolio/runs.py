"""Evaluate every candidate on every learning table; a line of JSON each, and none is made again.

python -m benchmarks.portfolio.runs TABLES RESULTS.jsonl
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from itertools import chain, zip_longest
from pathlib import Path

import numpy as np
import pandas as pd
from threadpoolctl import threadpool_limits

from automl_admm.core.errors import AutomlAdmmError
from automl_admm.grammar.text.matcher import parse
from automl_admm.runs.config import RunConfig
from automl_admm.runs.prepare.preparation import Preparation, prepare

from .candidates import candidates_of

METRICS = {"binary": "roc_auc", "multiclass": "neg_log_loss", "regression": "r2"}
# Fewer rows are cross-validated in two folds, others have one validation part.
FEW_ROWS = 500


@dataclass(frozen=True)
class Measured:
    """The loss of a pipeline on a table and the processor's seconds; no loss is a failure."""

    table: str
    task: str
    text: str
    loss: float | None
    seconds: float


def task_of(path: Path) -> str:
    """Return the task of a table."""
    return str(json.loads(path.with_suffix(".json").read_text("utf-8"))["task"])


def digest_of(path: Path) -> str:
    """Return a short hash of a table and its description."""
    state = hashlib.sha256(path.read_bytes())
    state.update(path.with_suffix(".json").read_bytes())
    return state.hexdigest()[:12]


def prepared_on(path: Path) -> Preparation:
    """Return a run on a table that is ready to evaluate pipelines of the default grammar."""
    task = task_of(path)
    frame = pd.read_csv(path)
    target = json.loads(path.with_suffix(".json").read_text("utf-8"))["target"]
    config = RunConfig(
        task="regression" if task == "regression" else "classification",
        scoring=METRICS[task],
        cv=2 if len(frame) < FEW_ROWS else 0.33,
        max_evaluations=1,
        executor="inline",
        portfolio=False,
    )
    y = frame.pop(target)
    return prepare(config, frame, y if task == "regression" else y.astype(str))


def measure(path: Path, known: set[tuple[str, str]]) -> Iterator[Measured]:
    """Yield what is not known of a table; skip pipelines that its grammar does not derive."""
    prepared, task = prepared_on(path), task_of(path)
    with tempfile.TemporaryDirectory() as folder:
        for text in candidates_of(task):
            if (path.stem, text) in known:
                continue
            try:
                candidate = parse(text, prepared.grammar.pipelines, "candidate")
            except AutomlAdmmError:
                continue
            begun, loss = time.process_time(), math.nan
            with suppress(Exception):  # a failure is a result
                loss = prepared.work.evaluate(candidate, 0, Path(folder)).loss
            seconds = round(time.process_time() - begun, 3)
            yield Measured(path.stem, task, text, loss if math.isfinite(loss) else None, seconds)


def read_lines(path: Path) -> list[Measured]:
    """Return what was measured so far."""
    if not path.exists():
        return []
    return [Measured(**json.loads(line)) for line in path.read_text("utf-8").splitlines()]


def in_turns(folder: Path) -> list[Path]:
    """Return the tables, one of each task in turn: an interrupted run is balanced."""
    paths = sorted(folder.glob("*.csv"))
    paths = [paths[place] for place in np.random.default_rng(0).permutation(len(paths))]
    rows = ([path for path in paths if task_of(path) == task] for task in METRICS)
    return [path for path in chain(*zip_longest(*rows)) if path is not None]


def main() -> None:
    """Measure what is not there yet."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tables", type=Path)
    parser.add_argument("results", type=Path)
    given = parser.parse_args()
    known = {(one.table, one.text) for one in read_lines(given.results)}
    with threadpool_limits(limits=1):
        for path in in_turns(given.tables):
            for one in measure(path, known):
                with given.results.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(asdict(one)) + "\n")


if __name__ == "__main__":
    main()
