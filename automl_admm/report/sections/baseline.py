"""The baseline, and what the search brought over it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from automl_admm.core.evaluations import Evaluation
from automl_admm.report.document import numbers
from automl_admm.report.document.html import Markup, Part, name, tag, together
from automl_admm.report.document.tables import table
from automl_admm.report.pipeline_text import shape_of
from automl_admm.report.sections.section import Section
from automl_admm.report.shipped import (
    Shipped,
    named,
    shipped_of,
    tell_pooled_values,
    tell_shipped_thresholds,
)
from automl_admm.report.view import RunView


@dataclass(frozen=True, slots=True)
class Compared:
    """One pipeline of the comparison, with its values of the limits."""

    role: str
    number: int | None
    shape: str
    score: float | None
    is_feasible: bool
    values: tuple[float | None, ...]


@dataclass(frozen=True, slots=True)
class Baseline:
    """The first pipeline that succeeded, the model, and the best one with and without limits.

    `gain` is the validation score of the model above that of the first pipeline; before there is a
    model (`has_model`), it is that of the best evaluation. `shipped_at` says where the model
    decides if its evaluation decided elsewhere, `shipped_with` its values if these alone differ.
    """

    metric: str
    limits: tuple[str, ...]
    compared: tuple[Compared, ...]
    gain: float | None
    has_model: bool
    shipped_at: str | None
    shipped_with: str | None


def measure(view: RunView) -> Baseline:
    """Compare the model with the first pipeline and with the best of all."""
    first = next(iter(view.ranked), None)
    best = min(view.ranked, key=lambda one: one.loss, default=None)
    inside = [one for one in view.ranked if one.number in view.feasible]
    within = min(inside, key=lambda one: one.loss, default=None)
    model = shipped_of(view)
    found = [
        _of_evaluation(view, "first pipeline", first),
        _of_evaluation(view, "best within the limits", within if view.limits else None),
        _of_evaluation(view, "best, limits or not", best),
        None if model is None or not model.is_shipped else _of_model(model),
    ]
    compared = tuple(one for one in found if one is not None)
    gain, has_model = _gain(view, first, model), view.manifest is not None
    limits = tuple(map(str, view.limits))
    elsewhere, pooled = _told(view, tell_shipped_thresholds), _told(view, tell_pooled_values)
    return Baseline(view.metric, limits, compared, gain, has_model, elsewhere, pooled)


def _told(view: RunView, tell: Callable[[Mapping[str, Any], Evaluation], str | None]) -> str | None:
    manifest = view.manifest
    if manifest is None:
        return None
    found = (tell(manifest, one) for one in view.evaluations)
    return next((told for told in found if told is not None), None)


def _gain(view: RunView, first: Evaluation | None, model: Shipped | None) -> float | None:
    if first is None or model is None or model.validation_score is None:
        return None
    return numbers.finite(model.validation_score - view.score(first))


def _of_evaluation(view: RunView, role: str, one: Evaluation | None) -> Compared | None:
    if one is None:
        return None
    score, values = numbers.finite(view.score(one)), tuple(map(numbers.finite, one.constraints))
    is_feasible = one.number in view.feasible
    return Compared(role, one.number, shape_of(one.text), score, is_feasible, values)


def _of_model(model: Shipped) -> Compared:
    shape = f"ensemble of {len(model.members)}" if model.members else shape_of(model.text)
    score, values = model.validation_score, model.values
    return Compared("the model", model.number, shape, score, model.is_feasible, values)


def draw(found: Baseline) -> Markup:
    """Draw the comparison."""
    if not found.compared:
        return tag("p", "Nothing has succeeded yet, so there is nothing to compare.")
    headings = ("", "Pipeline", "#", found.metric, *found.limits)
    if found.limits:
        headings = (*headings, "Within limits")
    said = None
    if found.gain is not None:
        gain = numbers.signed(found.gain)
        said = tag(
            "p",
            f"Over the first pipeline, with its default parameters unless you gave starts, "
            f"{named(found.has_model)} has {gain} {found.metric} on the same validation rows.",
        )
    return together(
        said,
        table(headings, map(_row, found.compared), text_columns=2),
        *(
            tag("p", name(f"The model is {own}. The other lines are {others}."))
            for own, others in (
                (found.shipped_at, "at the search's own thresholds"),
                (found.shipped_with, "means over folds"),
            )
            if own is not None
        ),
        tag(
            "p",
            "The best of many pipelines was lucky on the validation rows, too: its score there is "
            "better than on new rows.",
        ),
    )


def _row(one: Compared) -> tuple[Part, ...]:
    number = "–" if one.number is None else one.number
    values = map(numbers.plain, one.values)
    # Without limits there are none to be within.
    feasible = (("no", "yes")[one.is_feasible],) if one.values else ()
    return (one.role, name(one.shape), number, numbers.score(one.score), *values, *feasible)


SECTION = Section("baseline", "The first pipeline and the model", Baseline, measure, draw)
