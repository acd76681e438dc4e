"""The limits of `minimize` and `Study` are called constraints; the old name works, and warns."""

from __future__ import annotations

import asyncio
import warnings
from pathlib import Path

import pytest

from automl_admm import MinimizeResult, Parameter, SearchSpace, Study, minimize
from automl_admm.core.errors import ConfigurationError

SPACE = SearchSpace((), (Parameter("x", 0.0, 1.0),))
QUICK = {"max_evaluations": 4, "theta_solver": "random", "random_state": 0}


def far(values: dict[str, float]) -> dict[str, float]:
    return {"loss": -values["x"], "size": values["x"]}


def test_the_old_name_warns_at_the_line_that_calls_and_gives_the_same() -> None:
    now = minimize(far, SPACE, constraints=["size <= 0.6"], **QUICK)
    with pytest.warns(DeprecationWarning, match="limits= of minimize is deprecated") as heard:
        before = minimize(far, SPACE, limits=["size <= 0.6"], **QUICK)
    assert [one.filename for one in heard] == [__file__]
    assert isinstance(now, MinimizeResult)
    assert (before.best, before.constraints) == (now.best, now.constraints)
    assert now.constraints["size"] <= 0.6


def test_a_study_warns_of_the_old_name_as_minimize_does(tmp_path: Path) -> None:
    with pytest.warns(DeprecationWarning, match="limits= of Study is deprecated") as heard:
        Study(SPACE, limits=["size <= 0.6"], work_dir=tmp_path / "s", **QUICK).close()
    with pytest.warns(DeprecationWarning, match="limits= of Study is deprecated") as again:
        Study.load(tmp_path / "s", limits=["size <= 0.5"]).close()
    assert [one.filename for one in (*heard, *again)] == [__file__] * 2
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Study.load(tmp_path / "s", constraints=["size <= 0.5"]).close()


def test_a_range_that_is_narrow_beside_its_place_is_searched() -> None:
    space = SearchSpace((), (Parameter("frequency", 1e6, 1e6 + 2),))
    found = minimize(lambda values: abs(values["frequency"] - 1e6 - 0.7), space, **QUICK)
    assert found.stopped_by == "evaluations"
    assert len({one.text for one in found.evaluations}) == 4


def test_an_objective_that_raises_no_exception_fails_once_and_loses_nothing() -> None:
    called: list[float] = []

    def sometimes(values: dict[str, float]) -> dict[str, float]:
        called.append(values["x"])
        if len(called) == 3:
            raise asyncio.CancelledError
        return far(values)

    found = minimize(sometimes, SPACE, executor="inline", **QUICK)
    assert [one.status.value for one in found.evaluations] == ["success"] * 2 + ["error", "success"]
    assert found.stopped_by == "evaluations"


def test_the_present_name_warns_of_nothing() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        minimize(far, SPACE, constraints="size <= 0.9", **QUICK)


def test_both_names_are_refused_in_one_line() -> None:
    with pytest.raises(ConfigurationError, match="two names of one argument") as told:
        minimize(far, SPACE, constraints=["size <= 1"], limits=["size <= 1"], **QUICK)
    assert "\n" not in str(told.value)


def test_an_old_name_without_limits_is_still_the_old_name() -> None:
    with pytest.warns(DeprecationWarning, match="write constraints="):
        assert minimize(far, SPACE, limits=[], **QUICK).constraints == {}


def test_what_is_no_list_is_called_by_its_present_name() -> None:
    with pytest.raises(ConfigurationError, match="constraints must be a list, not 3"):
        minimize(far, SPACE, constraints=3, **QUICK)
