"""Keeping Dask's loggers off the terminal while a run lasts: what matters is told in one line."""

from __future__ import annotations

import logging

LOGGERS = ("distributed", "distributed.client", "tornado", "tornado.application")
SILENT = logging.CRITICAL + 1


class Silence:
    """Dask's loggers are silent until it is broken; then their levels are what they were."""

    def __init__(self) -> None:
        self._levels = {name: logging.getLogger(name).level for name in LOGGERS}
        for name in LOGGERS:
            logging.getLogger(name).setLevel(SILENT)

    def end(self) -> None:
        """Give the levels back."""
        for name, level in self._levels.items():
            logging.getLogger(name).setLevel(level)
        self._levels = {}
