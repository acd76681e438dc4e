"""The time of a run: seconds of its sessions, one after the other, without the pauses between."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import accumulate

from automl_admm.core.evaluations import Evaluation
from automl_admm.report.searched import Searched


@dataclass(frozen=True, slots=True)
class RunClock:
    """The second of the run at which each evaluation ended, by its number.

    `pauses` are the seconds at which a later session went on. The ends of those `estimated` are the
    seconds of the evaluations so far, divided by the workers: nobody noted a time of day.
    """

    ends: dict[int, float]
    estimated: int
    pauses: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class _Part:
    """A session in seconds since 1970, and the second of the run at which it began."""

    begun: float
    offset: float
    length: float


def clock_of(search: Searched) -> RunClock:
    """Place the evaluations of a run in its time."""
    known = [one for one in search.evaluations if one.ended is not None]
    if not known:
        return RunClock(_estimates(search, search.evaluations), len(search.evaluations))
    parts = _parts(search, known)
    ends = {one.number: round(_place(parts, one.ended or 0.0), 3) for one in known}
    unknown = [one for one in search.evaluations if one.ended is None]
    estimates, most = _estimates(search, unknown), min(ends.values())
    # They came first.
    ends |= {number: min(seconds, most) for number, seconds in estimates.items()}
    return RunClock(ends, len(unknown), tuple(round(part.offset, 3) for part in parts[1:]))


def _estimates(search: Searched, evaluations: Sequence[Evaluation]) -> dict[int, float]:
    workers = search.workers
    spent = accumulate(one.seconds / workers for one in evaluations)
    return {one.number: round(seconds, 3) for one, seconds in zip(evaluations, spent, strict=True)}


def _parts(search: Searched, known: Sequence[Evaluation]) -> list[_Part]:
    """Return the sessions; without any, one that began with the first evaluation."""
    first = min((one.ended or 0.0) - one.seconds for one in known)
    told = [
        (datetime.fromisoformat(one["begun"]).timestamp(), one["seconds"])
        for one in search.sessions
    ] or [(first, None)]
    parts: list[_Part] = []
    for place, (begun, seconds) in enumerate(told):
        until = told[place + 1][0] if place + 1 < len(told) else float("inf")
        offset = 0.0 if not parts else parts[-1].offset + parts[-1].length
        parts.append(_Part(begun, offset, _length(known, begun, until, seconds)))
    return parts


def _length(
    known: Sequence[Evaluation], begun: float, until: float, seconds: float | None
) -> float:
    """Return the seconds of a session; one that was killed lasted until its last evaluation."""
    if seconds is not None:
        return float(seconds)
    ends = [one.ended for one in known if one.ended is not None and begun <= one.ended < until]
    return max(ends, default=begun) - begun


def _place(parts: Sequence[_Part], ended: float) -> float:
    """Return the second of the run at a moment; one outside all sessions is at the nearest end.

    A clock that was set back or forth in a session must not move others.
    """
    part = next((one for one in reversed(parts) if one.begun <= ended), parts[0])
    return part.offset + min(max(ended - part.begun, 0.0), part.length)
