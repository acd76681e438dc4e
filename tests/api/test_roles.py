"""Weights, groups and time in the estimators."""

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GridSearchCV, GroupKFold, TimeSeriesSplit, cross_validate

from automl_admm import AutoMLClassifier, AutoMLRegressor
from automl_admm.core.errors import ConfigurationError, DataError, StoreError

RNG = np.random.default_rng(0)
X = RNG.normal(size=(160, 3))
Y = (X[:, 0] + RNG.normal(size=160) > 0).astype(int)
WEIGHTS = RNG.random(160) + 0.1
GROUPS = RNG.integers(0, 20, 160)


def search(**more):
    given = {
        "grammar": "tiny",
        "cv": 2,
        "max_evaluations": 3,
        "random_state": 0,
        "executor": "inline",
    }
    return AutoMLClassifier(**given | more)


def outcome(fitted):
    results = fitted.cv_results_
    return fitted.best_text_, fitted.best_score_, list(results["mean_test_score"])


def test_equal_weights_give_exactly_the_run_without_weights():
    plain, weighted = search().fit(X, Y), search().fit(X, Y, sample_weight=np.full(160, 0.1))
    assert outcome(plain) == outcome(weighted)
    np.testing.assert_array_equal(plain.predict_proba(X), weighted.predict_proba(X))


def test_weights_of_zero_give_exactly_the_run_without_these_rows():
    weights = np.where(np.arange(160) < 40, 0.0, 2.0)
    some = search().fit(X, Y, sample_weight=weights)
    rest = search().fit(X[40:], Y[40:])
    assert outcome(some) == outcome(rest)


def test_the_unit_of_weights_means_nothing():
    once = search().fit(X, Y, sample_weight=WEIGHTS)
    more = search().fit(X, Y, sample_weight=WEIGHTS * 1024)
    assert outcome(once) == outcome(more)


def test_the_score_and_the_model_are_weighted():
    weights = np.where(Y == 1, 20.0, 1.0)
    one = {"max_evaluations": 1, "cv": 4, "scoring": "accuracy"}
    one |= {"grammar": "default", "starts": ["impute() logistic_regression()"]}
    plain, weighted = search(**one).fit(X, Y), search(**one).fit(X, Y, sample_weight=weights)
    assert weighted.predict_proba(X)[:, 1].mean() > plain.predict_proba(X)[:, 1].mean() + 0.2
    # Always 1 is right for 95 % of the weight.
    assert weighted.best_score_ > 0.9


def test_groups_and_their_splitter_are_heeded():
    assert search(cv=GroupKFold(3)).fit(X, Y, groups=GROUPS).best_score_ > 0.5
    leaking = RNG.normal(size=(40, 3)).repeat(4, axis=0)
    labels = RNG.integers(0, 2, 40).repeat(4)
    rows = {"grammar": "default", "starts": ["impute() k_neighbors(n_neighbors=1)"]}
    apart = search(max_evaluations=1, **rows).fit(leaking, labels, groups=np.arange(160) // 4)
    mixed = search(max_evaluations=1, **rows).fit(leaking, labels)
    # Labels are noise: only a copy of a row on the other side tells them.
    assert mixed.best_score_ > 0.9
    assert apart.best_score_ < 0.75


def test_time_is_heeded_in_any_order_of_rows():
    order = RNG.permutation(160)
    splitter = TimeSeriesSplit(3)
    in_order = search(cv=splitter).fit(X, Y, time=np.arange(160))
    mixed = search(cv=splitter).fit(X[order], Y[order], time=np.arange(160)[order])
    assert mixed.best_score_ == pytest.approx(in_order.best_score_, abs=1e-6)


@pytest.mark.parametrize(
    ("parameters", "columns", "said"),
    [
        ({"cv": GroupKFold(3)}, {}, "needs the group of every row"),
        ({}, {"groups": np.zeros(160)}, "all rows are in one group"),
        ({}, {"sample_weight": -WEIGHTS}, "is negative in 160 of 160"),
        ({}, {"sample_weight": WEIGHTS[:9]}, "has 9 rows, and y has 160"),
        ({}, {"groups": GROUPS, "time": GROUPS}, "cannot both decide"),
        ({"scoring": lambda model, X, y: 0.0}, {"sample_weight": WEIGHTS}, "takes no weights"),
        ({"constraints": ["matthews_corrcoef >= 0"]}, {}, None),
    ],
)
def test_what_cannot_be_done_is_told_in_a_line(parameters, columns, said):
    if said is None:
        search(**parameters).fit(X, Y, sample_weight=WEIGHTS)
        return
    with pytest.raises((ConfigurationError, DataError), match=said):
        search(**parameters).fit(X, Y, **columns)


def test_a_limit_without_weights_is_refused_by_name():
    from automl_admm import Constraint, Limit

    own = Constraint(Limit("mine", 1.0), lambda evaluated: 0.0, kind="statistical")
    with pytest.raises(ConfigurationError, match="limit 'mine' takes no weights"):
        search(constraints=[own]).fit(X, Y, sample_weight=WEIGHTS)
    search(constraints=[own]).fit(X, Y)


def test_scikit_learn_passes_them_on_by_params():
    scores = cross_validate(
        search(), X, Y, cv=2, params={"sample_weight": WEIGHTS, "groups": GROUPS}
    )
    assert np.isfinite(scores["test_score"]).all()


def test_metadata_routing_passes_them_on():
    with sklearn.config_context(enable_metadata_routing=True):
        model = search().set_fit_request(sample_weight=True, groups=True)
        model.set_score_request(sample_weight=True)
        requests = model.get_metadata_routing().fit.requests
        assert requests["sample_weight"] is True
        assert requests["groups"] is True
        grid = GridSearchCV(model, {"max_evaluations": [1, 2]}, cv=GroupKFold(2))
        grid.fit(X, Y, sample_weight=WEIGHTS, groups=GROUPS)
    assert grid.best_score_ > 0.5


def test_a_regression_takes_them_too():
    model = AutoMLRegressor(
        grammar="regression", cv=2, max_evaluations=2, random_state=0, executor="inline"
    )
    model.fit(X, X[:, 0] + RNG.normal(size=160), sample_weight=WEIGHTS, time=np.arange(160))
    assert np.isfinite(model.best_score_)


def test_weights_of_a_frame_with_another_index_are_by_place():
    frame = pd.DataFrame(X, columns=list("abc"), index=np.arange(160)[::-1])
    weights = pd.Series(WEIGHTS, name="w")
    with pytest.warns(
        UserWarning, match="sample_weight has the rows of X in another order, by its"
    ):
        by_frame = search().fit(frame, Y, sample_weight=weights)
    assert outcome(by_frame) == outcome(search().fit(frame, Y, sample_weight=WEIGHTS))
    assert roc_auc_score(Y, by_frame.predict_proba(frame)[:, 1]) > 0.6


def test_a_metric_that_misleads_on_rare_classes_says_so():
    y = (X[:, 0] >= np.sort(X[:, 0])[-8]).astype(int)
    with pytest.warns(UserWarning, match="accuracy is 0.9500 for a model that always says the s"):
        search(scoring="accuracy", cv=2, on_infeasible="closest").fit(X, y)


def test_a_kept_run_with_roles_goes_on_and_finds_a_change(tmp_path):
    kept = {"work_dir": tmp_path / "run", "max_evaluations": 2}
    frame = pd.DataFrame(X, columns=list("abc"))
    search(**kept).fit(frame, Y, sample_weight=WEIGHTS, groups=GROUPS)
    again = search(**kept | {"max_evaluations": 3}, warm_start=True)
    again.fit(frame, Y, sample_weight=WEIGHTS, groups=GROUPS)
    assert again.n_evaluations_ == 3
    for changed in (
        {"sample_weight": WEIGHTS, "groups": np.r_[99, GROUPS[1:]]},
        {"sample_weight": np.r_[3.0, WEIGHTS[1:]], "groups": GROUPS},
        {"groups": GROUPS},
    ):
        with pytest.raises(StoreError, match="was begun with something else"):
            search(**kept, warm_start=True).fit(frame, Y, **changed)


@pytest.mark.parametrize("scoring", ["neg_log_loss", "f1_macro", "balanced_accuracy", None])
@pytest.mark.parametrize("cv", [None, 5])
def test_classes_rarer_than_folds_are_learned_and_scored(scoring, cv):
    labels = np.where(X[:, 0] > 0, "a", "b")
    labels[:2], labels[2] = "c", "d"
    with pytest.warns(UserWarning, match=r"a class of one row, 'd' \(0.625 % of the rows\)"):
        found = search(scoring=scoring, cv=cv, max_evaluations=1).fit(X, labels)
    assert np.isfinite(found.best_score_)
    assert list(found.classes_) == ["a", "b", "c", "d"]


MASK = np.arange(160) % 4 == 0


def masked(values):
    return np.ma.array(values, mask=MASK)


@pytest.mark.parametrize(
    ("beside", "said"),
    [
        ({"y": masked(Y)}, "the target is missing in 40 of 160 rows"),
        ({"sample_weight": masked(WEIGHTS)}, "the weight in 'sample_weight' is missing in 40"),
        ({"groups": masked(GROUPS)}, "the group in 'groups' is missing in 40"),
        ({"time": masked(np.arange(160))}, "the time in 'time' is missing in 40"),
    ],
    ids=["y", "weights", "groups", "time"],
)
def test_masked_values_are_missing(beside, said):
    with pytest.raises(DataError, match=said):
        search().fit(X, **{"y": Y} | beside)


def test_a_masked_target_is_missing_for_a_quantity_and_in_scores():
    quantity = AutoMLRegressor("regression", max_evaluations=1, executor="inline")
    with pytest.raises(DataError, match="the target is missing"):
        quantity.fit(X, masked(np.where(MASK, 1e6, X[:, 0])))
    fitted = search(max_evaluations=1).fit(X, masked(Y).data)
    with pytest.raises(DataError, match=r"the target is missing in 40.*Score the other rows"):
        fitted.score(X, masked(Y))
    with pytest.raises(ValueError, match="sample_weight contains NaN"):
        fitted.score(X, Y, masked(WEIGHTS))


def test_masked_groups_of_a_limit_are_missing():
    sides = (GROUPS % 2).astype(float)
    given = {"constraints": ["fpr_gap[side] <= 0.9"], "scoring": "balanced_accuracy"}
    found = [
        search(max_evaluations=1, **given)
        .fit(X, Y, sensitive_features={"side": column})
        .cv_results_
        for column in (masked(sides), np.where(MASK, np.nan, sides))
    ]
    assert found[0]["fpr_gap[side]"] == found[1]["fpr_gap[side]"]
