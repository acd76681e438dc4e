"""What a pipeline is worth: fitted and scored on splits that are fixed for the run.

A `PipelineWork` is sent to the executor once and does all the work there: `evaluate` for the
search, `refit` for the model that ships.
"""

from __future__ import annotations

import math
import pickle
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from automl_admm.evaluation.answers import check_predictions, check_probabilities, number_labels
from automl_admm.evaluation.metrics import Metric
from automl_admm.evaluation.outcomes import InvalidOutcome
from automl_admm.evaluation.peaks import forget_peak, peak_mb
from automl_admm.evaluation.pipeline import build_pipeline, fit_pipeline, predict_scores
from automl_admm.evaluation.rows import share_of_rows
from automl_admm.evaluation.saving import import_skops
from automl_admm.evaluation.thresholds import (
    DEFAULTS,
    aimed_decisions,
    choose_threshold,
    decide,
    fix_threshold,
    response_of,
)
from automl_admm.evaluation.views import Decided, Numbered, Remembered
from automl_admm.evidence import Evidence, as_evidence, explain_unknown
from automl_admm.plugin_types import BuildContext, ComponentPlugin, Constraint, EvaluatedPipeline
from automl_admm.problem import Limit
from automl_admm.registry import Registry
from automl_admm.shape import PipelineSpace, Step, all_modules
from automl_admm.space import Candidate

Split = tuple[Any, Any]
# The same in every run: equal shares of equal rows are equal, whoever asks.
SHARE_SEED = 0
EVIDENCE = "evidence.pickle"
ROUNDING = 1e-9


@dataclass(frozen=True)
class Table:
    """Rows and their target; class labels are numbered, `classes` says what the numbers mean.

    `sensitive` is a frame of the columns that limits are on.
    """

    X: Any
    y: Any
    classes: Any = None
    sensitive: Any = None

    def labels(self) -> Any:
        """The target as the user gave it."""
        return self.y if self.classes is None else self.classes[self.y]

    def part(self, places: Any) -> Table:
        """Some of the rows."""
        X = self.X.iloc[places] if hasattr(self.X, "iloc") else self.X[places]
        sensitive = None if self.sensitive is None else self.sensitive.iloc[places]
        return Table(X, self.y[places], self.classes, sensitive)


@dataclass(frozen=True, eq=False)
class Seen:
    """A fitted pipeline seen on rows that it was not fitted on.

    `by_decisions` says whether the metric asked for decisions; `answers` has what was predicted.
    """

    pipeline: Any
    answers: Remembered
    rows: Table
    part: EvaluatedPipeline
    score: float
    by_decisions: bool


@dataclass
class PipelineWork:
    """Everything that evaluations of one run share; loaded once by the executor.

    `load_components` is called where the work is done, so that plugins need not be pickled. On the
    rows held out limits time at least so many `calls`. Decision thresholds are chosen for the
    limits in `aims`, one for each constraint; without any these are the constraints' own.
    """

    space: PipelineSpace
    table: Table
    splits: tuple[Split, ...]
    metric: Metric
    context: BuildContext
    load_components: Callable[[], Registry[ComponentPlugin]]
    constraints: tuple[Constraint, ...] = ()
    held_out: Table | None = None
    calls: int = 0
    persist: bool = False
    aims: tuple[Limit, ...] = ()
    _components: Registry[ComponentPlugin] | None = None

    def prepare(self) -> None:
        """Load the plugins and import what the components need, before any child is forked."""
        components = self._loaded()
        for module in all_modules(self.space.shape):
            build_pipeline([Step(module.component)], components, self.context, seed=0)
        if self.persist:
            import_skops()  # the final fit needs it when time is shortest

    def evaluate(self, candidate: Candidate, seed: int, folder: Path) -> Mapping[str, Any]:
        """Cross-validate a candidate; the predictions of rows not trained on go to a file.

        At a fidelity below 1 it learns from that share of its rows, and is measured as ever. What
        a limit excludes that is known beforehand is not trained at all. Where limits hang on
        decisions, one threshold is chosen for all folds, and what is measured is measured there.
        """
        self._check_cheap(candidate)
        wall, processor = time.perf_counter(), time.process_time()
        with unheard_warnings():
            seen = [self._evaluate_split(candidate, seed, split) for split in self.splits]
            threshold = self._threshold(seen)
            if threshold is not None:
                seen = [_at_threshold(self.metric, one, threshold) for one in seen]
            parts = [one.part for one in seen]
            values = np.array(self._values_by_split(parts), dtype=float)
            predictions = np.concatenate([part.predictions for part in parts])
            predictions = predictions.astype(np.float32)  # scores beyond its range become infinite
        rows = np.concatenate([valid for _, valid in self.splits])
        np.savez(folder / "predictions.npz", rows=rows, predictions=predictions)
        scores = [one.score for one in seen]
        chosen = {} if threshold is None else {"threshold": threshold}
        return {
            "loss": self.metric.loss(float(np.mean(scores))),
            "constraints": [float(value) for value in values.mean(axis=0)],
            "details": {
                "scores": scores,
                "fit_seconds": float(np.mean([part.fit_seconds for part in parts])),
                "predict_seconds": float(np.mean([part.predict_seconds for part in parts])),
                "work_seconds": time.perf_counter() - wall,
                "slowdown": _slowdown(wall, processor),
                **chosen,
            },
        }

    def refit(
        self, candidate: Candidate, seed: int, folder: Path, threshold: float | None = None
    ) -> Mapping[str, Any]:
        """Fit on all rows of the search, with the user's own labels; measure on rows held out.

        What ships decides at the threshold that its evaluation found.
        """
        begun = time.perf_counter()
        with unheard_warnings():
            pipeline = self._fit(candidate, seed, self.table.X, self.table.labels())
        fit_seconds = time.perf_counter() - begun
        if threshold is not None:
            pipeline = fix_threshold(pipeline, threshold, self.table.classes)
        found: dict[str, Any] = {}
        with (folder / "model.pickle").open("wb") as file:
            pickle.dump(pipeline, file, protocol=pickle.HIGHEST_PROTOCOL)
        if self.persist:
            import_skops().dump(pipeline, folder / "model.skops", compression=8)
        if self.held_out is not None:
            found = self._measure_held_out(pipeline, self.held_out, fit_seconds, folder)
        return found

    def _measure_held_out(
        self, pipeline: Any, rows: Table, fit_seconds: float, folder: Path
    ) -> dict[str, Any]:
        """Measure on rows held out. The model is fitted: nothing that fails here may lose it.

        What the limits saw goes to a file: a certificate may rest on it.
        """
        found: dict[str, Any] = {}
        try:
            with unheard_warnings():
                measured = self._measure(pipeline, rows, fit_seconds)
                found |= {"held_out_score": measured.score, "held_out_rows": len(rows.y)}
                part = replace(measured.part, calls=self.calls)
                seen = [_evidence(constraint, part, "") for constraint in self.constraints]
            with (folder / EVIDENCE).open("wb") as file:
                pickle.dump(seen, file, protocol=pickle.HIGHEST_PROTOCOL)
            pairs = zip(self.constraints, seen, strict=True)
            values = [_value(constraint, evidence, "") for constraint, evidence in pairs]
        except Exception as problem:  # noqa: BLE001 - a metric or a limit is anybody's code
            return found | {"held_out_problem": f"{type(problem).__name__}: {problem}"}
        return found | {"held_out_constraints": values}

    def _evaluate_split(self, candidate: Candidate, seed: int, split: Split) -> Seen:
        classes = None if self.table.classes is None else self.table.y
        rows = share_of_rows(np.asarray(split[0]), classes, candidate.fidelity, SHARE_SEED)
        train, valid = self.table.part(rows), self.table.part(split[1])
        begun = time.perf_counter()
        pipeline = self._fit(candidate, seed, train.X, train.labels())
        return self._measure(pipeline, valid, time.perf_counter() - begun)

    def _fit(self, candidate: Candidate, seed: int, X: Any, y: Any) -> Any:
        forget_peak()
        steps = self.space.steps(candidate)
        pipeline = build_pipeline(steps, self._loaded(), self.context, seed)
        return fit_pipeline(pipeline, steps, self._loaded(), X, y)

    def _measure(self, pipeline: Any, rows: Table, fit_seconds: float) -> Seen:
        """Predict rows that were not fitted on, once; a scorer of the user sees the labels."""
        remembered = Remembered(pipeline)
        begun = time.perf_counter()
        predictions = _predictions(remembered, rows)
        seconds = time.perf_counter() - begun
        peak = peak_mb()
        score = score_of(self.metric, remembered, rows)
        by_decisions = remembered.was_asked("predict")
        numbered = pipeline if rows.classes is None else Numbered(pipeline, rows.classes)
        is_looked_at = by_decisions or self.constraints
        decisions = _decisions(remembered, rows) if is_looked_at else None
        evaluated = EvaluatedPipeline(
            numbered,
            rows.X,
            rows.y,
            predictions,
            fit_seconds,
            seconds,
            decisions,
            rows.sensitive,
            peak,
        )
        return Seen(pipeline, remembered, rows, evaluated, score, by_decisions)

    def _threshold(self, seen: Sequence[Seen]) -> float | None:
        """The decision threshold for all folds, if there is one to choose and it matters."""
        limits = self.aims or tuple(constraint.limit for constraint in self.constraints)
        aimed = aimed_decisions(self.constraints, limits)
        response = response_of(seen[0].pipeline)
        if not aimed or not response or not all(map(_has_two_sides, seen)):
            return None

        def merit(threshold: float) -> float:
            return float(np.mean([_score_at(self.metric, one, threshold) for one in seen]))

        by_decisions = any(one.by_decisions for one in seen)
        parts = [one.part for one in seen]
        return choose_threshold(parts, aimed, DEFAULTS[response], merit if by_decisions else None)

    def _check_cheap(self, candidate: Candidate) -> None:
        """Refuse a candidate that a limit excludes whose value is known without training."""
        for constraint in self.constraints:
            if constraint.cheap is None:
                continue
            value = float(constraint.cheap(self.space.steps(candidate)))
            if not math.isnan(value) and not constraint.limit.holds(value):
                raise InvalidOutcome(
                    f"not trained: the limit '{constraint.limit}' excludes it ({value:g})"
                )

    def _values_by_split(self, parts: Sequence[EvaluatedPipeline]) -> list[list[float]]:
        folds = [f" in fold {i} of {len(parts)}" for i in range(1, len(parts) + 1)]
        where = folds if len(parts) > 1 else [""]
        return [
            [_value(c, _evidence(c, part, fold), fold) for c in self.constraints]
            for part, fold in zip(parts, where, strict=True)
        ]

    def _loaded(self) -> Registry[ComponentPlugin]:
        if self._components is None:
            self._components = self.load_components()
        return self._components

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_components": None}


def _evidence(constraint: Constraint, part: EvaluatedPipeline, where: str) -> Evidence:
    """What one constraint sees; whatever its function raises makes the outcome invalid."""
    try:
        return as_evidence(constraint.function(part))
    except MemoryError:
        raise
    except Exception as problem:
        reason = f"{type(problem).__name__}: {problem}"
        message = f"constraint '{constraint.limit.name}' failed{where}: {reason}"
        raise InvalidOutcome(message) from problem


def _value(constraint: Constraint, evidence: Evidence, where: str) -> float:
    """The value of one constraint; one that has none makes the outcome invalid, and says why.

    It is never taken as satisfied.
    """
    value = float(evidence.value)
    if not math.isfinite(value):
        reason = explain_unknown(evidence) or f"it is {value}"
        name = constraint.limit.name
        raise InvalidOutcome(f"constraint '{name}' has no value: {reason}{where}")
    limit = constraint.limit
    if limit.extreme is not None and limit.turned(value) < limit.turned(limit.extreme) - ROUNDING:
        reason = f"it is {value:g}, and never beyond {limit.extreme:g}"
        raise InvalidOutcome(f"constraint '{limit.name}' has no value: {reason}{where}")
    return value


def _score_at(metric: Metric, seen: Seen, threshold: float) -> float:
    """The score with other decisions; nothing is predicted for it again."""
    if not seen.by_decisions:
        return seen.score
    view = Decided(seen.answers, partial(_labels_at, seen.answers, threshold, seen.rows.classes))
    return score_of(metric, view, seen.rows)


def _at_threshold(metric: Metric, seen: Seen, threshold: float) -> Seen:
    """What is seen of the pipeline that decides at the threshold, as it would ship."""
    classes = seen.rows.classes
    numbered = Numbered(fix_threshold(seen.pipeline, threshold, classes), classes)
    part = replace(decide(seen.part, threshold), pipeline=numbered)
    return replace(seen, part=part, score=_score_at(metric, seen, threshold))


def _has_two_sides(seen: Seen) -> bool:
    """Whether its scores tell two classes apart, and no more."""
    classes = seen.rows.classes
    shape = seen.part.predictions.shape
    return classes is not None and len(classes) == 2 and shape[1:] in ((), (2,))


def _labels_at(pipeline: Any, threshold: float, classes: Any, X: Any) -> Any:
    scores = np.asarray(predict_scores(pipeline, X))
    sure = scores if scores.ndim == 1 else scores[:, -1]
    return classes[(sure >= threshold).astype(np.intp)]


def _predictions(pipeline: Any, rows: Table) -> Any:
    """The most that the model can say; of one that only decides, the numbers of its decisions."""
    response = response_of(pipeline)
    if not response:
        return _decisions(pipeline, rows)
    predictions = np.asarray(predict_scores(pipeline, rows.X))
    check_predictions(predictions, len(rows.y))
    if response == "predict_proba" and rows.classes is not None:
        check_probabilities(predictions, len(rows.classes))
    return predictions


def _decisions(pipeline: Any, rows: Table) -> Any:
    """What is predicted of the rows, numbered as their target is; known already, as a rule."""
    found = np.asarray(pipeline.predict(rows.X))
    if rows.classes is not None:
        found = number_labels(found, rows.classes)
    check_predictions(found, len(rows.y))
    return found


def _slowdown(wall: float, processor: float) -> float:
    """Seconds on the clock for one of the processor's since these two readings, at least 1.

    It says how much the machine has to do besides, and so how long the rest of a run will take.
    """
    worked = max(time.process_time() - processor, 1e-3)
    return max((time.perf_counter() - wall) / worked, 1.0)


def score_of(metric: Metric, pipeline: Any, rows: Table) -> float:
    """The score of a pipeline that was fitted on labels.

    scikit-learn's own metrics see class numbers, so that those which need a positive class have
    one: the last of the sorted labels. A scorer of the user's own sees the user's own labels.
    """
    if rows.classes is None or metric.sees_labels:
        return float(metric.scorer(pipeline, rows.X, rows.labels()))
    return float(metric.scorer(Numbered(pipeline, rows.classes), rows.X, rows.y))


@contextmanager
def unheard_warnings() -> Iterator[None]:
    """Keep quiet about what a candidate warns of: it is judged by its score."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
