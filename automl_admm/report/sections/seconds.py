"""Seconds of a run by account: the program, its workers, and the steps of pipelines."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from automl_admm.report.document import numbers
from automl_admm.report.document.html import Markup, Part, name, tag, together
from automl_admm.report.document.tables import bar, table
from automl_admm.report.sections.section import Section
from automl_admm.report.view import RunView
from automl_admm.runs.driving.profile import fit_times

# The accounts of `run.json` in the words of a reader.
WORDS = {
    "wait": "waiting for evaluations",
    "solver": "solvers",
    "search": "the rest of the search",
    "start": "start: imports, data",
    "store": "writing the log",
}


@dataclass(frozen=True, slots=True)
class Spent:
    """Seconds of one account; `evaluations` had it, None where that has no meaning."""

    account: str
    seconds: float
    evaluations: int | None = None


@dataclass(frozen=True, slots=True)
class Times:
    """Seconds of the last session by phase and by the workers' work, and of all by step and end."""

    process: tuple[Spent, ...]
    workers: tuple[Spent, ...]
    steps: tuple[Spent, ...]
    statuses: tuple[Spent, ...]
    sessions: tuple[tuple[str, float | None], ...]


def measure(view: RunView) -> Times:
    """Add up the seconds of the log and of the last session."""
    by_status: dict[str, list[float]] = {}
    for one in view.evaluations:
        by_status.setdefault(one.ending, []).append(one.seconds)
    sessions = view.content.get("sessions", ())
    return Times(
        process=_accounts(view.result.get("ledger")),
        workers=_accounts(view.result.get("work")),
        steps=tuple(
            Spent(one.component, round(one.seconds, 3), one.evaluations)
            for one in fit_times(view.evaluations)
        ),
        statuses=tuple(
            Spent(status, round(sum(spent), 3), len(spent)) for status, spent in by_status.items()
        ),
        sessions=tuple((one["begun"], one["seconds"]) for one in sessions),
    )


def _accounts(spent: Mapping[str, float] | None) -> tuple[Spent, ...]:
    ordered = sorted((spent or {}).items(), key=lambda pair: -pair[1])
    return tuple(Spent(account, float(seconds)) for account, seconds in ordered)


def draw(found: Times) -> Markup:
    """Draw a table with bars for each account."""
    nothing = tag("p", "The phases are known when a session has ended.")
    sessions = [(begun, numbers.duration(seconds)) for begun, seconds in found.sessions]
    return together(
        tag("h3", "The program, last session"),
        _bars(found.process, "Phase", WORDS) if found.process else nothing,
        tag("h3", "Its workers, during the search") if found.workers else None,
        _bars(found.workers, "Work") if found.workers else None,
        tag("h3", "Fits by step, all sessions") if found.steps else None,
        _bars(found.steps, "Step") if found.steps else None,
        tag("h3", "Evaluations by their end"),
        _bars(found.statuses, "End") if found.statuses else tag("p", "There are none."),
        tag("h3", "Sessions") if sessions else None,
        table(("Begun", "Time"), sessions) if sessions else None,
    )


def _bars(
    spent: tuple[Spent, ...], heading: str, words: Mapping[str, str] = MappingProxyType({})
) -> Markup:
    whole = sum(one.seconds for one in spent) or 1.0
    has_counts = any(one.evaluations is not None for one in spent)
    headings = (heading, "", "Time", "Share", *(("Evaluations",) if has_counts else ()))
    rows = (_row(one, whole, words, has_counts=has_counts) for one in spent)
    return table(headings, rows, text_columns=2)


def _row(
    one: Spent, whole: float, words: Mapping[str, str], *, has_counts: bool
) -> tuple[Part, ...]:
    part = one.seconds / whole
    row = (
        name(words.get(one.account, one.account)),
        bar(part),
        numbers.duration(one.seconds),
        numbers.rough_share(part),
    )
    return (*row, one.evaluations) if has_counts else row


SECTION = Section("time", "Where the time went", Times, measure, draw)
