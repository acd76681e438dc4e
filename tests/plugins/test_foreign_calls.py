from __future__ import annotations

import sys
import threading
import time
from asyncio import CancelledError
from typing import Any

import numpy as np
import pandas as pd
import pytest

from automl_admm.core.evidence import Estimate
from automl_admm.plugins import foreign_calls
from automl_admm.plugins.evaluated_pipeline import EvaluatedPipeline
from automl_admm.plugins.foreign_calls import ExitError, in_time, measured_by, no_exit

Y, FRAME = np.array([0, 1]), pd.DataFrame({"a": [1.0, 2.0]})
EVALUATED = EvaluatedPipeline(None, FRAME, Y, Y, 0.0, 0.0, Y, sensitive=FRAME)


@pytest.mark.parametrize("code", [None, 0, 3, "no licence"])
def test_an_exit_is_an_error_with_its_code(code: Any) -> None:
    with pytest.raises(ExitError, match=rf"it called sys\.exit\({code!r}\)"), no_exit():
        sys.exit(code)


def test_what_is_no_exception_is_an_error_with_its_kind() -> None:
    with pytest.raises(ExitError, match=r"^it raised CancelledError: late$"), no_exit():
        raise CancelledError("late")


@pytest.mark.parametrize("problem", [KeyboardInterrupt(), MemoryError(), ValueError("v")])
def test_anything_else_passes(problem: BaseException) -> None:
    with pytest.raises(type(problem)) as raised, no_exit():
        raise problem
    assert raised.value is problem


def test_a_function_is_measured() -> None:
    assert measured_by(lambda seen: float(seen.y.sum()), EVALUATED) == Estimate(1.0)
    with pytest.raises(ExitError):
        measured_by(lambda _: sys.exit(0), EVALUATED)


def test_a_function_has_frames_of_its_own_in_every_call() -> None:
    def blanking(seen: EvaluatedPipeline) -> float:
        found = float(seen.X["a"].sum() + seen.sensitive["a"].sum())
        seen.X["a"] = 0.0
        seen.sensitive["a"] = 0.0
        return found

    assert [measured_by(blanking, EVALUATED) for _ in range(2)] == [Estimate(6.0)] * 2


def test_a_call_that_comes_back_in_time_is_as_it_would_be_here() -> None:
    soon = time.monotonic() + 60.0
    assert in_time(lambda: 3, soon) == 3
    assert in_time(threading.current_thread, None) is threading.current_thread()
    with pytest.raises(ZeroDivisionError):
        in_time(lambda: 1 // 0, soon)


def test_a_call_that_hangs_is_left_at_the_deadline(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(foreign_calls, "LEAST_SECONDS", 0.1)
    ended = threading.Event()

    def hangs() -> None:
        try:
            while True:
                time.sleep(0.01)
        finally:
            ended.set()

    with pytest.raises(TimeoutError, match=r"it did not come back within 0\.1 s"):
        in_time(hangs, time.monotonic())
    assert ended.wait(10.0), "the thread is broken off"
