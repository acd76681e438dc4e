"""Tables, facts in two columns, and the numbers behind a figure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from automl_admm.report.document.html import Markup, Part, tag, together

MOST_ROWS = 200


def table(
    headings: Sequence[str], rows: Iterable[Sequence[Part]], *, text_columns: int = 1
) -> Markup:
    """Return a table that scrolls by itself; behind the first columns of text there are numbers."""
    head = tag("tr", *(tag("th", one, scope="col") if one else tag("td") for one in headings))
    listed = list(rows)
    body = (_row(row, text_columns) for row in listed[:MOST_ROWS])
    whole = tag("table", tag("thead", head), tag("tbody", *body))
    left = len(listed) - MOST_ROWS
    more = tag("p", f"… and {left} more, all of them in report.json.") if left > 0 else None
    region = tag("div", whole, class_="scroll", tabindex="0", role="group", aria_label="Table")
    return together(region, more)


def _row(row: Sequence[Part], text_columns: int) -> Markup:
    cells = (
        tag("td", part, class_=None if place < text_columns else "number")
        for place, part in enumerate(row)
    )
    return tag("tr", *cells)


def facts(pairs: Iterable[tuple[str, Part]]) -> Markup:
    """Return names and values below each other; those without a value are left out."""
    known = ((term, value) for term, value in pairs if value is not None)
    return tag("dl", *(tag("div", tag("dt", term), tag("dd", value)) for term, value in known))


def figure(drawing: Markup, caption: Part, numbers: Markup | None = None) -> Markup:
    """Return a drawing with its caption, and its numbers for those who cannot see it."""
    behind = None if numbers is None else folded("The numbers behind this figure", numbers)
    return tag("figure", drawing, tag("figcaption", caption), behind)


def folded(summary: str, *parts: Part) -> Markup:
    """Return parts that open by a click or a key."""
    return tag("details", tag("summary", summary), *parts)


def paragraphs(lines: Iterable[Part]) -> Markup:
    """Return a paragraph for each line."""
    return together(*(tag("p", line) for line in lines))


def bar(share: float) -> Markup:
    """Return a bar of a width from 0 to 1; it repeats the number beside it."""
    width = 100 * min(max(share, 0.0), 1.0)
    inner = tag("span", style=f"width:{width:.1f}%")
    return tag("span", inner, class_="bar", aria_hidden="true")
