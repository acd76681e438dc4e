"""ARFF files: a header with the type of each column, and rows of values below `@data`.

A reader of our own: scipy's takes no texts, and others do not name the line of a mistake.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Literal

import numpy as np

from automl_admm.core.errors import DataError
from automl_admm.core.messages import say_count
from automl_admm.data.conforming import figure_of
from automl_admm.data.plain_types import exact_whole, inferred
from automl_admm.data.unique_names import UniqueNames, unique_names

AttributeKind = Literal["number", "text", "truth"]
Row = Sequence[str | None]
NUMBERS = ("numeric", "real", "integer")
TEXTS = ("string", "date")
TRUTHS = {"true": True, "false": False}
DECLARATION = re.compile(
    r"""@attribute\s+(?P<name>'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|[^\s{]+)\s*(?P<kind>.+)""",
    re.IGNORECASE,
)
# A value with its separator or the end of the line.
VALUE = re.compile(
    r"""[ ]*(?:'(?P<one>(?:[^'\\]|\\.)*)'|"(?P<two>(?:[^"\\]|\\.)*)"|(?P<bare>[^,\t'"]*?))[ ]*"""
    r"(?P<end>[,\t]|\Z)"
)
ESCAPE = re.compile(r"\\(.)", re.DOTALL)
ESCAPED = {"n": "\n", "t": "\t", "r": "\r"}
WITH_CARE = frozenset("'\"\\\t")


@dataclass(frozen=True, slots=True)
class Attribute:
    """A column: its name and the kind of its values."""

    name: str
    kind: AttributeKind


@dataclass(frozen=True, slots=True)
class Arff:
    """The header of an ARFF file.

    `end` is the place of the first row in bytes, and `lines` the number of lines before it.
    `unique` has the names of the columns if some are alike.
    """

    path: Path
    attributes: tuple[Attribute, ...]
    end: int
    lines: int
    unique: UniqueNames | None = None

    def rows(self, lines: Iterable[bytes], first: int) -> Iterator[tuple[int, Row]]:
        """Return the rows in lines, each with the number of its line."""
        for number, line in enumerate(lines, first):
            written = self._decoded(number, line)
            if written and not written.startswith("%"):
                yield number, self._row(number, written)

    def frame(self, rows: Sequence[Row], keep_text: Iterable[str] = ()) -> Any:
        """Return a frame of rows; the columns in `keep_text` are no truth values."""
        import pandas as pd

        kept = set(keep_text)
        cells = zip(*rows, strict=True) if rows else ([] for _ in self.attributes)
        columns = {
            one.name: _column(values, "text" if one.name in kept else one.kind)
            for one, values in zip(self.attributes, cells, strict=True)
        }
        return pd.DataFrame(columns)

    def _decoded(self, number: int, line: bytes) -> str:
        try:
            return line.decode().strip()
        except UnicodeDecodeError as problem:
            raise DataError(f"{self.path}, line {number}: this is no UTF-8 text.") from problem

    def _row(self, number: int, written: str) -> Row:
        if written.startswith("{"):
            raise DataError(
                f"{self.path}, line {number}: sparse rows of ARFF are not read.",
                hint="Save the table with all its values, or as CSV.",
            )
        values = _values(written)
        if values is None:
            raise DataError(
                f"{self.path}, line {number}: there is a quote without its other half.",
                hint="Quote a value as a whole, and write \\' within it.",
            )
        if len(values) != len(self.attributes):
            is_weight = len(values) == len(self.attributes) + 1 and str(values[-1]).startswith("{")
            raise DataError(
                f"{self.path}, line {number}: {say_count(len(values), 'value')}, but the header "
                f"has {say_count(len(self.attributes), 'attribute')}.",
                hint="Give weights as a column of their own."
                if is_weight
                else "Look for a missing or a needless comma or quote.",
            )
        self._check_numbers(number, values)
        return values

    def _check_numbers(self, number: int, values: Row) -> None:
        for one, value in zip(self.attributes, values, strict=True):
            if one.kind == "number" and value is not None and figure_of(value) is None:
                raise DataError(
                    f"{self.path}, line {number}: '{value[:40]}' in the numeric attribute "
                    f"'{one.name}' is no number.",
                    hint="Write a number, or ? where it is missing.",
                )


def read_header(path: Path) -> Arff:
    """Read the header of an ARFF file."""
    with path.open("rb") as file:
        return header_in(path, file)


def header_in(path: Path, file: BinaryIO) -> Arff:
    """Read the header of an open ARFF file; the next line that it gives is the first row."""
    attributes: list[Attribute] = []
    for number, line in enumerate(iter(file.readline, b""), 1):
        written = line.decode("utf-8-sig", "replace").strip()
        if written.lower().startswith("@data"):
            if not attributes:
                raise DataError(f"{path} declares no attribute.")
            unique = unique_names([one.name for one in attributes])
            return Arff(path, _with_names(attributes, unique), file.tell(), number, unique)
        if written.lower().startswith("@attribute"):
            attributes.append(_attribute(path, number, written))
    raise DataError(f"{path} has no @data: it holds no rows.")


def _with_names(
    attributes: Sequence[Attribute], unique: UniqueNames | None
) -> tuple[Attribute, ...]:
    """Return the attributes, the doubled ones under names of their own."""
    if unique is None:
        return tuple(attributes)
    return tuple(
        Attribute(name, one.kind) for name, one in zip(unique.names, attributes, strict=True)
    )


def _attribute(path: Path, number: int, written: str) -> Attribute:
    found = DECLARATION.fullmatch(written)
    if found is None:
        raise DataError(f"{path}, line {number}: this declares no attribute.")
    name, said = _unquoted(found["name"]), found["kind"].strip()
    if said.startswith("{"):
        levels = _values(said.strip("{} ")) or []
        are_truths = {str(level).lower() for level in levels} <= set(TRUTHS)
        return Attribute(name, "truth" if are_truths else "text")
    word = said.split()[0].lower()
    if word in NUMBERS:
        return Attribute(name, "number")
    if word in TEXTS:
        return Attribute(name, "text")
    raise DataError(
        f"{path}, line {number}: attributes of the type '{said[:40]}' are not read.",
        hint="Numeric, nominal, string and date ones are.",
    )


def _values(written: str) -> list[str | None] | None:
    """Return the values of a line, None for missing ones; None for a line that makes no sense."""
    if WITH_CARE.isdisjoint(written):
        bare = [value.strip() for value in written.split(",")]
        return [None if value in ("?", "") else value for value in bare]
    found: list[str | None] = []
    at = 0
    while match := VALUE.match(written, at):
        bare_value = match["bare"]
        if bare_value is not None:
            found.append(None if bare_value in ("?", "") else bare_value)
        else:
            quoted = match["one"] if match["one"] is not None else match["two"]
            found.append(ESCAPE.sub(_of_escape, quoted))
        if not match["end"]:
            return found
        at = match.end()
    return None


def _of_escape(found: re.Match[str]) -> str:
    return ESCAPED.get(found[1], found[1])


def _unquoted(name: str) -> str:
    return ESCAPE.sub(_of_escape, name[1:-1]) if name[0] in "'\"" else name


def _column(values: Iterable[str | None], kind: AttributeKind) -> Any:
    """Return a column as a CSV file gives it."""
    import pandas as pd

    cells = list(values)
    if kind == "number":
        floats = [np.nan if value is None else float(value) for value in cells]
        wholes = [np.nan if value is None else exact_whole(value) for value in cells]
        is_known = None not in wholes and not all(value is None for value in cells)
        return (
            inferred(pd.Series(wholes, dtype=object))
            if is_known
            else pd.Series(floats, dtype=float)
        )
    if kind == "truth":
        truths = [None if value is None else TRUTHS.get(value.lower()) for value in cells]
        if any(
            truth is None and cell is not None for truth, cell in zip(truths, cells, strict=True)
        ):
            return _column(cells, "text")
        return pd.Series(truths, dtype=object if None in truths else bool)
    if all(value is None for value in cells):
        return pd.Series([np.nan] * len(cells), dtype=float)
    return pd.Series(cells)
