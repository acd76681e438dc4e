"""Fitted pipelines as one plain model of scikit-learn."""

from __future__ import annotations

import pickle
import runpy
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import skops.io
from sklearn.base import clone
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from automl_admm.core.errors import InvalidOutcome
from automl_admm.pipelines.as_code import code_of
from automl_admm.pipelines.ensembles.voting import vote

RNG = np.random.default_rng(0)
X = pd.DataFrame(RNG.normal(size=(120, 3)), columns=["a", "b", "c"])
NUMBERS = X["a"] + X["b"] + 0.3 * RNG.normal(size=120)
TARGETS = {
    "texts": np.where(NUMBERS > 0, "yes", "no"),
    "truth": (NUMBERS > 0).to_numpy(),
    "three": np.digitize(NUMBERS, [-0.5, 0.5]) * 2.0,
}


def classifiers(y: Any) -> dict[str, Any]:
    return {
        "pipeline_3": make_pipeline(StandardScaler(), LogisticRegression()).fit(X, y),
        "pipeline_7": make_pipeline(DecisionTreeClassifier(max_depth=3, random_state=0)).fit(X, y),
    }


@pytest.mark.parametrize("kind", list(TARGETS))
def test_probabilities_are_averaged_by_weight(kind: str) -> None:
    y = TARGETS[kind]
    members = classifiers(y)
    # The positive class may come last in a run's own order.
    model = vote(members, [3, 1], np.unique(y)[::-1])
    first, second = (member.predict_proba(X) for member in members.values())
    assert model.predict_proba(X) == pytest.approx((3 * first + second) / 4)
    expected = np.unique(y)[((3 * first + second) / 4).argmax(axis=1)]
    assert (model.predict(X) == expected).all()
    assert model.weights == [3, 1]
    assert list(model.feature_names_in_) == ["a", "b", "c"]
    assert model.n_features_in_ == 3


def test_quantities_are_averaged_by_weight() -> None:
    members = {
        "pipeline_1": make_pipeline(LinearRegression()).fit(X, NUMBERS),
        "pipeline_2": make_pipeline(DecisionTreeRegressor(max_depth=3)).fit(X, NUMBERS),
    }
    first, second = (member.predict(X) for member in members.values())
    assert vote(members, [1, 4], None).predict(X) == pytest.approx((first + 4 * second) / 5)


def test_it_is_plain_scikit_learn_on_its_way_through_files_and_clones() -> None:
    y = TARGETS["texts"]
    members = classifiers(y)
    model = vote(members, [2, 1], np.unique(y))
    expected = model.predict_proba(X)
    content = skops.io.dumps(model)
    types = skops.io.get_untrusted_types(data=content)
    assert types == skops.io.get_untrusted_types(data=skops.io.dumps(members["pipeline_7"]))
    assert skops.io.loads(content, trusted=types).predict_proba(X) == pytest.approx(expected)
    assert pickle.loads(pickle.dumps(model)).predict_proba(X) == pytest.approx(expected)
    again = clone(model)
    assert not hasattr(again, "estimators_")
    assert again.fit(X, y).predict_proba(X) == pytest.approx(expected)
    assert "weights=[2, 1]" in repr(model)
    assert "pipeline_7" in model._repr_html_()


def test_the_code_of_an_ensemble_builds_it_again(tmp_path: Path) -> None:
    y = TARGETS["texts"]
    model = vote(classifiers(y), [2, 1], np.unique(y))
    code = code_of(model)
    assert code.problem == ""
    assert "sklearn.ensemble.VotingClassifier" in code.imports
    lines = [
        f"from {path.rpartition('.')[0]} import {path.rpartition('.')[2]}" for path in code.imports
    ]
    script = tmp_path / "built.py"
    script.write_text("\n".join([*lines, f"built = {code.pipeline}"]))
    built = runpy.run_path(str(script))["built"]
    assert built.fit(X, y).predict_proba(X) == pytest.approx(model.predict_proba(X))


def test_members_of_other_classes_are_refused() -> None:
    other = make_pipeline(DummyClassifier()).fit(X, ["yes"] * 120)
    with pytest.raises(InvalidOutcome, match="pipeline_9 knows other classes"):
        vote(
            classifiers(TARGETS["texts"]) | {"pipeline_9": other},
            [1, 1, 1],
            np.array(["no", "yes"]),
        )
