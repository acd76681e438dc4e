"""A report on disk: `report.html`, and `report.json` beside it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from automl_admm.core.errors import ConfigurationError, StoreError
from automl_admm.report.content import encode
from automl_admm.report.page import Measured, draw_page, measure_all
from automl_admm.report.rows.given import RowsAsked
from automl_admm.report.view import RunView, read_view
from automl_admm.store.output_files import is_stream, write_output
from automl_admm.store.own_files import refuse_input, refuse_own_file

PAGE = "report.html"


@dataclass(frozen=True, slots=True)
class Report:
    """A report in both forms."""

    page: bytes
    content: bytes


def make_report(run: Path, asked: RowsAsked | None = None) -> Report:
    """Read the run folder and make its report, of labelled rows too; the folder stays as it is."""
    view = read_view(run, asked)
    return draw_report(view, measure_all(view))


def draw_report(view: RunView, measured: Measured, refresh: int | None = None) -> Report:
    """Draw a report; with `refresh` browsers load its page again after so many seconds."""
    page = draw_page(view, measured, refresh).encode("utf-8", "backslashreplace")
    return Report(page, encode(measured))


def write_report(
    run: Path, page: Path | None = None, asked: RowsAsked | None = None
) -> tuple[Path, Path]:
    """Write the report and return both paths; without a `page` they are in the run folder.

    Each file is there whole or not at all.
    """
    places = places_of(run, page)
    for place in places:
        refuse_input(place, None if asked is None else asked.source)
    report = make_report(run, asked)
    try:
        put_report(report, places)
    except StoreError as problem:
        if page is not None:
            raise
        hint = f"Write it elsewhere: automl-admm report {run} -o FILE."
        raise StoreError(problem.message, hint=hint) from problem
    return places


def places_of(run: Path, page: Path | None) -> tuple[Path, Path]:
    """Return the paths of the page and of its numbers, neither of them a file of a run."""
    page = run / PAGE if page is None else page
    numbers = page.with_suffix(".json")
    if numbers == page:
        raise ConfigurationError(
            f"'{page}' is the name of the numbers, not of the page.", hint="End it with .html."
        )
    if is_stream(page):
        raise ConfigurationError(
            f"'{page}' is no file, and the numbers of a page are put beside it.",
            hint="Name a file that ends with .html.",
        )
    for place in (page, numbers):
        refuse_own_file(place)
    return page, numbers


def put_report(report: Report, places: tuple[Path, Path]) -> None:
    """Write both files, each whole or not at all."""
    page, numbers = places
    write_output(page, report.page)
    write_output(numbers, report.content)
