"""The origin of a pipeline: a start that the user gave, a log, the portfolio, or the search."""

from __future__ import annotations

from automl_admm.report.view import RunView
from automl_admm.store.file_schemas import TRIED_FIRST

GIVEN, PORTFOLIO, SEARCH = "a start that you gave", "the portfolio", "the search"
KNOWN = "the best of an earlier session or of another run"


def portfolio_of(view: RunView) -> tuple[str, ...]:
    """Return the pipelines of the portfolio of a run."""
    return tuple((view.content.get("portfolio") or {}).get("pipelines") or ())


def origin_of(view: RunView, pipeline: str) -> str:
    """Return the origin of a pipeline by its text."""
    if pipeline in view.content.get(TRIED_FIRST, ()):
        return KNOWN
    if pipeline in view.settings["starts"]:
        return GIVEN
    return PORTFOLIO if pipeline in portfolio_of(view) else SEARCH
