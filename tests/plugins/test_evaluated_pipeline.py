"""What limits are shown: rows that none of them changes for the others."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from automl_admm.plugins.evaluated_pipeline import ARRAYS, EvaluatedPipeline


def rows() -> EvaluatedPipeline:
    y = np.array([0.0, 1.0, 1.0])
    return EvaluatedPipeline(None, np.eye(3), y, y, 0.0, 0.0, decisions=y, weights=np.ones(3))


@pytest.mark.parametrize("name", ARRAYS)
@pytest.mark.parametrize(
    "seen",
    [rows(), rows().part([0, 2]), rows().part(np.array([True, False, True])), replace(rows())],
)
def test_arrays_refuse_writing(seen: EvaluatedPipeline, name: str) -> None:
    with pytest.raises(ValueError, match="read-only"):
        getattr(seen, name)[:] = 0


def test_the_owner_of_an_array_may_still_write_and_nothing_was_copied() -> None:
    y = np.array([0, 1])
    seen = EvaluatedPipeline(None, None, y, y, 0.0, 0.0)
    y[0] = 5
    assert seen.y[0] == 5


def test_a_frame_changed_by_one_limit_is_whole_for_the_next() -> None:
    frame = pd.DataFrame({"a": [1.0, 2.0], "b": ["x", "y"]})
    y = np.array([0, 1])
    seen = EvaluatedPipeline(None, frame, y, y, 0.0, 0.0, sensitive=frame[["b"]])
    shown = seen.with_own_frames()
    shown.X["a"] = 0.0
    del shown.sensitive["b"]
    assert seen.X["a"].tolist() == [1.0, 2.0]
    assert seen.sensitive.columns.tolist() == ["b"]


@pytest.mark.skipif(int(pd.__version__.split(".")[0]) < 3, reason="no copies on write before")
def test_a_cell_written_by_one_limit_is_whole_for_the_next() -> None:
    y = np.array([0, 1])
    seen = EvaluatedPipeline(None, pd.DataFrame({"a": [1.0, 2.0]}), y, y, 0.0, 0.0)
    shown = seen.with_own_frames()
    shown.X.iloc[:, :] = 0.0
    assert seen.X["a"].tolist() == [1.0, 2.0]
