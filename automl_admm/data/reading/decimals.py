"""Decimal commas: told from thousands commas by all cells of a column.

1,5 and 0,250 and 1234,5 can only be decimal commas, and 1,234,567 and 1,234.5 only thousands
commas. A column that has nothing but the likes of 1,234 does not tell, and is not guessed. Nor do
the likes of 1.234 between semicolons, which come from where the decimal sign is a comma.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Literal

from automl_admm.core.errors import DataError
from automl_admm.data.conforming import POINT_OR_THOUSANDS
from automl_admm.data.table_schema import MISSING_TEXTS

Verdict = Literal["comma", "thousands", "either", "point", "grouped"]
EXPONENT = r"(?:[eE][+-]?\d+)?"
SEMICOLON = ";"
WHOLE = re.compile(r"[+-]?\d+")
EITHER = re.compile(r"[+-]?[1-9]\d{0,2},\d{3}")
THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}(?:(?:,\d{3})+\.\d+|(?:,\d{3}){2,})")
COMMA = re.compile(rf"[+-]?(?:\d*,\d+{EXPONENT}|[1-9]\d{{0,2}}(?:\.\d{{3}})+,\d+)")
POINT = re.compile(rf"[+-]?\d*\.\d+{EXPONENT}")
# Numbers with thousands points in a file of decimal commas.
GROUPED = re.compile(r"[+-]?(?:[1-9]\d{0,2}(?:\.\d{3})+|\d+)(?:,\d+)?")
# In order: the first that a cell matches tells its kind. One pattern, as all cells of a file's
# beginning are asked.
KIND = re.compile(
    "|".join(
        f"(?P<{kind}>{pattern.pattern})"
        for kind, pattern in (
            ("whole", WHOLE),
            ("either", EITHER),
            ("thousands", THOUSANDS),
            ("comma", COMMA),
            ("grouped", POINT_OR_THOUSANDS),
            ("point", POINT),
        )
    )
)
# Cells that leave no doubt, as those of most columns of numbers.
PLAIN = re.compile(rf"{WHOLE.pattern}|(?!{POINT_OR_THOUSANDS.pattern}\Z){POINT.pattern}|")


def judge(cells: Iterable[object], *, skip_strange: bool = False) -> tuple[Verdict | None, str]:
    """Return the verdict on the signs of a column, and a cell that shows it; None if it is open."""
    texts = [cell.strip() if isinstance(cell, str) else "" for cell in cells]
    # To ask for the kind of each cell takes three times as long.
    if all(map(PLAIN.fullmatch, texts)):
        point = next((one for one in texts if "." in one), None)
        return (None, "") if point is None else ("point", point)
    seen: dict[str, str] = {}
    for written in texts:
        if written in MISSING_TEXTS:
            continue
        found = KIND.fullmatch(written)
        if found is None and skip_strange:
            continue
        if found is None:
            return None, ""
        seen.setdefault(str(found.lastgroup), written)
    sure: list[Verdict] = [kind for kind in ("comma", "thousands", "point") if kind in seen]
    if len(sure) == 1:
        return sure[0], seen[sure[0]]
    open_ones: list[Verdict] = [kind for kind in ("either", "grouped") if kind in seen]
    # Signs of both kinds in one column make it text.
    if sure or len(open_ones) != 1:
        return None, ""
    return open_ones[0], seen[open_ones[0]]


def decimal_of_columns(
    path: Path, rows: Sequence[Sequence[str]], separator: str
) -> tuple[str, bool]:
    """Return the decimal sign of a file's first rows, and True if later rows cannot change it.

    Only later rows tell if the likes of 1.234 are all that there is.
    """
    if not rows:
        return ".", False
    header, *body = rows
    regular = [row for row in body if len(row) == len(header)]
    found = {name: judge(row[at] for row in regular) for at, name in enumerate(header)}
    told = {name: one for name, one in found.items() if one[0] != "grouped"}
    sign = decide(path, told, separator)
    return sign, sign == "," or "point" in {verdict for verdict, _ in told.values()}


def decide(
    path: Path,
    found: dict[str, tuple[Verdict | None, str]],
    separator: str,
    *,
    has_doubtful_points: bool = False,
) -> str:
    """Return the decimal sign of a file by the verdicts on its columns; raise if it is open.

    A file with signs of both kinds keeps its points: its other numbers stay texts.
    """
    verdicts = {verdict for verdict, _ in found.values()}
    if "point" in verdicts or "thousands" in verdicts:
        return "."
    if "comma" in verdicts:
        return ","
    # Between commas a number is quoted only for its thousands.
    if "either" in verdicts and separator != ",":
        raise _open_sign(path, found, "either", "comma")
    if "grouped" in verdicts and has_doubtful_points:
        raise _open_sign(path, found, "grouped", "point")
    return "."


def _open_sign(
    path: Path, found: dict[str, tuple[Verdict | None, str]], kind: Verdict, sign: str
) -> DataError:
    name, cell = next((n, cell) for n, (verdict, cell) in found.items() if verdict == kind)
    return DataError(
        f"{path}: {cell} in column '{name}' has a decimal {sign}, or a thousands {sign}?",
        hint="Say which is its decimal sign: --decimal comma, or --decimal point.",
    )


def has_fractions(frame: Any) -> bool:
    """Return True if a parser found fractions: such as 1.234, they may be thousands."""
    floats = frame.select_dtypes("floating")
    return bool((floats.notna() & (floats % 1 != 0)).any(axis=None))


def commas_in(frame: Any, numbers: Collection[str]) -> dict[str, tuple[Verdict | None, str]]:
    """Return the verdicts on the columns that were read as text though they may be numbers.

    In the columns known as `numbers` a strange cell is a mistake, and says nothing of the others.
    """
    asked = {name for name in frame.columns if str(name) in numbers}
    texts = {name for name in text_columns(frame) if _may_have_commas(frame[name])}
    return {
        str(name): judge(frame[name].dropna().unique(), skip_strange=name in asked)
        for name in frame.columns
        if name in asked or name in texts
    }


def text_columns(frame: Any) -> list[Any]:
    """Return the names of the columns of text, by types alone: a wide table has many others."""
    is_text = cache(_is_text)
    return [name for name, kind in frame.dtypes.items() if is_text(kind)]


def _is_text(kind: Any) -> bool:
    from pandas.api import types

    return bool(types.is_string_dtype(kind) or types.is_object_dtype(kind))


def _may_have_commas(column: Any) -> bool:
    first = column.first_valid_index()
    cell = None if first is None else column[first]
    return isinstance(cell, str) and KIND.fullmatch(cell.strip()) is not None


def read_left_over(frame: Any, text: Iterable[str], numbers: Collection[str]) -> Any:
    """Read what a parser of decimal commas leaves as text: 1.234 and 1.234,5.

    In the columns known as `numbers` a strange cell stays, to be told as a mistake.
    """
    kept = set(text)
    for name in text_columns(frame):
        if str(name) in kept:
            continue
        column = frame[name]
        if str(name) not in numbers and not _may_have_commas(column):
            continue
        known = column.dropna().astype(str).str.strip()
        is_number = known.str.fullmatch(GROUPED)
        plain = known.str.replace(".", "").str.replace(",", ".")
        if is_number.all():
            frame[name] = plain.astype(float).reindex(column.index)
        elif str(name) in numbers:
            frame[name] = plain.where(is_number, known).reindex(column.index)
    return frame
