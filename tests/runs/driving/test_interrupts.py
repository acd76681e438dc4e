from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator

import pytest

from automl_admm.runs.driving.interrupts import Deferral


@pytest.fixture(autouse=True)
def _python_hears_interrupts() -> Iterator[None]:
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def interrupt() -> None:
    os.kill(os.getpid(), signal.SIGINT)


def test_the_first_interrupt_is_noted_and_the_second_raised() -> None:
    with Deferral(enabled=True) as deferral:
        assert not deferral.came
        interrupt()
        assert deferral.came
        with pytest.raises(KeyboardInterrupt):
            interrupt()


def test_where_a_solver_thinks_the_first_is_raised_too() -> None:
    with Deferral(enabled=True) as deferral:
        with deferral.at_once(), pytest.raises(KeyboardInterrupt):
            interrupt()
        assert deferral.came


def test_afterwards_the_handler_is_what_it_was() -> None:
    with Deferral(enabled=True):
        pass
    with pytest.raises(KeyboardInterrupt):
        interrupt()


def test_a_handler_that_raises_nothing_is_only_called() -> None:
    seen = []
    signal.signal(signal.SIGINT, lambda number, _: seen.append(number))
    with Deferral(enabled=True) as deferral:
        interrupt()
        interrupt()
        assert not deferral.came
    assert seen == [signal.SIGINT] * 2


def test_it_can_be_left_out() -> None:
    with Deferral(enabled=False), pytest.raises(KeyboardInterrupt):
        interrupt()


def test_another_thread_changes_nothing() -> None:
    handlers = []

    def enter() -> None:
        with Deferral(enabled=True):
            handlers.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=enter)
    thread.start()
    thread.join()
    assert handlers == [signal.default_int_handler]
