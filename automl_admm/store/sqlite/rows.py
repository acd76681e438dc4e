"""Evaluations as rows of a table, each with its own hash."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from automl_admm.core.evaluations import Evaluation, Status
from automl_admm.core.space import Candidate, Selection
from automl_admm.store.json_content import (
    LARGEST_WHOLE,
    is_let_through,
    list_of,
    mapping_of,
    nullable,
    one_of,
    real,
    record,
    text,
)

COLUMNS = (
    "number",
    "key",
    "text",
    "selection",
    "theta",
    "status",
    "loss",
    "constraints",
    "seconds",
    "fidelity",
    "message",
    "details",
)
NUMBERS = frozenset({int, float})
# How an evaluation ends that the search did not let end: a later result takes its place.
UNFINISHED = frozenset(status for status in Status if not status.is_an_end)


class RowError(Exception):
    """A row with values of no valid evaluation, possibly under a right hash."""


@dataclass(frozen=True, slots=True)
class Begun:
    """An evaluation begun by the process `pid` of `host`, without a result."""

    number: int
    key: str
    text: str
    host: str
    pid: int


def to_row(evaluation: Evaluation) -> tuple[Any, ...]:
    """The values of an evaluation in the order of the columns."""
    return (
        evaluation.number,
        evaluation.key,
        storable(evaluation.text),
        json.dumps(dict(evaluation.candidate.selection.picks)),
        json.dumps(evaluation.candidate.theta),
        evaluation.status.value,
        # Plain floats: SQLite takes numpy's single precision for bytes, and has no -0.0.
        float(evaluation.loss) + 0.0 if evaluation.ok else None,
        json.dumps(evaluation.constraints),
        float(evaluation.seconds) + 0.0,
        float(evaluation.candidate.fidelity),
        storable(evaluation.message),
        json.dumps(dict(evaluation.details)),
    )


def from_rows(rows: Iterable[Sequence[Any]]) -> list[Evaluation]:
    """Return the evaluations of rows; equal selections are parsed once, and are one object."""
    selections: dict[str, Selection] = {}
    evaluations = []
    for row in rows:
        picks = row[COLUMNS.index("selection")]
        try:
            if picks not in selections:
                selections[picks] = _selection(json.loads(picks))
            evaluations.append(_evaluation(row, selections[picks]))
        except (ValueError, TypeError, AttributeError, KeyError, RecursionError) as problem:
            raise RowError(f"evaluation {row[0]} has impossible values") from problem
    return evaluations


def is_readable(row: Sequence[Any]) -> bool:
    """Return True if the values of a row are those of an evaluation."""
    try:
        from_rows([row])
    except RowError:
        return False
    return True


def _evaluation(row: Sequence[Any], selection: Selection) -> Evaluation:
    number, key, text, _, theta, status, loss, constraints, *others = row
    seconds, fidelity, message, details = others
    # One call for the three: reading 100 000 rows is mostly this.
    parsed = json.loads(f"[{theta},{constraints},{details}]")
    ended = Status(status)
    is_sound = (
        len(parsed) == 3
        and number >= 0
        and seconds >= 0.0
        and 0.0 < fidelity <= 1.0
        and (loss is not None or ended is not Status.SUCCESS)
        and NUMBERS.issuperset(map(type, parsed[0]))
        and NUMBERS.issuperset(map(type, parsed[1]))
        and type(parsed[2]) is dict
        and not wrong_details(parsed[2])
    )
    if not is_sound:
        raise ValueError
    return Evaluation(
        number=number,
        key=key,
        text=text,
        candidate=Candidate(selection, tuple(parsed[0]), fidelity),
        status=ended,
        loss=math.nan if loss is None else loss,
        constraints=tuple(parsed[1]),
        seconds=seconds,
        message=message,
        details=parsed[2],
    )


def wrong_details(details: Mapping[str, Any]) -> list[str]:
    """Return the names of details with values of no valid evaluation."""
    named = DETAILS.keys() & details.keys()
    return sorted(name for name in named if not DETAILS[name](details[name]))


def _is_number(found: Any) -> bool:
    return type(found) is float or (type(found) is int and abs(found) <= LARGEST_WHOLE)


def _is_number_or_none(found: Any) -> bool:
    return found is None or _is_number(found)


def _are_numbers(found: Any) -> bool:
    return type(found) is dict and all(map(_is_number, found.values()))


def _are_scores(found: Any) -> bool:
    return type(found) is list and all(map(_is_number, found))


def _is_count(found: Any) -> bool:
    return type(found) is int and 0 <= found <= LARGEST_WHOLE


def _is_moment(found: Any) -> bool:
    return _is_number(found) and math.isfinite(found)


def _is_path(found: Any) -> bool:
    if not is_let_through(_PATH, found):
        return False
    names = ("thresholds", "lower_thresholds", "values", "utilities", "losses", "errors")
    along = [found[name] for name in names if name in found]
    each = [*along, *found["group_thresholds"].values()]
    return len({len(one) for one in each}) == 1


_NUMBERS, _SOME = list_of(real), list_of(nullable(real))
_PATH = record(
    {
        "utility": text,
        "thresholds": _SOME,
        "group_thresholds": mapping_of(_SOME),
        "values": list_of(_NUMBERS),
        "utilities": _NUMBERS,
        "losses": _SOME,
        "errors": list_of(_NUMBERS),
    },
    {"lower_thresholds": _NUMBERS},
)
_CALIBRATION = record(
    {"slope": real, "offset": real, "response": one_of("predict_proba", "decision_function")}
)
_ELSEWHERE = list_of(record({"threshold": real, "values": _NUMBERS, "loss": real}))
# The details that a run or a report reads; the others may be anything. Those of every evaluation
# are checked by types alone: a log may have 100 000 of them.
DETAILS: Mapping[str, Callable[[Any], bool]] = {
    "calibration": partial(is_let_through, nullable(_CALIBRATION)),
    "class_weights": _are_numbers,
    "decision_path": _is_path,
    "decisions": partial(is_let_through, mapping_of(nullable(real))),
    "default_score": _is_number_or_none,
    "ended": _is_moment,
    "fit_seconds": _is_number,
    "folds_left": _is_count,
    "group_thresholds": _are_numbers,
    "least_share": _is_number,
    "lower_threshold": _is_number,
    "other_thresholds": partial(is_let_through, _ELSEWHERE),
    "predict_seconds": _is_number,
    "scores": _are_scores,
    "slowdown": _is_number,
    "steps": _are_numbers,
    "temperature": _is_number,
    "threshold": _is_number_or_none,
    "work_seconds": _is_number,
}


def digest(row: Sequence[Any]) -> bytes:
    """Return the sha256 of all values of a row; floats are written with all their digits.

    Damage may turn text into bytes; they never have the hash of the text.
    """
    return hashlib.sha256(json.dumps(list(row), default=repr).encode()).digest()


def is_intact(row: Sequence[Any], sha256: object) -> bool:
    """Return True if a hash is that of the values of a row."""
    return digest(row) == sha256


def storable(text: str) -> str:
    """Return text fit for a file: a message of a component may hold halves of characters."""
    return text.encode("utf-8", "replace").decode()


def _selection(picks: Mapping[str, Any]) -> Selection:
    found = tuple((k, tuple(v) if isinstance(v, list) else v) for k, v in picks.items())
    for _, pick in found:
        if not all(
            isinstance(part, str) for part in (pick if isinstance(pick, tuple) else (pick,))
        ):
            raise ValueError
    return Selection(found)
