"""The table of faults: what is injected, what should happen, and what was seen to happen.

Runs `pytest -m faults` and prints a row for every fault of the list, once as text and once as
Markdown. A fault without a test, or without anything seen, is an empty row; with one of these, or
with a test that failed, the script exits with 1.

    python benchmarks/faults.py [--only F06] [--out FILE.json] [pytest arguments …]

`python benchmarks/write_tables.py` makes the page from benchmarks/measured/faults.json.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import socket
import sys
import tempfile
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

LISTED = tuple(f"F{number:02}" for number in (*range(1, 48), *range(53, 100)))
HEADINGS = ("id", "injected", "expected", "seen", "verdict")
WIDTHS = (4, 44, 34, 58, 7)
NOTHING = "–"
# How often the table has a run killed, and the rows of its large store; the tests alone have fewer.
KILLS = "20"
ROWS = "100000"


@dataclass(frozen=True)
class Row:
    """One fault as one test injected it."""

    id: str
    injected: str = NOTHING
    expected: str = NOTHING
    seen: str = NOTHING
    verdict: str = "EMPTY"

    @property
    def cells(self) -> tuple[str, ...]:
        """The columns of the table."""
        return self.id, self.injected, self.expected, self.seen, self.verdict


class Collector:
    """A pytest plugin that makes rows of the reports of fault tests."""

    def __init__(self) -> None:
        self.rows: list[Row] = []
        self._ends: dict[str, str] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """A row for each fault marker, when the test and what is cleared up after it are over."""
        if report.outcome != "passed":
            self._ends[report.nodeid] = report.outcome.upper()
        if report.when != "teardown":
            return
        said = [str(value) for name, value in report.user_properties if name == "seen"]
        for name, value in report.user_properties:
            if name == "fault" and isinstance(value, dict):
                self.rows.append(self._row(report.nodeid, value, "; ".join(said)))

    def _row(self, test: str, fault: dict[str, str], said: str) -> Row:
        verdict = self._ends.get(test, "ok" if said else "EMPTY")
        return Row(fault["id"], fault["injected"], fault["expected"], said or NOTHING, verdict)


def complete(rows: Sequence[Row], wanted: Sequence[str]) -> list[Row]:
    """All rows in the order of the list, with an empty one for what has no test."""
    tested = {row.id for row in rows}
    found = [*merge(rows), *(Row(number) for number in wanted if number not in tested)]
    return sorted(found, key=lambda row: row.id)


def merge(rows: Sequence[Row]) -> list[Row]:
    """One row for all tests that inject one fault; it is no better than the worst of them."""
    merged: dict[tuple[str, ...], Row] = {}
    for row in rows:
        before = merged.setdefault(row.cells[:3], row)
        said = before.seen if row.seen in before.seen else f"{before.seen}; {row.seen}"
        verdict = before.verdict if row.verdict == "ok" else row.verdict
        merged[row.cells[:3]] = replace(before, seen=said, verdict=verdict)
    return list(merged.values())


def as_text(rows: Sequence[Row]) -> Iterator[str]:
    """The table in columns, long cells on several lines."""
    yield from _lines(HEADINGS)
    yield "  ".join("-" * width for width in WIDTHS)
    for row in rows:
        yield from _lines(row.cells)


def _lines(cells: Sequence[str]) -> Iterator[str]:
    wrapped = [textwrap.wrap(cell, width) for cell, width in zip(cells, WIDTHS, strict=True)]
    for number in range(max(map(len, wrapped))):
        parts = (lines[number] if number < len(lines) else "" for lines in wrapped)
        yield "  ".join(f"{part:{width}}" for part, width in zip(parts, WIDTHS, strict=True))


def as_markdown(rows: Sequence[Row]) -> Iterator[str]:
    """The table in Markdown."""
    yield f"| {' | '.join(HEADINGS)} |"
    yield "|" + " --- |" * len(HEADINGS)
    for row in rows:
        cells = (_plain(cell).replace("|", "\\|") for cell in row.cells)
        yield f"| {' | '.join(cells)} |"


def as_json(rows: Sequence[Row]) -> str:
    """The table as a file of benchmarks/measured, from which the page is made."""
    cells = (json.dumps([_plain(cell) for cell in row.cells], ensure_ascii=False) for row in rows)
    head, body = json.dumps(HEADINGS), ",\n".join(f"    {line}" for line in cells)
    table = f'{{\n   "columns": {head},\n   "rows": [\n{body}\n   ]\n }}'
    return f'{{\n "tables": {{"faults": {table}}}\n}}\n'


def _plain(cell: str) -> str:
    """A cell that says the same on every machine: no folders of this one, and not its name."""
    anywhere = re.sub(rf"{re.escape(tempfile.gettempdir())}\S*", "…", " ".join(cell.split()))
    return anywhere.replace(f"host {socket.gethostname()}", "host HOST")


def main() -> int:
    """Run the tests and print both tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=_Raw)
    parser.add_argument("--only", action="append", metavar="ID", help="only these rows")
    parser.add_argument("--out", type=Path, help="write the table here, too")
    options, rest = parser.parse_known_args()
    os.environ.setdefault("AUTOML_ADMM_KILLS", KILLS)
    os.environ.setdefault("AUTOML_ADMM_ROWS", ROWS)
    collector = Collector()
    root = Path(__file__).parents[1]
    code = pytest.main(["--rootdir", str(root), "-m", "faults", "-q", *rest], [collector])
    wanted = tuple(options.only or LISTED)
    chosen = [row for row in collector.rows if not options.only or row.id in wanted]
    rows = complete(chosen, wanted)
    markdown = "\n".join(as_markdown(rows)) + "\n"
    print("\n".join(as_text(rows)), markdown, sep="\n\n")
    if options.out is not None:
        options.out.write_text(as_json(rows), encoding="utf-8")
    bad = [row for row in rows if row.verdict != "ok"]
    print(f"{len(rows)} rows, {len(bad)} of them empty or failed; pytest ended with {int(code)}")
    return 1 if bad or code else 0


_Raw = argparse.RawDescriptionHelpFormatter

if __name__ == "__main__":
    sys.exit(main())
