"""The page: all sections in one HTML file that loads and runs nothing."""

from __future__ import annotations

from typing import Any

from automl_admm.report.document.frame import whole_page
from automl_admm.report.document.html import Markup, name, tag, together
from automl_admm.report.sections import (
    admm,
    baseline,
    columns,
    conflicts,
    convergence,
    curves,
    data,
    failures,
    groups,
    importance,
    limits,
    pareto,
    quality,
    reproduction,
    residuals,
    rows,
    seconds,
    thresholds,
    tried,
    verdict,
    winner,
)
from automl_admm.report.sections.section import Section
from automl_admm.report.view import RunView

SECTIONS: tuple[Section, ...] = (
    verdict.SECTION,
    limits.SECTION,
    conflicts.SECTION,
    baseline.SECTION,
    convergence.SECTION,
    admm.SECTION,
    pareto.SECTION,
    winner.SECTION,
    tried.SECTION,
    importance.SECTION,
    quality.SECTION,
    rows.SECTION,
    curves.SECTION,
    thresholds.SECTION,
    residuals.SECTION,
    groups.SECTION,
    columns.SECTION,
    seconds.SECTION,
    failures.SECTION,
    data.SECTION,
    reproduction.SECTION,
)
FOLLOWS = "The run goes on: this page is written anew, and loads itself again every"
Measured = dict[str, Any]


def measure_all(view: RunView) -> Measured:
    """Return the record of each section by its key."""
    return {section.key: section.measure(view) for section in SECTIONS}


def draw_page(view: RunView, measured: Measured, refresh: int | None = None) -> str:
    """Return the report as HTML; with `refresh` a browser loads it again after so many seconds."""
    sections = (
        tag("section", tag("h2", one.title), one.draw(measured[one.key]), id=one.key)
        for one in _shown(measured)
    )
    parts = (_header(view, measured, refresh), tag("main", *sections), _footer())
    return whole_page(f"Report of {view.title}", *parts, refresh=refresh)


def _header(view: RunView, measured: Measured, refresh: int | None) -> Markup:
    links = (tag("li", tag("a", one.title, href=f"#{one.key}")) for one in _shown(measured))
    return tag(
        "header",
        tag("h1", "Report of ", name(view.title, 120)),
        None if refresh is None else tag("p", f"{FOLLOWS} {refresh} seconds."),
        tag("nav", tag("ul", *links), aria_label="Sections"),
    )


def _shown(measured: Measured) -> list[Section]:
    """Return the sections of which there is something to say."""
    return [one for one in SECTIONS if measured[one.key] is not None]


def _footer() -> Markup:
    said = (
        "Made by automl-admm from the files of the run folder, and the labelled rows if there were "
        "any. The same numbers are in report.json, which automl-admm report RUN --json prints."
    )
    return tag("footer", together(tag("p", said)))
