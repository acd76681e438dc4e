from __future__ import annotations

import pickle
import re
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.exceptions import NotFittedError
from sklearn.metrics import make_scorer
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import Pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from automl_admm import (
    AutoMLClassifier,
    AutoMLRegressor,
    Choice,
    Condition,
    Constraint,
    EvaluatedPipeline,
    InfeasibleError,
    Limit,
    NotCertifiedError,
    Order,
    Parameter,
    SearchSpace,
    minimize,
)
from automl_admm.core.errors import (
    ConfigurationError,
    DataError,
    LimitWarning,
    NewValuesWarning,
    NoSuccessError,
)

QUICK = {
    "grammar": "tiny",
    "cv": 2,
    "max_evaluations": 5,
    "theta_solver": "random",
    "executor": "inline",
    "random_state": 0,
}


def test_a_classifier_is_fitted_on_a_frame_with_text_and_gaps() -> None:
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"age": rng.normal(40, 9, 120), "city": rng.choice(["Ulm", "Bonn"], 120)})
    y = np.where(X["age"] + rng.normal(size=120) > 40, "yes", "no")
    X.loc[::7, "age"] = np.nan
    search = AutoMLClassifier(**QUICK).fit(X, y)
    assert type(search.best_pipeline_) is Pipeline
    assert list(search.classes_) == ["no", "yes"]
    assert search.score(X, y) > 0.7
    assert search.predict_proba(X).shape == (120, 2)
    assert (search.best_pipeline_.predict(X) == search.predict(X)).all()
    assert np.nanmax(search.cv_results_["mean_test_score"]) == pytest.approx(search.best_score_)
    assert search.n_evaluations_ == len(search.cv_results_["pipeline"]) == 5


def test_three_classes_and_plain_arrays() -> None:
    X, y = load_iris(return_X_y=True)
    search = AutoMLClassifier(**QUICK).fit(X, y)
    assert search.score(X, y) > 0.9
    assert "accuracy" not in search.get_params()


def test_a_regressor_beats_the_mean() -> None:
    X, y = load_diabetes(return_X_y=True)
    assert AutoMLRegressor(**QUICK).fit(X, y).score(X, y) > 0.3


def test_it_stands_inside_scikit_learn() -> None:
    X, y = load_iris(return_X_y=True)
    assert cross_val_score(AutoMLClassifier(**QUICK), X, y, cv=2).mean() > 0.9


def test_same_seed_same_search() -> None:
    X, y = load_iris(return_X_y=True)
    runs = [AutoMLClassifier(**QUICK).fit(X, y).cv_results_["pipeline"] for _ in range(2)]
    assert runs[0] == runs[1]


def test_a_child_process_finds_what_this_process_finds() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    here = AutoMLClassifier(**QUICK).fit(X, y)
    there = AutoMLClassifier(**QUICK | {"executor": "local"}).fit(X, y)
    assert there.cv_results_["pipeline"] == here.cv_results_["pipeline"]
    assert there.cv_results_["mean_test_score"] == pytest.approx(
        here.cv_results_["mean_test_score"]
    )


def test_a_fitted_search_survives_pickling_and_clone_forgets() -> None:
    X, y = load_iris(return_X_y=True)
    search = AutoMLClassifier(**QUICK).fit(X, y)
    again = pickle.loads(pickle.dumps(search))
    assert (again.predict(X) == search.predict(X)).all()
    assert not hasattr(clone(search), "best_pipeline_")


@pytest.mark.parametrize("executor", ["inline", "local"])
def test_limits_on_groups_of_sensitive_features_and_of_columns(executor: str) -> None:
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.normal(size=160), "site": rng.choice(["x", "y"], 160)})
    y = np.where(X["a"] + rng.normal(size=160) > 0, "yes", "no")
    limits = ["auc_gap[sex] <= 0.9", "demographic_parity_difference[site,sex] <= 90 %"]
    given = {"cv": 2, "max_evaluations": 2, "executor": executor, "constraints": limits}
    search = AutoMLClassifier(**QUICK | given | {"scoring": "balanced_accuracy"})
    search.fit(X, y, sensitive_features=pd.Series(rng.choice(["f", "m"], 160), name="sex"))
    assert search.feasible_
    assert list(search.best_pipeline_.feature_names_in_) == ["a", "site"]
    for name in ("auc_gap[sex]", "demographic_parity_difference[site,sex]"):
        assert (search.cv_results_[name] > 0).all()
    with pytest.raises(DataError, match="names the column 'sex'"):
        search.fit(X, y)


def test_a_limit_of_ones_own_is_any_callable() -> None:
    def steps(evaluated: EvaluatedPipeline) -> float:
        return float(len(evaluated.pipeline.steps))

    X, y = load_iris(return_X_y=True)
    short = Constraint(Limit("steps", 2), steps)
    quick = QUICK | {"max_evaluations": 12, "strategy": "admm:first=2,step=0"}
    search = AutoMLClassifier(**quick, constraints=[short]).fit(X, y)
    assert search.feasible_
    assert len(search.best_pipeline_.steps) <= 2
    assert set(search.cv_results_["steps"]) <= {2.0, 3.0}


def test_outside_the_limits_raises_with_the_closest_unless_asked_for() -> None:
    X, y = load_iris(return_X_y=True)
    impossible = QUICK | {"constraints": ["size_mb <= 1e-9"]}
    told = "size_mb <= 1e-09, closest .* size_mb <= 1e-09 is never met: the best value seen is"
    with pytest.raises(InfeasibleError, match=told) as caught:
        AutoMLClassifier(**impossible).fit(X, y)
    assert type(caught.value.closest.model) is Pipeline
    search = AutoMLClassifier(**impossible, on_infeasible="closest").fit(X, y)
    assert search.feasible_ is False
    with pytest.raises(InfeasibleError):
        search.set_params(on_infeasible="raise").fit(X, y)
    with pytest.raises(NotFittedError):
        search.predict(X)


def test_limits_are_certified_on_rows_that_nothing_has_seen() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    limits = {"constraints": ["fnr <= 0.2", "size_mb <= 5"], "certify": 0.95}
    search = AutoMLClassifier(**QUICK, **limits).fit(X, y)
    certificate = search.certificate_
    assert certificate.is_certified
    assert not certificate.is_approximate
    assert certificate.rows >= 0.2 * len(y)
    assert certificate.findings[0].bound <= 0.2
    assert AutoMLClassifier(**QUICK).fit(X, y).certificate_ is None


@pytest.mark.filterwarnings("ignore::automl_admm.core.errors.LimitWarning")
def test_what_is_not_certified_raises_with_what_was_found() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    limits = QUICK | {"constraints": ["fpr <= 0.06"], "certify": 0.985}
    with pytest.raises((NotCertifiedError, InfeasibleError)) as caught:
        AutoMLClassifier(**limits).fit(X, y)
    assert caught.value.closest.certificate.is_certified is False
    search = AutoMLClassifier(**limits, on_infeasible="closest").fit(X, y)
    assert "not certified" in str(search.certificate_.findings[0])


def test_a_work_dir_keeps_the_run(tmp_path: Path) -> None:
    X, y = load_iris(return_X_y=True)
    AutoMLClassifier(**QUICK, work_dir=tmp_path / "run").fit(X, y)
    assert (tmp_path / "run" / "model.skops").is_file()


def test_callbacks_hear_of_everything() -> None:
    class Heard:
        def __init__(self) -> None:
            self.hooks: list[str] = []

        def run_started(self, info: object) -> None:
            self.hooks.append("run_started")

        def evaluation_finished(self, info: object, evaluation: object) -> None:
            self.hooks.append("evaluation_finished")

        def run_finished(self, info: object, result: object) -> None:
            self.hooks.append("run_finished")

    heard = Heard()
    X, y = load_iris(return_X_y=True)
    AutoMLClassifier(**QUICK, callbacks=[heard]).fit(X, y)
    assert heard.hooks == ["run_started", *["evaluation_finished"] * 5, "run_finished"]


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"theta_solver": "gpp"}, "Did you mean 'gp'"),
        ({"on_infeasible": "ignore"}, "must be 'raise' or 'closest'"),
        ({"n_jobs": 0}, "n_jobs must not be 0"),
        ({"time_budget": -1}, "the budget must be more than 0"),
        ({"time_budget": "0s"}, "the budget must be more than 0"),
        (
            {"time_budget": "soon"},
            "number of seconds, or a text such as 30s, 10m or 1h, not 'soon'",
        ),
        ({"time_budget": "-5s"}, "not '-5s'"),
        ({"time_budget": True}, "the budget must be a number of seconds, not True"),
        ({"eval_time_limit": "1 day"}, "time limit of one evaluation must .+ not '1 day'"),
        ({"memory_limit": "2GHz"}, "memory limit must be a number of bytes, or .+ not '2GHz'"),
        ({"memory_limit": "9" * 30 + "GB"}, "more than a machine can address"),
        ({"grammar": "no/such.lark"}, "does not exist"),
        ({"constraints": ["fast"]}, "is no limit"),
        ({"constraints": "fast"}, "is no limit: it ends too early\n    fast\n"),
        ({"constraints": [len]}, "built-in function len> is no limit"),
        ({"constraints": ["size_mb <= 1", "size_mb <= 2"]}, "two limits on 'size_mb' with '<='"),
        ({"constraints": 3}, "constraints must be a list, not 3"),
        ({"constraints": iter(["recall >= 1"])}, "constraints must be a list, not an iterator"),
        (
            {"theta_solver": object()},
            "must be a text such as 'gp', not <object .* see docs/how_to/own_solver",
        ),
        ({"callbacks": [3]}, "callback 3 has no method of an observer"),
        ({"work_dir": 3}, "work_dir must be a text or a path, not 3"),
        ({"random_state": "abc"}, "random_state must be a whole number"),
    ],
)
def test_wrong_arguments_are_one_line(changes: dict, says: str) -> None:
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ConfigurationError, match=says):
        AutoMLClassifier(**QUICK | changes).fit(X, y)


def test_a_scorer_of_ones_own_sees_ones_own_labels() -> None:
    X, y = load_iris(return_X_y=True)
    labels = np.array(["a", "b", "c"])[y]

    def share_of_hits(estimator: object, X: object, y: np.ndarray) -> float:
        assert set(y) <= {"a", "b", "c"}
        return float(np.mean(estimator.predict(X) == y))

    search = AutoMLClassifier(**QUICK, scoring=share_of_hits).fit(X, labels)
    assert search.best_score_ > 0.9
    assert AutoMLClassifier(**QUICK, scoring="f1_macro").fit(X, labels).best_score_ > 0.9


def test_a_metric_that_cannot_score_the_target_is_told_before_the_search() -> None:
    X, y = load_iris(return_X_y=True)
    for name, other in (("roc_auc", "roc_auc_ovr"), ("f1", "f1_macro")):
        told = f"'{name}' cannot score this target: .+ Choose another scoring, such as {other}\\."
        with pytest.raises(ConfigurationError, match=told):
            AutoMLClassifier(**QUICK, scoring=name).fit(X, y)
    with pytest.raises(
        ConfigurationError, match=r"'roc_auc' cannot score .+ Choose another scoring"
    ):
        AutoMLRegressor(**QUICK, scoring="roc_auc").fit(X, X[:, 0])
    told = r"'r2' is for a quantity, and this target has classes: 'a', 'b', 'c'\. Choose"
    with pytest.raises(ConfigurationError, match=told):
        AutoMLClassifier(**QUICK, scoring="r2").fit(X, np.array(["a", "b", "c"])[y])
    with pytest.raises(ConfigurationError, match="has classes: 1, 10, 100"):
        AutoMLClassifier(**QUICK, scoring="neg_mean_squared_error").fit(X, 10**y)
    found = AutoMLClassifier(**QUICK, scoring="neg_mean_absolute_error").fit(X, y + 1)
    assert found.best_score_ > -0.1, "classes that are places themselves"
    with pytest.raises(ConfigurationError, match="for a quantity, and this target has classes"):
        AutoMLClassifier(**QUICK, scoring="neg_mean_absolute_percentage_error").fit(X, y + 3)
    tens = np.array(["8", "9", "10"])[y]
    with pytest.raises(ConfigurationError, match="has classes: '10', '8', '9'"):
        AutoMLClassifier(**QUICK, scoring="neg_mean_squared_error").fit(X, tens)


def test_a_metric_that_returns_a_text_of_a_number_is_refused() -> None:
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ConfigurationError, match=r"it returned '0\.5' where a number is due"):
        AutoMLClassifier(**QUICK, scoring=lambda model, X, y: "0.5").fit(X, y)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_a_metric_that_is_never_finite_is_told_before_the_search(value: float) -> None:
    X, y = load_iris(return_X_y=True)
    said = f"metric 'scorer' is {value} for a constant model on .* Make it return a finite number"

    def endless(y_true: Any, y_pred: Any) -> float:
        return value

    with pytest.raises(ConfigurationError, match=said):
        AutoMLClassifier(**QUICK, scoring=make_scorer(endless)).fit(X, y)


def test_after_an_infeasible_search_there_is_nothing_to_predict_with() -> None:
    X, y = load_iris(return_X_y=True)
    search = AutoMLClassifier(**QUICK, constraints="size_mb <= 1e-9")
    with pytest.raises(InfeasibleError):
        search.fit(X, y)
    with pytest.raises(NotFittedError):
        search.predict(X)


def test_a_limit_that_always_holds_is_refused_before_the_search() -> None:
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ConfigurationError, match=r"always holds.*Write 'fpr <= 0\.1' for 10 %"):
        AutoMLClassifier(**QUICK, constraints=["fpr <= 10"]).fit(X, y > 0)


def test_one_class_is_refused() -> None:
    with pytest.raises(DataError, match="one class"):
        AutoMLClassifier(**QUICK).fit(np.zeros((20, 2)), np.ones(20))


# Without a seed it may be one that calls every row the same, which is no success.
CHECKED = {
    "grammar": "tiny",
    "cv": 2,
    "max_evaluations": 1,
    "executor": "inline",
    "theta_solver": "random",
    "random_state": 0,
}
EXPECTED_FAILURES: dict[str, str] = {
    "check_sample_weight_equivalence_on_dense_data": "a row that stands twice may be on both sides "
    "of a split, one with a weight of 2 may not"
}


@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks(
    [
        AutoMLClassifier(**CHECKED),
        AutoMLRegressor(**CHECKED),
    ],
    expected_failed_checks=lambda estimator: EXPECTED_FAILURES,
)
def test_scikit_learn_checks(estimator: object, check: object) -> None:
    check(estimator)


SPACE = SearchSpace(
    decisions=(Choice("metal", ("iron", "tin"), values=(7.9, 7.3)), Order("coats", ("a", "b"))),
    parameters=(
        Parameter("length", 0.1, 10, log=True),
        Parameter("holes", 0, 9, kind="int", when=Condition("metal", ("tin",))),
    ),
)


def black_box(values: dict) -> dict[str, float]:
    distance = abs(np.log(values["length"])) + abs(values.get("holes", 9) - 4)
    return {"loss": float(distance + values["metal"]), "weight": values["metal"] * values["length"]}


def test_any_black_box_can_be_minimised_within_limits() -> None:
    result = minimize(
        black_box, SPACE, constraints=["weight <= 5"], max_evaluations=120, random_state=0
    )
    assert result.feasible
    assert result.best["metal"] == 7.3
    assert result.best["holes"] == 4
    assert result.constraints["weight"] <= 5
    assert result.loss < 8.5
    assert len(result.evaluations) == 120


def test_a_black_box_with_a_time_limit_runs_in_children() -> None:
    def hangs_sometimes(values: dict) -> float:
        while values["metal"] == 7.9:
            pass
        return float(values["length"])

    result = minimize(
        hangs_sometimes,
        SPACE,
        max_evaluations=6,
        eval_time_limit=0.5,
        z_solver="random",
        theta_solver="random",
        strategy="joint",
        random_state=1,
    )
    statuses = {evaluation.status.value for evaluation in result.evaluations}
    assert statuses == {"success", "timeout"}


def test_a_black_box_that_returns_no_number_is_explained() -> None:
    with pytest.raises(NoSuccessError, match="returned 'much' where a number is due"):
        minimize(lambda values: "much", SPACE, max_evaluations=3)
    with pytest.raises(NoSuccessError, match=r"returned '0\.5' where a number is due"):
        minimize(lambda values: "0.5", SPACE, max_evaluations=3)
    with pytest.raises(NoSuccessError, match="returned no 'weight'"):
        minimize(lambda values: 1.0, SPACE, constraints=["weight <= 3"], max_evaluations=3)
    with pytest.raises(NoSuccessError, match="a Series is taken for the loss alone"):
        minimize(
            lambda values: pd.Series({"loss": 1.0, "weight": 2.0}),
            SPACE,
            constraints=["weight <= 3"],
            max_evaluations=3,
        )
    with pytest.raises(NoSuccessError, match="invalid: the objective returned 1000"):
        minimize(lambda values: 10**400, SPACE, max_evaluations=3)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_small_space_is_searched_to_its_end(n_jobs: int) -> None:
    space = SearchSpace((Choice("a", ("x", "y")),))
    losses = {"x": 1.0, "y": 0.0}
    for strategy in ("admm", "joint"):
        result = minimize(
            lambda values: losses[values["a"]],
            space,
            max_evaluations=10,
            n_jobs=n_jobs,
            strategy=strategy,
        )
        assert result.best == {"a": "y"}
        assert len(result.evaluations) == 2
        assert result.stopped_by == "nothing left to try"


def test_a_limit_that_holds_with_room_costs_nothing() -> None:
    space = SearchSpace(parameters=(Parameter("x", 0, 1),))

    def far_inside(values: dict) -> dict[str, float]:
        return {"loss": (values["x"] - 0.9) ** 2, "g": 0.1 - values["x"]}

    result = minimize(far_inside, space, constraints=["g <= 0"], max_evaluations=40, random_state=0)
    assert result.best["x"] == pytest.approx(0.9, abs=0.02)


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"objective": 3}, "objective must be a function, not 3"),
        ({"space": ()}, r"space must be a SearchSpace, not \(\)"),
        ({"constraints": 3}, "constraints must be a list, not 3"),
        ({"cheap": 3}, "cheap must be a dict, not 3"),
        ({"callbacks": [3]}, "callback 3 has no method of an observer"),
    ],
)
def test_wrong_arguments_for_a_black_box_are_one_line(changes: dict, says: str) -> None:
    given = {"objective": lambda values: 0.0, "space": SearchSpace(), "max_evaluations": 1}
    with pytest.raises(ConfigurationError, match=says):
        minimize(**given | changes)


def test_an_infeasible_black_box_raises_with_the_closest() -> None:
    with pytest.raises(InfeasibleError) as caught:
        minimize(
            black_box, SPACE, constraints=["weight <= 0.001"], max_evaluations=20, random_state=0
        )
    assert caught.value.closest.feasible is False


def test_rows_that_are_too_few_to_certify_are_warned_of_beforehand() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    few = {"constraints": ["fpr <= 0.01"], "certify": 0.95, "on_infeasible": "closest"}
    search = AutoMLClassifier(**(QUICK | few | {"max_evaluations": 1}))
    with pytest.warns(LimitWarning) as told:
        search.fit(X, y)
    words = [str(one.message) for one in told]
    assert "rows cannot certify fpr <= 0.01 (needs about " in words[0]
    held_out = search.certificate_.findings[0].value
    broken = [one for one in words if re.search(r"is BROKEN on the \d+ rows held out", one)]
    assert bool(broken) is (held_out > 0.01)


def test_a_limit_that_nobody_means_is_warned_of_as_a_limit() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    search = AutoMLClassifier(**(QUICK | {"constraints": ["recall >= 0"], "max_evaluations": 1}))
    with pytest.warns(LimitWarning, match=r"'recall >= 0' is kept by every model"):
        search.fit(X, y)


def test_rows_that_can_certify_nothing_are_refused_beforehand(tmp_path: Path) -> None:
    X, y = load_breast_cancer(return_X_y=True)
    few = {"constraints": ["fpr <= 0.01"], "certify": 0.95, "work_dir": tmp_path / "out"}
    with pytest.raises(ConfigurationError, match=r"fpr <= 0\.01 on 85 negative") as told:
        AutoMLClassifier(**(QUICK | few)).fit(X, y)
    assert "Leave out the limit or certify: rows" in str(told.value)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("missing", [np.nan, None, pd.NA])
@pytest.mark.parametrize("by_group", [False, True])
def test_one_row_whose_category_is_missing_is_predicted(missing: Any, by_group: bool) -> None:
    """Alone such a cell is a column of numbers to pandas, and no category of any known kind."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.normal(size=200), "city": rng.choice(["Ulm", "Bonn"], 200)})
    y = np.where(X["a"] + (X["city"] == "Ulm") > 0.3, "yes", "no")
    limits = {"constraints": ["fpr_gap[city] <= 0.9"], "group_thresholds": True}
    given = QUICK | {"max_evaluations": 1, "scoring": "balanced_accuracy"}
    search = AutoMLClassifier(**given | (limits if by_group else {}))
    search.fit(X, y)
    one = X.iloc[[3]].copy()
    one["city"] = missing
    told = pytest.warns(NewValuesWarning, match="of the group 'city missing', which the run did")
    with told if by_group else nullcontext():
        assert search.predict(one)[0] in ("no", "yes")
    assert search.predict_proba(one).shape == (1, 2)
