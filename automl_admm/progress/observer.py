"""The observer that shows a run's progress on a display."""

from __future__ import annotations

import logging
from contextvars import ContextVar, Token
from typing import Any, Self

from automl_admm.core.admm_state import AdmmState
from automl_admm.core.evaluations import Evaluation
from automl_admm.core.messages import say_count
from automl_admm.core.run import RunInfo
from automl_admm.progress.displays import Display, NoDisplay, display_for
from automl_admm.progress.run_so_far import RunSoFar, line_of
from automl_admm.progress.visible_text import in_a_line

LOGGER = logging.getLogger("automl_admm")
# A search in another thread has its own display, and its own warnings.
_SHOWN: ContextVar[Progress | None] = ContextVar("progress", default=None)


class Warnings(logging.Handler):
    """The warnings of the package, as lines of a display: printed, they would tear its picture."""

    def __init__(self, progress: Progress) -> None:
        super().__init__(logging.WARNING)
        self._progress = progress

    def filter(self, record: logging.LogRecord) -> bool:
        """Leave out those of a search that another display shows."""
        del record
        return _SHOWN.get() in (None, self._progress)

    def emit(self, record: logging.LogRecord) -> None:
        """Show a warning."""
        try:
            self._progress.say(f"warning: {in_a_line(record.getMessage())}")
        except Exception:  # noqa: BLE001 - as every handler: no line of a log ends a run
            self.handleError(record)


class Progress:
    """An observer and a context: within it the display stands.

    `shows_all` adds a line for every evaluation.
    """

    def __init__(self, so_far: RunSoFar, display: Display, *, shows_all: bool = False) -> None:
        self.so_far = so_far
        self._display = display
        self._shows_all = shows_all
        self._warnings = Warnings(self)
        self._before: Token[Progress | None] | None = None

    def __enter__(self) -> Self:
        self._display.begin()
        if type(self._display) is not NoDisplay:
            LOGGER.addHandler(self._warnings)
        self._before = _SHOWN.set(self)
        return self

    def __exit__(self, *problem: object) -> None:
        if self._before is not None:
            _SHOWN.reset(self._before)
        LOGGER.removeHandler(self._warnings)
        self._display.end()

    def say(self, line: str) -> None:
        """Show a line that stays."""
        self._display.say(line)

    def run_started(self, info: RunInfo) -> None:
        """Remember the run and its earlier evaluations."""
        self.so_far.begin(info)
        if info.known:
            self.say(f"goes on after {say_count(len(info.known), 'evaluation')}")

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
