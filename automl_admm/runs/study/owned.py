"""A search that one process owns, one thread at a time."""

from __future__ import annotations

import os
import threading
import time
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn, Self

from automl_admm.core.errors import ConfigurationError
from automl_admm.runs.study.files import Opened
from automl_admm.runs.study.trials import Trials, problem_of
from automl_admm.runs.study.view import StudyView


class OwnedStudy(StudyView):
    """A study of one process, open until its end, and in the hand of one thread at a time."""

    def _open(self, opened: Opened) -> None:
        super().__init__(opened.saved.name, opened.trials)
        self._saved = opened.saved
        self._lock, self._process = threading.RLock(), os.getpid()
        self._is_lent = False
        self._close = weakref.finalize(self, _close, opened.trials, self._process)

    def close(self) -> None:
        """End the search and let go of the folder; a study with a folder can be loaded again."""
        with self._lock:
            self._close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __getstate__(self) -> NoReturn:
        message = "a study cannot be copied into another process."
        raise ConfigurationError(message, hint="Use study.serve() there and Study.connect().")

    @contextmanager
    def _held(self) -> Iterator[None]:
        """Let one thread in at a time, and nobody after a fork or after the end."""
        self._check_process()
        with self._lock:
            self._demand_open()
            if self._is_lent:
                raise ConfigurationError("the study is in its optimize: wait until it has ended.")
            yield

    def _demand_open(self) -> None:
        self._check_process()
        if not self._close.alive:
            raise ConfigurationError("the study is closed.", hint="Go on with Study.load.")

    def _check_process(self) -> None:
        if os.getpid() != self._process:
            raise ConfigurationError(
                f"the study belongs to process {self._process}, which forked this one.",
                hint="Use study.serve() there and Study.connect() here.",
            )

    def _begin(self) -> None:
        if not self._trials.conversation.has_begun:
            self._trials.tell("run_started")
        self._begun = self._begun or time.monotonic()
        self._trials.begin(problem_of(self._box, self._deadline))


def _close(trials: Trials, process: int) -> None:
    """End a study, in the process that owns it alone."""
    if os.getpid() == process:
        trials.conversation.close()
        trials.store.close()
