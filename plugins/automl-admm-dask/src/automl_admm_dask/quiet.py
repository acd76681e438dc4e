"""Keep Dask's loggers off the terminal during a run: the run tells what matters in one line."""

from __future__ import annotations

import logging

LOGGERS = ("distributed", "distributed.client", "tornado", "tornado.application")
SILENT = logging.CRITICAL + 1


class Silence:
    """Silences Dask's loggers until `end`, and then restores their levels."""

    def __init__(self) -> None:
        self._levels = {name: logging.getLogger(name).level for name in LOGGERS}
        for name in LOGGERS:
            logging.getLogger(name).setLevel(SILENT)

    def end(self) -> None:
        """Give the levels back."""
        for name, level in self._levels.items():
            logging.getLogger(name).setLevel(level)
        self._levels = {}
