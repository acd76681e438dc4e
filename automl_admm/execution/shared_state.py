"""Process-wide states needed by several threads for a while, such as the filters of warnings.

If each thread saved and restored such a state, a thread that came second and left last would
restore the setting of the first, for good.
"""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager


class SharedSetting:
    """The first thread in sets a state, and the last one out undoes it.

    >>> from contextlib import nullcontext
    >>> with SharedSetting().within(nullcontext):
    ...     pass
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._inside = 0
        self._set = ExitStack()

    @contextmanager
    def within(self, setting: Callable[[], AbstractContextManager[object]]) -> Iterator[None]:
        """Set the state within a block; only the first thread really sets it."""
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
    """The first thread sets a state and undoes it; others go without meanwhile.

    For states to be undone by the same thread, such as the threads of BLAS.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()

    @contextmanager
    def within(self, setting: Callable[[], AbstractContextManager[object]]) -> Iterator[None]:
        """Set the state within a block, unless another thread has set it."""
        if not self._lock.acquire(blocking=False):
            yield
            return
        try:
            with setting():
                yield
        finally:
            self._lock.release()


# One for each, since there is one state for all threads.
_FILTERS = SharedSetting()
BLAS_THREADS = OneAtATime()


def unheard_warnings() -> AbstractContextManager[None]:
    """Silence warnings of candidates: they are judged by their scores."""
    return _FILTERS.within(_ignored)


@contextmanager
def _ignored() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
