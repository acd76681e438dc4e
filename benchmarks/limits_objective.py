"""The one objective of limits_experiment.py, and its memory on disk.

A pipeline is fitted and measured as the package does it (`PipelineWork`), on one split, with one
seed, and only once: what was found is kept under the pipeline's text and the split, for all
methods, settings and seeds. A pipeline so has one loss, one latency and one gap, whatever else the
machine did at the time.
"""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from automl_admm.core.errors import InvalidOutcome
from automl_admm.core.evidence import Timing
from automl_admm.core.space import Candidate, SearchSpace
from automl_admm.pipelines.build import build_pipeline
from automl_admm.pipelines.work import PipelineWork
from automl_admm.plugins.evaluated_pipeline import EvaluatedPipeline
from automl_admm.plugins.records import (
    Constraint,
)
from automl_admm.runs.config import RunConfig
from automl_admm.runs.prepare.preparation import Preparation, prepare
from automl_admm.search.starts import default_start

GRAMMAR = Path(__file__).with_name("limits_space.lark")
LATENCY, GAP = "latency_us", "auc_gap[AGE:30,40,50,60]"
NO_LIMIT = 1e9
# Most rows are to measure on: people over 60 are few, and on 3 000 rows their AUROC, and with it
# the gap, was mostly an accident of the rows.
HELD_OUT = 0.8
SENSITIVE = "AGE"
BATCH, FEWEST, MOST, LONGEST = 1000, 5, 15, 0.03
REFERENCE_US = 0.5
SPLIT_SEED = 0


@dataclass(frozen=True)
class Outcome:
    """What is known of a pipeline; `seconds` of the processor went into finding out."""

    loss: float
    latency: float
    gap: float
    seconds: float
    message: str = ""


class Cache:
    """Outcomes by the text of a pipeline, in a file that several processes may use."""

    def __init__(self, path: Path, split: str) -> None:
        self._connection = sqlite3.connect(path, timeout=60.0, isolation_level=None)
        self._connection.execute("PRAGMA journal_mode=WAL")
        self._connection.execute("PRAGMA synchronous=OFF")
        self._connection.execute(
            "CREATE TABLE IF NOT EXISTS outcomes (split TEXT, pipeline TEXT, outcome TEXT,"
            " PRIMARY KEY (split, pipeline))"
        )
        self._split = split

    def read(self, text: str) -> Outcome | None:
        """What is known of a pipeline."""
        row = self._connection.execute(
            "SELECT outcome FROM outcomes WHERE split = ? AND pipeline = ?", (self._split, text)
        ).fetchone()
        return None if row is None else Outcome(*json.loads(row[0]))

    def write(self, text: str, outcome: Outcome) -> Outcome:
        """Keep an outcome; where another process was first, its outcome counts."""
        known = [outcome.loss, outcome.latency, outcome.gap, outcome.seconds, outcome.message]
        self._connection.execute(
            "INSERT OR IGNORE INTO outcomes VALUES (?, ?, ?)",
            (self._split, text, json.dumps(known)),
        )
        return self.read(text) or outcome


@dataclass
class CachedWork:
    """The work of an executor that asks the cache first; `told` are the constraints it returns.

    `seconds` of the processor went into it: what is left of a run's is the solvers' own.
    """

    work: PipelineWork
    cache: Cache
    told: tuple[str, ...] = ()
    seconds: float = 0.0
    known: dict[str, Outcome] = field(default_factory=dict)

    def evaluate(self, candidate: Candidate, seed: int, folder: Path) -> Mapping[str, Any]:
        """The outcome of a candidate as the search hears of it."""
        del seed
        outcome = self.outcome(candidate, folder)
        if outcome.message:
            raise InvalidOutcome(outcome.message)
        values = {LATENCY: outcome.latency, GAP: outcome.gap}
        return {"loss": outcome.loss, "constraints": [values[name] for name in self.told]}

    def outcome(self, candidate: Candidate, folder: Path) -> Outcome:
        """Read it, or find it out."""
        begun = time.thread_time()
        text = self.work.space.text(candidate)
        outcome = self.cache.read(text)
        if outcome is None:
            outcome = self.cache.write(text, self._measured(candidate, folder))
        self.known[text] = outcome
        self.seconds += time.thread_time() - begun
        return outcome

    def _measured(self, candidate: Candidate, folder: Path) -> Outcome:
        begun = time.thread_time()
        try:
            found = self.work.evaluate(candidate, SPLIT_SEED, folder)
        except Exception as problem:  # noqa: BLE001 - what a pipeline fails with is its outcome
            message = f"{type(problem).__name__}: {problem}".splitlines()[0]
            return Outcome(np.nan, np.nan, np.nan, time.thread_time() - begun, message)
        latency, gap = found.constraints
        return Outcome(found.loss, latency, gap, time.thread_time() - begun)


@dataclass(frozen=True)
class ProcessorLatency:
    """`latency_us` in time of the processor, freed of what else the machine does.

    Microseconds a row in a batch of 1 000. Every call is timed next to one of a `reference`
    pipeline, and what counts is the least of the ones as a multiple of the least of the others,
    times what the reference takes on a quiet machine: other work slows a processor down by a tenth
    and more. Measured again on a busy machine, it still differs by about a twentieth, at times by
    a quarter. The package has seconds of the clock and their 0.9 quantile, because a user has to
    live with what the machine adds.
    """

    reference: Any

    def __call__(self, evaluated: EvaluatedPipeline) -> Timing:
        """Microseconds of all repeats; the limit is on the least."""
        batch = evaluated.X[np.resize(np.arange(len(evaluated.y)), BATCH)]
        evaluated.pipeline.predict(batch)
        mine: list[float] = []
        others: list[float] = []
        while len(mine) < FEWEST or (len(mine) < MOST and sum(mine) < LONGEST):
            mine.append(_seconds(evaluated.pipeline, batch))
            others.append(_seconds(self.reference, batch))
        return Timing(REFERENCE_US * np.array(mine) / min(others), quantile=0.0)


def _seconds(pipeline: Any, batch: Any) -> float:
    begun = time.thread_time()
    pipeline.predict(batch)
    return time.thread_time() - begun


def fitted_reference(work: PipelineWork) -> Any:
    """The pipeline at which the searches begin, fitted."""
    train = work.table.part(work.splits[0][0])
    steps = work.space.steps(default_start(work.space.space))
    pipeline = build_pipeline(steps, work.load_components(), work.context, SPLIT_SEED)
    return pipeline.fit(train.X, train.labels())


def prepare_problem(data: Path) -> Preparation:
    """The run on the table, with both limits and no bound on either.

    Categories are numbers, as in the UCI file: on a frame with texts every call spends most of its
    time before the first step, and a run of the experiment most of its own.
    """
    facts = json.loads(data.with_suffix(".json").read_text())
    frame = pd.read_csv(data)
    for name in facts["categorical"]:
        frame[name] = pd.factorize(frame[name], sort=True)[0]
    X = frame.drop(columns=facts["target"]).to_numpy(dtype=float)
    config = RunConfig(
        grammar=GRAMMAR,
        task="classification",
        scoring="roc_auc",
        constraints=(f"{LATENCY} <= {NO_LIMIT}", f"{GAP} <= 1"),
        cv=HELD_OUT,
        executor="inline",
        random_state=SPLIT_SEED,
        portfolio=False,
    )
    prepared = prepare(config, X, frame[facts["target"]].to_numpy(), frame[[SENSITIVE]])
    latency, gap = prepared.constraints
    constraints = (
        replace(latency, function=ProcessorLatency(fitted_reference(prepared.work))),
        gap,
    )
    work = replace(prepared.work, constraints=constraints)
    return replace(prepared, constraints=constraints, work=work)


def bounded(constraints: Sequence[Constraint], bounds: Sequence[float]) -> tuple[Constraint, ...]:
    """The constraints with other bounds."""
    return tuple(
        replace(constraint, limit=replace(constraint.limit, bound=bound))
        for constraint, bound in zip(constraints, bounds, strict=True)
    )


def every_pipeline(space: SearchSpace) -> Iterator[Candidate]:
    """Every candidate of a space that has nothing but choices and whole numbers, once."""
    picks = product(*(decision.alternatives for decision in space.decisions))  # type: ignore[union-attr]
    names = [decision.name for decision in space.decisions]
    selections = (space.complete(dict(zip(names, each, strict=True))) for each in picks)
    for selection in dict.fromkeys(selections):
        active = [space.parameters[place] for place in space.active(selection)]
        grids = [[p.to_unit(n) for n in range(int(p.low), int(p.high) + 1)] for p in active]
        for theta in product(*grids):
            yield Candidate(selection, theta)
