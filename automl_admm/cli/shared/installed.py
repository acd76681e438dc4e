"""What is installed, with stdout kept for results: a program may read them."""

from __future__ import annotations

import io
import logging
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout

from automl_admm.plugins.loading import Plugins, load_plugins

logger = logging.getLogger(__name__)


@contextmanager
def unprinted() -> Iterator[None]:
    """A block in which what plugins print goes to the log instead.

    The stream belongs to the whole process, and this is the program's own.
    """
    said = io.StringIO()
    try:
        with redirect_stdout(said):
            yield
    finally:
        if said.getvalue().strip():
            logger.info("plugins say: %s", said.getvalue().strip())


def installed(*, quietly: bool = False) -> Plugins:
    """Everything that the installed plugins provide, as `load_plugins` finds it."""
    with unprinted():
        return load_plugins(quietly=quietly)
