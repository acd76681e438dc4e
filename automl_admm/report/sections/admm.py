"""The course of ADMM: residuals, penalties and the multipliers of the limits by outer iteration."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from automl_admm.report.document import numbers
from automl_admm.report.document.charts import Chart, Layer
from automl_admm.report.document.html import Markup, Part, tag, together
from automl_admm.report.document.tables import figure, table
from automl_admm.report.sections.section import BY_COLUMN, Section
from automl_admm.report.view import RunView
from automl_admm.runs.session.iterations import Iteration, read_iterations

STRATEGY = "admm"
# More lines cannot be told apart by their looks.
MOST_LINES = 6
SAID_OF_RESIDUALS = (
    "Primal: the distance of whole-numbered parameters from the grid, and of the limits from "
    "being kept. Dual: the last step on the grid. Both fall towards 0 as the parts agree."
)
SAID_OF_PENALTIES = "The weight of the limits, and of whole numbers, in what the search minimises."
SAID_OF_MULTIPLIERS = (
    "The price of each limit: above 0 it binds, and the search gives up score to keep it."
)
Line = tuple[str, list[tuple[float, float]]]


@dataclass(frozen=True, slots=True)
class Course:
    """The outer iterations of all sessions, and the limits in the order of their multipliers."""

    limits: tuple[str, ...]
    iterations: tuple[Iteration, ...] = field(metadata=BY_COLUMN)


def measure(view: RunView) -> Course | None:
    """Read the iterations of a run; None if another strategy made it."""
    if view.settings.get("strategy", STRATEGY) != STRATEGY:
        return None
    limits = tuple(map(str, view.limits))
    known = tuple(i for i in read_iterations(view.folder) if len(i.multipliers) == len(limits))
    return Course(limits, known)


def draw(found: Course) -> Markup:
    """Draw a small figure for each kind of number."""
    if not found.iterations:
        return tag("p", "No outer iteration is on record: none has ended yet.")
    residuals = [
        ("primal", _line(found, lambda one: one.primal_residual)),
        ("dual", _line(found, lambda one: one.dual_residual)),
    ]
    penalties = [
        ("of the limits", _line(found, lambda one: one.penalty)),
        ("of whole numbers", _line(found, lambda one: one.integer_penalty)),
    ]
    charts = [
        _figure(found, "residual", residuals, SAID_OF_RESIDUALS),
        _figure(found, "penalty ρ", penalties, SAID_OF_PENALTIES),
    ]
    if found.limits:
        charts.append(_figure(found, "multiplier μ", _multipliers(found), SAID_OF_MULTIPLIERS))
    said = (
        "The search is parted in two: numbers are tuned at fixed components, then components are "
        "chosen at fixed numbers. Each outer iteration does both, and moves the prices that make "
        "the parts agree."
    )
    return together(tag("p", said), tag("div", *charts, class_="charts"))


def _line(found: Course, value: Callable[[Iteration], float | None]) -> list[tuple[float, float]]:
    pairs = ((float(place), value(one)) for place, one in enumerate(found.iterations, start=1))
    return [(place, number) for place, number in pairs if number is not None]


def _multipliers(found: Course) -> list[Line]:
    """Return the multipliers of the limits, the largest of them at most."""

    def of(place: int) -> list[tuple[float, float]]:
        return _line(found, lambda one: one.multipliers[place])

    lines = [(limit, of(place)) for place, limit in enumerate(found.limits)]
    lines.sort(key=lambda pair: -max(abs(value) for _, value in pair[1]))
    return lines[:MOST_LINES]


def _figure(found: Course, title: str, lines: list[Line], said: str) -> Markup:
    starts = [
        place + 0.5
        for place in range(1, len(found.iterations))
        if found.iterations[place].session != found.iterations[place - 1].session
    ]
    if starts:
        said += " A later session began anew from what was known."
    chart = Chart(
        title=f"{title} by outer iteration",
        x="outer iteration",
        y=title,
        layers=tuple(
            Layer("line", f"s{place}", points, label) for place, (label, points) in enumerate(lines)
        ),
        marks_x=tuple(starts),
        marks_label="a later session",
        has_whole_x=True,
        shows_all=True,
    )
    return figure(chart.with_legend(), said, _table(found, lines))


def _table(found: Course, lines: list[Line]) -> Markup:
    known = [dict(points) for _, points in lines]
    rows: list[tuple[Part, ...]] = [
        (
            place,
            one.evaluations,
            "–" if one.incumbent is None else one.incumbent,
            *(numbers.plain(values.get(float(place))) for values in known),
        )
        for place, one in enumerate(found.iterations, start=1)
    ]
    headings = ("Iteration", "Evaluations", "Best so far, #", *(label for label, _ in lines))
    return table(headings, rows, text_columns=0)


SECTION = Section("admm", "The course of ADMM", Course | None, measure, draw)
