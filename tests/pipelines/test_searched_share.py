"""Evaluations on the rows of a share alone find the same as beside all rows."""

from __future__ import annotations

import pickle
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from automl_admm.pipelines.work import PipelineWork
from automl_admm.runs.config import RunConfig
from automl_admm.runs.prepare.preparation import Preparation, prepare

ROWS = 5000
LATE = 40  # rows at the end, unlike the others


def table() -> tuple[pd.DataFrame, pd.Series]:
    """Rows whose last ones alone have a third class, gaps, and a word not seen before."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.normal(size=ROWS), "c": rng.choice(["u", "v"], ROWS)})
    y = pd.Series(np.where(X["a"] + rng.normal(size=ROWS) > 0, "yes", "no"), name="class")
    X.loc[ROWS - LATE :, "a"] = np.nan
    X.loc[ROWS - 1, "c"] = "w"
    y[ROWS - LATE :] = "late"
    return X, y


@pytest.fixture(scope="module", params=["plain", "limited"])
def prepared(request: Any) -> Preparation:
    limits = ("accuracy >= 0.1",) if request.param == "limited" else ()
    # By default so few rows are folded within limits, and all of them are needed at once.
    cv = 0.25 if limits else None
    config = RunConfig("tiny", time_budget=60.0, test_size=0.2, searched_rows=400, cv=cv)
    return prepare(replace(config, constraints=limits), *table())


def first_part(work: PipelineWork) -> Any:
    begun = work.begin()
    assert begun is not None
    return pickle.loads(pickle.dumps(begun))


def test_an_evaluation_is_the_same_on_the_first_part(prepared: Preparation, tmp_path: Path) -> None:
    found, predictions = [], []
    part = first_part(prepared.work).work
    assert len(part.table.y) < 0.5 * len(prepared.work.table.y)
    assert list(part.table.classes) == ["late", "no", "yes"]
    for work in (prepared.work, part):
        one = work.evaluate(prepared.first, seed=3, folder=tmp_path)
        found.append(one.as_json() | {"details": one.details["scores"]})
        with np.load(tmp_path / "predictions.npz") as file:
            predictions.append([file["rows"], file["predictions"]])
    assert found[0] == found[1]
    for one, other in zip(*predictions, strict=True):
        assert np.array_equal(one, other)


def test_the_rest_makes_it_whole(prepared: Preparation) -> None:
    begun, work = first_part(prepared.work), prepared.work
    whole = begun.work.complete(begun.rest)
    pd.testing.assert_frame_equal(whole.table.X, work.table.X)
    assert whole.table.X["a"].isna().sum() + whole.held_out.X["a"].isna().sum() == LATE
    assert np.array_equal(whole.table.y, work.table.y)
    assert np.array_equal(whole.held_out.y, work.held_out.y)
    for one, other in zip(whole.splits, work.splits, strict=True):
        assert all(map(np.array_equal, one, other))
    assert whole.share is None


def test_a_search_on_most_rows_is_not_divided() -> None:
    assert prepare(RunConfig("tiny", max_evaluations=2), *table()).work.begin() is None
