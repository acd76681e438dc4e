from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pandas as pd
import pytest

from automl_admm.core.evidence import Estimate
from automl_admm.plugins.evaluated_pipeline import EvaluatedPipeline
from automl_admm.plugins.foreign_calls import ExitError, measured_by, no_exit

Y, FRAME = np.array([0, 1]), pd.DataFrame({"a": [1.0, 2.0]})
EVALUATED = EvaluatedPipeline(None, FRAME, Y, Y, 0.0, 0.0, Y, sensitive=FRAME)


@pytest.mark.parametrize("code", [None, 0, 3, "no licence"])
def test_an_exit_is_an_error_with_its_code(code: Any) -> None:
    with pytest.raises(ExitError, match=rf"it called sys\.exit\({code!r}\)"), no_exit():
        sys.exit(code)


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
