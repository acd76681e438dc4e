"""The same little search in places where a search is not at home; `python -c` calls these."""

from __future__ import annotations

import asyncio
import multiprocessing
import signal
from concurrent.futures import ThreadPoolExecutor
from typing import Any, cast

from automl_admm import Parameter, SearchSpace, minimize

# The statuses of the evaluations, and whether the signal handlers are as before.
Found = tuple[list[str], bool]


def bowl(values: dict[str, Any]) -> float:
    return float((values["x"] - 0.3) ** 2)


def search() -> Found:
    """Three evaluations by two workers in child processes; what they came to."""
    handlers = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
    space = SearchSpace(parameters=(Parameter("x", 0.0, 1.0),))
    found = minimize(
        bowl,
        space,
        max_evaluations=3,
        theta_solver="random",
        executor="local",
        n_jobs=2,
        random_state=0,
    )
    after = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
    return [evaluation.status.value for evaluation in found.evaluations], handlers == after


def in_a_thread() -> Found:
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(search).result()


def in_a_running_loop() -> Found:
    async def cell() -> Found:
        return search()

    return asyncio.run(cell())


def _send(queue: multiprocessing.Queue[Found]) -> None:
    queue.put(search())


def in_a_daemon() -> Found:
    context = multiprocessing.get_context("spawn")
    queue: multiprocessing.Queue[Found] = context.Queue()
    process = context.Process(target=_send, args=(queue,), daemon=True)
    process.start()
    found = queue.get(timeout=300)
    process.join()
    return found


def in_a_joblib_worker() -> Found:
    from joblib import Parallel, delayed

    first, second = Parallel(n_jobs=2)(delayed(search)() for _ in range(2))
    assert first == second
    return cast("Found", first)


def in_a_dask_worker() -> Found:
    from distributed import Client

    with Client(n_workers=1, threads_per_worker=1, dashboard_address=None) as client:
        return cast("Found", client.submit(search).result())
