"""The structure of a pipeline space as an SVG: data flow from left to right along the lines.

Every piece becomes a `Box`: marks around a line that enters at the left and leaves at the right, at
height 0. Boxes are joined to larger ones, and the largest is written out.
"""

from __future__ import annotations

from collections.abc import Sequence as List
from dataclasses import dataclass, replace
from xml.sax.saxutils import escape

from automl_admm.core.structure.pipeline_space import (
    Alternatives,
    ByType,
    Module,
    Ordered,
    Sequence,
    Shape,
    parts_of,
)
from automl_admm.grammar.show.terminal_tree import BRANCHES, caption

# Pixels; a letter of 12 px in monospace is 7.2 wide, and a little air.
LETTER = 7.3
HEIGHT = 26.0
GAP = 12.0
RAIL = 22.0
TITLE = 18.0
MARGIN = 16.0
STYLE = (
    "text{font:12px ui-monospace,Menlo,Consolas,monospace;fill:#1b2733}"
    ".title{fill:#5a6b7b;font-style:italic}"
    ".line{fill:none;stroke:#5a6b7b;stroke-width:1.5}"
    ".module{fill:#e8f1fa;stroke:#2f6ea5}"
    ".frame{fill:none;stroke:#9aa9b7;stroke-dasharray:4 3}"
)


@dataclass(frozen=True, slots=True)
class Mark:
    """One SVG element, moved by (x, y) when it is written."""

    x: float
    y: float
    element: str


@dataclass(frozen=True, slots=True)
class Box:
    """Marks of a width, and how far they reach above and below the line through them."""

    width: float
    above: float = 0.0
    below: float = 0.0
    marks: tuple[Mark, ...] = ()

    def moved(self, x: float, y: float) -> tuple[Mark, ...]:
        """The marks at another place."""
        return tuple(replace(mark, x=mark.x + x, y=mark.y + y) for mark in self.marks)


def draw_svg(shape: Shape, title: str) -> str:
    """The structure as the text of an SVG file."""
    box = _row([_wire(0, 0, RAIL, 0), _box(shape), _wire(0, 0, RAIL, 0)])
    width = max(box.width, LETTER * len(title)) + 2 * MARGIN
    top = MARGIN + TITLE + box.above
    marks = (Mark(MARGIN, MARGIN + TITLE / 2, _text(title, "title")), *box.moved(MARGIN, top))
    height = top + box.below + MARGIN
    lines = [f'<g transform="translate({m.x:.1f} {m.y:.1f})">{m.element}</g>' for m in marks]
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}"'
    return "\n".join(
        [
            '<?xml version="1.0" encoding="UTF-8"?>',
            f'{head} width="{width:.0f}" height="{height:.0f}">',
            f"<title>{_escaped(title)}</title>",
            f"<style>{STYLE}</style>",
            '<rect width="100%" height="100%" fill="#ffffff"/>',
            *lines,
            "</svg>\n",
        ]
    )


def _box(shape: Shape) -> Box:
    match shape:
        case Module(component):
            return _module(component)
        case Sequence(items):
            return _row([_box(item) for item in items])
        case Alternatives(decision, branches):
            return _lanes([_box(item) for _, item in branches], decision)
        case Ordered(items=items):
            return _framed(_row([_box(item) for _, item in items]), caption(shape))
        case ByType():
            numbers = _titled(_box(shape.numeric), "numbers")
            categories = _titled(_box(shape.categorical), "categories")
            return _framed(_lanes([numbers, categories]), BRANCHES[ByType])
        case _:
            return _framed(_lanes([_box(item) for item in parts_of(shape)]), BRANCHES[type(shape)])


def _module(name: str) -> Box:
    width = LETTER * len(name) + 2 * GAP
    size = f'x="0" y="{-HEIGHT / 2}" width="{width:.1f}" height="{HEIGHT}"'
    frame = f'<rect class="module" rx="6" {size}/>'
    # Text stands on its line: 4 px lower it is centred.
    text = f'<text x="{width / 2:.1f}" y="4" text-anchor="middle">{_escaped(name)}</text>'
    return Box(width, HEIGHT / 2, HEIGHT / 2, (Mark(0, 0, frame), Mark(0, 0, text)))


def _row(boxes: List[Box]) -> Box:
    """Boxes one after another, joined by lines; none at all is a line."""
    if not boxes:
        return _wire(0, 0, RAIL, 0)
    marks: list[Mark] = []
    place = 0.0
    for box in boxes:
        if place:
            marks += _wire(0, 0, GAP, 0).moved(place, 0)
            place += GAP
        marks += box.moved(place, 0)
        place += box.width
    above, below = max(box.above for box in boxes), max(box.below for box in boxes)
    return Box(place, above, below, tuple(marks))


def _lanes(boxes: List[Box], title: str = "") -> Box:
    """Boxes one below the other; the line splits before them and joins behind them."""
    inner = max([*(box.width for box in boxes), LETTER * len(title)])
    width = inner + 2 * RAIL
    head = boxes[0].above + (TITLE if title else 0.0)
    marks = [Mark(RAIL, -head + TITLE / 2, _text(title, "title"))] if title else []
    depth = 0.0
    for number, box in enumerate(boxes):
        depth += box.above + GAP + boxes[number - 1].below if number else 0.0
        marks += _wire(0, 0, RAIL, depth).marks
        marks += box.moved(RAIL, depth)
        marks += _wire(RAIL + box.width, depth, RAIL + inner, depth).marks
        marks += _wire(RAIL + inner, depth, width, 0).marks
    return Box(width, head, depth + boxes[-1].below, tuple(marks))


def _titled(box: Box, title: str) -> Box:
    """A box with words over its line."""
    wide = _row([box, _wire(0, 0, max(LETTER * len(title) - box.width, 1.0), 0)])
    mark = Mark(0, -box.above - TITLE / 2, _text(title, "title"))
    return Box(wide.width, box.above + TITLE, box.below, (mark, *wide.marks))


def _framed(box: Box, title: str) -> Box:
    """Draw a box in a labelled frame of broken lines."""
    inner = max(box.width, LETTER * len(title))
    width, above, below = inner + 2 * GAP, box.above + GAP + TITLE, box.below + GAP
    size = f'x="0" y="{-above:.1f}" width="{width:.1f}" height="{above + below:.1f}"'
    marks = [Mark(0, 0, f'<rect class="frame" rx="8" {size}/>')]
    marks.append(Mark(GAP, -above + TITLE, _text(title, "title")))
    marks += _wire(0, 0, GAP, 0).marks
    marks += box.moved(GAP, 0)
    marks += _wire(GAP + box.width, 0, width, 0).marks
    return Box(width, above, below, tuple(marks))


def _wire(x: float, y: float, to_x: float, to_y: float) -> Box:
    """A line; between heights it is bent."""
    middle = (x + to_x) / 2
    way = f"H{to_x:.1f}" if y == to_y else f"C{middle:.1f} {y:.1f} {middle:.1f} {to_y:.1f} "
    end = "" if y == to_y else f"{to_x:.1f} {to_y:.1f}"
    path = f'<path class="line" d="M{x:.1f} {y:.1f}{way}{end}"/>'
    return Box(to_x - x, 0.0, 0.0, (Mark(0, 0, path),))


def _text(text: str, kind: str) -> str:
    return f'<text class="{kind}">{_escaped(text)}</text>'


def _escaped(text: str) -> str:
    """Escape text for XML, without the characters forbidden there."""
    return escape("".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text))
