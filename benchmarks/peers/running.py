"""Run one system on one split, and score its predictions."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.metrics import accuracy_score, log_loss, r2_score, roc_auc_score

from .limits import TestRows, judge
from .processes.exchange import Limit
from .results import KEY, Key
from .systems import ROOT, System, python_of
from .tasks import DataSet, Split, write_task
from .watching import Watched, watch

LONGEST = 400


@dataclass(frozen=True)
class Run:
    """One cell of the experiment; the seed of the split is also that of the system."""

    system: System
    found: DataSet
    split: Split
    seed: int
    budget: float
    limit: Limit | None = None

    @property
    def key(self) -> Key:
        """What tells this run from all others in the file of results."""
        name, digest = self.found.name, self.split.digest
        limit = "" if self.limit is None else self.limit.name
        return (self.system.name, name, self.seed, self.budget, digest, limit)


@dataclass(frozen=True)
class Place:
    """The folder of the environments, and the core that everything is pinned to."""

    environments: Path
    core: int

    def patience(self, budget: float) -> float:
        """Return the seconds after which a process is stopped: imports and predictions included."""
        return 2 * budget + 120


def run_once(run: Run, place: Place) -> dict[str, Any]:
    """Return the record of a run: its scores and costs, or an error."""
    python = python_of(run.system, place.environments)
    if python is None:
        raise ValueError(f"{run.system.name} has no environment in {place.environments}")
    load = os.getloadavg()[0]
    with tempfile.TemporaryDirectory(prefix="peers-") as text:
        folder = Path(text)
        write_task(run.found, run.split, run.seed, run.budget, folder, run.limit)
        command = [python, "-m", f"peers.processes.{run.system.module}", str(folder)]
        watched = watch(
            [*command, "--variant", run.system.variant],
            folder,
            place.core,
            place.patience(run.budget),
        )
        answer = _answer(folder, watched, place.patience(run.budget))
        record = {
            **dict(zip(KEY, run.key, strict=True)),
            "kind": run.found.kind,
            **_scored(answer, folder, run),
        }
    return record | {
        "exit_code": watched.exit_code,
        "wall_seconds": watched.wall_seconds,
        "cpu_seconds": watched.cpu_seconds,
        "peak_bytes": watched.peak_bytes,
        "load": round(load, 2),
        "commit": commit(),
    }


def _answer(folder: Path, watched: Watched, patience: float) -> dict[str, Any]:
    if watched.exit_code is None:
        return {"error": f"stopped after {patience:g} s"}
    path = folder / "answer.json"
    if not path.exists():
        said = (folder / "process.log").read_text(encoding="utf-8", errors="replace").strip()
        return {"error": f"exit code {watched.exit_code}: {said[-LONGEST:]}"}
    answer: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return answer


def _scored(answer: dict[str, Any], folder: Path, run: Run) -> dict[str, Any]:
    if "error" in answer:
        return answer
    predicted = np.load(folder / "predictions.npy")
    try:
        scored = answer | {"scores": score(predicted, run.found, run.split)}
        if run.limit is None:
            return scored
        return scored | judge(scored, run.limit, TestRows.of(run.found, run.split, folder))
    except ValueError as problem:
        return answer | {"error": f"predictions cannot be scored: {problem}"[:LONGEST]}


def score(predicted: Any, found: DataSet, split: Split) -> dict[str, float]:
    """Return AUC, log loss and accuracy, without the AUC for many classes; R² for quantities."""
    truth = found.y.iloc[split.test].to_numpy()
    shape = (len(truth), *([len(found.classes)] if found.classes else []))
    if predicted.shape != shape:
        raise ValueError(f"a table of {predicted.shape} instead of {shape}")
    if not np.isfinite(predicted).all():
        raise ValueError("they are not all finite numbers")
    if found.kind == "regression":
        return {"r2": float(r2_score(truth, predicted))}
    classes = found.classes
    chances = predicted / predicted.sum(axis=1, keepdims=True)
    decided = np.asarray(classes)[np.argmax(chances, axis=1)]
    scores = {
        "log_loss": float(log_loss(truth, chances, labels=classes)),
        "accuracy": float(accuracy_score(truth, decided)),
    }
    if found.kind == "binary":
        yes = chances[:, classes.index(str(found.positive))]
        scores["auc"] = float(roc_auc_score(truth == found.positive, yes))
    return scores


def commit() -> str:
    """Return the commit of this checkout, marked if files differ from it."""
    command = ["git", "-C", str(ROOT), "describe", "--always", "--dirty", "--exclude", "*"]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    return ended.stdout.strip() or "unknown"
