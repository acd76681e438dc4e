"""The state of a run: its counts, the best within the limits and of all, running evaluations."""

from __future__ import annotations

import math
import time
from collections import Counter
from dataclasses import dataclass, replace

from automl_admm.core.evaluations import STOPPED, Evaluation, Status, is_feasible
from automl_admm.core.limits import Limit
from automl_admm.core.ranking import best_of, violation
from automl_admm.core.run import RunInfo
from automl_admm.progress.limit_words import tell_limits
from automl_admm.progress.sparkline import Turn
from automl_admm.progress.visible_text import in_a_line

# The good endings come first.
ENDINGS = (Status.SUCCESS.value, STOPPED, *(one.value for one in Status))


@dataclass(frozen=True, slots=True)
class Running:
    """An evaluation that runs now."""

    number: int
    text: str
    seconds: float


@dataclass(frozen=True, slots=True)
class Strain:
    """One limit so far: `kept` by so many of the `measured`; `closest` is its best value."""

    limit: Limit
    kept: int = 0
    measured: int = 0
    closest: float | None = None

    def with_value(self, value: float) -> Strain:
        """Count one more value."""
        pair = (self.closest, value)
        known = [one for one in pair if one is not None and not math.isnan(one)]
        closest = min(known, key=self.limit.turned, default=None)
        return Strain(self.limit, self.kept + self.limit.holds(value), self.measured + 1, closest)


class RunSoFar:
    """The events of a run, counted; threads that show it may read it at any time.

    `best` is the best within the limits, else the closest; `best_of_all` has the lowest loss.
    `scores` has the turns of the best score within the limits, `distances` those of the violation
    (negative) while nothing is within them.
    """

    def __init__(self) -> None:
        self.iteration = 0
        self.info: RunInfo | None = None
        self.best: Evaluation | None = None
        self.best_of_all: Evaluation | None = None
        self.strains: tuple[Strain, ...] = ()
        self.scores: tuple[Turn, ...] = ()
        self.distances: tuple[Turn, ...] = ()
        self.counts: dict[str, int] = {}
        self.last_turn = time.monotonic()
        self._running: dict[int, tuple[str, float]] = {}

    def begin(self, info: RunInfo) -> None:
        """Take the facts of the run and its earlier evaluations."""
        # The best so far is that of the search, so it is shown beside what this aims at.
        self.info = replace(info, limits=info.aims or info.limits)
        self.strains = tuple(map(Strain, self.info.limits))
        for evaluation in info.known:
            self.finish(evaluation)

    def start(self, number: int, text: str) -> None:
        """Note that an evaluation runs."""
        self._running[number] = (text, time.monotonic())

    def finish(self, evaluation: Evaluation) -> None:
        """Count an evaluation, and compare it with the best."""
        self._running.pop(evaluation.number, None)
        self.counts = dict(Counter(self.counts) + Counter([evaluation.ending]))
        if evaluation.is_ranked and self.info is not None:
            self._compare(evaluation, self.info.limits)

    def _compare(self, evaluation: Evaluation, limits: tuple[Limit, ...]) -> None:
        values = zip(self.strains, evaluation.constraints, strict=True)
        self.strains = tuple(strain.with_value(value) for strain, value in values)
        known = [one for one in (self.best_of_all, evaluation) if one is not None]
        self.best_of_all = min(known, key=lambda one: one.loss)
        known = [one for one in (self.best, evaluation) if one is not None]
        self.best = best_of(known, limits)
        if self.best is evaluation:
            self._turn(evaluation, limits)

    def _turn(self, best: Evaluation, limits: tuple[Limit, ...]) -> None:
        self.last_turn = time.monotonic()
        if is_feasible(best, limits):
            self.scores = (*self.scores, Turn(self.count, -best.loss))
        elif best.one_class is None:
            turn = Turn(self.count, -violation(best.constraints, limits))
            self.distances = (*self.distances, turn)

    @property
    def count(self) -> int:
        """Number of evaluations so far."""
        return sum(self.counts.values())

    @property
    def is_within(self) -> bool:
        """True once an evaluation is within the limits."""
        return bool(self.scores)

    @property
    def binding(self) -> Strain | None:
        """The limit that most evaluations break; of equal ones the farthest from its bound."""
        broken = [one for one in self.strains if one.kept < one.measured]
        return max(broken, key=lambda one: (one.measured - one.kept, _gap(one)), default=None)

    def running(self) -> list[Running]:
        """Return the running evaluations, in the order of their numbers."""
        now = time.monotonic()
        items = sorted(self._running.copy().items())
        return [Running(number, text, now - since) for number, (text, since) in items]

    def status_line(self) -> str:
        """Time left, and the numbers of evaluations by their end."""
        parts = [self.time_left(), self.count_line()]
        if self.iteration:
            parts.append(f"iteration {self.iteration}")
        return "   ".join(parts)

    def count_line(self) -> str:
        """The number of evaluations, and how they ended."""
        number = self.count
        return f"{number} evaluation{'' if number == 1 else 's'} ({self.endings() or 'none yet'})"

    def endings(self) -> str:
        """The numbers of evaluations by their ends, the good ones first."""
        counts = self.counts
        return ", ".join(f"{counts[end]} {end}" for end in dict.fromkeys(ENDINGS) if end in counts)

    def best_line(self) -> str:
        """The best so far in a line; the limit that binds if nothing is within the limits."""
        if self.best is None or self.info is None:
            return "best      none yet"
        words, binding = "best      ", self.binding
        if self.info.limits and not self.is_within:
            words = "closest, not within the limits  "
        values = [*tell_limits(self.best, self.info.limits), in_a_line(self.best.text)]
        if self.best.one_class is not None:
            values.insert(-1, f"(calls every row '{in_a_line(self.best.one_class)}')")
        if not self.is_within and binding is not None:
            values.insert(-1, f"({tell_strain(binding)})")
        score = self.info.score_of(self.best.loss)
        return "  ".join([f"{words}{in_a_line(self.info.loss_name)} {score:.4f}", *values])

    def time_left(self) -> str:
        """The time, or the number of evaluations, up to now and at the end."""
        if self.info is None:
            return "starting"
        if self.info.budget_seconds is None:
            return f"{self.count} of {self.info.max_evaluations}"
        left = self.info.begun + self.info.budget_seconds - time.monotonic()
        return f"{in_words(left)} left of {in_words(self.info.budget_seconds)}"

    def part_done(self) -> float:
        """The part of the time, or of the evaluations, that is used up, from 0 to 1."""
        if self.info is None:
            return 0.0
        parts = [0.0]
        if self.info.budget_seconds:
            parts.append((time.monotonic() - self.info.begun) / self.info.budget_seconds)
        if self.info.max_evaluations:
            parts.append(self.count / self.info.max_evaluations)
        return min(max(parts), 1.0)


def _gap(strain: Strain) -> float:
    if strain.closest is None:
        return float("inf")
    return violation((strain.closest,), (strain.limit,))


def tell_strain(strain: Strain) -> str:
    """Say how a limit binds: by how many it is broken, and the closest value."""
    broken = f"{strain.measured - strain.kept} of {strain.measured}"
    closest = "" if strain.closest is None else f", its best value is {strain.closest:.4g}"
    return f"{in_a_line(strain.limit)} binds: broken by {broken}{closest}"


def in_words(seconds: float) -> str:
    """Write minutes and seconds as on a clock.

    >>> in_words(90.4), in_words(7510)
    ('1:30', '2:05:10')
    """
    minutes, rest = divmod(max(round(seconds), 0), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours:d}:{minutes:02d}:{rest:02d}" if hours else f"{minutes:d}:{rest:02d}"


def line_of(evaluation: Evaluation, info: RunInfo) -> str:
    """Return an evaluation in a line: its number, score or status, time, text and reason."""
    value = f"{info.score_of(evaluation.loss):.4f}" if evaluation.ok else evaluation.ending
    reason = f"  ({evaluation.message.splitlines()[0]})" if evaluation.message else ""
    facts = f"{evaluation.number:>5}  {value:>9}  {evaluation.seconds:6.2f} s"
    return f"{facts}  {evaluation.text}{reason}"
