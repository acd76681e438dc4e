"""The lines of `fit` before a search."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from automl_admm.cli.shared.announcement import announce
from automl_admm.runs.config import RunConfig
from automl_admm.runs.prepare.preparation import prepare

GAP = "selection_rate_gap[sex] <= 0.2"


def lines(**config: Any) -> list[str]:
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"x": rng.random(400), "sex": rng.choice(["f", "m"], 400)})
    y = pd.Series(np.where(X["x"] + rng.random(400) > 1.0, "yes", "no"), name="y")
    settings = {"max_evaluations": 2, "positive": "yes", "executor": "inline"}
    return list(announce(prepare(RunConfig(**{**settings, **config}), X, y)))


def note(**config: Any) -> list[str]:
    return [line for line in lines(**config) if "does not see the decisions" in line]


def test_a_metric_that_is_blind_to_a_limit_on_groups_is_told() -> None:
    (told,) = note(constraints=("size_mb <= 90", GAP))
    assert told.startswith(f"roc_auc does not see the decisions that {GAP} is about")
    assert "--metric balanced_accuracy" in told


@pytest.mark.parametrize(
    "config",
    [
        {"constraints": (GAP,), "scoring": "balanced_accuracy"},
        {"constraints": (GAP,), "cost": "fn=5,fp=1"},
        {"constraints": (GAP,), "certify": 0.9},
        {"constraints": ("fpr <= 0.2",)},
        {"constraints": ("auc_gap[sex] <= 0.2",)},
        {},
    ],
)
def test_nothing_is_told_where_decisions_are_seen_or_no_limit_is_about_them(
    config: dict[str, Any], tmp_path: Any
) -> None:
    assert note(looks=tmp_path / "looks.json", **config) == []
