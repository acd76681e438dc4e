from __future__ import annotations

import sys
from typing import Any

import pytest

from automl_admm.core.evidence import Estimate
from automl_admm.plugins.foreign_calls import ExitError, measured_by, no_exit


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
    assert measured_by(lambda evaluated: evaluated + 1.0, 1.0) == Estimate(2.0)
    with pytest.raises(ExitError):
        measured_by(lambda _: sys.exit(0), 1.0)
