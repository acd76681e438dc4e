"""Evaluations as text for other programs: a table for spreadsheets, or one JSON object a line."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from automl_admm.core.evaluations import Evaluation

# A spreadsheet takes a cell that begins with one of these for a formula, and computes it; in some
# countries the wide forms count, too.
FORMULA_SIGNS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")


def to_csv(evaluations: Iterable[Evaluation], limits: Sequence[str]) -> Iterator[str]:
    """Return the lines of a CSV file, with a column for the value of each limit.

    Text dangerous to a spreadsheet begins with an apostrophe.
    """
    heads = ("number", "status", "loss", *limits, "seconds", "fidelity", "pipeline", "message")
    yield csv_line(heads)
    for one in evaluations:
        # A failed evaluation has no values: its other cells must not move to their columns.
        values = [*one.constraints, *[""] * len(limits)][: len(limits)]
        numbers = (one.number, one.ending, one.loss if one.ok else "", *values)
        yield csv_line((*numbers, one.seconds, one.candidate.fidelity, one.text, one.message))


def to_jsonl(evaluations: Iterable[Evaluation], limits: Sequence[str]) -> Iterator[str]:
    """Return lines with one JSON object an evaluation; NaN and infinity become null."""
    for one in evaluations:
        content = {
            "number": one.number,
            "key": one.key,
            "status": one.ending,
            "loss": one.loss,
            "constraints": dict(zip(limits, one.constraints, strict=False)),
            "seconds": one.seconds,
            "fidelity": one.candidate.fidelity,
            "pipeline": one.text,
            "message": one.message,
            "selection": dict(one.candidate.selection.picks),
            "theta": one.candidate.theta,
            "details": one.details,
        }
        yield json.dumps(finite_only(content), allow_nan=False) + "\n"


def csv_line(cells: Iterable[object]) -> str:
    """Return a line of a CSV file; text dangerous to a spreadsheet begins with an apostrophe."""
    buffer = io.StringIO()
    csv.writer(buffer, lineterminator="\n").writerow(_harmless(cell) for cell in cells)
    return buffer.getvalue()


def _harmless(cell: object) -> object:
    if not isinstance(cell, str) or not cell.startswith(FORMULA_SIGNS):
        return cell
    # −1.5 begins like a formula and is a number.
    return cell if _is_number(cell) else f"'{cell}"


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def finite_only(value: Any) -> Any:
    """Return plain data as JSON can hold them: NaN and infinities become null."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(name): finite_only(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [finite_only(item) for item in value]
    return value
