"""The classifier that decides by group: scikit-learn's conventions, and rows of any kind."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone, is_classifier
from sklearn.compose import make_column_transformer
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC
from skops.io import dumps, get_untrusted_types, loads

from automl_admm.builtin.constraints.columns_used import columns
from automl_admm.constraints.group_classifier import GroupThresholdClassifier
from automl_admm.core.errors import DataError
from automl_admm.pipelines.predictions.wrappers import Numbered
from automl_admm.plugins.evaluated_pipeline import EvaluatedPipeline
from automl_admm.plugins.loading import load_plugins
from automl_admm.runs.finish.model_file import trusted_types

RNG = np.random.default_rng(0)
X = pd.DataFrame({"a": RNG.normal(size=60), "sex": np.resize(["f", "m"], 60)})
X["age"] = np.arange(60)
Y = np.where(X["a"] + 0.5 * RNG.normal(size=60) > 0, "yes", "no")


def pipeline(estimator: Any = None) -> Any:
    """It looks at the column `a` alone, whatever else a frame has."""
    return make_pipeline(
        make_column_transformer(("passthrough", ["a"])), estimator or LogisticRegression()
    )


def classifier(**more: Any) -> GroupThresholdClassifier:
    given = {"columns": {"sex": ()}, "thresholds": {"f": 0.2, "m": 0.8}}
    return GroupThresholdClassifier(pipeline(), **given | more)


def decided(model: Any, frame: Any, bars: Any) -> Any:
    return np.where(model.predict_proba(frame)[:, 1] >= bars, "yes", "no")


def test_each_row_is_decided_at_the_threshold_of_its_group() -> None:
    model = classifier().fit(X, Y)
    bars = np.where(X["sex"] == "f", 0.2, 0.8)
    assert (model.predict(X) == decided(model, X, bars)).all()
    assert (model.predict(X) != decided(model, X, 0.5)).any()
    turned = X[["sex", "age", "a"]].set_axis(np.arange(60)[::-1], axis=0)
    assert (model.predict(turned) == model.predict(X)).all()
    assert (model.predict(X.iloc[[7]]) == model.predict(X)[7]).all()


def test_groups_may_be_cut_and_crossed() -> None:
    columns = {"age": (20.0, 40.0), "sex": ()}
    model = classifier(columns=columns, thresholds={"20 <= age < 40, m": 0.9}).fit(X, Y)
    inside = X["age"].between(20, 39) & (X["sex"] == "m")
    assert (model.predict(X) == decided(model, X, np.where(inside, 0.9, 0.5))).all()
    assert set(model.groups_of(X)[inside]) == {"20 <= age < 40, m"}


def test_a_group_that_is_unknown_or_missing_has_the_plain_threshold() -> None:
    model = classifier(threshold=0.6).fit(X, Y)
    for value in ("x", None, np.nan):
        strange = X.assign(sex=pd.Series([value] * 60, dtype=object))
        assert (model.predict(strange) == decided(model, strange, 0.6)).all()


def test_whole_numbers_are_the_same_group_beside_missing_ones() -> None:
    """A column of whole numbers becomes one of floats where a value is missing."""
    whole = X.assign(sex=np.resize([1_234_567, 2], 60))
    model = classifier(thresholds={"1234567": 0.2, "2": 0.8}).fit(whole, Y)
    gaps = whole.assign(sex=whole["sex"].where(whole.index > 0))
    assert gaps["sex"].dtype == float
    assert (model.predict(gaps)[1:] == model.predict(whole)[1:]).all()
    assert model.predict(gaps)[0] == decided(model, gaps, 0.5)[0]


def test_a_group_that_is_almost_known_is_unknown() -> None:
    near = X.assign(sex=np.resize([48.1372, 48.137158], 60))
    model = classifier(thresholds={"48.1372": 0.2}).fit(near, Y)
    bars = np.where(near["sex"] == 48.1372, 0.2, 0.5)
    assert (model.predict(near) == decided(model, near, bars)).all()
    assert model.unknown_groups(near) == {"48.137158": 30}


@pytest.mark.parametrize("given", ["float32", "widened"])
def test_a_number_in_a_narrower_float_is_of_the_group_that_it_was(given: str) -> None:
    numbers = X.assign(sex=np.resize([1.1, 0.123456789, 9.7], 60))
    thresholds = {"1.1, f": 0.2, "0.123456789, f": 0.8, "9.7, f": 0.4}
    columns = {"sex": (), "kind": ()}
    wide = numbers.assign(kind="f")
    model = classifier(thresholds=thresholds, columns=columns).fit(wide, Y)
    narrow = wide.astype({"sex": "float32"})
    if given == "widened":
        narrow = narrow.astype({"sex": float})
    assert (model.groups_of(narrow) == model.groups_of(wide)).all()
    assert (model.predict(narrow) == model.predict(wide)).all()
    assert model.unknown_groups(narrow) == {}


def test_it_keeps_the_conventions_of_scikit_learn() -> None:
    model = classifier(threshold=0.4)
    assert is_classifier(model)
    again = clone(model)
    assert again.get_params(deep=False).keys() == model.get_params(deep=False).keys()
    assert again.thresholds == model.thresholds
    assert again.set_params(threshold=0.7).threshold == 0.7
    with pytest.raises(NotFittedError):
        again.predict(X)
    assert model.fit(X, Y) is model
    assert list(model.classes_) == ["no", "yes"]
    assert list(model.feature_names_in_) == ["a", "sex", "age"]
    assert model.n_features_in_ == 3
    assert 0.5 < model.score(X, Y) <= 1.0
    folds = cross_val_predict(classifier(), X, Y, cv=3)
    assert set(folds) == {"no", "yes"}


def test_scores_that_are_no_probabilities_do_too() -> None:
    given = {"columns": {"sex": ()}, "thresholds": {"f": -1.0, "m": 1.0}, "threshold": 0.0}
    scoring = GroupThresholdClassifier(
        pipeline(LinearSVC()), response_method="decision_function", **given
    ).fit(X, Y)
    assert not hasattr(scoring, "predict_proba")
    bars = np.where(X["sex"] == "f", -1.0, 1.0)
    expected = np.where(scoring.decision_function(X) >= bars, "yes", "no")
    assert (scoring.predict(X) == expected).all()


def test_the_columns_that_it_decides_by_count_as_read() -> None:
    model = classifier(columns={"age": (30.0,), "sex": ()}).fit(X, Y)
    pipelines = {1.0: model.estimator_, 3.0: model}
    for count, used in pipelines.items():
        seen = EvaluatedPipeline(Numbered(used, model.classes_), X, Y, None, 0.0, 0.0)
        assert columns(seen).value == count


def test_it_survives_pickle_and_skops() -> None:
    model = classifier(columns={"sex": (), "age": (30.0,)}, thresholds={"f, age < 30": 0.1})
    model.fit(X, Y)
    assert set(get_untrusted_types(data=dumps(model))) <= trusted_types(load_plugins())
    for again in (
        pickle.loads(pickle.dumps(model)),
        loads(dumps(model), trusted=sorted(trusted_types(load_plugins()))),
    ):
        assert (again.predict(X) == model.predict(X)).all()
        assert again.thresholds == model.thresholds
        assert list(again.columns) == ["sex", "age"]


def test_what_has_no_groups_is_told() -> None:
    model = classifier().fit(X, Y)
    with pytest.raises(DataError, match="decisions are by the column 'sex', which X has not"):
        model.predict(X.drop(columns="sex"))
    numbers = GroupThresholdClassifier(
        LogisticRegression(), columns={"sex": ()}, thresholds={}
    ).fit(X[["a"]].to_numpy(), Y)
    with pytest.raises(DataError, match="Give a frame that has it"):
        numbers.predict(X[["a"]].to_numpy())


def test_one_class_or_three_are_refused() -> None:
    with pytest.raises(DataError, match="part two classes, and y has 3"):
        classifier().fit(X, np.resize(["x", "y", "z"], 60))
