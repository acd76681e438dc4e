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
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from automl_admm.errors import PluginError
from automl_admm.evaluation.answers import check_predictions, check_probabilities, number_labels
from automl_admm.evaluation.deciding import Decider, fix
from automl_admm.evaluation.group_thresholds import GroupRule, Thresholds
from automl_admm.evaluation.metrics import Metric
from automl_admm.evaluation.outcomes import InvalidOutcome
from automl_admm.evaluation.peaks import forget_peak, peak_mb
from automl_admm.evaluation.pipeline import build_pipeline, fit_pipeline, predict_scores
from automl_admm.evaluation.rows import share_of_rows
from automl_admm.evaluation.saving import import_skops
from automl_admm.evaluation.seen import Seen, Table, score_of
from automl_admm.evaluation.thresholds import aimed_decisions, response_of
from automl_admm.evaluation.views import Numbered, Remembered
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


@dataclass
class PipelineWork:
    """Everything that evaluations of one run share; loaded once by the executor.

    `load_components` is called where the work is done, so that plugins need not be pickled. On the
    rows held out limits time at least so many `calls`. Decision thresholds are chosen for the
    limits in `aims`, one for each constraint; without any these are the constraints' own. With a
    `rule` the groups that it names may each have a threshold of their own.
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
    rule: GroupRule | None = None
    _components: Registry[ComponentPlugin] | None = None

    def prepare(self) -> None:
        """Load the plugins and import what the components need, before any child is forked.

        A component that cannot be made is for those evaluations to tell that are to have it.
        """
        components = self._loaded()
        for module in all_modules(self.space.shape):
            with suppress(PluginError):
                build_pipeline([Step(module.component)], components, self.context, seed=0)
        if self.persist:
            import_skops()  # the final fit needs it when time is shortest

    def evaluate(self, candidate: Candidate, seed: int, folder: Path) -> Mapping[str, Any]:
        """Cross-validate a candidate; the predictions of rows not trained on go to a file.

        At a fidelity below 1 it learns from that share of its rows, and is measured as ever. What
        a limit excludes that is known beforehand is not trained at all. Where limits hang on
        decisions, thresholds are chosen for all folds, and what is measured is measured there.
        """
        self._check_cheap(candidate)
        wall, processor = time.perf_counter(), time.process_time()
        with unheard_warnings():
            seen = [self._evaluate_split(candidate, seed, split) for split in self.splits]
            decider = self._decider()
            thresholds = decider.choose(seen)
            if thresholds is not None:
                seen = decider.decide(seen, thresholds)
            parts = [one.part for one in seen]
            values = np.array(self._values_by_split(parts), dtype=float)
            predictions = np.concatenate([part.predictions for part in parts])
            predictions = predictions.astype(np.float32)  # scores beyond its range become infinite
        rows = np.concatenate([valid for _, valid in self.splits])
        np.savez(folder / "predictions.npz", rows=rows, predictions=predictions)
        scores = [one.score for one in seen]
        return {
            "loss": self.metric.loss(float(np.mean(scores))),
            "constraints": [float(value) for value in values.mean(axis=0)],
            "details": {
                "scores": scores,
                "fit_seconds": float(np.mean([part.fit_seconds for part in parts])),
                "predict_seconds": float(np.mean([part.predict_seconds for part in parts])),
                "work_seconds": time.perf_counter() - wall,
                "slowdown": _slowdown(wall, processor),
                **({} if thresholds is None else thresholds.as_details()),
            },
        }

    def refit(
        self,
        candidate: Candidate,
        seed: int,
        folder: Path,
        threshold: float | None = None,
        group_thresholds: Mapping[str, float] | None = None,
    ) -> Mapping[str, Any]:
        """Fit on all rows of the search, with the user's own labels; measure on rows held out.

        What ships decides at the threshold that its evaluation found, or at those of the groups.
        """
        begun = time.perf_counter()
        with unheard_warnings():
            pipeline = self._fit(candidate, seed, self.table.X, self.table.labels())
        fit_seconds = time.perf_counter() - begun
        if threshold is not None:
            thresholds = Thresholds(threshold, group_thresholds or {})
            pipeline = fix(pipeline, thresholds, self.table.classes, self.rule)
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

    def _decider(self) -> Decider:
        limits = self.aims or tuple(constraint.limit for constraint in self.constraints)
        return Decider(self.metric, aimed_decisions(self.constraints, limits), self.rule)

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


@contextmanager
def unheard_warnings() -> Iterator[None]:
    """Keep quiet about what a candidate warns of: it is judged by its score."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
