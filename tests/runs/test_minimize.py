"""`minimize`: the old name of its constraints, and points that are told apart."""

from __future__ import annotations

import asyncio
import hashlib
import json
import math
from typing import Any

import numpy as np
import pytest

from automl_admm import Choice, Parameter, SearchSpace, Study, minimize
from automl_admm.core.errors import ConfigurationError

SPACE = SearchSpace((), (Parameter("x", 0.0, 1.0),))
QUICK = {"max_evaluations": 4, "theta_solver": "random", "random_state": 0}


def far(values: dict[str, float]) -> dict[str, float]:
    return {"loss": -values["x"], "size": values["x"]}


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


def test_limits_may_be_one_text() -> None:
    found = minimize(far, SPACE, constraints="size <= 0.9", **QUICK)
    assert list(found.constraints) == ["size"]


def test_what_is_no_list_is_named() -> None:
    with pytest.raises(ConfigurationError, match="constraints must be a list, not 3"):
        minimize(far, SPACE, constraints=3, **QUICK)


class Net:
    """A value of which each is written alike."""

    def __init__(self, size: float) -> None:
        self.size = size

    def __repr__(self) -> str:
        return "Net()"


def _sizes(*sizes: float) -> tuple[Any, ...]:
    """Return arrays that NumPy writes alike: it leaves out their middle."""
    found = np.zeros((len(sizes), 3000))
    found[:, 1500] = sizes
    return tuple(found)


@pytest.mark.parametrize("is_choice", [True, False], ids=["choice", "parameter"])
@pytest.mark.parametrize(
    "values",
    [_sizes(1.0, 2.0), (Net(1.0), Net(2.0)), ({1: 1.0}, {"1": 1.0})],
    ids=["arrays", "objects", "dicts"],
)
def test_values_that_are_written_alike_are_points_of_their_own(
    values: tuple[Any, ...], is_choice: bool
) -> None:
    by_choice = SearchSpace((Choice("n", ("a", "b"), values=values),))
    by_number = SearchSpace((), (Parameter("n", 0, 1, kind="category", values=values),))
    seen: list[int] = []

    def objective(given: dict[str, Any]) -> float:
        seen.append(next(place for place, one in enumerate(values) if one is given["n"]))
        return -float(seen[-1])

    found = minimize(objective, by_choice if is_choice else by_number, executor="inline", **QUICK)
    assert sorted(seen) == [0, 1]
    assert found.best["n"] is values[1]


def test_a_point_of_texts_and_numbers_has_the_key_that_folders_have() -> None:
    values = ("a", 1, 1.0, True, None, math.nan, -0.0)
    space = SearchSpace(
        (Choice("n", tuple("abcdefg"), values=values),),
        (Parameter("k", 0, 6, kind="category", values=values),),
    )
    for trial in Study(space, random_state=0).ask(20):
        text = json.dumps(trial.values, sort_keys=True)
        assert trial.key == hashlib.sha256(text.encode()).hexdigest()[:24]
