"""The stops of the shipped model that stand before its own are tested again."""

from __future__ import annotations

import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression

from automl_admm.certify.walk.looks import Look
from automl_admm.pipelines.predictions.measured import Table
from automl_admm.plugins.loading import load_plugins
from automl_admm.runs.config import RunConfig
from automl_admm.runs.prepare.assembly import resolve_constraints
from automl_admm.runs.saved.stops_before import judge_again, not_passed


def test_a_stop_that_passes_and_one_at_which_the_tests_should_have_ended() -> None:
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.normal(size=600)})
    y = (X["a"] + rng.normal(size=600) > 0).astype(int).to_numpy()
    rows = Table(X, y, np.array([0, 1]), None)
    config = RunConfig(constraints=("fpr <= 0.3",))
    (constraint,) = resolve_constraints(config, load_plugins(quietly=True))
    model = LogisticRegression().fit(X, y)
    stops = {"key#1": 0.9, "key#2": 0.1, "key#3": -1.0}
    found = judge_again(stops, model, rows, [constraint], Look.of(1, 0.05))
    assert list(found) == ["key#1", "key#2"], "one calls all rows the same"
    (told,) = not_passed(found)
    assert told.startswith("The tests should have ended at key#2, before the model: fpr <= 0.3")
