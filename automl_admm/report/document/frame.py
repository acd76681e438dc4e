"""The frame of a page: one HTML file that loads and runs nothing."""

from __future__ import annotations

from automl_admm.report.document.html import Markup, tag
from automl_admm.report.document.style import STYLE

# The browser itself then refuses scripts, frames, forms, fonts and every other host.
POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"


def whole_page(title: str, *parts: Markup, refresh: int | None = None) -> str:
    """Return a page with these parts; with `refresh` it is loaded again after so many seconds."""
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=POLICY),
        None if refresh is None else tag("meta", http_equiv="refresh", content=refresh),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="referrer", content="no-referrer"),
        tag("title", title),
        tag("style", Markup(STYLE)),
    )
    whole = tag("html", head, tag("body", *parts), lang="en", dir="ltr")
    return f"<!DOCTYPE html>\n{whole.source}\n"
