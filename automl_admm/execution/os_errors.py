"""Refusals of the system, such as a full disk or a limit of the shell, as our errors."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager

from automl_admm.core.errors import NO_ROOM, SHELL_HINT, AutomlAdmmError, DiskFullError

SHELL_LIMITS = (errno.EAGAIN, errno.EMFILE, errno.ENFILE, errno.ENOMEM)


@contextmanager
def naming_obstacles(what: str) -> Iterator[None]:
    """Turn a refusal of the system in this block into an error with the failed action."""
    try:
        yield
    except OSError as error:
        if error.errno in NO_ROOM:
            raise DiskFullError(f"no room left on the disk: {what}.", hint="Free some.") from error
        hint = SHELL_HINT if error.errno in SHELL_LIMITS else None
        raise AutomlAdmmError(f"{what}: {error.strerror or error}.", hint=hint) from error
