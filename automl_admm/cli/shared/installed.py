"""The installed plugins, loaded with stdout kept for results: a program may read them."""

from __future__ import annotations

import io
import logging
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout

from automl_admm.plugins.loading import Plugins, load_plugins

logger = logging.getLogger(__name__)


@contextmanager
def unprinted() -> Iterator[None]:
    """Send prints of plugins to the log within a block.

    The stream belongs to the whole process, so only the program itself may do this.
    """
    said = io.StringIO()
    try:
        with redirect_stdout(said):
            yield
    finally:
        if said.getvalue().strip():
            logger.info("plugins say: %s", said.getvalue().strip())


def installed(*, quietly: bool = False) -> Plugins:
    """Return everything provided by installed plugins, by `load_plugins`."""
    with unprinted():
        return load_plugins(quietly=quietly)
