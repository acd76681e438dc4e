"""The files between the driver and a system: a task in, predictions and facts out.

It runs with Python 3.9 and pandas 1.4 as well, because auto-sklearn needs them.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from typing import Any, Optional

import numpy as np
import pandas as pd

from .measuring import CALLS, bytes_of, microseconds_a_row

LONGEST = 400
TIMED_PREDICTIONS = 3


@dataclass(frozen=True)
class Limit:
    """What a model must keep: `name` is latency (µs a row), size (MB), fpr or auc_gap.

    `column` has the groups of an `auc_gap`.
    """

    name: str
    bound: float
    column: Optional[str] = None  # noqa: UP045 - Python 3.9


@dataclass(frozen=True)
class Task:
    """Rows to learn from, rows to predict, and what is asked for.

    `kind` is binary, multiclass or regression, `metric` auc, log_loss, r2 or balanced_accuracy.
    Categories have pandas's dtype for them, labels are text; `positive` is that of two classes.
    """

    X: Any
    y: Any
    X_test: Any
    kind: str
    metric: str
    classes: list[str]
    seconds: float
    seed: int
    folder: Path
    positive: Any = None
    limit: Any = None

    @property
    def is_regression(self) -> bool:
        """True if the target is a quantity."""
        return self.kind == "regression"


@dataclass(frozen=True)
class Fitted:
    """A fitted system: how to predict, in the order of which classes, and what it tells of itself.

    `anytime` has pairs of seconds since the start of `fit` and the validation loss of the incumbent
    then: 1 - AUC, log loss or 1 - R². Where the task has a limit, `decide` returns labels, and
    `shipped` is the object that is pickled, or the folder, that holds all it takes to predict.
    """

    predict: Callable[[Any], Any]
    classes: list[str] = field(default_factory=list)
    evaluations: int | None = None
    anytime: list[tuple[float, float]] = field(default_factory=list)
    note: str = ""
    decide: Any = None
    shipped: Any = None


def read_task(folder: Path) -> Task:
    """Read the task that the driver wrote; floats come back to the last bit."""
    facts = json.loads((folder / "task.json").read_text(encoding="utf-8"))
    kind = facts["kind"]
    X = _read_table(folder / "train.csv", facts["columns"])
    X_test = _read_table(folder / "test.csv", facts["columns"])
    target = pd.read_csv(folder / "target.csv", dtype=str, keep_default_na=False)["target"]
    return Task(
        X=X,
        y=target.astype(float) if kind == "regression" else target,
        X_test=X_test,
        kind=kind,
        metric=facts["metric"],
        classes=facts["classes"],
        seconds=facts["seconds"],
        seed=facts["seed"],
        folder=folder,
        positive=facts["positive"],
        limit=Limit(**facts["limit"]) if facts["limit"] else None,
    )


def _read_table(path: Path, columns: dict[str, Any]) -> Any:
    """Read all as text first: no version of pandas then rounds a float in its own way."""
    table = pd.read_csv(path, dtype=str, keep_default_na=False, na_values=[""])
    for name, kind in columns.items():
        dtype = pd.CategoricalDtype(kind) if isinstance(kind, list) else kind
        table[name] = table[name].astype(dtype)
    return table


def best_so_far(found: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """Keep the pairs of time and loss at which the loss became smaller."""
    kept: list[tuple[float, float]] = []
    for seconds, loss in sorted(found):
        if np.isfinite(loss) and (not kept or loss < kept[-1][1]):
            kept.append((round(float(seconds), 3), float(loss)))
    return kept


def versions(packages: list[str]) -> dict[str, str]:
    """Return the installed versions, of those packages that are installed."""
    found = {}
    for package in packages:
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    return found


def _write_predictions(task: Task, fitted: Fitted) -> float:
    """Predict the test rows, and return the seconds that one row takes.

    The first call is not timed: it may load models or start threads.
    """
    predicted = np.asarray(fitted.predict(task.X_test), dtype=float)
    if not task.is_regression:
        order = [[str(one) for one in fitted.classes].index(label) for label in task.classes]
        predicted = predicted[:, order]
    np.save(task.folder / "predictions.npy", predicted)
    taken = []
    for _ in range(TIMED_PREDICTIONS):
        begun = time.perf_counter()
        fitted.predict(task.X_test)
        taken.append(time.perf_counter() - begun)
    return sorted(taken)[TIMED_PREDICTIONS // 2] / len(task.X_test)


def _fit_and_predict(fit: Callable[[Task, str], Fitted], variant: str, task: Task) -> Any:
    begun = time.monotonic()
    fitted = fit(task, variant)
    fit_seconds = time.monotonic() - begun
    return {
        "fit_seconds": round(fit_seconds, 3),
        "row_seconds": _write_predictions(task, fitted),
        "evaluations": fitted.evaluations,
        "anytime": fitted.anytime,
        "note": fitted.note[:LONGEST],
        **(_costs(task, fitted) if task.limit else {}),
    }


def _costs(task: Task, fitted: Fitted) -> dict[str, float]:
    """Write the decisions on the test rows, and return what limits on costs are about."""
    if task.kind == "binary":
        decided = pd.Series(np.asarray(fitted.decide(task.X_test)).astype(str), name="label")
        decided.to_csv(task.folder / "decisions.csv", index=False)
    return {
        "batch_us": microseconds_a_row(fitted.predict, task.X_test, CALLS),
        "bytes": bytes_of(fitted.shipped),
    }


def serve(fit: Callable[[Task, str], Fitted], packages: list[str]) -> None:
    """Run the system of this process on the task in the folder given on the command line.

    Whatever it raises is its answer.
    """
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--variant", default="")
    asked = parser.parse_args()
    try:
        answer = _fit_and_predict(fit, asked.variant, read_task(asked.folder))
    except Exception as problem:  # noqa: BLE001 - a refusal is a result
        traceback.print_exc()
        answer = {"error": f"{type(problem).__name__}: {problem}"[:LONGEST]}
    answer["versions"] = {"python": sys.version.split()[0], **versions(packages)}
    (asked.folder / "answer.json").write_text(json.dumps(answer), encoding="utf-8")
