"""The warnings of the package's log, as lines of the command line's own."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from automl_admm.cli.shared.screen import say
from automl_admm.progress.visible_text import in_a_line

LOGGER = logging.getLogger("automl_admm")


class LogLines(logging.Handler):
    """A handler that prints warnings, unless a display of progress shows them."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Leave a warning to a display."""
        from automl_admm.progress.observer import Warnings  # a display is here only in a run

        del record
        return not any(isinstance(handler, Warnings) for handler in LOGGER.handlers)

    def emit(self, record: logging.LogRecord) -> None:
        """Print a warning."""
        try:
            say(f"warning: {in_a_line(record.getMessage())}", err=True)
        except Exception:  # noqa: BLE001 - as every handler: no line of a log ends a command
            self.handleError(record)


@contextmanager
def printing_warnings() -> Iterator[None]:
    """Print the warnings of the package's log while a command runs."""
    lines = LogLines(logging.WARNING)
    LOGGER.addHandler(lines)
    try:
        yield
    finally:
        LOGGER.removeHandler(lines)
