"""Evaluations as text for other programs: a table for spreadsheets, or one JSON object a line."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from automl_admm.core.evaluations import Evaluation

# A spreadsheet takes a cell that begins with one of these for a formula, and computes it.
FORMULA_SIGNS = ("=", "+", "-", "@", "\t", "\r")


def to_csv(evaluations: Iterable[Evaluation], limits: Sequence[str]) -> Iterator[str]:
    """Return the lines of a CSV file, with a column for the value of each limit.

    Text dangerous to a spreadsheet begins with an apostrophe.
    """
    heads = ("number", "status", "loss", *limits, "seconds", "fidelity", "pipeline", "message")
    yield _line(heads)
    for one in evaluations:
        # A failed evaluation has no values: its other cells must not move to their columns.
        values = [*one.constraints, *[""] * len(limits)][: len(limits)]
        numbers = (one.number, one.ending, one.loss if one.ok else "", *values)
        yield _line((*numbers, one.seconds, one.candidate.fidelity, one.text, one.message))


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
        yield json.dumps(_finite(content), allow_nan=False) + "\n"


def _line(cells: Iterable[object]) -> str:
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


def _finite(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {str(name): _finite(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    return value
