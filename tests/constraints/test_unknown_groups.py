"""A row of a group that the run did not know is told, wherever its class is decided."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from automl_admm import AutoMLClassifier, load
from automl_admm.constraints.unknown_groups import tell_unknown_groups
from automl_admm.core.errors import NewValuesWarning

RNG = np.random.default_rng(1)
X = pd.DataFrame({"x": RNG.normal(size=160), "sex": ["f", "m"] * 80})
Y = np.where(X["x"] + RNG.normal(size=160) > 0, "yes", "no")


def test_one_row_among_many_is_told_with_its_group(tmp_path: Path) -> None:
    search = AutoMLClassifier(
        "tiny",
        constraints=["equalized_odds_difference[sex] <= 0.6"],
        group_thresholds=True,
        scoring="balanced_accuracy",
        cv=2,
        max_evaluations=2,
        executor="inline",
        random_state=0,
        work_dir=tmp_path / "run",
    ).fit(X, Y)
    later = X.assign(sex=["x", *X["sex"][1:]])
    for model in (search, load(tmp_path / "run")):
        with pytest.warns(NewValuesWarning, match="1 row is of the group 'x', which the") as told:
            model.predict(later)
        assert told[0].filename == __file__
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            model.predict_proba(later)
            model.predict(X)


def test_each_group_has_a_line() -> None:
    lines = list(tell_unknown_groups({"b": 2, "a": 1}))
    assert [line.split(", which")[0] for line in lines] == [
        "1 row is of the group 'a'",
        "2 rows are of the group 'b'",
    ]
