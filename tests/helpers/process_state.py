"""Uses the library in the main thread, then in eight at once; says what it changed."""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import threading
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_iris
from threadpoolctl import threadpool_info

from automl_admm import AutoMLClassifier, Choice, Parameter, SearchSpace, minimize
from automl_admm.grammar import load_grammar
from automl_admm.plugins.loading import load_plugins

X, Y = load_iris(return_X_y=True)
SPACE = SearchSpace((Choice("shape", ("a", "b")),), (Parameter("x", 0.0, 1.0),))
THREADS = 8
ELSEWHERE = frozenset({"ridge"})  # a component of regression


def lasting() -> dict[str, object]:
    """What nothing may change, at no moment."""
    numbers: Any = np.random.get_state()  # noqa: NPY002 - it is the global one that is meant
    return {
        "streams": [id(stream) for stream in (sys.stdin, sys.stdout, sys.stderr)],
        "signals": [signal.getsignal(number) for number in sorted(signal.valid_signals())],
        "folder": os.getcwd(),  # noqa: PTH109
        "environment": dict(os.environ),
        "random": random.getstate(),
        "numpy.random": (numbers[1].tolist(), numbers[2:]),
        "hooks": [sys.excepthook, threading.excepthook, sys.displayhook],
        "limits": [sys.getrecursionlimit(), sys.getswitchinterval()],
    }


def filters() -> list[object]:
    """The filters of warnings, but for two that scikit-learn may leave behind in threads.

    Its `check_array` uses `catch_warnings`, and before Python 3.14 all threads share one list of
    filters. Where two of these blocks overlap, the last one to end brings back the filters of the
    other: an error for complex numbers, and the filter of a fit that has ended meanwhile. Another
    test shows without scikit-learn that our own filter is undone.
    """
    of_others = (("error", np.exceptions.ComplexWarning), ("ignore", Warning))
    return [one for one in warnings.filters if (one[0], one[2]) not in of_others]


def settled() -> dict[str, object]:
    """What must be as before when all is done, and what imports may have changed before that."""
    blas = {item["filepath"]: item["num_threads"] for item in threadpool_info()}
    shown = (warnings.showwarning, warnings.filterwarnings)
    return {"warnings": filters(), "showing": shown, "threads": blas, **lasting()}


class Witness:
    """Compares in the middle of things."""

    def __init__(self) -> None:
        self.before = lasting()
        self.changed: set[str] = set()
        self.heard = 0

    def evaluation_started(self) -> None:
        self.heard += 1
        now = lasting()
        self.changed |= {name for name in now if now[name] != self.before[name]}


def use(number: int, witness: Witness) -> None:
    common: dict[str, Any] = {"max_evaluations": 2, "callbacks": [witness]}
    if number % 2:
        minimize(lambda values: values["x"], SPACE, theta_solver="tpe", **common)
    else:
        executor = "local" if number % 4 else "inline"
        search = AutoMLClassifier("tiny", cv=2, executor=executor, **common)
        search.fit(X, Y).predict(X)
    for _ in range(4):
        plugins = load_plugins(quietly=True)
        load_grammar("tiny", plugins.components["classification"], plugins.grammars, ELSEWHERE, 3)


def in_threads(witness: Witness) -> list[str]:
    problems: list[str] = []
    barrier = threading.Barrier(THREADS)

    def work(number: int) -> None:
        barrier.wait()
        try:
            use(number, witness)
        except BaseException as problem:  # noqa: BLE001 - the test is to see it
            problems.append(f"{type(problem).__name__}: {problem}")

    threads = [threading.Thread(target=work, args=(number,)) for number in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return problems


def changed(before: dict[str, object], after: dict[str, object]) -> list[str]:
    return [name for name in before if before[name] != after[name]]


def wait_for_helpers() -> None:
    """Wait for threads that were told to end: on a busy machine one may still be about to."""
    for thread in set(threading.enumerate()) - {threading.main_thread()}:
        thread.join(60)


def main() -> None:
    alone, together = Witness(), Witness()
    before = lasting()
    for number in range(4):
        use(number, alone)
    first = changed(before, lasting())
    before = settled()
    problems = in_threads(together)
    wait_for_helpers()
    found = {
        "alone": first,
        "together": changed(before, settled()),
        "meanwhile": sorted(alone.changed | together.changed),
        "heard": [alone.heard, together.heard],
        "problems": problems,
    }
    Path(sys.argv[1]).write_text(json.dumps(found))


if __name__ == "__main__":
    main()
