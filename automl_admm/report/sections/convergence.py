"""Convergence: the score of each evaluation and the incumbent, by evaluation and by time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from automl_admm.core.evaluations import Evaluation
from automl_admm.report.document import numbers
from automl_admm.report.document.charts import Chart, Layer
from automl_admm.report.document.html import Markup, name, tag, together
from automl_admm.report.document.tables import figure, table
from automl_admm.report.pipeline_text import shape_of
from automl_admm.report.sections.section import Section
from automl_admm.report.view import RunView


@dataclass(frozen=True, slots=True)
class Point:
    """One evaluation: `seconds` are those of all evaluations up to its end, divided by workers."""

    number: int
    seconds: float
    score: float | None
    is_feasible: bool
    status: str
    is_partial: bool


@dataclass(frozen=True, slots=True)
class Incumbent:
    """An evaluation better than all before it."""

    number: int
    seconds: float
    score: float
    shape: str


@dataclass(frozen=True, slots=True)
class Convergence:
    """All evaluations, the incumbents within the limits, and those of any kind."""

    metric: str
    has_limits: bool
    workers: int
    points: tuple[Point, ...]
    incumbents: tuple[Incumbent, ...]
    incumbents_of_any: tuple[Incumbent, ...]


def measure(view: RunView) -> Convergence:
    """Follow the search evaluation by evaluation."""
    workers = int(view.settings["workers"])
    clock, spent = {}, 0.0
    for one in view.evaluations:
        spent += one.seconds / workers
        clock[one.number] = round(spent, 3)
    inside = [one for one in view.ranked if one.number in view.feasible]
    return Convergence(
        metric=view.metric,
        has_limits=bool(view.limits),
        workers=workers,
        points=tuple(_point(view, one, clock[one.number]) for one in view.evaluations),
        incumbents=tuple(_incumbents(view, inside, clock)),
        incumbents_of_any=tuple(_incumbents(view, view.ranked, clock)),
    )


def _point(view: RunView, one: Evaluation, seconds: float) -> Point:
    score = numbers.finite(view.score(one))
    is_partial = one.ok and not one.is_ranked
    return Point(one.number, seconds, score, one.number in view.feasible, one.ending, is_partial)


def _incumbents(
    view: RunView, among: Sequence[Evaluation], clock: dict[int, float]
) -> Iterator[Incumbent]:
    best = float("-inf")
    for one in among:
        score = view.score(one)
        if score > best:
            best = score
            yield Incumbent(one.number, clock[one.number], score, shape_of(one.text))


def draw(found: Convergence) -> Markup:
    """Draw both figures, and the table of incumbents."""
    if not found.points:
        return tag("p", "Nothing has been evaluated yet.")
    by_number = _chart(found, "evaluation", is_by_time=False)
    by_time = _chart(found, "seconds of evaluations", is_by_time=True)
    behind = _incumbents_table(found)
    which = "the best so far within the limits" if found.has_limits else "the best so far"
    return together(
        by_number.legend(),
        tag(
            "div",
            figure(by_number.drawn(), _by_evaluation(which), behind),
            figure(by_time.drawn(), f"By time: {_clock(found)}."),
            class_="charts",
        ),
    )


def _incumbents_table(found: Convergence) -> Markup:
    kinds = {"within the limits": found.incumbents, "of all": found.incumbents_of_any}
    if not found.has_limits:
        kinds = {"best so far": found.incumbents}
    rows = [
        (
            kind,
            name(one.shape),
            one.number,
            numbers.duration(one.seconds),
            numbers.score(one.score),
        )
        for kind, incumbents in kinds.items()
        for one in incumbents
    ]
    return table(("Best", "Pipeline", "#", "Time", found.metric), rows, text_columns=2)


def _by_evaluation(which: str) -> str:
    return f"By evaluation: the line is {which}. Dots on the lower border are far below it."


def _clock(found: Convergence) -> str:
    shared = "" if found.workers == 1 else f", divided by the {found.workers} workers"
    return f"the seconds of the evaluations, added up{shared}; the log has no time of day"


def _chart(found: Convergence, axis: str, *, is_by_time: bool) -> Chart:
    def across(one: Point | Incumbent) -> float:
        return one.seconds if is_by_time else float(one.number)

    whole = [p for p in found.points if p.score is not None and not p.is_partial]
    inside = [(across(p), p.score) for p in whole if p.is_feasible and p.score is not None]
    outside = [(across(p), p.score) for p in whole if not p.is_feasible and p.score is not None]
    partial = [(across(p), p.score) for p in found.points if p.is_partial and p.score is not None]
    failed = [(across(p), 0.0) for p in found.points if p.score is None]
    end = across(found.points[-1])
    labels = ("within the limits", "outside the limits, or one class for all rows")
    if not found.has_limits:
        labels = ("evaluated", "one class for all rows")
    return Chart(
        title=f"{found.metric} by {axis}",
        x=axis,
        y=found.metric,
        layers=(
            Layer("dots", "partial", partial, "on fewer rows or folds"),
            Layer("dots", "outside", outside, labels[1]),
            Layer("dots", "inside", inside, labels[0]),
            Layer("steps", "any", _way(found.incumbents_of_any, across, end), "best of all")
            if found.has_limits
            else Layer("steps", "any", ()),
            Layer("steps", "best", _way(found.incumbents, across, end), "best so far"),
            Layer("crosses", "failed", failed, "no result"),
        ),
    )


def _way(
    incumbents: Sequence[Incumbent], across: Callable[[Incumbent], float], end: float
) -> list[tuple[float, float]]:
    """Return the corners of the incumbent's line, which holds to the end."""
    ways = [(across(one), one.score) for one in incumbents]
    return [*ways, (end, ways[-1][1])] if ways else ways


SECTION = Section("convergence", "Convergence", Convergence, measure, draw)
