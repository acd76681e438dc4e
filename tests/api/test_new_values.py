"""An estimator warns of rows that it knows little of, in the name of who asks."""

from __future__ import annotations

import pickle
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from automl_admm import AutoMLClassifier
from automl_admm.core.errors import NewValuesWarning

RNG = np.random.default_rng(0)
X = pd.DataFrame({"age": RNG.normal(size=120), "town": RNG.choice(["Ulm", "Bonn"], 120)})
Y = np.where(X["age"] + (X["town"] == "Ulm") > 0, "yes", "no")


def fitted(rows: Any) -> Any:
    search = AutoMLClassifier(
        "tiny", cv=2, max_evaluations=2, executor="inline", theta_solver="random", random_state=0
    )
    return search.fit(rows, Y)


@pytest.mark.parametrize("method", ["predict", "predict_proba"])
def test_values_in_another_code_are_warned_of(method: str) -> None:
    model = pickle.loads(pickle.dumps(fitted(X)))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        getattr(model, method)(X)
    with pytest.warns(NewValuesWarning, match="120 of 120 cells of column 'town'") as caught:
        getattr(model, method)(X.assign(town=X["town"].str.upper()))
    assert Path(caught[0].filename).name == Path(__file__).name


@pytest.mark.parametrize(("column", "empty"), [("age", np.nan), ("town", None)])
def test_a_column_that_is_empty_now_is_warned_of(column: str, empty: Any) -> None:
    model = pickle.loads(pickle.dumps(fitted(X)))
    with pytest.warns(NewValuesWarning, match=f"120 of 120 cells of column '{column}' are empty"):
        model.predict(X.assign(**{column: empty}))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.predict(X.assign(**{column: X[column].where(X.index != 5)}))


@pytest.mark.parametrize("rows", [X.set_axis([7, 3], axis=1), X.to_numpy()])
def test_without_names_nothing_is_told(rows: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fitted(rows).predict(rows)
