"""Tables of the files in measured/, as Markdown.

A file has `tables` by name. A table has `columns` and `rows`, or the `lines` that a script printed;
it may have a `title`, `notes` below it, and the `commit` that was measured. Numbers keep the digits
that were printed, so a table says 0.3120, not 0.312.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from functools import cache
from pathlib import Path
from textwrap import fill
from typing import Any

MEASURED = Path(__file__).parent / "measured"
Table = Mapping[str, Any]
# Of the lines of pages.
WIDTH = 130
# A bar ends a cell; stars and angle brackets are what was printed, and no markup.
MARKUP = str.maketrans({"|": "\\|", "*": "\\*", "<": "&lt;"})
NUMBER = re.compile(r"-?\d+(?:\.\d+)?")


@cache
def tables(study: str) -> Mapping[str, Table]:
    """Return the tables of a study by name."""
    text = (MEASURED / f"{study}.json").read_text(encoding="utf-8")
    found = json.loads(text, parse_float=Decimal)
    return found.get("tables", {}) if isinstance(found, dict) else {}


def table(name: str) -> Table:
    """Return a table by the name of its study and its own: `racing/racing`."""
    study, _, key = name.partition("/")
    return tables(study)[key]


def all_names() -> set[str]:
    """Return the names of all tables."""
    studies = (path.stem for path in MEASURED.glob("*.json"))
    return {f"{study}/{key}" for study in studies for key in tables(study)}


def printed(name: str) -> str:
    """Return a table as a part of a page."""
    one = table(name)
    title = _title(one)
    body = (
        fenced(one["lines"])
        if "lines" in one
        else markdown_table(one["columns"], [list(map(shown, row)) for row in one["rows"]])
    )
    parts = [f"{title.rstrip('.')}:"] if title else []
    return "\n\n".join([*parts, body, *one.get("notes", ())])


def _title(one: Table) -> str:
    words = str(one.get("title", ""))
    title = words[:1].upper() + words[1:]
    return f"{title}; commit {one['commit']}" if title and "commit" in one else title


def shown(cell: Any) -> str:
    """Return a cell as it was printed; null is an empty one."""
    return "" if cell is None else str(cell).translate(MARKUP)


def markdown_table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table whose columns of numbers stand at the right."""
    kinds = zip(*rows, strict=True) if rows else [()] * len(columns)
    rule = ["---:" if all(map(_is_numeric, cells)) else "---" for cells in kinds]
    lines = [list(columns), rule, *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _is_numeric(cell: str) -> bool:
    return not re.match(r"[A-Za-zθ'<\[`(]", cell) or cell in {"inf", "none"}


def fenced(lines: Sequence[str]) -> str:
    """Return lines as a block of text."""
    return "\n".join(["```text", *lines, "```"])


def wrapped(*parts: str, indent: str = "") -> str:
    """Return the parts of a sentence as lines of a page."""
    text = " ".join(part for part in parts if part).replace("( ", "(")
    return fill(text, WIDTH, subsequent_indent=indent, break_on_hyphens=False)


def numbers_in(cell: Any) -> list[float]:
    """Return the numbers of a cell, which may hold several: 0.24 / 0.16."""
    return [float(one) for one in NUMBER.findall(str(cell))]


def column(name: str, head: str, part: int = 0) -> dict[str, float]:
    """Return a number of a column by the first cell of its row; rows without one are left out."""
    one = table(name)
    at = list(one["columns"]).index(head)
    found = {str(row[0]): numbers_in(row[at]) for row in one["rows"]}
    return {label: values[part] for label, values in found.items() if len(values) > part}
