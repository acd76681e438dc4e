"""Results of the scikit-learn work beyond a loss: times of folds, final fits, fallbacks."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any

from automl_admm.core.evaluations import Evaluation
from automl_admm.core.messages import say_value
from automl_admm.core.results import EvaluationResult
from automl_admm.pipelines.as_code import PipelineCode


@dataclass(frozen=True, slots=True)
class FoldTimes:
    """Times of one evaluation, in seconds: means of fits and of predictions, and the whole work.

    `slowdown` is seconds on the clock for one of the processor's, at least 1.
    """

    fit_seconds: float
    predict_seconds: float
    work_seconds: float
    slowdown: float = 1.0
    folds: int = 1

    @classmethod
    def of(cls, evaluation: Evaluation) -> FoldTimes | None:
        """Read the times of a pipeline's evaluation; None for one that timed no fit."""
        found = evaluation.details
        if "fit_seconds" not in found:
            return None
        return cls(
            float(found["fit_seconds"]),
            float(found.get("predict_seconds", 0.0)),
            float(found.get("work_seconds", 0.0)),
            float(found.get("slowdown", 1.0)),
            max(len(found.get("scores", ())), 1),
        )

    @property
    def measure_seconds(self) -> float:
        """Seconds that scores, limits and thresholds take on one fold."""
        return max(self.work_seconds / self.folds - self.fit_seconds - self.predict_seconds, 0.0)

    def as_details(self) -> dict[str, float]:
        """Return the times as the log has them; the scores say how many folds there are."""
        return {
            "fit_seconds": self.fit_seconds,
            "predict_seconds": self.predict_seconds,
            "work_seconds": self.work_seconds,
            "slowdown": self.slowdown,
        }


def as_interval(found: Any) -> tuple[float, float] | None:
    """Return both ends of an interval that was written; None for none."""
    return None if found is None else (float(found[0]), float(found[1]))


def say_interval(ends: tuple[float, float] | None) -> str | None:
    """Return the interval of a score in words; None for none.

    >>> say_interval((0.71, 0.8))
    '95 % interval 0.7100 to 0.8000'
    """
    if ends is None:
        return None
    low, high = (f"{end:.4f}" if abs(end) < 1e5 else f"{end:.4g}" for end in ends)
    return f"95 % interval {low} to {high}"


@dataclass(frozen=True, slots=True)
class FinalFitResult:
    """The measurements of a final fit, and the hashes of the `files` that it wrote, by name.

    `one_class` is the label given to all rows of the search, if it is only one, and
    `held_out_one_class` that of all held-out rows, if these have several. If the model could
    not be measured on held-out rows, `held_out_problem` says why; it ships nevertheless. Who loads
    the shipped file with skops has to trust its `types`. `code` builds the pipeline again. `costs`
    are the values of limits on an ensemble, NaN for those that its predictions tell. At the places
    `one_sided` on a path of thresholds it calls all rows of the search the same. `seen_loss` is its
    loss on rows that it learned from.
    """

    files: Mapping[str, str] = field(default_factory=dict)
    one_class: str | None = None
    held_out_score: float | None = None
    held_out_interval: tuple[float, float] | None = None
    held_out_rows: int = 0
    held_out_constraints: tuple[float, ...] = ()
    held_out_decisions: Mapping[str, float | None] = field(default_factory=dict)
    held_out_one_class: str | None = None
    held_out_problem: str = ""
    types: tuple[str, ...] = ()
    code: PipelineCode = field(default_factory=PipelineCode)
    fit_seconds: float = math.nan
    peak_mb: float = math.nan
    costs: tuple[float, ...] = ()
    one_sided: tuple[int, ...] = ()
    seen_loss: float = math.nan

    def as_json(self) -> dict[str, Any]:
        """Return the mapping that the executor hands to the parent process."""
        found = {one.name: getattr(self, one.name) for one in fields(self)}
        return found | {"code": asdict(self.code)}

    @classmethod
    def from_json(cls, found: Mapping[str, Any]) -> FinalFitResult:
        """Read what `as_json` wrote."""
        rates = dict(found.get("held_out_decisions", {}))
        return cls(
            files={name: _text(one) for name, one in dict(found.get("files", {})).items()},
            one_class=_text_or_none(found.get("one_class")),
            held_out_score=_number_or_none(found.get("held_out_score")),
            held_out_interval=as_interval(found.get("held_out_interval")),
            held_out_rows=_count(found.get("held_out_rows", 0)),
            held_out_constraints=_numbers(found.get("held_out_constraints", ())),
            held_out_decisions={name: _number_or_none(one) for name, one in rates.items()},
            held_out_one_class=_text_or_none(found.get("held_out_one_class")),
            held_out_problem=str(found.get("held_out_problem", "")),
            types=tuple(map(str, found.get("types", ()))),
            code=PipelineCode.from_json(found.get("code", {})),
            fit_seconds=float(found.get("fit_seconds", math.nan)),
            peak_mb=float(found.get("peak_mb", math.nan)),
            costs=_numbers(found.get("costs", ())),
            one_sided=tuple(map(int, found.get("one_sided", ()))),
            seen_loss=float(found.get("seen_loss", math.nan)),
        )


def _numbers(found: Any) -> tuple[float, ...]:
    return tuple(map(float, found))


def _number_or_none(found: Any) -> float | None:
    return None if found is None else float(found)


def _text(found: Any) -> str:
    if not isinstance(found, str):
        raise TypeError(f"{say_value(found)} is no text")
    return found


def _text_or_none(found: Any) -> str | None:
    return None if found is None else _text(found)


def _count(found: Any) -> int:
    if int(found) < 0:
        raise ValueError(f"{say_value(found)} is no number of rows")
    return int(found)


@dataclass(frozen=True, slots=True)
class FallbackResult:
    """A model of a few `rows`: its evaluation and its final fit."""

    evaluation: EvaluationResult
    fit: FinalFitResult
    rows: int

    def as_json(self) -> dict[str, Any]:
        """Return the mapping that the executor hands to the parent process."""
        return {
            "evaluation": self.evaluation.as_json(),
            "fit": self.fit.as_json(),
            "rows": self.rows,
        }

    @classmethod
    def from_json(cls, found: Mapping[str, Any]) -> FallbackResult:
        """Read what `as_json` wrote."""
        return cls(
            EvaluationResult.from_json(found["evaluation"]),
            FinalFitResult.from_json(found["fit"]),
            _count(found["rows"]),
        )


def slowdown_since(wall: float, processor: float) -> float:
    """Return seconds on the clock for one of the processor's since these two readings, at least 1.

    It says how much the machine has to do besides, and so how long the rest of a run will take.
    """
    # The clock of the processor ticks coarsely: it may not have moved.
    worked = max(time.process_time() - processor, 1e-3)
    return max((time.perf_counter() - wall) / worked, 1.0)
