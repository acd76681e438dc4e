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
from functools import wraps
from pathlib import Path
from typing import Any

import numpy as np

from automl_admm.evaluation.metrics import Metric
from automl_admm.evaluation.outcomes import InvalidOutcome
from automl_admm.evaluation.peaks import forget_peak, peak_mb
from automl_admm.evaluation.pipeline import build_pipeline, fit_pipeline, predict_scores
from automl_admm.evaluation.rows import share_of_rows
from automl_admm.evidence import Evidence, as_evidence, explain_unknown
from automl_admm.plugin_types import BuildContext, ComponentPlugin, Constraint, EvaluatedPipeline
from automl_admm.registry import Registry
from automl_admm.shape import PipelineSpace, Step, all_modules
from automl_admm.space import Candidate

Split = tuple[Any, Any]
# The same in every run: equal shares of equal rows are equal, whoever asks.
SHARE_SEED = 0
EVIDENCE = "evidence.pickle"


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


@dataclass
class PipelineWork:
    """Everything that evaluations of one run share; loaded once by the executor.

    `load_components` is called where the work is done, so that plugins need not be pickled. On the
    rows held out limits time at least so many `calls`.
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
    _components: Registry[ComponentPlugin] | None = None

    def prepare(self) -> None:
        """Load the plugins and import what the components need, before any child is forked."""
        components = self._loaded()
        for module in all_modules(self.space.shape):
            build_pipeline([Step(module.component)], components, self.context, seed=0)
        if self.persist:
            import skops.io  # noqa: F401 - the final fit needs it when time is shortest

    def evaluate(self, candidate: Candidate, seed: int, folder: Path) -> Mapping[str, Any]:
        """Cross-validate a candidate; the predictions of rows not trained on go to a file.

        At a fidelity below 1 it learns from that share of its rows, and is measured as ever. What
        a limit excludes that is known beforehand is not trained at all.
        """
        self._check_cheap(candidate)
        wall, processor = time.perf_counter(), time.process_time()
        with unheard_warnings():
            parts = [self._evaluate_split(candidate, seed, split) for split in self.splits]
            values = np.array(self._values_by_split([part for part, _ in parts]), dtype=float)
            predictions = np.concatenate([part.predictions for part, _ in parts])
            predictions = predictions.astype(np.float32)  # scores beyond its range become infinite
        rows = np.concatenate([valid for _, valid in self.splits])
        np.savez(folder / "predictions.npz", rows=rows, predictions=predictions)
        scores = [score for _, score in parts]
        return {
            "loss": self.metric.loss(float(np.mean(scores))),
            "constraints": [float(value) for value in values.mean(axis=0)],
            "details": {
                "scores": scores,
                "fit_seconds": float(np.mean([part.fit_seconds for part, _ in parts])),
                "predict_seconds": float(np.mean([part.predict_seconds for part, _ in parts])),
                "slowdown": _slowdown(wall, processor),
            },
        }

    def refit(self, candidate: Candidate, seed: int, folder: Path) -> Mapping[str, Any]:
        """Fit on all rows of the search, with the user's own labels; measure on rows held out."""
        begun = time.perf_counter()
        with unheard_warnings():
            pipeline = self._fit(candidate, seed, self.table.X, self.table.labels())
        fit_seconds = time.perf_counter() - begun
        found: dict[str, Any] = {}
        with (folder / "model.pickle").open("wb") as file:
            pickle.dump(pipeline, file, protocol=pickle.HIGHEST_PROTOCOL)
        if self.persist:
            from skops.io import dump

            dump(pipeline, folder / "model.skops", compression=8)
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
                part, score = self._measure(pipeline, rows, fit_seconds)
                found |= {"held_out_score": score, "held_out_rows": len(rows.y)}
                part = replace(part, calls=self.calls)
                seen = [_evidence(constraint, part, "") for constraint in self.constraints]
            with (folder / EVIDENCE).open("wb") as file:
                pickle.dump(seen, file, protocol=pickle.HIGHEST_PROTOCOL)
            pairs = zip(self.constraints, seen, strict=True)
            values = [_value(constraint, evidence, "") for constraint, evidence in pairs]
        except Exception as problem:  # noqa: BLE001 - a metric or a limit is anybody's code
            return found | {"held_out_problem": f"{type(problem).__name__}: {problem}"}
        return found | {"held_out_constraints": values}

    def _evaluate_split(
        self, candidate: Candidate, seed: int, split: Split
    ) -> tuple[EvaluatedPipeline, float]:
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

    def _measure(
        self, pipeline: Any, rows: Table, fit_seconds: float
    ) -> tuple[EvaluatedPipeline, float]:
        """Predict rows that were not fitted on, once; a scorer of the user sees the labels."""
        remembered = Remembered(pipeline)
        begun = time.perf_counter()
        predictions = np.asarray(predict_scores(remembered, rows.X))
        seconds = time.perf_counter() - begun
        if predictions.dtype.kind == "f" and not np.isfinite(predictions).all():
            raise InvalidOutcome("the predictions are not all finite")
        peak = peak_mb()
        score = score_of(self.metric, remembered, rows)
        numbered = pipeline if rows.classes is None else Numbered(pipeline, rows.classes)
        decisions = _decisions(remembered, rows) if self.constraints else None
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
        return evaluated, score

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
    return value


def _decisions(pipeline: Any, rows: Table) -> Any:
    """What is predicted of the rows, numbered as their target is; known already, as a rule."""
    found = np.asarray(pipeline.predict(rows.X))
    return found if rows.classes is None else np.searchsorted(rows.classes, found)


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


class Numbered:
    """A pipeline fitted on labels, seen as one fitted on their numbers: what limits look at."""

    def __init__(self, pipeline: Any, classes: Any) -> None:
        self._pipeline = pipeline
        self._labels = classes
        self.classes_ = np.arange(len(classes))

    def predict(self, X: Any) -> Any:
        """The numbers of the predicted labels."""
        return np.searchsorted(self._labels, self._pipeline.predict(X))

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self._pipeline, name)

    def __sklearn_tags__(self) -> Any:
        return self._pipeline.__sklearn_tags__()


class Remembered:
    """A fitted pipeline that answers a question about the same rows only once.

    A scorer asks again for what was just predicted; for neighbours and kernels that is most of
    the cost.
    """

    RESPONSES = ("predict", "predict_proba", "decision_function")

    def __init__(self, pipeline: Any) -> None:
        self._pipeline = pipeline
        self._answers: dict[str, tuple[Any, Any]] = {}

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        found = getattr(self._pipeline, name)
        return self._remembering(found) if name in self.RESPONSES else found

    def __sklearn_tags__(self) -> Any:
        return self._pipeline.__sklearn_tags__()

    def _remembering(self, method: Any) -> Any:
        @wraps(method)
        def respond(X: Any) -> Any:
            rows, answer = self._answers.get(method.__name__, (None, None))
            if rows is not X:
                answer = method(X)
                self._answers[method.__name__] = (X, answer)
            return answer

        return respond
