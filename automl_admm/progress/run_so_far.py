"""The state of a run in lines: time left, the incumbent, and running evaluations."""

from __future__ import annotations

import time
from collections import Counter

from automl_admm.core.evaluations import Evaluation, is_feasible
from automl_admm.core.ranking import best_of
from automl_admm.core.run import RunInfo
from automl_admm.progress.visible_text import in_a_line


class RunSoFar:
    """The events of a run, counted; threads that show it may read it at any time."""

    def __init__(self) -> None:
        self.iteration = 0
        self._info: RunInfo | None = None
        self._best: Evaluation | None = None
        self._running: dict[int, tuple[str, float]] = {}
        self._counts: dict[str, int] = {}

    def begin(self, info: RunInfo) -> None:
        """Take the facts of the run and its earlier evaluations."""
        self._info = info
        self._counts = dict(Counter(evaluation.ending for evaluation in info.known))
        self._best = best_of(info.known, info.limits)

    def start(self, number: int, text: str) -> None:
        """Note that an evaluation runs."""
        self._running[number] = (text, time.monotonic())

    def finish(self, evaluation: Evaluation) -> None:
        """Count an evaluation, and compare it with the best."""
        self._running.pop(evaluation.number, None)
        status = evaluation.ending
        self._counts = {**self._counts, status: self._counts.get(status, 0) + 1}
        if evaluation.ok and self._info is not None:
            known = [one for one in (self._best, evaluation) if one is not None]
            self._best = best_of(known, self._info.limits)

    def lines(self) -> list[str]:
        """Return the state, the best, and a line for each running evaluation."""
        now = time.monotonic()
        running = [
            f"  running {number:>4}  {now - since:5.1f} s  {in_a_line(text)}"
            for number, (text, since) in sorted(self._running.copy().items())
        ]
        return [self.status_line(), in_a_line(self.best_line()), *running]

    def status_line(self) -> str:
        """Time left, and the numbers of evaluations by their end."""
        parts = [self._time_left(), self.count_line()]
        if self.iteration:
            parts.append(f"iteration {self.iteration}")
        return "   ".join(parts)

    def count_line(self) -> str:
        """The number of evaluations, and how they ended."""
        counts = self._counts
        counted = ", ".join(f"{number} {status}" for status, number in sorted(counts.items()))
        number = sum(counts.values())
        return f"{number} evaluation{'' if number == 1 else 's'} ({counted or 'none yet'})"

    def best_line(self) -> str:
        """The best score so far, and a warning if it is not within the limits."""
        if self._best is None or self._info is None:
            return "best      none yet"
        score = self._info.score_of(self._best.loss)
        limits = self._info.limits
        feasible = is_feasible(self._best, limits)
        words = "best      " if feasible else "closest, not within the limits  "
        values = "".join(
            f"  {limit.name} {value:.4g}"
            for limit, value in zip(limits, self._best.constraints, strict=True)
        )
        return f"{words}{self._info.loss_name} {score:.4f}{values}  {self._best.text}"

    def _time_left(self) -> str:
        if self._info is None:
            return "starting"
        if self._info.budget_seconds is None:
            return f"{sum(self._counts.values())} of {self._info.max_evaluations}"
        left = self._info.begun + self._info.budget_seconds - time.monotonic()
        return f"{in_words(left)} left of {in_words(self._info.budget_seconds)}"


def in_words(seconds: float) -> str:
    """Write minutes and seconds as on a clock.

    >>> in_words(90.4)
    '1:30'
    """
    whole = max(round(seconds), 0)
    return f"{whole // 60:d}:{whole % 60:02d}"


def line_of(evaluation: Evaluation, info: RunInfo) -> str:
    """Return an evaluation in a line: its number, score or status, time, text and reason."""
    value = f"{info.score_of(evaluation.loss):.4f}" if evaluation.ok else evaluation.ending
    reason = f"  ({evaluation.message.splitlines()[0]})" if evaluation.message else ""
    facts = f"{evaluation.number:>5}  {value:>9}  {evaluation.seconds:6.2f} s"
    return f"{facts}  {evaluation.text}{reason}"
