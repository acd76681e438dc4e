"""Data sets, their splits, and the files that a system is given.

The driver makes the split, so that every environment has the same rows: it writes the training
rows, their targets and the test rows, and keeps the targets of the test rows to itself.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from .processes.exchange import Limit
from .systems import ROOT

TEST_SHARE = 0.25
PORTFOLIO = ROOT / "automl_admm" / "runs" / "prepare" / "portfolio.json"
METRICS = {"binary": "auc", "multiclass": "log_loss", "regression": "r2"}


@dataclass(frozen=True)
class DataSet:
    """A table, its target, and the kind of the task; `positive` is None if not binary.

    `fingerprint` is that of its files.
    """

    name: str
    X: pd.DataFrame
    y: pd.Series
    kind: str
    positive: str | None
    fingerprint: str

    @property
    def metric(self) -> str:
        """The metric that all systems optimise."""
        return METRICS[self.kind]

    @property
    def classes(self) -> list[str]:
        """Sorted labels; empty for a quantity."""
        return [] if self.kind == "regression" else sorted(set(self.y))


@dataclass(frozen=True)
class Split:
    """Rows to learn from and rows to predict; `digest` is that of the data and the rows."""

    train: Any
    test: Any
    digest: str


def find_sets(folders: Iterable[Path], names: list[str] | None = None) -> dict[str, Path]:
    """Return the CSV file of each set by name; the first folder that has a name wins.

    None stands for all sets but those that the portfolio of this package was learned from.
    """
    found: dict[str, Path] = {}
    for folder in folders:
        for description in sorted(folder.glob("*.json")):
            table = description.with_suffix(".csv")
            if table.exists():
                found.setdefault(table.stem, table)
    if names is None:
        learned = learned_tables()
        return {name: path for name, path in found.items() if name not in learned}
    missing = [name for name in names if name not in found]
    if missing:
        raise SystemExit(f"no data set {', '.join(missing)}; there are: {', '.join(found)}")
    return {name: found[name] for name in names}


def learned_tables() -> set[str]:
    """Return the names of the tables that the portfolio was learned from."""
    tasks = json.loads(PORTFOLIO.read_text(encoding="utf-8"))["tasks"]
    return {name for learned in tasks.values() for name in learned["tables"]}


def read_set(path: Path) -> DataSet:
    """Read a CSV file as the JSON file beside it describes it."""
    facts = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
    target, kind, categorical = facts["target"], facts["task"], facts["categorical"]
    frame = pd.read_csv(path, dtype=str, keep_default_na=False, na_values=[""])
    y = frame.pop(target)
    for name in frame.columns:
        frame[name] = (
            _categories(frame[name]) if name in categorical else _numbers(frame[name], path)
        )
    _check(path, y, facts)
    if kind == "regression":
        y = _numbers(y, path)
    return DataSet(path.stem, frame, y, kind, facts["positive"], _fingerprint(path))


def _fingerprint(path: Path) -> str:
    state = hashlib.sha256(path.read_bytes())
    state.update(path.with_suffix(".json").read_bytes())
    return state.hexdigest()


def _categories(column: pd.Series) -> pd.Series:
    return column.astype(pd.CategoricalDtype(sorted(column.dropna().unique())))


def _numbers(column: pd.Series, path: Path) -> pd.Series:
    for dtype in ("int64", "float64"):
        try:
            return column.astype(dtype)
        except ValueError:
            continue
    raise SystemExit(
        f"{path}: {column.name} has text; name it under 'categorical' in the JSON file"
    )


def _check(path: Path, y: pd.Series, facts: dict[str, Any]) -> None:
    if y.isna().any():
        raise SystemExit(f"{path}: the target {facts['target']} has gaps; remove those rows")
    positive = facts["positive"]
    if facts["task"] == "binary" and (y.nunique() != 2 or positive not in set(y)):
        raise SystemExit(f"{path}: a binary target needs two labels, one of them {positive!r}")


def split_set(found: DataSet, seed: int) -> Split:
    """Return the sorted numbers of the training rows and of the test rows, a quarter of each class.

    Classes of less than two rows are in the training rows only.
    """
    random = np.random.default_rng(seed)
    labels = np.zeros(len(found.y)) if found.kind == "regression" else found.y.to_numpy()
    in_test = np.zeros(len(labels), dtype=bool)
    for label in sorted(set(labels)):
        rows = random.permutation(np.flatnonzero(labels == label))
        in_test[rows[: _test_size(len(rows))]] = True
    test = np.flatnonzero(in_test)
    digest = hashlib.sha256(found.fingerprint.encode() + test.astype("<i8").tobytes())
    return Split(np.flatnonzero(~in_test), test, digest.hexdigest()[:16])


def _test_size(rows: int) -> int:
    return 0 if rows < 2 else max(1, round(TEST_SHARE * rows))


def write_task(
    found: DataSet,
    split: Split,
    seed: int,
    seconds: float,
    folder: Path,
    limit: Limit | None = None,
) -> None:
    """Write what a system may see: no target of a test row."""
    found.X.iloc[split.train].to_csv(folder / "train.csv", index=False)
    found.X.iloc[split.test].to_csv(folder / "test.csv", index=False)
    found.y.iloc[split.train].to_frame("target").to_csv(folder / "target.csv", index=False)
    facts = {
        "kind": found.kind,
        "metric": metric_of(found, limit),
        "positive": found.positive,
        "limit": None if limit is None else asdict(limit),
        "columns": {str(name): _column(found.X[name]) for name in found.X.columns},
        "classes": found.classes,
        "seconds": seconds,
        "seed": seed,
    }
    (folder / "task.json").write_text(json.dumps(facts), encoding="utf-8")


def metric_of(found: DataSet, limit: Limit | None) -> str:
    """Return the metric to optimise: one of decisions where the limit is on decisions."""
    return "balanced_accuracy" if limit is not None and limit.name == "fpr" else found.metric


def _column(column: pd.Series) -> str | list[str]:
    if isinstance(column.dtype, pd.CategoricalDtype):
        return [str(level) for level in column.dtype.categories]
    return str(column.dtype)
