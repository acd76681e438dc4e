"""Fault tests, in the package and in its plugins: what was injected, expected and seen.

A test that injects a fault says so by `@pytest.mark.fault("F01", injected="…", expected="…")`, and
what it saw by the fixture `seen`. `pytest -m faults` runs them all; `benchmarks/faults.py` does so
and prints the table.
"""

from __future__ import annotations

import gc
import os
import signal
import sys
import threading
from collections.abc import Callable, Generator, Iterator
from pathlib import Path

import pytest

# Modules that tests and the processes started by tests import by their plain names. pytest puts
# this folder on its own path by `pythonpath` in pyproject.toml.
ROOT = Path(__file__).parent
HELPERS = ROOT / "tests" / "helpers"
# So many more objects made than freed begin a collection of the youngest, so many of these one of
# the next generation, and so on.
SELDOM = (30_000, 10, 10)


def pytest_configure(config: pytest.Config) -> None:
    """Put this process and all that it starts into the state of an ordinary one."""
    take_back_signals()
    keep_bytecode(config)
    if not only_deals(config):
        import_libraries()


def only_deals(config: pytest.Config) -> bool:
    """Return True in the process that deals tests to workers, and runs none itself."""
    return bool(config.getoption("numprocesses", 0)) and not hasattr(config, "workerinput")


def import_libraries() -> None:
    """Import what nearly all tests need, and let it take one thread.

    A search runs in one thread, and so do its parts here: beside other work, small products and
    fits take many times as long in as many threads as there are cores. So do new interpreters,
    unless a test is about their threads.
    """
    import scipy.linalg  # noqa: F401 - its BLAS is to be there when threads are counted
    import sklearn.ensemble  # noqa: F401 - and its OpenMP
    from threadpoolctl import threadpool_limits

    from automl_admm.execution.skops_import import import_skops

    threadpool_limits(1)
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    import_skops()  # as the program does, before a test imports it with all that it can find


def keep_bytecode(config: pytest.Config) -> None:
    """Keep compiled modules in the folder of pytest where they may not stand beside their sources.

    Each of some hundred interpreters would compile a thousand modules anew, for seconds.
    """
    folder = getattr(config, "cache", None)
    if folder is not None and os.environ.pop("PYTHONDONTWRITEBYTECODE", ""):
        place = os.environ.setdefault("PYTHONPYCACHEPREFIX", str(folder.mkdir("bytecode")))
        sys.pycache_prefix, sys.dont_write_bytecode = place, False


def take_back_signals() -> None:
    """Take back signals that are ignored, as they are for tests started in the background.

    Every process that a test starts would ignore them as well, and wait for ever.
    """
    if threading.current_thread() is threading.main_thread():
        for number, usual in (
            (signal.SIGINT, signal.default_int_handler),
            (signal.SIGHUP, signal.SIG_DFL),
        ):
            if signal.getsignal(number) is signal.SIG_IGN:
                signal.signal(number, usual)


@pytest.fixture(scope="session", autouse=True)
def helpers_in_children() -> Iterator[None]:
    """Put the helpers on the module path of every process that a test starts."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(HELPERS), prepend=os.pathsep)
        yield


@pytest.fixture(scope="session", autouse=True)
def quick_fits() -> Iterator[None]:
    """Know what scikit-learn looks up of a class and a function; save models in less time."""
    from known_blocks import known_blocks
    from known_parameters import known_parameters
    from quick_schema import quick_schema

    with known_parameters(), known_blocks(), quick_schema():
        yield


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session) -> Generator[None, object, object]:
    """Collect no garbage while tests are collected: modules and items stay to the end.

    To look through all of them again and again takes a third of the collection. They are not
    frozen after it: Hypothesis asks who refers to its generators, and would not see those. But
    young objects are looked through less often from then on: most of them go without it. Each
    worker compiles its share of the files first.
    """
    from shared_compilation import compile_share

    gc.disable()
    try:
        compile_share(session.config)
        return (yield)
    finally:
        gc.set_threshold(*SELDOM)
        gc.enable()


@pytest.hookimpl(trylast=True)
def pytest_unconfigure() -> None:
    """Collect what the tests have left, and look at nothing again while the process ends."""
    gc.collect()
    gc.freeze()


def pytest_itemcollected(item: pytest.Item) -> None:
    """Add the marker `faults`, and note what each fault marker says where a report carries it."""
    for marker in item.iter_markers("fault"):
        item.add_marker(pytest.mark.faults)
        (number,) = marker.args
        item.user_properties.append(("fault", {"id": number, **marker.kwargs}))


@pytest.fixture
def seen(record_property: Callable[[str, object], None]) -> Callable[[object], None]:
    """Say in a few words what a fault test saw: `seen("timeout after 1.2 s, by SIGKILL")`."""
    return lambda said: record_property("seen", str(said))  # a report crosses processes
