"""Limits on one class of several: the rows as a question of two classes, this one or another.

Every measure of two classes thereby measures any class, and a comparison of groups, too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, Protocol, runtime_checkable

import numpy as np

from automl_admm.constraints.group_comparison import GapOf, Grouped, InRange, RatioOf, WorstOf
from automl_admm.constraints.parse import LimitCode
from automl_admm.constraints.syntax import ClassOption
from automl_admm.core.errors import ConfigurationError, suggest
from automl_admm.core.evidence import Average, Evidence, Largest, Smallest
from automl_admm.core.named_rows import name_rows
from automl_admm.core.returned_evidence import as_evidence
from automl_admm.grammar.diagnostics import Diagnostic, render
from automl_admm.pipelines.labels import list_labels, place_of
from automl_admm.pipelines.thresholds.single import response_of
from automl_admm.plugins.evaluated_pipeline import EvaluatedPipeline
from automl_admm.plugins.records import Measured

Joining = Literal["min", "max", "macro"]


@runtime_checkable
class KnowsClasses(Protocol):
    """A function of a limit that needs the classes of the target."""

    def knowing(self, labels: Sequence[object]) -> Any:
        """Return the same with these classes; raise if it cannot be measured on them."""


@dataclass(frozen=True, slots=True)
class OneClass:
    """A measure of two classes, asked of one class against all others.

    With a true and a predicted class instead, rows are positive if they are of the first, and
    called so if they are decided as the second. `numbers` are known when the data are.
    """

    function: Callable[..., Measured]
    options: tuple[ClassOption, ...]
    text: str
    numbers: tuple[int, ...] = ()
    labels: tuple[str, ...] = ()

    def __call__(self, evaluated: EvaluatedPipeline, *masks: Any) -> Measured:
        """Measure these rows; groups of them, if they are compared, come with their masks."""
        found = self.function(seen_as(evaluated, self.numbers[0], self.numbers[-1]), *masks)
        return found if isinstance(found, float) else _named(as_evidence(found), self.labels)

    def knowing(self, labels: Sequence[object]) -> OneClass:
        """Return the same with the numbers of its classes; raise if there is no such class."""
        numbers = tuple(_number(option, labels, self.text) for option in self.options)
        return replace(self, numbers=numbers, labels=tuple(str(labels[one]) for one in numbers))


@dataclass(frozen=True, slots=True)
class EachClass:
    """A measure of two classes asked of every class, and the smallest, largest or mean answer.

    `are_apart` says that no row counts for two classes.
    """

    function: Callable[..., Measured]
    joining: Joining
    are_apart: bool = False
    labels: tuple[str, ...] = ()

    def __call__(self, evaluated: EvaluatedPipeline, *masks: Any) -> Measured:
        """Measure these rows; a class without rows has no value, and so has the whole."""
        parts = {
            f"class '{label}'": _named(
                as_evidence(self.function(seen_as(evaluated, one, one), *masks)), (label,)
            )
            for one, label in enumerate(self.labels)
        }
        if self.joining == "macro":
            return Average(parts, self.are_apart)
        return Smallest(parts) if self.joining == "min" else Largest(parts)

    def knowing(self, labels: Sequence[object]) -> EachClass:
        """Return the same with the classes of the target."""
        return replace(self, labels=tuple(map(str, labels)))


def knowing_classes(function: Any, labels: Sequence[object]) -> Any:
    """Return a function of a limit with the classes of the target, wherever it asks for them."""
    if isinstance(function, KnowsClasses):
        return function.knowing(labels)
    if isinstance(function, Grouped | GapOf | InRange | RatioOf | WorstOf):
        return replace(function, function=knowing_classes(function.function, labels))
    return function


def seen_as(evaluated: EvaluatedPipeline, true: int, predicted: int) -> EvaluatedPipeline:
    """Return the rows as two classes: 1 in `y` for the true one, in decisions for the predicted.

    The scores are those of the predicted class.
    """
    decided = evaluated.decisions
    # A new record: one that caches the parts of its rows would give them with the old classes.
    return EvaluatedPipeline(
        evaluated.pipeline,
        evaluated.X,
        (np.asarray(evaluated.y) == true).astype(np.intp),
        _scores(evaluated, predicted),
        evaluated.fit_seconds,
        evaluated.predict_seconds,
        None if decided is None else (np.asarray(decided) == predicted).astype(np.intp),
        sensitive=evaluated.sensitive,
        peak_mb=evaluated.peak_mb,
        weights=evaluated.weights,
    )


def _scores(evaluated: EvaluatedPipeline, place: int) -> Any:
    predictions = np.asarray(evaluated.predictions)
    if predictions.ndim == 2:
        own = predictions[:, place]
        is_sure = response_of(evaluated.pipeline) != "decision_function"
        return np.column_stack([1.0 - own, own]) if is_sure else own
    if not response_of(evaluated.pipeline):
        return (predictions == place).astype(float)  # predictions are decisions
    return predictions if place else -predictions


def _number(option: ClassOption, labels: Sequence[object], text: str) -> int:
    place = place_of(option.label, labels)
    if place is not None:
        return place
    names = [str(label) for label in labels]
    hint = suggest(str(option.label), names)
    hint = f"{hint} Its classes are {list_labels(names)}."
    message = f"the target has no class '{option.label}'"
    mistake = Diagnostic(LimitCode.UNKNOWN_CLASS, option.place, message, hint)
    raise ConfigurationError(render([mistake], text, "limit"))


def _named(evidence: Evidence, labels: Sequence[str]) -> Evidence:
    """Return evidence that names its rows by their class instead of as positive ones."""
    return name_rows(evidence, lambda of: _words(of, labels))


def _words(of: str, labels: Sequence[str]) -> str:
    words = {
        "positive rows": f"rows of class '{labels[0]}'",
        "negative rows": f"rows of classes other than '{labels[0]}'",
        "rows called positive": f"rows called '{labels[-1]}'",
        "rows positive or called so": f"rows that are, or are called, '{labels[0]}'",
    }
    return words.get(of, of)
