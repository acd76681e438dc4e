"""Both solvers in a run, in both strategies."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from automl_admm.plugin_api import Choice, Condition, Order, Parameter, SearchSpace
from automl_admm.testing.searches import minimize

SPACE = SearchSpace(
    decisions=(
        Choice("model", ("tree", "line", "net")),
        Choice("kernel", ("rbf", "poly"), when=Condition("model", ("line",))),
        Order("steps", ("a", "b", "c")),
    ),
    parameters=(
        Parameter("x", 0, 1),
        Parameter("depth", 1, 9, kind="int", when=Condition("model", ("tree",))),
        Parameter("rate", 1e-4, 1.0, log=True, when=Condition("kernel", ("poly",))),
    ),
)


def loss(values: Mapping[str, Any]) -> dict[str, float]:
    """Least, 0, at line, poly, b a c and x = 0.7; `weight` is above 1 for x above 0.9."""
    found = abs(values["x"] - 0.7) + 0.3 * (values["steps"] != ("b", "a", "c"))
    found += {"tree": 0.6, "line": 0.0, "net": 0.8}[values["model"]]
    return {"loss": found + 0.3 * (values.get("kernel") != "poly"), "weight": values["x"] / 0.9}


START = loss({"model": "tree", "steps": ("a", "b", "c"), "x": 0.5, "depth": 5})["loss"]


@pytest.mark.parametrize("strategy", ["joint", "admm"])
@pytest.mark.parametrize(
    ("solver", "evaluations"), [("smac:retrain_after=4", 24), ("smac-gp:retrain_after=8", 8)]
)
def test_a_run(
    solver: str, evaluations: int, strategy: str, caplog: pytest.LogCaptureFixture
) -> None:
    result = minimize(
        loss,
        SPACE,
        constraints=["weight <= 1"],
        max_evaluations=evaluations,
        theta_solver=solver,
        strategy=strategy,
        random_state=1,
    )
    assert result.feasible
    assert len(result.evaluations) == evaluations
    assert result.loss < START
    assert caplog.records == []


@pytest.mark.parametrize("strategy", ["joint", "admm"])
def test_a_run_with_hyperband(strategy: str, caplog: pytest.LogCaptureFixture) -> None:
    asked: list[float] = []

    def rough(values: Mapping[str, Any], fidelity: float) -> float:
        asked.append(fidelity)
        return loss(values)["loss"] + 0.1 * (1.0 - fidelity)

    result = minimize(
        rough,
        SPACE,
        max_evaluations=40,
        theta_solver="smac",
        z_solver="random",
        strategy=strategy,
        min_fidelity=0.1,
        random_state=2,
    )
    rungs = {round(fidelity, 3) for fidelity in asked}
    assert rungs == {0.111, 0.333, 1.0}
    assert np.count_nonzero(np.array(asked) < 1.0) > 10
    assert result.loss < START
    assert caplog.records == []
