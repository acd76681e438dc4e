"""States of the whole process that several threads need for a while, such as the warnings' filters.

If each thread saved and restored such a state, one that came second and left last would restore
what the first had set, and leave it so for good.
"""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager


class Together:
    """The first thread that enters sets a state, and the last one that leaves undoes it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._inside = 0
        self._set = ExitStack()

    @contextmanager
    def within(self, setting: Callable[[], AbstractContextManager[object]]) -> Iterator[None]:
        """A block in which the state is set; only the setting of the first thread is made."""
        with self._lock:
            if not self._inside:
                self._set.enter_context(setting())
            self._inside += 1
        try:
            yield
        finally:
            with self._lock:
                self._inside -= 1
                if not self._inside:
                    self._set.close()


class OneAtATime:
    """Only the thread that comes first sets a state, and undoes it; others go without meanwhile.

    It is for what must be undone by the thread that set it, as the threads of BLAS.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()

    @contextmanager
    def within(self, setting: Callable[[], AbstractContextManager[object]]) -> Iterator[None]:
        """A block in which the state is set, unless another thread has set it."""
        if not self._lock.acquire(blocking=False):
            yield
            return
        try:
            with setting():
                yield
        finally:
            self._lock.release()


# One for each, since there is one state for all threads.
_FILTERS = Together()
BLAS_THREADS = OneAtATime()


def unheard_warnings() -> AbstractContextManager[None]:
    """Keep quiet about what a candidate warns of: it is judged by its score."""
    return _FILTERS.within(_ignored)


@contextmanager
def _ignored() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
