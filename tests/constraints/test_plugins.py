"""Constraints of third parties: with a function, and with one that compares groups."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd
import pytest

from automl_admm.core.evidence import Largest, Rate
from automl_admm.plugins.evaluated_pipeline import EvaluatedPipeline
from automl_admm.plugins.records import (
    ConstraintPlugin,
    Masks,
)
from automl_admm.plugins.specs import hookimpl
from automl_admm.runs.config import RunConfig
from automl_admm.runs.pipelines import run_pipelines
from automl_admm.runs.prepare.preparation import prepare


def refused(evaluated: EvaluatedPipeline) -> Rate:
    return Rate(int((evaluated.decisions == 0).sum()), len(evaluated.y))


def most_refused(evaluated: EvaluatedPipeline, groups: Masks) -> Largest:
    return Largest({name: refused(evaluated.part(rows)) for name, rows in groups.items()})


class Refusals:
    @hookimpl
    def constraints(self) -> Iterable[ConstraintPlugin]:
        yield ConstraintPlugin(
            name="refused",
            summary="rows refused, a share",
            function=refused,
            highest=1.0,
            kind="statistical",
        )
        yield ConstraintPlugin(
            name="most_refused",
            summary="refused in the worst-off group",
            grouped=most_refused,
            kind="statistical",
        )


@pytest.fixture
def found() -> dict[str, float]:
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.normal(size=120)})
    X["sex"] = np.where(X["a"] + 0.5 * rng.normal(size=120) > 0, "f", "m")
    y = (X["a"] + 0.5 * rng.normal(size=120) > 0).astype(int)
    limits = [f"{name} <= 1" for name in ("refused", "refused_gap[sex]", "most_refused[sex]")]
    config = RunConfig(
        grammar="tiny",
        constraints=tuple(limits),
        max_evaluations=1,
        executor="inline",
        extra_plugins={"refusals": Refusals()},
        cv=0.25,
    )
    result: Any = run_pipelines(prepare(config, X, y)).result
    names = [limit.name for limit in result.limits]
    return dict(zip(names, result.evaluations[0].constraints, strict=True))


def test_both_kinds_are_measured_by_their_text(found: dict[str, float]) -> None:
    share, gap, worst = found.values()
    assert 0 < share < 1
    assert 0 < gap < 1
    assert share <= worst <= share + gap
