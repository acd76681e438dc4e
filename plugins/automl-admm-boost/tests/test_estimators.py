"""The estimators as scikit-learn's, their levels, their rounds and their files."""

from __future__ import annotations

import pickle
import zipfile
from io import BytesIO
from typing import Any

import automl_admm_boost
import numpy as np
import pytest
import skops.io
from automl_admm_boost import boosted, rounds
from automl_admm_boost.libraries import LIBRARIES, find_problem
from automl_admm_boost.target_unit import TargetUnit
from sklearn.exceptions import NotFittedError
from sklearn.metrics import r2_score
from sklearn.utils.estimator_checks import check_estimator

NAMES = [name for library in LIBRARIES if not find_problem(library) for name in library.estimators]
REGRESSORS = [name for name in NAMES if name.endswith("Regressor")]
GROWERS = [name for name in NAMES if not name.startswith("CatBoost")]
WEIGHTS = {
    "check_sample_weight_equivalence_on_dense_data": "rows are counted in leaves and bins",
}
CONSTANT = {"check_fit2d_1sample": "CatBoost refuses a table of constants"}


def made(name: str, **settings: Any) -> Any:
    return getattr(automl_admm_boost, name)(**{"n_estimators": 20, "random_state": 0} | settings)


def target_of(name: str, signal: Any) -> Any:
    return np.where(signal > 0, "yes", "no") if name.endswith("Classifier") else signal


def answers(model: Any, X: Any) -> Any:
    return getattr(model, "predict_proba", model.predict)(X)


@pytest.fixture
def numbers() -> Any:
    return np.random.default_rng(0).normal(size=(300, 3))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", NAMES)
def test_scikit_learn_finds_no_fault(name: str) -> None:
    known = WEIGHTS | (CONSTANT if name == "CatBoostRegressor" else {})
    found = check_estimator(made(name, n_estimators=10), expected_failed_checks=known, on_fail=None)
    faults = [each["check_name"] for each in found if each["status"] == "failed"]
    assert faults == []


@pytest.mark.parametrize("name", NAMES)
def test_levels_are_split_and_a_missing_one_is_a_level(name: str) -> None:
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.integers(-1, 6, 400), rng.normal(size=400)]).astype(float)
    # No threshold on the numbers of the levels tells them apart.
    y = target_of(name, np.where(np.isin(X[:, 0], (-1, 1, 4)), 1.0, -1.0))
    model = made(name, categorical_features=[0], n_estimators=60).fit(X, y)
    assert model.score(X, y) > 0.99
    gaps = np.where(X == -1.0, np.nan, X)
    assert np.array_equal(answers(model, gaps), answers(model, X))
    new = np.array([[-2.0, 0.0], [99.0, 0.0]])
    assert np.isfinite(answers(model, new)).all()


@pytest.mark.parametrize("name", NAMES)
def test_early_stopping_finds_the_rounds_and_fits_all_rows(name: str, numbers: Any) -> None:
    noise = np.random.default_rng(1).normal(size=300)
    y = target_of(name, numbers[:, 0] + noise)
    model = made(name, n_estimators=300, early_stopping=True, learning_rate=0.3).fit(numbers, y)
    assert 0 < model.n_iter_ < 300
    plain = made(name, n_estimators=model.n_iter_, learning_rate=0.3).fit(numbers, y)
    assert np.array_equal(answers(model, numbers), answers(plain, numbers))


@pytest.mark.parametrize("early_stopping", [False, True])
@pytest.mark.parametrize("loss", ["squared_error", "absolute_error"])
@pytest.mark.parametrize("name", REGRESSORS)
def test_the_unit_of_a_target_and_its_middle_are_all_the_same(
    name: str, loss: str, early_stopping: bool, numbers: Any
) -> None:
    plain = np.where(numbers[:, 1] > 0, 2.0, 1.0) + numbers[:, 0] / 10
    for unit, middle in ((1e-6, 0.0), (1e-30, 0.0), (1e30, 0.0), (1e39, 0.0), (1.0, 1e9)):
        y = plain * unit + middle
        model = made(name, n_estimators=60, loss=loss, early_stopping=early_stopping)
        model.fit(numbers, y)
        assert model.score(numbers, y) > 0.9
        for again in (pickle.loads(pickle.dumps(model)), through_skops(model)):
            assert np.array_equal(again.predict(numbers), answers(model, numbers))


@pytest.mark.parametrize("name", REGRESSORS)
def test_rows_that_hardly_weigh_do_not_make_the_unit(name: str, numbers: Any) -> None:
    is_heavy, y = np.arange(300) % 5 < 2, numbers[:, 0] * 100 + 1e9
    weights = np.where(is_heavy, 1.0, 1e-9)
    model = made(name, n_estimators=60).fit(numbers, np.where(is_heavy, y, 0.0), weights)
    assert r2_score(y[is_heavy], model.predict(numbers[is_heavy])) > 0.9


@pytest.mark.parametrize("count", [1, 2, 7, 300])
def test_the_unit_of_equal_weights_is_that_without(count: int) -> None:
    for y in (np.arange(count) * 1e-6, np.arange(count) ** 2 + 1e9, np.full(count, 3e9)):
        unit = TargetUnit.of(y)
        assert all(TargetUnit.of(y, np.full(count, one)) == unit for one in (0.1, 1e-300, 1e300))
    assert TargetUnit.of(np.r_[2e9, 2e9 + 4.0], np.r_[3.0, 1.0]).middle == 2e9


@pytest.mark.parametrize("value", [1e15, -1e18])
@pytest.mark.parametrize("unit", [1.0, 1e-6])
@pytest.mark.parametrize("name", REGRESSORS)
def test_one_huge_value_does_not_hide_the_others(
    name: str, unit: float, value: float, numbers: Any
) -> None:
    for middle in (0.0, 1e9):
        y = numbers[:, 0].copy()
        far = y * unit + middle * unit
        far[0] = value * unit
        model = made(name, n_estimators=60, loss="absolute_error").fit(numbers, far)
        again = pickle.loads(pickle.dumps(model))
        found = again.predict(numbers) / unit - middle
        assert np.median(np.abs(found - y)) < 0.15


@pytest.mark.parametrize("loss", ["squared_error", "absolute_error"])
@pytest.mark.parametrize("name", REGRESSORS)
def test_a_value_beyond_the_numbers_of_32_bits_is_fitted(
    name: str, loss: str, numbers: Any
) -> None:
    y = numbers[:, 0].copy()
    for y[0] in (1e20, -1e60, 1e300):
        model = made(name, n_estimators=60, loss=loss).fit(numbers, y)
        assert np.isfinite(pickle.loads(pickle.dumps(model)).predict(numbers)).all()


def through_skops(model: Any) -> Any:
    saved = skops.io.dumps(model)
    return skops.io.loads(saved, trusted=skops.io.get_untrusted_types(data=saved))


@pytest.mark.parametrize("early_stopping", [False, True])
@pytest.mark.parametrize("name", REGRESSORS)
def test_rows_without_weight_may_be_anywhere(name: str, early_stopping: bool, numbers: Any) -> None:
    y, weights = numbers[:, 0] * 1e-6, np.where(np.arange(300) % 10 == 0, 0.0, 1.0)
    far = np.where(weights == 0.0, 1e300, y)
    model = made(name, early_stopping=early_stopping, n_estimators=60).fit(numbers, far, weights)
    assert model.score(numbers, y) > 0.9


@pytest.mark.parametrize("name", [name for name in REGRESSORS if name in GROWERS])
def test_a_fit_that_goes_on_keeps_the_unit_of_its_trees(name: str, numbers: Any) -> None:
    model = made(name, warm_start=True).fit(numbers, numbers[:, 0] * 1e-6 + 1.0)
    before = model.target_unit_
    model.set_params(n_estimators=30).fit(numbers, numbers[:, 0] * 2e-6 + 1.0)
    assert before == model.target_unit_ != (0.0, 1.0)
    assert model.score(numbers, numbers[:, 0] * 2e-6 + 1.0) > 0.8


@pytest.mark.parametrize("loss", ["squared_error", "absolute_error"])
@pytest.mark.parametrize("name", REGRESSORS)
def test_a_target_far_from_0_is_learned_as_one_beside_it(
    name: str, loss: str, numbers: Any
) -> None:
    y = numbers[:, 0] / 100
    for middle in (1e6, -1e9):
        # A row without weight says nothing of where the others are.
        far, weights = np.r_[y + middle, 0.0], np.r_[np.ones(len(y)), 0.0]
        rows = np.vstack([numbers, numbers[:1]])
        model = made(name, n_estimators=60, loss=loss).fit(rows, far, sample_weight=weights)
        again = pickle.loads(pickle.dumps(model))
        assert r2_score(y, again.predict(numbers) - middle) > 0.9


@pytest.mark.parametrize("loss", ["squared_error", "absolute_error"])
@pytest.mark.parametrize("name", REGRESSORS)
@pytest.mark.parametrize("value", [0.0, 1e-9, 0.3, 1e9])
def test_a_constant_target_is_predicted(name: str, loss: str, value: float, numbers: Any) -> None:
    model = made(name, loss=loss).fit(numbers, np.full(len(numbers), value))
    assert np.abs(model.predict(numbers) - value).max() <= 2e-6 * (value or 1.0)


@pytest.mark.parametrize("name", NAMES)
def test_rows_that_are_all_right_at_once_are_fitted(name: str, numbers: Any) -> None:
    is_one = numbers[:, 1] > 0
    y = target_of(name, np.where(is_one, 1.0, -1.0))
    model = made(name).fit(numbers, y, sample_weight=is_one.astype(float))
    assert (model.predict(numbers[is_one]) == y[is_one]).mean() > 0.9


@pytest.mark.parametrize(
    ("count", "classes", "of_last", "is_parted"),
    [(140, 2, 60, True), (130, 2, 60, False), (400, 2, 3, False), (400, 0, 0, True)],
)
def test_few_rows_and_rare_classes_do_not_stop_early(
    count: int, classes: int, of_last: int, is_parted: bool
) -> None:
    y = np.zeros(count, dtype=int)
    y[:of_last] = max(classes - 1, 0)
    found = rounds.part_aside(rounds.Rows(np.zeros((count, 1)), y), classes, 0)
    assert (found is not None) == is_parted
    if found is not None:
        assert len(found[0].y) + len(found[1].y) == count
        assert set(found[0].y) == set(found[1].y) == set(y)


def test_rows_without_weight_are_no_part_to_stop_by() -> None:
    rows = rounds.Rows(np.zeros((200, 1)), np.zeros(200), np.zeros(200))
    assert rounds.part_aside(rows, 0, 0) is None


@pytest.mark.parametrize("name", NAMES)
def test_a_damaged_model_is_one_line_and_never_reaches_the_library(name: str, numbers: Any) -> None:
    model = made(name).fit(numbers, target_of(name, numbers[:, 0]))
    state = model.__getstate__()
    cut = state | {"model_": state["model_"][: len(state["model_"]) // 2]}
    with pytest.raises(boosted.DamagedModelError, match=f"the model in a {name} is damaged"):
        type(model).__new__(type(model)).__setstate__(cut)
    assert np.array_equal(
        answers(pickle.loads(pickle.dumps(model)), numbers), answers(model, numbers)
    )


@pytest.mark.parametrize("name", [name for name in NAMES if name.endswith("Classifier")])
def test_a_model_of_one_class_needs_no_trees(name: str, numbers: Any) -> None:
    model = made(name).fit(numbers, ["only"] * 300)
    types = skops.io.get_untrusted_types(data=(saved := skops.io.dumps(model)))
    again = skops.io.loads(saved, trusted=types)
    assert set(again.predict(numbers)) == {"only"}
    assert np.array_equal(again.predict_proba(numbers), np.ones((300, 1)))


@pytest.mark.parametrize("name", NAMES)
def test_the_file_holds_no_foreign_type(name: str, numbers: Any) -> None:
    model = made(name).fit(numbers, target_of(name, numbers[:, 0]))
    saved = skops.io.dumps(model)
    (own,) = set(skops.io.get_untrusted_types(data=saved)) - {"numpy.dtype"}
    assert own.startswith("automl_admm_boost.")
    with zipfile.ZipFile(BytesIO(saved)) as file:
        assert not [part for part in file.namelist() if part.endswith((".pkl", ".pickle"))]


@pytest.mark.parametrize("name", REGRESSORS)
def test_the_absolute_error_is_that_of_the_median(name: str, numbers: Any) -> None:
    y = np.where(np.arange(300) % 10 == 0, 1000.0, 0.0) + numbers[:, 0]
    settings = {"learning_rate": 0.3, "n_estimators": 60}
    robust = made(name, loss="absolute_error", **settings).fit(numbers, y)
    assert np.median(robust.predict(numbers)) < 10.0


def test_an_unknown_name_is_told() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'LightGBMRanker'"):
        _ = automl_admm_boost.LightGBMRanker


@pytest.mark.parametrize("name", GROWERS)
@pytest.mark.parametrize("weights", [None, np.random.default_rng(2).random(300)])
def test_a_warm_start_adds_rounds_to_the_same_model(name: str, weights: Any, numbers: Any) -> None:
    X = np.column_stack([numbers, np.random.default_rng(3).integers(-1, 5, 300)]).astype(float)
    settings, y = {"categorical_features": [3]}, target_of(name, X[:, 0] + (X[:, 3] == 2))
    model = made(name, n_estimators=5, warm_start=True, **settings).fit(X, y, weights)
    model = pickle.loads(pickle.dumps(model)).set_params(n_estimators=25).fit(X, y, weights)
    plain = made(name, n_estimators=25, **settings).fit(X, y, weights)
    assert model.may_grow()
    assert model.n_iter_ == 25
    assert np.array_equal(answers(model, X), answers(plain, X))
    with pytest.raises(ValueError, match="n_estimators=3 must be at least 25, the rounds there"):
        model.set_params(n_estimators=3).fit(X, y, weights)


@pytest.mark.parametrize("name", GROWERS)
def test_growth_is_only_claimed_where_it_holds(name: str, numbers: Any) -> None:
    y = target_of(name, numbers[:, 0] + np.random.default_rng(1).normal(size=300))
    for drawn in ("subsample", "colsample_bytree"):
        assert not made(name, **{drawn: 0.5}).may_grow()
    settings = {"early_stopping": True, "learning_rate": 0.3}
    early = made(name, n_estimators=10, **settings).fit(numbers, y)
    assert not early.may_grow()
    assert not early.has_stopped(), "ten rounds cannot show that thirty more are in vain"
    stopped = made(name, n_estimators=100, **settings).fit(numbers, y)
    assert stopped.has_stopped()
    larger = made(name, n_estimators=200, warm_start=True, **settings).fit(numbers, y)
    assert np.array_equal(answers(stopped, numbers), answers(larger, numbers))


@pytest.mark.parametrize("name", [name for name in GROWERS if name.endswith("Classifier")])
def test_a_warm_start_after_a_single_class_begins_anew(name: str, numbers: Any) -> None:
    model = made(name, warm_start=True).fit(numbers, ["only"] * 300)
    y = target_of(name, numbers[:, 0])
    assert np.array_equal(
        answers(model.fit(numbers, y), numbers), answers(made(name).fit(numbers, y), numbers)
    )


@pytest.mark.parametrize("name", [name for name in GROWERS if name.endswith("Classifier")])
def test_a_warm_start_with_other_classes_is_refused(name: str, numbers: Any) -> None:
    y = np.digitize(numbers[:, 0], [-0.5, 0.5])
    model = made(name, warm_start=True).fit(numbers, y % 2)
    before = answers(model, numbers)
    model.set_params(n_estimators=30)
    with pytest.raises(ValueError, match="the class 2 of y is new: with warm_start a fit adds"):
        model.fit(numbers, y)
    with pytest.raises(ValueError, match="the class 1 is not in y: with warm_start"):
        model.fit(numbers, y * 0)
    assert np.array_equal(answers(model, numbers), before)
    assert set(model.set_params(warm_start=False).fit(numbers, y).classes_) == {0, 1, 2}


@pytest.mark.parametrize("name", NAMES)
def test_a_fit_that_fails_leaves_the_model_as_it_was(
    name: str, numbers: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = made(name).fit(numbers, target_of(name, numbers[:, 0] * 1e-6))
    before, kept = answers(model, numbers), set(vars(model))
    monkeypatch.setattr(type(model), "_train", fails)
    other = np.digitize(numbers[:, 0], [-0.5, 0.5]) * 1e9
    with pytest.raises(RuntimeError, match="no more memory"):
        model.set_params(n_estimators=30).fit(numbers[:, :2], other)
    assert (set(vars(model)), model.n_iter_) == (kept, 20)
    assert np.array_equal(answers(model, numbers), before)
    unfitted = made(name)
    with pytest.raises(RuntimeError, match="no more memory"):
        unfitted.fit(numbers, other)
    with pytest.raises(NotFittedError):
        unfitted.predict(numbers)


def fails(*_: Any) -> None:
    raise RuntimeError("no more memory")


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("name", NAMES)
def test_figures_beyond_32_bits_are_the_largest_there(name: str, numbers: Any) -> None:
    y = target_of(name, numbers[:, 0])
    X = numbers.copy()
    X[:4, 1] = 1e39, -1e300, np.nan, 3e38
    model = made(name, n_estimators=60).fit(X, y)
    assert model.score(X, y) > 0.9
    largest = float(np.finfo(np.float32).max)
    far = np.array([[1e300, -1e39, 0.0], [largest, -largest, 0.0]])
    assert np.array_equal(*answers(model, far))


@pytest.mark.parametrize("name", NAMES)
def test_its_trees_are_counted_as_they_are_read_again(name: str, numbers: Any) -> None:
    settings = {"num_leaves": 4} if name.startswith("LightGBM") else {"max_depth": 2}
    y = target_of(name, np.sin(3 * numbers[:, 0]) + numbers[:, 1])
    model = made(name, n_estimators=5, **settings).fit(numbers, y)
    parts = pickle.loads(pickle.dumps(model)).count_model_parts()
    assert (parts.trees, parts.leaves, parts.coefficients) == (5, 20, None)
    assert parts.depth == 2 if "max_depth" in settings else 2 <= parts.depth <= 3


@pytest.mark.parametrize("name", [name for name in NAMES if name.endswith("Classifier")])
def test_a_model_of_one_class_has_no_trees(name: str, numbers: Any) -> None:
    parts = made(name).fit(numbers, ["only"] * 300).count_model_parts()
    assert (parts.trees, parts.leaves, parts.depth) == (0, 0, 0)
