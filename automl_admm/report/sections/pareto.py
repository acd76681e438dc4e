"""Pareto fronts: the score against the value of each limit."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial

from automl_admm.core.evaluations import Evaluation
from automl_admm.core.limits import Limit
from automl_admm.report.document import numbers
from automl_admm.report.document.charts import Chart, Layer, legend_of
from automl_admm.report.document.html import Markup, name, tag, together
from automl_admm.report.document.tables import figure, table
from automl_admm.report.pipeline_text import shape_of
from automl_admm.report.searched import Searched
from automl_admm.report.sections.section import BY_COLUMN, Section
from automl_admm.report.shipped import Shipped, named, shipped_of
from automl_admm.report.view import RunView


@dataclass(frozen=True, slots=True)
class Place:
    """An evaluation by its score and its value of each limit, None for one that is not finite."""

    number: int
    score: float
    is_feasible: bool
    values: tuple[float | None, ...]


@dataclass(frozen=True, slots=True)
class OnFront:
    """An evaluation with no other that has both a better score and a better value."""

    number: int
    value: float
    score: float
    is_feasible: bool
    shape: str


@dataclass(frozen=True, slots=True)
class Front:
    """The front of the evaluations by one limit, and the place of the model.

    Before the run `has_model`, it is the place of the best evaluation so far.
    """

    limit: str
    name: str
    bound: float
    at_least: bool
    front: tuple[OnFront, ...]
    model_value: float | None
    model_score: float | None
    has_model: bool


@dataclass(frozen=True, slots=True)
class Fronts:
    """The evaluations on all rows and folds, and a front for each limit."""

    metric: str
    fronts: tuple[Front, ...]
    places: tuple[Place, ...] = field(metadata=BY_COLUMN)

    def against(self, front: Front) -> list[tuple[float, Place]]:
        """Return the evaluations, each behind its value of the limit of a front."""
        limit = self.fronts.index(front)
        pairs = ((place.values[limit], place) for place in self.places)
        return [(value, place) for value, place in pairs if value is not None]


def measure(view: RunView) -> Fronts:
    """Find the fronts of a run folder."""
    return measure_search(view.searched, shipped_of(view))


def measure_search(search: Searched, model: Shipped | None) -> Fronts:
    """Find the front of each limit among the evaluations on all rows and folds."""
    fronts = (_front(search, limit, place, model) for place, limit in enumerate(search.limits))
    places = tuple(map(partial(_place, search), search.ranked)) if search.limits else ()
    return Fronts(search.metric, tuple(fronts), places)


def _place(search: Searched, one: Evaluation) -> Place:
    values = tuple(map(numbers.finite, one.constraints))
    return Place(one.number, search.score(one), one.number in search.feasible, values)


def _front(search: Searched, limit: Limit, place: int, model: Shipped | None) -> Front:
    known = [one for one in search.ranked if math.isfinite(one.constraints[place])]
    values = None if model is None or not model.values else model.values[place]
    return Front(
        limit=str(limit),
        name=limit.name,
        bound=limit.bound,
        at_least=limit.at_least,
        front=tuple(_on_front(search, limit, place, known)),
        model_value=values,
        model_score=None if model is None else model.validation_score,
        has_model=model is not None and model.is_shipped,
    )


def _on_front(
    search: Searched, limit: Limit, place: int, known: list[Evaluation]
) -> Iterator[OnFront]:
    """Walk from the best value on; only a better score joins the front.

    A pipeline that predicts one class for all rows is near no front: it decides nothing.
    """
    best = -math.inf
    several = (one for one in known if one.one_class is None)
    for one in sorted(several, key=lambda one: (limit.turned(one.constraints[place]), one.loss)):
        score = search.score(one)
        if score > best:
            best = score
            value, is_feasible = one.constraints[place], one.number in search.feasible
            yield OnFront(one.number, value, score, is_feasible, shape_of(one.text))


def draw(found: Fronts) -> Markup:
    """Draw a chart for each limit."""
    if not found.fronts:
        return tag("p", "The run has no limits, so there is nothing to trade the score for.")
    charts = [_chart(found, one) for one in found.fronts]
    pairs = zip(charts, found.fronts, strict=True)
    figures = (
        figure(chart.drawn(), _caption(one, chart), _numbers(one, found.metric))
        for chart, one in pairs
    )
    return together(legend_of(charts), tag("div", *figures, class_="charts"))


def _caption(one: Front, chart: Chart) -> Markup:
    side = "right" if one.at_least else "left"
    said = f": the upright line is the bound, and its {side} is allowed.{chart.note()}"
    return together(name(one.limit), said)


def _numbers(one: Front, metric: str) -> Markup:
    rows = (
        (
            name(place.shape),
            place.number,
            numbers.plain(place.value),
            numbers.score(place.score),
            "yes" if place.is_feasible else "no",
        )
        for place in one.front
    )
    return table(("Front", "#", one.name, metric, "Within all limits"), rows)


def _chart(found: Fronts, one: Front) -> Chart:
    places, metric = found.against(one), found.metric
    inside = [(value, p.score) for value, p in places if p.is_feasible]
    outside = [(value, p.score) for value, p in places if not p.is_feasible]
    chosen: list[tuple[float, float]] = []
    if one.model_value is not None and one.model_score is not None:
        chosen = [(one.model_value, one.model_score)]
    return Chart(
        title=f"{metric} against {one.name}",
        x=one.name,
        y=metric,
        layers=(
            Layer("steps", "any", [(p.value, p.score) for p in one.front], "front"),
            Layer("dots", "outside", outside, "outside the limits, or one class for all rows"),
            Layer("dots", "inside", inside, "within the limits"),
            Layer("dots", "chosen", chosen, named(one.has_model)),
        ),
        marks_x=(one.bound,),
        marks_label="the bound",
        may_be_log=True,
    )


SECTION = Section("pareto", "Score against each limit", Fronts, measure, draw)
