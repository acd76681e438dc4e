"""Tables as lines of text: no name is cut, and each line of a pipe holds a whole row."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Iterable, Iterator, Sequence

from rich.cells import cell_len

from automl_admm.cli.shared.screen import plain_console, say
from automl_admm.progress.visible_text import in_a_line

GAP = "  "
INDENT = "    "
# A last column with fewer characters than this stands below its row instead.
LEAST_ROOM = 60


def align(rows: Sequence[Sequence[object]], right: Iterable[int] = ()) -> list[str]:
    """Return rows of cells as lines with columns; those listed in `right` end in one place."""
    shown = [[in_a_line(cell) for cell in row] for row in rows]
    widths = [max(map(cell_len, column)) for column in zip(*shown, strict=True)]
    right = set(right)
    lines = []
    for row in shown:
        cells = [
            f"{' ' * (width - cell_len(cell))}{cell}"
            if place in right
            else f"{cell}{' ' * (width - cell_len(cell))}"
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append(GAP.join(cells).rstrip())
    return lines


def print_table(
    headings: Sequence[str], rows: Sequence[Sequence[object]], right: Iterable[int] = ()
) -> None:
    """Print a table whose last column holds long text.

    A terminal without room beside the other columns has the long text below each row, folded.
    """
    table = [headings, *rows]
    whole = align(table, right)
    if not sys.stdout.isatty():
        say("\n".join(whole))
        return
    width = plain_console().width
    short = align([row[:-1] for row in table], right)
    texts = [in_a_line(row[-1]) for row in table]
    room = width - max(map(cell_len, short)) - len(GAP)
    if max(map(cell_len, whole)) > width and room < LEAST_ROOM:
        say("\n".join(_below(short, texts, width)))
    else:
        say("\n".join(_beside(short, texts, room)))


def print_facts(rows: Sequence[tuple[str, str]]) -> None:
    """Print names with a fact each; a terminal folds a long fact beside its name."""
    if not sys.stdout.isatty():
        lines: Iterable[str] = align(rows)
    else:
        names = align([(name,) for name, _ in rows])
        room = plain_console().width - max(map(cell_len, names)) - len(GAP)
        lines = _beside(names, [in_a_line(fact) for _, fact in rows], room)
    say("\n".join(lines))


def print_side_by_side(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print rows of a name and a value for each later heading.

    A terminal without room for the columns has the values below each name, a heading before each.
    """
    lines = align([headings, *rows])
    if not sys.stdout.isatty() or max(map(cell_len, lines)) <= plain_console().width:
        say("\n".join(lines))
        return
    say(in_a_line(headings[0]))
    titles = align([(f"{INDENT}{title}",) for title in headings[1:]])
    room = plain_console().width - max(map(cell_len, titles)) - len(GAP)
    for name, *values in rows:
        say(f"{GAP}{in_a_line(name)}")
        say("\n".join(_beside(titles, list(map(in_a_line, values)), room)))


def _below(lines: Sequence[str], texts: Sequence[str], width: int) -> Iterator[str]:
    for place, (line, text) in enumerate(zip(lines, texts, strict=True)):
        yield line
        if place:  # the heading of a text that stands below tells nothing
            yield from (f"{INDENT}{part}" for part in _folded(text, width - len(INDENT)))


def _beside(lines: Sequence[str], texts: Sequence[str], room: int) -> Iterator[str]:
    indent = max(map(cell_len, lines))
    for line, text in zip(lines, texts, strict=True):
        first, *others = _folded(text, max(room, 1)) or [""]
        pad = " " * (indent - cell_len(line))
        yield f"{line}{pad}{GAP}{first}".rstrip()
        yield from (f"{' ' * indent}{GAP}{part}" for part in others)


def _folded(text: str, width: int) -> list[str]:
    return textwrap.wrap(text, max(width, 20), break_on_hyphens=False)
