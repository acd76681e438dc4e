"""A work as bytes, and as files that the processes of this machine map."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from automl_admm.core.errors import ConfigurationError, naming_os_errors
from automl_admm.core.messages import say_error
from automl_admm.execution.beginnings import Beginning
from automl_admm.execution.shared_arrays import remove_mapped, write_mapped


@dataclass(frozen=True, slots=True)
class PickledWork:
    """A work as bytes, to pass it on without loading it.

    >>> isinstance(PickledWork(b"").content, bytes)
    True
    """

    content: bytes


class RestOfWork:
    """The rest of a work whose beginning is there, written to a path at the first need."""

    def __init__(self, beginning: Beginning, path: Path) -> None:
        self._methods, self._rest = beginning.methods, beginning.rest
        self._path, self._is_stored = path, False

    def path_for(self, method: str) -> str | None:
        """Return the path of the rest, written, for a method that needs it; else None."""
        if method in self._methods:
            return None
        self.store()
        return str(self._path)

    def store(self) -> None:
        """Write the rest, if it is not there."""
        if not self._is_stored:
            store_work(self._rest, self._path)
            self._rest, self._is_stored = None, True

    def remove(self) -> None:
        """Remove its files."""
        remove_mapped(self._path)


def pickle_work(work: Any) -> PickledWork:
    """Pickle a work for a `LocalExecutor` of another machine.

    >>> isinstance(pickle_work({"rows": 3}).content, bytes)
    True
    """
    return PickledWork(pickled(work))


def store_work(work: Any, path: Path) -> None:
    """Write a work, or a part of it, to be mapped by a server."""
    arrays: list[pickle.PickleBuffer] = []
    content = work.content if isinstance(work, PickledWork) else pickled(work, arrays.append)
    with naming_os_errors(f"'{path}' cannot be written"):
        write_mapped(content, arrays, path)


def pickled(item: Any, take_array: Callable[[pickle.PickleBuffer], object] | None = None) -> bytes:
    """Pickle anything; definitions of `__main__` or of a function by value."""
    import cloudpickle

    try:
        content: bytes = cloudpickle.dumps(item, buffer_callback=take_array)
    except Exception as error:
        raise ConfigurationError(
            f"the work cannot be sent to a child process: {say_error(error)}.",
            hint="Leave out locks, open files and connections, or make them in prepare().",
        ) from error
    return content
