"""A column that is the target is named; one that only resembles it is not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from automl_admm import AutoMLClassifier
from automl_admm.data.ingest.leaks import find_leaks

ROWS = 500
RNG = np.random.default_rng(1)
CLASSES = RNG.choice(["good", "bad"], ROWS)
AMOUNT = RNG.normal(size=ROWS)


@pytest.mark.parametrize(
    ("column", "target"),
    [
        (CLASSES, CLASSES),
        (np.where(CLASSES == "good", 1, 0), CLASSES),
        (CLASSES == "bad", CLASSES),
        (pd.Categorical(CLASSES), CLASSES),
        (AMOUNT, AMOUNT),
        (AMOUNT.round(1), pd.Series(AMOUNT.round(1)).astype("Float64")),
    ],
)
def test_the_target_under_any_name_is_found(column: Any, target: Any) -> None:
    frame = pd.DataFrame({"other": RNG.normal(size=ROWS), "same": column})
    assert find_leaks(frame, target, set()) == ("same",)
    assert find_leaks(frame, target, {"same"}) == ()


@pytest.mark.parametrize(
    ("column", "target"),
    [
        (np.arange(ROWS), AMOUNT),
        (RNG.permutation(ROWS).astype(str), AMOUNT),
        (np.where(np.arange(ROWS) == ROWS - 1, "bad", CLASSES), [*CLASSES[:-1], "good"]),
        (np.append(AMOUNT[:-1], 0.0), AMOUNT),
        ([None, *CLASSES[1:]], CLASSES),
        ([["a"], ["b"]] * (ROWS // 2), np.tile(["a", "b"], ROWS // 2)),
        (np.full(ROWS, 3), np.full(ROWS, "x")),
    ],
)
def test_what_differs_in_a_row_is_none(column: Any, target: Any) -> None:
    assert find_leaks(pd.DataFrame({"c": column}), target, set()) == ()


def test_fit_warns_of_it_in_python() -> None:
    frame = pd.DataFrame({"x": AMOUNT[:80], "answer": np.where(CLASSES[:80] == "good", 1, 0)})
    search = AutoMLClassifier(grammar="tiny", cv=2, max_evaluations=1, executor="inline")
    with pytest.warns(UserWarning, match="column 'answer' tells the target in every row"):
        search.fit(frame, CLASSES[:80])


def test_the_first_rows_are_the_first_whatever_their_labels_are() -> None:
    target = pd.Series(CLASSES, index=np.linspace(5.0, 0.0, ROWS))
    assert find_leaks(pd.DataFrame({"same": CLASSES}), target, set()) == ("same",)
