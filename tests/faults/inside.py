"""The same little search in places where a search is not at home; `python -c` calls these."""

from __future__ import annotations

import asyncio
import multiprocessing
import signal
from concurrent.futures import ThreadPoolExecutor

from automl_admm import Parameter, SearchSpace, minimize


def bowl(values):
    return (values["x"] - 0.3) ** 2


def search():
    """Three evaluations by two workers in child processes; what they came to."""
    handlers = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
    space = SearchSpace(parameters=(Parameter("x", 0.0, 1.0),))
    given = {"max_evaluations": 3, "theta_solver": "random", "executor": "local", "n_jobs": 2}
    found = minimize(bowl, space, random_state=0, **given)
    after = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
    return [evaluation.status.value for evaluation in found.evaluations], handlers == after


def in_a_thread():
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(search).result()


def in_a_running_loop():
    async def cell():
        return search()

    return asyncio.run(cell())


def _send(queue):
    queue.put(search())


def in_a_daemon():
    context = multiprocessing.get_context("spawn")
    queue = context.Queue()
    process = context.Process(target=_send, args=(queue,), daemon=True)
    process.start()
    found = queue.get(timeout=300)
    process.join()
    return found


def in_a_joblib_worker():
    from joblib import Parallel, delayed

    first, second = Parallel(n_jobs=2)(delayed(search)() for _ in range(2))
    assert first == second
    return first


def in_a_dask_worker():
    from distributed import Client

    with Client(n_workers=1, threads_per_worker=1, dashboard_address=None) as client:
        return client.submit(search).result()
