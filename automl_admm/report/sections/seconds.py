"""Seconds of a run by account: the program, its workers, and the steps of pipelines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from automl_admm.core.evaluations import STOPPED
from automl_admm.report.clock import clock_of
from automl_admm.report.document import numbers
from automl_admm.report.document.charts import HEIGHT, Chart, Layer
from automl_admm.report.document.html import Markup, Part, name, tag, together
from automl_admm.report.document.tables import bar, figure, table
from automl_admm.report.sections.section import BY_COLUMN, Section
from automl_admm.report.view import RunView
from automl_admm.runs.driving.profile import fit_times

# Stretches of the run that are nearer to each other than such a part of it are drawn as one.
RESOLUTION = 500
HEIGHT_OF_FRAME, HEIGHT_OF_LANE = 70.0, 30.0
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
class Held:
    """A stretch of the run in which a worker, from 1, was busy with evaluations of one end.

    Those closer together than a 500th of the run are one stretch. The log names no workers: an
    evaluation is given to the one that has been free the longest.
    """

    worker: int
    begun: float
    ended: float
    status: str
    evaluations: int = 1


@dataclass(frozen=True, slots=True)
class Times:
    """Seconds of the last session by phase and by the workers' work, and of all by step and end.

    `busy` is the share of the workers' time, up to the last evaluation, in which they evaluated.
    """

    process: tuple[Spent, ...]
    workers: tuple[Spent, ...]
    steps: tuple[Spent, ...]
    statuses: tuple[Spent, ...]
    sessions: tuple[tuple[str, float | None], ...]
    held: tuple[Held, ...] = field(metadata=BY_COLUMN)
    busy: float | None


def measure(view: RunView) -> Times:
    """Add up the seconds of the log and of the last session."""
    by_status: dict[str, list[float]] = {}
    for one in view.evaluations:
        by_status.setdefault(one.ending, []).append(one.seconds)
    sessions, held = view.content.get("sessions", ()), _held(view)
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
        held=tuple(held),
        busy=_busy(view, held),
    )


def _held(view: RunView) -> list[Held]:
    """Place the evaluations on workers; none of a log without times of day."""
    clock = clock_of(view.searched)
    if clock.estimated or not clock.ends:
        return []
    ends = clock.ends
    spans = [(max(ends[e.number] - e.seconds, 0.0), ends[e.number], e) for e in view.evaluations]
    workers: list[list[Held]] = [[] for _ in range(int(view.settings["workers"]))]
    for begun, ended, one in sorted(spans, key=lambda span: span[:2]):
        free = [held[-1].ended if held else 0.0 for held in workers]
        place = free.index(min(free))
        held = Held(place + 1, round(begun, 3), ended, one.ending)
        _enter(workers[place], held, max(ends.values()) / RESOLUTION)
    return [held for lane in workers for held in lane]


def _enter(lane: list[Held], held: Held, gap: float) -> None:
    """Add a stretch, or make the last one longer."""
    last = lane[-1] if lane else None
    if last is None or last.status != held.status or held.begun - last.ended > gap:
        lane.append(held)
    else:
        ended = max(last.ended, held.ended)
        lane[-1] = replace(last, ended=ended, evaluations=last.evaluations + 1)


def _busy(view: RunView, held: Sequence[Held]) -> float | None:
    last = max((one.ended for one in held), default=0.0)
    spent = sum(one.seconds for one in view.evaluations)
    return min(spent / (int(view.settings["workers"]) * last), 1.0) if last else None


def _accounts(spent: Mapping[str, float] | None) -> tuple[Spent, ...]:
    ordered = sorted((spent or {}).items(), key=lambda pair: -pair[1])
    return tuple(Spent(account, float(seconds)) for account, seconds in ordered)


def draw(found: Times) -> Markup:
    """Draw a table with bars for each account."""
    nothing = tag("p", "The phases are known when a session has ended.")
    sessions = [
        (numbers.moment(begun), numbers.duration(seconds)) for begun, seconds in found.sessions
    ]
    return together(
        tag("h3", "The program, last session"),
        _bars(found.process, "Phase", WORDS) if found.process else nothing,
        tag("h3", "Its workers, during the search") if found.workers else None,
        _bars(found.workers, "Work") if found.workers else None,
        tag("h3", "Fits by step, all sessions") if found.steps else None,
        _bars(found.steps, "Step") if found.steps else None,
        tag("h3", "Evaluations by their end"),
        _bars(found.statuses, "End") if found.statuses else tag("p", "There are none."),
        _lanes(found),
        tag("h3", "Sessions") if sessions else None,
        table(("Begun", "Time"), sessions) if sessions else None,
    )


def _lanes(found: Times) -> Markup | None:
    """Draw the evaluations on their workers, along the time of the run."""
    if not found.held:
        return None
    kinds = {"success": "inside", STOPPED: "any"}
    classes: dict[str, list[tuple[float, float]]] = {"inside": [], "any": [], "failed": []}
    for one in found.held:
        level = float(one.worker)
        class_ = kinds.get(one.status, "failed")
        classes[class_] += [(one.begun, level), (one.ended, level)]
    labels = {"inside": "evaluated", "any": "stopped early: clearly behind", "failed": "no result"}
    layers = (Layer("spans", key, ends, labels[key]) for key, ends in classes.items())
    title, x = "The workers along the time of the run", "seconds of the run"
    lanes = max(one.worker for one in found.held)
    height = min(HEIGHT_OF_FRAME + HEIGHT_OF_LANE * lanes, HEIGHT)
    chart = Chart(title, x, "worker", tuple(layers), has_whole_y=True, height=height)
    said = (
        f"The workers evaluated {numbers.share(found.busy)} of the time until the last evaluation "
        "ended. The log names no workers: each evaluation is drawn where one had been free the "
        "longest."
    )
    rows = (
        (h.worker, h.status, f"{h.begun:.1f}", f"{h.ended:.1f}", h.evaluations) for h in found.held
    )
    behind = table(("Worker", "End", "From, s", "To, s", "Evaluations"), rows, text_columns=2)
    drawn = together(chart.legend(), tag("div", chart.drawn(), class_="charts"))
    return together(tag("h3", "Workers"), figure(drawn, said, behind))


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
