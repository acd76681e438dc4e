"""Keeping SMAC off the terminal, in any number of threads."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager

from automl_admm.plugin_api import SharedSetting

SILENT = logging.CRITICAL + 1
# One for all threads, for there is one set of filters and one level of the logger.
_SETTING = SharedSetting()


def quiet() -> AbstractContextManager[None]:
    """Keep SMAC from logging and warning while at least one thread is inside.

    SMAC logs mere information as warnings; without a handler they go to stderr.
    """
    return _SETTING.within(_silenced)


@contextmanager
def _silenced() -> Iterator[None]:
    smac = logging.getLogger("smac")
    level = smac.level
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        smac.setLevel(SILENT)
        yield
    smac.setLevel(level)
