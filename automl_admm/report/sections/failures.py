"""Failures by cause, each with one trace to read."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from automl_admm.core.evaluations import Evaluation, Status
from automl_admm.core.messages import say_count, shorten
from automl_admm.report.document import numbers
from automl_admm.report.document.html import Markup, Part, block_of_code, name, tag, together
from automl_admm.report.document.tables import folded, table
from automl_admm.report.pipeline_text import shape_of
from automl_admm.report.sections.section import Section
from automl_admm.report.view import RunView

# Messages that differ in their numbers alone have one cause.
NUMBER = re.compile(r"\d+(?:\.\d+)?(?:[eE][-+]?\d+)?")
LONGEST_CAUSE = 300
LONGEST_TRACE = 3_000
MOST_CAUSES = 30
MOST_TRACES = 5


@dataclass(frozen=True, slots=True)
class Cause:
    """Evaluations that failed alike, with the first of them as the example."""

    status: str
    message: str
    evaluations: int
    seconds: float
    example: int
    pipeline: str
    trace: str


@dataclass(frozen=True, slots=True)
class Failures:
    """The failures of a run, the commonest cause first.

    Evaluations that were `stopped` early were clearly behind, and the search ended before those
    that were `cancelled`: both are no failures.
    """

    failed: int
    evaluated: int
    stopped: int
    cancelled: int
    causes: tuple[Cause, ...]
    more_causes: int


def measure(view: RunView) -> Failures:
    """Group the failures by their end and their message, numbers aside."""
    groups: dict[tuple[str, str], list[Evaluation]] = {}
    for one in view.evaluations:
        if not one.ok and one.status is not Status.CANCELLED:
            key = one.status.value, NUMBER.sub("…", shorten(one.message, LONGEST_CAUSE))
            groups.setdefault(key, []).append(one)
    ordered = sorted(groups.values(), key=lambda alike: -len(alike))
    return Failures(
        failed=sum(map(len, ordered)),
        evaluated=len(view.evaluations),
        stopped=sum(one.folds_left > 0 for one in view.evaluations),
        cancelled=sum(one.status is Status.CANCELLED for one in view.evaluations),
        causes=tuple(map(_cause, ordered[:MOST_CAUSES])),
        more_causes=max(len(ordered) - MOST_CAUSES, 0),
    )


def _cause(alike: list[Evaluation]) -> Cause:
    first = alike[0]
    return Cause(
        status=first.status.value,
        message=shorten(first.message, LONGEST_CAUSE),
        evaluations=len(alike),
        seconds=round(sum(one.seconds for one in alike), 3),
        example=first.number,
        pipeline=shape_of(first.text),
        trace=trace_of(first.details),
    )


def trace_of(details: Mapping[str, Any]) -> str:
    """Return the longest text in the details: a trace-back, or the last lines printed."""
    texts = [value for value in details.values() if isinstance(value, str)]
    return shorten(max(texts, key=len, default=""), LONGEST_TRACE)


def draw(found: Failures) -> Markup:
    """Draw the causes, and a trace for the commonest."""
    stopped = None
    if found.stopped:
        stopped = tag(
            "p",
            f"{say_count(found.stopped, 'evaluation')} stopped early, clearly behind: that is no "
            "failure.",
        )
    ended = None
    if found.cancelled:
        count = f"{found.cancelled} of {say_count(found.evaluated, 'evaluation')}"
        ended = tag("p", f"The search ended before {count}: that is no failure.")
    if not found.causes:
        return together(
            tag("p", f"None of {say_count(found.evaluated, 'evaluation')} failed."), stopped, ended
        )
    more = f" The {found.more_causes} rarest causes are left out." if found.more_causes else ""
    count = say_count(found.evaluated, "evaluation")
    said = f"{found.failed} of {count} ended without a result.{more}"
    headings = ("End", "Message", "Pipeline of the first", "First", "Evaluations", "Time")
    traces = [one for one in found.causes if one.trace][:MOST_TRACES]
    return together(
        tag("p", said),
        stopped,
        ended,
        table(headings, map(_row, found.causes), text_columns=3),
        *(folded(f"The end of #{one.example}", block_of_code(one.trace)) for one in traces),
    )


def _row(one: Cause) -> tuple[Part, ...]:
    seconds = numbers.duration(one.seconds)
    message = name(one.message or "no message")
    return (one.status, message, name(one.pipeline), f"#{one.example}", one.evaluations, seconds)


SECTION = Section("failures", "Failures", Failures, measure, draw)
