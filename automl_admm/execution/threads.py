"""Cores of this machine, and the threads that each of several workers may use."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import cache, lru_cache, partial
from typing import TYPE_CHECKING, Any

from automl_admm.execution.shared_state import BLAS_THREADS

if TYPE_CHECKING:
    from threadpoolctl import ThreadpoolController

# Read by the libraries of linear algebra and OpenMP when they are loaded, and not later.
THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NUMEXPR_NUM_THREADS",
)

# Boosting on histograms, 20 columns: on 100,000 cells two threads take 2.2 times as much of the
# processor as one, so that even two idle cores gain nothing; on 400,000 cells 1.7 times as much.
SMALL_CELLS = 200_000


def count_cores() -> int:
    """Return the number of cores that this process may use: a container may have fewer.

    >>> count_cores() >= 1
    True
    """
    return len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1


def threads_each(workers: int) -> int:
    """Return the threads of each of several workers, so that together they fill the cores.

    >>> threads_each(1) == count_cores(), threads_each(10_000)
    (True, 1)
    """
    # Rounded down: one thread too many makes all of them wait.
    return max(count_cores() // workers, 1)


def thread_environment(threads: int) -> dict[str, str]:
    """Return the environment variables that hold a new process to so many threads.

    >>> thread_environment(2)["OMP_NUM_THREADS"]
    '2'
    """
    return dict.fromkeys(THREAD_VARIABLES, str(threads))


def limit_threads(threads: int) -> None:
    """Hold libraries that are loaded already to so many threads."""
    for library in thread_pools().lib_controllers:
        library.set_num_threads(threads)


def thread_pools() -> ThreadpoolController:
    """Return the loaded libraries that have threads, such as OpenBLAS.

    They are looked for in the map of the memory, for milliseconds, and again only after an import:
    a library comes with a module. Every fit and every solver asks.

    >>> thread_pools() is thread_pools()
    True
    """
    return _find_pools(len(sys.modules))


@lru_cache(maxsize=1)
def _find_pools(modules: int) -> ThreadpoolController:
    from threadpoolctl import ThreadpoolController

    del modules  # the answer holds as long as they are as many
    return ThreadpoolController()


def threads_for(cells: int) -> AbstractContextManager[object]:
    """Hold this process to one thread within a block, if its table has few `cells`.

    The threads of a small fit wait for each other most of the time, and where another process is
    busy on one of the cores they wait for that as well.

    >>> with threads_for(1000):
    ...     pass
    """
    is_single = os.environ.get(THREAD_VARIABLES[0]) == "1" or count_cores() == 1
    if is_single or cells > SMALL_CELLS:
        return nullcontext()
    return BLAS_THREADS.within(partial(thread_pools().limit, limits=1))


def openmp_limiter() -> Callable[[], None]:
    """Return a function that holds the calling thread to one OpenMP thread.

    The driver's limit holds for BLAS in all threads, but OpenMP counts for each thread anew. The
    libraries are looked for at the first call: that takes 5 ms, and the first evaluation of a
    search may end before a solver is asked for anything.
    """

    @cache
    def libraries() -> Sequence[Any]:
        found: Sequence[Any] = thread_pools().select(user_api="openmp").lib_controllers
        return found

    def limit() -> None:
        for library in libraries():
            library.set_num_threads(1)

    return limit
