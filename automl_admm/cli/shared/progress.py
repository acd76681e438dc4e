"""The display of a run in progress: time left, the incumbent, and running evaluations."""

from __future__ import annotations

import time
from collections import Counter
from types import TracebackType
from typing import Self

from rich.console import Group
from rich.live import Live
from rich.text import Text

from automl_admm.cli.shared.param_types import in_words
from automl_admm.cli.shared.screen import PlainConsole, in_a_line, visible
from automl_admm.core.admm_state import AdmmState
from automl_admm.core.evaluations import Evaluation, is_feasible
from automl_admm.core.ranking import best_of
from automl_admm.core.run import RunInfo

SECONDS_BETWEEN_LINES = 10.0


class ProgressDisplay:
    """An observer: a live display on a terminal, else a line every ten seconds; on stderr."""

    def __init__(self, *, quiet: bool, verbose: bool) -> None:
        self._console = PlainConsole(stderr=True)
        self._quiet = quiet
        self._verbose = verbose
        self._live: Live | None = None
        self._info: RunInfo | None = None
        self._best: Evaluation | None = None
        self._running: dict[int, tuple[str, float]] = {}
        self._counts: dict[str, int] = {}
        self._iteration = 0
        self._last_line = time.monotonic()

    def __enter__(self) -> Self:
        if self._console.is_terminal and not self._quiet:
            self._live = Live(
                get_renderable=self.render,
                console=self._console,
                refresh_per_second=4,
                transient=True,
            )
            self._live.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._live is not None:
            self._live.stop()

    def say(self, line: str) -> None:
        """Print a line, above the display if there is one."""
        if not self._quiet:
            self._console.print(Text(visible(line)), soft_wrap=True)

    def run_started(self, info: RunInfo) -> None:
        """Remember the run and its earlier evaluations."""
        self._info = info
        self._counts = dict(Counter(evaluation.status.value for evaluation in info.known))
        self._best = best_of(info.known, info.limits)
        if info.known:
            self.say(f"goes on after {len(info.known)} evaluations")

    def evaluation_started(self, number: int, text: str, info: RunInfo) -> None:
        """Show it as running."""
        del info
        self._running[number] = (text, time.monotonic())

    def evaluation_finished(self, evaluation: Evaluation, info: RunInfo) -> None:
        """Count it, and show it if it is the best."""
        self._running.pop(evaluation.number, None)
        self._counts[evaluation.status.value] = self._counts.get(evaluation.status.value, 0) + 1
        if evaluation.ok:
            known = [e for e in (self._best, evaluation) if e is not None]
            self._best = best_of(known, info.limits)
        if self._verbose:
            self.say(_line(evaluation, info))
        self._print_now_and_then()

    def iteration_finished(self, state: AdmmState, info: RunInfo) -> None:
        """Show how far the outer loop is."""
        del info
        self._iteration = state.iteration + 1

    def render(self) -> Group:
        """The display as it is now."""
        lines = [Text(visible(self.status_line()), style="bold"), Text(in_a_line(self.best_line()))]
        now = time.monotonic()
        for number, (text, since) in sorted(self._running.items()):
            lines.append(
                Text(
                    f"  running {number:>4}  {now - since:5.1f} s  {in_a_line(text)}",
                    no_wrap=True,
                    style="dim",
                )
            )
        return Group(*lines)

    def status_line(self) -> str:
        """Time left, and how many evaluations ended how."""
        counted = ", ".join(f"{number} {status}" for status, number in sorted(self._counts.items()))
        parts = [
            self._time_left(),
            f"{sum(self._counts.values())} evaluations ({counted or 'none yet'})",
        ]
        if self._iteration:
            parts.append(f"iteration {self._iteration}")
        return "   ".join(parts)

    def best_line(self) -> str:
        """The best value so far, and whether it is within the limits."""
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

    def _print_now_and_then(self) -> None:
        if self._live is not None or time.monotonic() - self._last_line < SECONDS_BETWEEN_LINES:
            return
        self._last_line = time.monotonic()
        self.say(f"{self.status_line()}   {self.best_line()}")


def _line(evaluation: Evaluation, info: RunInfo) -> str:
    value = f"{info.score_of(evaluation.loss):.4f}" if evaluation.ok else evaluation.status.value
    reason = f"  ({evaluation.message.splitlines()[0]})" if evaluation.message else ""
    facts = f"{evaluation.number:>5}  {value:>9}  {evaluation.seconds:6.2f} s"
    return f"{facts}  {evaluation.text}{reason}"
