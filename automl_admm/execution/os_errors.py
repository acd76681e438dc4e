"""What the system refuses: a full disk and a limit of the shell, told as errors of ours."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager

from automl_admm.core.errors import NO_ROOM, SHELL_HINT, AutomlAdmmError, DiskFullError

SHELL_LIMITS = (errno.EAGAIN, errno.EMFILE, errno.ENFILE, errno.ENOMEM)


@contextmanager
def naming_obstacles(what: str) -> Iterator[None]:
    """Raise what the system refuses in this block as an error that says what could not be done."""
    try:
        yield
    except OSError as error:
        if error.errno in NO_ROOM:
            raise DiskFullError(f"no room left on the disk: {what}.", hint="Free some.") from error
        hint = SHELL_HINT if error.errno in SHELL_LIMITS else None
        raise AutomlAdmmError(f"{what}: {error.strerror or error}.", hint=hint) from error
