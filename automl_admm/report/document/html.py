"""HTML elements; every text is escaped here and nowhere else.

Names of columns, labels, pipelines and errors may be anybody's. Markup in them stays text, and
hidden signs (terminal sequences, signs to reverse the order of letters) are written out.
"""

from __future__ import annotations

from dataclasses import dataclass
from html import escape

from automl_admm.core.messages import shorten
from automl_admm.progress.visible_text import in_a_line, visible

LONGEST_TEXT = 600
VOID = frozenset({"meta", "br"})


@dataclass(frozen=True, slots=True)
class Markup:
    """Finished HTML."""

    source: str


Part = Markup | str | int | float | None
NOTHING = Markup("")


def tag(name: str, /, *parts: Part, **attributes: object) -> Markup:
    """Return an element; texts in it are escaped, None and attributes of None are left out.

    An underscore at the end of an attribute's name is dropped, any other becomes a hyphen.

    >>> tag("b", "a < b", class_="x").source
    '<b class="x">a &lt; b</b>'
    """
    pairs = ((key.rstrip("_").replace("_", "-"), value) for key, value in attributes.items())
    written = "".join(f' {key}="{_escaped(str(v))}"' for key, v in pairs if v is not None)
    if name in VOID:
        return Markup(f"<{name}{written}>")
    return Markup(f"<{name}{written}>{together(*parts).source}</{name}>")


def together(*parts: Part) -> Markup:
    """Join parts; texts are escaped."""
    return Markup("".join(map(_source, parts)))


def block_of_code(text: str) -> Markup:
    """Return a text as it is laid out, line by line."""
    return tag("pre", Markup(escape(visible(text), quote=True)), tabindex="0")


def name(text: object, limit: int = LONGEST_TEXT) -> Markup:
    """Return somebody's name in a box of its own direction, so that it turns no words around it."""
    return tag("bdi", shorten(str(text), limit))


def _source(part: Part) -> str:
    if part is None:
        return ""
    return part.source if isinstance(part, Markup) else _escaped(shorten(str(part), 20_000))


def _escaped(text: str) -> str:
    return escape(in_a_line(text), quote=True)
