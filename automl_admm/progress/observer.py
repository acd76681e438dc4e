"""The observer that shows a run's progress on a display."""

from __future__ import annotations

from types import TracebackType
from typing import Any, Self

from automl_admm.core.admm_state import AdmmState
from automl_admm.core.evaluations import Evaluation
from automl_admm.core.run import RunInfo
from automl_admm.progress.displays import Display, NoDisplay, display_for
from automl_admm.progress.run_so_far import RunSoFar, line_of


class Progress:
    """An observer and a context: within it the display stands.

    `shows_all` adds a line for every evaluation.
    """

    def __init__(self, so_far: RunSoFar, display: Display, *, shows_all: bool = False) -> None:
        self.so_far = so_far
        self._display = display
        self._shows_all = shows_all

    def __enter__(self) -> Self:
        self._display.begin()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._display.end()

    def say(self, line: str) -> None:
        """Show a line that stays."""
        self._display.say(line)

    def run_started(self, info: RunInfo) -> None:
        """Remember the run and its earlier evaluations."""
        self.so_far.begin(info)
        if info.known:
            self.say(f"goes on after {len(info.known)} evaluations")

    def evaluation_started(self, number: int, text: str) -> None:
        """Show it as running."""
        self.so_far.start(number, text)

    def evaluation_finished(self, evaluation: Evaluation, info: RunInfo) -> None:
        """Count it, and show it if it is the best."""
        self.so_far.finish(evaluation)
        if self._shows_all:
            self.say(line_of(evaluation, info))
        self._display.refresh()

    def iteration_finished(self, state: AdmmState) -> None:
        """Show how far the outer loop is."""
        self.so_far.iteration = state.iteration + 1

    def should_stop(self) -> None:
        """Show the time that is left; it is asked several times a second."""
        self._display.refresh()


def progress_at(level: int, stream: Any) -> Progress:
    """Return the progress of a run in Python: 0 shows nothing, 1 the state, 2 every evaluation."""
    so_far = RunSoFar()
    display = NoDisplay() if level == 0 else display_for(so_far, stream)
    return Progress(so_far, display, shows_all=level > 1)
