"""The data sets of pipeline_tables.py, and the measurement of one pipeline on one of them.

A pipeline is built, fitted and judged as the package does it (`PipelineWork`), on the folds and
with the seed of the set. Time is that of the processor, in this thread, so that other work on the
machine counts as little as can be.
"""

from __future__ import annotations

import json
import math
import pickle
import time
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from grid_space import GridSpace
from sklearn.model_selection import train_test_split

from automl_admm.core.space import Candidate
from automl_admm.pipelines.cross_validation import FoldRun, judge_folds
from automl_admm.pipelines.predictions.measured import Seen
from automl_admm.pipelines.work import PipelineWork
from automl_admm.runs.config import RunConfig
from automl_admm.runs.prepare.preparation import prepare

BATCH, CALLS = 1000, 2
# A group with fewer rows has no AUROC to speak of in a fold.
LEAST_SHARE, OTHERS = 0.1, "others"
SCORING = {"binary": "roc_auc", "multiclass": "balanced_accuracy"}


@dataclass(frozen=True)
class Deal:
    """How many rows of a set are taken, into how many folds, and by which seed."""

    rows: int = 500
    folds: int = 2
    seed: int = 0


@dataclass(frozen=True)
class Measured:
    """What is known of a pipeline; what it could not have is NaN, and `message` says why.

    `losses` and `seconds` (of fitting and judging) are of the folds; `latency` is microseconds a
    row in a batch, `size` kilobytes of the fitted pipeline, both of the first fold; `gap` is the
    largest difference in AUROC between groups, the mean over folds.
    """

    losses: Sequence[float]
    seconds: Sequence[float]
    latency: float
    size: float
    gap: float
    message: str = ""


@dataclass(frozen=True)
class MeasuredSet:
    """A set, ready to measure pipelines on."""

    grid: GridSpace
    work: PipelineWork
    seed: int
    scoring: str

    def measure(self, candidate: Candidate, folder: Path) -> Measured:
        """Measure a pipeline; a failure is what is known of it then."""
        run = FoldRun(self.work, self.grid.space.projected(candidate), self.seed, folder)
        seen: list[Seen] = []
        seconds: list[float] = []
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                for split in self.work.splits:
                    begun = time.thread_time()
                    seen.append(run.fit_and_measure(split))
                    seconds.append(time.thread_time() - begun)
                return self._judged(seen, seconds)
        except Exception as problem:  # noqa: BLE001 - what a pipeline fails with is its outcome
            nothing = [math.nan] * len(self.work.splits)
            message = f"{type(problem).__name__}: {problem}".splitlines()[0]
            return Measured(nothing, nothing, math.nan, math.nan, math.nan, message)

    def _judged(self, seen: Sequence[Seen], seconds: Sequence[float]) -> Measured:
        found, _ = judge_folds(self.work, seen)
        losses = [self.work.metric.loss(score) for score in found.details["scores"]]
        gap = found.constraints[0] if found.constraints else math.nan
        first = seen[0]
        size = len(pickle.dumps(first.pipeline)) / 1e3
        return Measured(losses, seconds, latency_of(first), size, gap)


def latency_of(seen: Seen) -> float:
    """Return the least processor time of some calls, in microseconds a row of a batch."""
    batch = seen.rows.X[np.resize(np.arange(len(seen.rows.y)), BATCH)]
    found = []
    for _ in range(CALLS):
        begun = time.thread_time()
        seen.pipeline.predict(batch)
        found.append(time.thread_time() - begun)
    return 1e6 * min(found) / BATCH


def prepare_set(data: Path, grammar: Path, deal: Deal) -> MeasuredSet:
    """Read a set, take its rows, and make the folds.

    Categories are numbers: on a frame with texts every call spends most of its time before the
    first step. Rows are drawn so that classes keep their shares.
    """
    facts = json.loads(data.with_suffix(".json").read_text(encoding="utf-8"))
    frame = pd.read_csv(data)
    if len(frame) > deal.rows:
        labels = frame[facts["target"]]
        frame, _ = train_test_split(
            frame, train_size=deal.rows, stratify=labels, random_state=deal.seed
        )
    X, y = _numbers(frame, facts), frame[facts["target"]].to_numpy().astype(str)
    groups, limits = _groups(frame, facts)
    config = RunConfig(
        grammar=grammar,
        task="classification",
        positive=facts["positive"],
        scoring=SCORING[facts["task"]],
        constraints=limits,
        cv=deal.folds,
        executor="inline",
        random_state=deal.seed,
    )
    prepared = prepare(config, X, y, groups)
    grid = GridSpace.of(grammar.read_text(encoding="utf-8"), grammar.name)
    # The steps of a candidate come from the very space that its text comes from.
    work = replace(prepared.work, space=grid.pipelines)
    return MeasuredSet(grid, work, deal.seed, SCORING[facts["task"]])


def _numbers(frame: pd.DataFrame, facts: Mapping[str, Any]) -> np.ndarray:
    columns = frame.drop(columns=facts["target"])
    for name in facts["categorical"]:
        codes = pd.factorize(columns[name], sort=True)[0].astype(float)
        columns[name] = np.where(codes < 0, np.nan, codes)
    return np.asarray(columns.to_numpy(dtype=float))


def _groups(
    frame: pd.DataFrame, facts: Mapping[str, Any]
) -> tuple[pd.DataFrame | None, tuple[str, ...]]:
    """Return the column of groups and the limit that measures their gap, if the set has groups."""
    name = facts["protected"]
    if name is None:
        return None, ()
    column = frame[name]
    if edges := facts.get("protected_bins"):
        column = pd.cut(column, [-math.inf, *edges, math.inf]).astype(str)
    grouped = column.where(column.isin(kept_groups(column)), OTHERS)
    return pd.DataFrame({"group": grouped.astype(str)}), ("auc_gap[group] <= 1",)


def kept_groups(column: pd.Series) -> list[Any]:
    """Return the groups that stay; the others, together, have a share that counts, or none."""
    shares = column.value_counts(normalize=True)
    kept = shares[shares >= LEAST_SHARE]
    if 0.0 < 1.0 - kept.sum() < LEAST_SHARE - 1e-9:
        kept = kept.iloc[:-1]
    return list(kept.index)
