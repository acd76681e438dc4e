"""Trees that part gaps from numbers are written as ONNX, in a time that ends."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import BaggingClassifier, RandomForestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from automl_admm.runs.saved.onnx_export.file import convert
from automl_admm.runs.saved.onnx_export.graph import refuse_endless

TREE = DecisionTreeClassifier(max_depth=3, random_state=0)
MODELS = {
    "tree": TREE,
    "forest": RandomForestClassifier(5, random_state=0),
    "scaled": make_pipeline(StandardScaler(), TREE),
    "bagging": BaggingClassifier(TREE, n_estimators=3, random_state=0),
}


def fitted(name: str) -> tuple[Any, pd.DataFrame]:
    """Return a model of rows whose class hangs on a gap, and these rows."""
    rng = np.random.default_rng(0)
    rows = pd.DataFrame(rng.normal(size=(300, 3)).round(1), columns=list("abd"))
    rows.loc[rng.random(300) < 0.4, "d"] = np.nan
    y = np.where(rows["d"].isna() ^ (rng.random(300) < 0.05), "yes", "no")
    return MODELS[name].fit(rows, y), rows


@pytest.mark.timeout(60)
@pytest.mark.parametrize("name", MODELS)
def test_a_model_with_an_infinite_threshold_is_written(name: str) -> None:
    model, rows = fitted(name)
    assert convert(model, rows, {}).difference < 1e-6


@pytest.mark.parametrize("name", MODELS)
def test_an_infinite_threshold_is_found_at_any_depth(name: str) -> None:
    model, rows = fitted(name)
    with pytest.raises(ValueError, match="infinite threshold"):
        refuse_endless(model)
    refuse_endless(TREE.fit(rows.fillna(0.0), rows["a"] > 0.0))
