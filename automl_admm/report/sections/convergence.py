"""Convergence: the score of each evaluation and the incumbent, by evaluation and by time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from automl_admm.core.evaluations import Evaluation
from automl_admm.report.clock import clock_of
from automl_admm.report.document import numbers
from automl_admm.report.document.charts import Chart, Layer, legend_of
from automl_admm.report.document.html import Markup, name, tag, together
from automl_admm.report.document.tables import figure, table
from automl_admm.report.pipeline_text import shape_of
from automl_admm.report.searched import Searched
from automl_admm.report.sections.section import BY_COLUMN, Section
from automl_admm.report.view import RunView


@dataclass(frozen=True, slots=True)
class Point:
    """One evaluation: `seconds` are those of the run until its end, without pauses."""

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
    """All evaluations, the incumbents within the limits, and those of any kind.

    `pauses` are the seconds at which a later session went on; the times of `estimated` evaluations
    are not known, and follow from the seconds that each took.
    """

    metric: str
    has_limits: bool
    workers: int
    pauses: tuple[float, ...]
    estimated: int
    points: tuple[Point, ...] = field(metadata=BY_COLUMN)
    incumbents: tuple[Incumbent, ...]
    incumbents_of_any: tuple[Incumbent, ...]


def measure(view: RunView) -> Convergence:
    """Follow the search of a run folder."""
    return measure_search(view.searched)


def measure_search(search: Searched) -> Convergence:
    """Follow a search evaluation by evaluation."""
    found = clock_of(search)
    clock = found.ends
    ranked = list(search.ranked)
    inside = [one for one in ranked if one.number in search.feasible]
    inside, ranked = (sorted(some, key=lambda one: clock[one.number]) for some in (inside, ranked))
    return Convergence(
        metric=search.metric,
        has_limits=bool(search.limits),
        workers=search.workers,
        pauses=found.pauses,
        estimated=found.estimated,
        points=tuple(_point(search, one, clock[one.number]) for one in search.evaluations),
        incumbents=tuple(_incumbents(search, inside, clock)),
        incumbents_of_any=tuple(_incumbents(search, ranked, clock)),
    )


def _point(search: Searched, one: Evaluation, seconds: float) -> Point:
    score = numbers.finite(search.score(one))
    is_partial = one.ok and not one.is_ranked
    return Point(one.number, seconds, score, one.number in search.feasible, one.ending, is_partial)


def _incumbents(
    search: Searched, among: Sequence[Evaluation], clock: dict[int, float]
) -> Iterator[Incumbent]:
    best = float("-inf")
    for one in among:
        score = search.score(one)
        if score > best:
            best = score
            yield Incumbent(one.number, clock[one.number], score, shape_of(one.text))


def draw(found: Convergence) -> Markup:
    """Draw both figures, and the table of incumbents."""
    if not found.points:
        return tag("p", "Nothing has been evaluated yet.")
    by_number = _chart(found, "evaluation", is_by_time=False)
    by_time = _chart(found, "seconds of the run", is_by_time=True)
    behind = _incumbents_table(found)
    return together(
        legend_of([by_number, by_time]),
        tag(
            "div",
            figure(
                by_number.drawn(),
                f"By evaluation{_line(found, by_number)}.{by_number.note()}",
                behind,
            ),
            figure(by_time.drawn(), f"By time: {_clock(found)}.{by_time.note()}"),
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


def _line(found: Convergence, chart: Chart) -> str:
    """Name the line of a figure; without one, say why if the limits are the reason."""
    if found.has_limits and not found.incumbents:
        return ": nothing is within the limits so far, so no line shows the best of them"
    if not any(one.class_ == "best" and one.is_drawn() for one in chart.layers):
        return ""
    within = " within the limits" if found.has_limits else ""
    return f": the line is the best so far{within}"


def _clock(found: Convergence) -> str:
    said = ["from the start of the run to the end of each evaluation"]
    if found.pauses:
        said.append("the pause before a later session is left out")
    if found.estimated:
        shared = "" if found.workers == 1 else f", divided by the {found.workers} workers"
        whose = "" if found.estimated == len(found.points) else f" of {found.estimated} evaluations"
        said.append(
            f"the log has no time of day{whose}: there the seconds of the evaluations are added "
            f"up{shared}"
        )
    return "; ".join(said)


def _chart(found: Convergence, axis: str, *, is_by_time: bool) -> Chart:
    def at(points: Iterable[Point]) -> list[tuple[float, float]]:
        return [
            (one.seconds if is_by_time else float(one.number), one.score or 0.0) for one in points
        ]

    scored = [one for one in found.points if one.score is not None]
    whole = [one for one in scored if not one.is_partial]
    inside = [one for one in whole if one.is_feasible]
    end = max(x for x, _ in at(found.points))
    labels = ("within the limits", "outside the limits, or one class for all rows")
    if not found.has_limits:
        labels = ("evaluated", "one class for all rows")
    return Chart(
        title=f"{found.metric} by {axis}",
        x=axis,
        y=found.metric,
        layers=(
            Layer(
                "dots", "partial", at(p for p in scored if p.is_partial), "on fewer rows or folds"
            ),
            Layer("dots", "outside", at(p for p in whole if not p.is_feasible), labels[1]),
            Layer("dots", "inside", at(inside), labels[0]),
            Layer("steps", "any", best_so_far(at(whole), end), "best of all")
            if found.has_limits
            else Layer("steps", "any", ()),
            Layer("steps", "best", best_so_far(at(inside), end), "best so far"),
            Layer("crosses", "failed", at(p for p in found.points if p.score is None), "no result"),
        ),
        marks_x=found.pauses if is_by_time else (),
        marks_label="a later session",
        has_whole_x=not is_by_time,
    )


def best_so_far(points: Iterable[tuple[float, float]], end: float) -> list[tuple[float, float]]:
    """Return the corners of the best so far in the order of the axis; the last holds to the end."""
    ways: list[tuple[float, float]] = []
    for across, score in sorted(points):
        if not ways or score > ways[-1][1]:
            ways.append((across, score))
    return [*ways, (end, ways[-1][1])] if ways else ways


SECTION = Section("convergence", "Convergence", Convergence, measure, draw)
