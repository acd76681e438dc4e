"""The decision threshold: chosen on out-of-fold scores, measured as it ships, plain at the end."""

from __future__ import annotations

import math
import pickle
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.dummy import DummyClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.metrics import accuracy_score, balanced_accuracy_score, make_scorer
from sklearn.model_selection import FixedThresholdClassifier
from sklearn.pipeline import Pipeline

from automl_admm import AutoMLClassifier, Constraint, EvaluatedPipeline, Limit
from automl_admm.builtin.constraints.decision_rates import fnr, fpr, recall, selection_rate
from automl_admm.core.results import EvaluationResult
from automl_admm.pipelines.thresholds.by_group import choose_group_thresholds
from automl_admm.pipelines.thresholds.fixed import fix_threshold
from automl_admm.pipelines.thresholds.single import (
    Aimed,
    aimed_decisions,
    choose_threshold,
    decide,
)
from automl_admm.pipelines.work import PipelineWork
from automl_admm.plugins.loading import load_plugins
from automl_admm.plugins.records import ComponentPlugin
from automl_admm.plugins.registry import Registry
from automl_admm.runs.config import RunConfig
from automl_admm.runs.finish.model_file import trusted_types
from automl_admm.runs.prepare.preparation import prepare
from automl_admm.search.starts import default_start

ROWS = 300


def table(rows: int = ROWS, labels: tuple[Any, Any] = ("no", "yes")) -> tuple[pd.DataFrame, Any]:
    """Mostly positive rows, so that deciding at one half calls many negative ones positive."""
    rng = np.random.default_rng(0)
    positive = rng.random(rows) < 0.7
    X = pd.DataFrame({"a": rng.normal(size=rows) + 1.3 * positive, "b": rng.normal(size=rows)})
    X["sex"] = np.where(rng.random(rows) < 0.3 + 0.3 * positive, "m", "f")
    return X, np.where(positive, labels[1], labels[0])


def work(
    *constraints: Any, target: Any = None, scoring: Any = None, grammar: str = "tiny", **more: Any
) -> PipelineWork:
    X, y = table()
    config = RunConfig(
        grammar=grammar,
        constraints=constraints,
        scoring=scoring,
        max_evaluations=1,
        executor="inline",
        cv=3,
        **more,
    )
    return prepare(config, X, y if target is None else target).work


def evaluated(used: PipelineWork, folder: Path) -> EvaluationResult:
    return used.evaluate(default_start(used.space.space), 0, folder)


def part(y: Any, scores: Any, **more: Any) -> EvaluatedPipeline:
    scores = np.asarray(scores, dtype=float)
    decisions = (scores >= 0.5).astype(int)
    return EvaluatedPipeline(None, None, np.asarray(y), scores, 0.0, 0.0, decisions, **more)


def limited(function: Any, bound: float, *, at_least: bool = False) -> Aimed:
    limit = Limit(function.__name__, bound, at_least)
    return Aimed(Constraint(limit, function, kind="statistical"), limit)


def violation(aimed: list[Aimed], parts: list[EvaluatedPipeline], threshold: float) -> float:
    total = 0.0
    for one in aimed:
        values = [one.constraint.function(decide(p, threshold)).value for p in parts]
        mean, limit = float(np.mean(values)), one.limit
        if math.isnan(mean):
            return math.inf
        total += max(0.0, limit.turned(mean) - limit.turned(limit.bound)) / limit.bound
    return total


def balanced(parts: list[EvaluatedPipeline], threshold: float) -> float:
    y = np.concatenate([p.y for p in parts])
    yes = np.concatenate([decide(p, threshold).decisions for p in parts])
    return float(balanced_accuracy_score(y, yes))


ROW = st.tuples(st.integers(0, 1), st.integers(0, 20).map(lambda k: k / 20))
FOLD = st.lists(ROW, min_size=6, max_size=30).filter(lambda rows: len({y for y, _ in rows}) == 2)


@given(
    folds=st.lists(FOLD, min_size=1, max_size=3),
    bounds=st.tuples(*[st.sampled_from([0.05, 0.2, 0.5])] * 2),
    at_least=st.sampled_from([0.1, 0.5, 0.9]),
)
def test_the_chosen_one_is_never_worse_than_the_default(
    folds: list[Any], bounds: tuple[float, float], at_least: float
) -> None:
    parts = [part([y for y, _ in rows], [s for _, s in rows]) for rows in folds]
    aimed = [
        limited(fpr, bounds[0]),
        limited(selection_rate, bounds[1]),
        limited(recall, at_least, at_least=True),
    ]
    chosen = choose_threshold(parts, aimed, 0.5)
    assert chosen is not None
    if all(len(set(p.scores)) == 1 for p in parts):
        assert math.isinf(chosen)
        return
    if parts_nothing(parts, 0.5):
        assert not parts_nothing(parts, chosen) or math.isinf(chosen)
        return
    before, after = violation(aimed, parts, 0.5), violation(aimed, parts, chosen)
    assert after <= before + 1e-9
    if after == before:
        assert balanced(parts, chosen) >= balanced(parts, 0.5) - 1e-9


def parts_nothing(parts: list[EvaluatedPipeline], threshold: float) -> bool:
    return len({bool(s >= threshold) for p in parts for s in p.scores}) == 1


@given(
    constants=st.lists(st.integers(0, 20).map(lambda k: k / 20), min_size=1, max_size=4),
    bound=st.sampled_from([0.0, 0.3, 0.6]),
    at_least=st.booleans(),
    groups=st.booleans(),
)
def test_what_tells_nothing_apart_decides_all_or_nothing_wherever_it_is_fitted(
    constants: list[float], bound: float, at_least: bool, groups: bool
) -> None:
    """Each fold has a constant of its own, as a model of class frequencies has."""
    parts = [part([0, 1, 0, 1], [constant] * 4) for constant in constants]
    measure = recall if at_least else fpr
    aimed = [limited(measure, bound, at_least=at_least)]
    chosen = choose_threshold(parts, aimed, 0.5)
    assert chosen is not None
    assert math.isinf(chosen)
    if groups:
        names = [np.array(["f", "f", "m", "m"], dtype=object)] * len(parts)
        assert choose_group_thresholds(parts, names, aimed, chosen).by_group == {}
    again = part([0, 1, 0, 1], [constants[0] + 1e-6] * 4)
    now = measure(decide(again, chosen)).value
    assert now == measure(decide(parts[0], chosen)).value
    assert aimed[0].limit.holds(now) or not at_least


@pytest.mark.parametrize("scores", [[0.1, 0.1, 0.1, 0.9], [0.1, 0.9, 0.9, 0.9]])
def test_two_sides_are_found_among_ties(scores: list[float]) -> None:
    chosen = choose_threshold([part([0, 1, 0, 1], scores)], [limited(selection_rate, 0.3)], 0.05)
    assert chosen is not None
    assert not parts_nothing([part([0, 1, 0, 1], scores)], chosen)


@pytest.mark.parametrize("bound", [0.0, 0.02, 0.1, 0.3])
def test_what_some_threshold_can_hold_is_held_and_nearly_used_up(bound: float) -> None:
    rng = np.random.default_rng(1)
    y = (rng.random(4000) < 0.3).astype(int)
    parts = [part(y[i::2], (rng.normal(size=4000) + y)[i::2]) for i in range(2)]
    aimed = [limited(fpr, bound)]
    chosen = choose_threshold(parts, aimed, 0.5, lambda t: -abs(t + 9.0))  # say yes to all it can
    assert chosen is not None
    found = np.mean([fpr(decide(p, chosen)).value for p in parts])
    assert bound - 0.01 <= found <= bound


def test_never_saying_yes_is_not_how_false_positives_are_limited() -> None:
    rng = np.random.default_rng(1)
    y = (rng.random(1000) < 0.05).astype(int)
    rare = part(y, 0.05 + 0.1 * y + 0.05 * rng.random(1000))
    assert fpr(rare).value == 0.0  # at the default, because nothing is called positive
    chosen = choose_threshold([rare], [limited(fpr, 0.1)], 0.5)
    assert chosen is not None
    assert recall(decide(rare, chosen)).value > 0.9
    assert fpr(decide(rare, chosen)).value <= 0.1


def test_where_not_all_can_hold_the_breach_is_least_in_units_of_the_limits() -> None:
    rng = np.random.default_rng(2)
    y = np.resize([0, 1], 2000)
    one = part(y, rng.random(2000) + 0.2 * y)
    aimed = [limited(fpr, 0.1), limited(fnr, 0.1)]
    chosen = choose_threshold([one], aimed, 0.5)
    assert chosen is not None
    tried = [violation(aimed, [one], t) for t in np.linspace(0, 1.2, 200)]
    assert violation(aimed, [one], chosen) <= min(tried) + 0.05


def test_values_that_do_not_hang_on_decisions_leave_all_as_it_is() -> None:
    def spread(evaluated: EvaluatedPipeline) -> float:
        return float(np.std(evaluated.scores))

    assert choose_threshold([part([0, 1], [0.2, 0.9])], [limited(spread, 0.1)], 0.5) is None


def test_a_limit_that_fails_on_every_threshold_leaves_it_to_the_evaluation_to_say_why() -> None:
    def broken(evaluated: EvaluatedPipeline) -> float:
        raise ZeroDivisionError

    assert choose_threshold([part([0, 1], [0.2, 0.9])], [limited(broken, 0.1)], 0.5) is None


def test_only_limits_on_decisions_with_a_number_are_aimed_at() -> None:
    texts = ("fpr <= 0.1", "auc >= 0.6", "size_mb <= 9", "auc_gap[sex] <= 0.9", "f1 >= 0.1")
    used = work(*texts, "fnr <= 2 * baseline", "roc_auc >= 0.1", "fpr_gap[sex] <= 1")
    limits = tuple(constraint.limit for constraint in used.constraints)
    names = [one.limit.name for one in aimed_decisions(used.constraints, limits)]
    assert names == ["fpr", "f1", "fpr_gap[sex]"]


def test_a_limit_that_one_half_breaks_is_kept_and_the_ranking_is_the_same(tmp_path: Path) -> None:
    plain = evaluated(work("auc >= 0.1"), tmp_path)
    assert "threshold" not in plain.details
    found = evaluated(work("fpr <= 0.1", "auc >= 0.1"), tmp_path)
    assert found.details["threshold"] > 0.5
    assert 0.03 < found.constraints[0] <= 0.1
    assert found.loss == plain.loss
    assert found.constraints[1] == plain.constraints[0]
    half = evaluated(work(untuned("fpr <= 0.1")), tmp_path)
    assert half.constraints[0] > 0.3


def untuned(text: str) -> Constraint:
    """The same limit on something that is not said to be statistical."""
    (constraint,) = work(text).constraints
    return replace(constraint, kind="measured")


def test_without_a_limit_on_decisions_nothing_changes(tmp_path: Path) -> None:
    plain = evaluated(work(scoring="accuracy"), tmp_path)
    found = evaluated(
        work("auc >= 0", "roc_auc >= 0", "size_mb <= 9", scoring="accuracy"), tmp_path
    )
    assert found.loss == plain.loss
    assert found.details["scores"] == plain.details["scores"]
    assert "threshold" not in found.details


@pytest.mark.parametrize("scoring", ["accuracy", make_scorer(accuracy_score)])
def test_a_metric_of_decisions_is_the_best_within_the_limit(scoring: Any, tmp_path: Path) -> None:
    used = work("fpr <= 0.1", scoring=scoring)
    found = evaluated(used, tmp_path)
    assert found.constraints[0] <= 0.1
    saved = np.load(tmp_path / "predictions.npz")
    scores = saved["predictions"][:, 1].astype(float)
    y = used.table.y[saved["rows"]]
    assert np.mean(found.details["scores"]) == pytest.approx(
        np.mean((scores >= found.details["threshold"]) == y), abs=0.01
    )
    within = [
        np.mean((scores >= t) == y)
        for t in np.unique(scores)
        if np.mean(scores[y == 0] >= t) <= 0.1
    ]
    assert np.mean(found.details["scores"]) >= max(within) - 0.03


def test_a_gap_between_groups_is_closed(tmp_path: Path) -> None:
    limit = "demographic_parity_difference[sex] <= 0.1"
    half = evaluated(work(untuned(limit)), tmp_path)
    found = evaluated(work(limit), tmp_path)
    assert half.constraints[0] > 0.1 >= found.constraints[0]


def test_the_aims_of_a_search_may_be_tighter_than_its_limits(tmp_path: Path) -> None:
    used = work("fpr <= 0.2")
    aims = (Limit("fpr", 0.05, extreme=0.0),)
    assert evaluated(replace(used, aims=aims), tmp_path).constraints[0] <= 0.05
    assert 0.05 < evaluated(used, tmp_path).constraints[0] <= 0.2


class _Counting(DummyClassifier):
    """Says how sure it is by the first column, and counts what it is asked."""

    def fit(self, X: Any, y: Any) -> _Counting:
        self.asked_: list[str] = []
        return super().fit(X, y)

    def predict(self, X: Any) -> Any:
        self.asked_.append("predict")
        return self.classes_[(self._sure(X) > 0.5).astype(int)]

    def _sure(self, X: Any) -> Any:
        return 1.0 / (1.0 + np.exp(-np.asarray(X)[:, 0].astype(float)))


class Probable(_Counting):
    def predict_proba(self, X: Any) -> Any:
        self.asked_.append("predict_proba")
        return np.column_stack([1.0 - self._sure(X), self._sure(X)])


class Margin(_Counting):
    predict_proba = property()

    def decision_function(self, X: Any) -> Any:
        self.asked_.append("decision_function")
        return 10.0 * (self._sure(X) - 0.5)


class Silent(_Counting):
    predict_proba = property()


def only(used: PipelineWork, model: Any) -> PipelineWork:
    """The same work with a model of the test's own in the place of every estimator."""
    registry: Registry[ComponentPlugin] = Registry("component")
    for record in used.load_components():
        own = record.role == "estimator"
        registry.add(replace(record, factory=lambda v, c: model()) if own else record, "tests")
    return replace(used, load_components=lambda: registry)


def fitted(used: PipelineWork, folder: Path, **more: Any) -> Any:
    """What the final fit ships."""
    used.refit(default_start(used.space.space), 0, folder, **more)
    return pickle.loads((folder / "model.pickle").read_bytes())


@pytest.mark.parametrize("scoring", ["roc_auc", "accuracy"])
def test_choosing_a_threshold_predicts_nothing_again(scoring: str, tmp_path: Path) -> None:
    asked: list[Any] = []

    def look(evaluated: EvaluatedPipeline) -> float:
        asked.append(evaluated.pipeline.steps[-1][1].asked_)
        return 0.0

    seen = Constraint(Limit("look", 1.0), look)
    found = evaluated(only(work(seen, "fpr <= 0.1", scoring=scoring), Probable), tmp_path)
    assert "threshold" in found.details
    assert [sorted(one) for one in asked] == [["predict", "predict_proba"]] * 3


def test_scores_that_are_no_probabilities_have_a_threshold_too(tmp_path: Path) -> None:
    found = evaluated(only(work("fpr <= 0.1"), Margin), tmp_path)
    assert found.constraints[0] <= 0.1
    threshold = found.details["threshold"]
    used = only(work("fpr <= 0.1"), Margin)
    model = fitted(used, tmp_path, threshold=threshold)
    assert model.response_method == "decision_function"
    sure = model.decision_function(used.table.X)
    assert (model.predict(used.table.X) == np.where(sure >= threshold, "yes", "no")).all()
    assert not hasattr(model, "predict_proba")


def test_a_pipeline_that_only_predicts_is_left_alone(tmp_path: Path) -> None:
    found = evaluated(only(work("fpr <= 0.1", scoring="accuracy"), Silent), tmp_path)
    assert "threshold" not in found.details
    assert found.constraints[0] > 0.1


@pytest.mark.parametrize("labels", [("no", "yes"), (0, 1), (3, 7), (False, True), (-1.0, 1.0)])
def test_what_is_measured_is_what_scikit_learn_decides(labels: Any, tmp_path: Path) -> None:
    _, y = table(labels=labels)
    seen: list[EvaluatedPipeline] = []

    def look(evaluated: EvaluatedPipeline) -> float:
        seen.append(evaluated)
        return 0.0

    used = work(Constraint(Limit("look", 1.0), look), "fpr <= 0.1", target=y)
    threshold = evaluated(used, tmp_path).details["threshold"]
    for one in seen:
        assert (one.pipeline.predict(one.X) == one.decisions).all()
        assert (one.decisions == (one.scores >= threshold)).all()
    model = fitted(used, tmp_path, threshold=threshold)
    assert set(model.predict(used.table.X)) == set(labels)
    bare = Pipeline(model.estimator_.steps)
    theirs = FixedThresholdClassifier(FrozenEstimator(bare), threshold=threshold)
    same = theirs.fit(used.table.X, y).predict(used.table.X)
    assert (model.predict(used.table.X) == same).all()


def test_the_final_fit_ships_and_measures_the_threshold(tmp_path: Path) -> None:
    used = work("fpr <= 0.1", "columns <= 5", "latency_us <= 1e6", test_size=0.3)
    assert used.held_out is not None
    threshold = evaluated(used, tmp_path).details["threshold"]
    candidate = default_start(used.space.space)
    half = used.refit(candidate, 0, tmp_path)
    found = used.refit(candidate, 0, tmp_path, threshold=threshold)
    assert found.held_out_score == half.held_out_score
    assert found.held_out_constraints[0] < half.held_out_constraints[0]
    assert found.held_out_constraints[1] == half.held_out_constraints[1] == 3
    model = pickle.loads((tmp_path / "model.pickle").read_bytes())
    negative = used.held_out.y == 0
    called = model.predict(used.held_out.X)[negative] == "yes"
    assert np.mean(called) == found.held_out_constraints[0]
    assert list(model.feature_names_in_) == ["a", "b", "sex"]
    assert model.n_features_in_ == 3
    assert list(model.classes_) == ["no", "yes"]
    assert model.predict_proba(used.held_out.X).shape == (len(used.held_out.y), 2)


def test_a_fixed_threshold_survives_skops(tmp_path: Path) -> None:
    from skops.io import dumps, loads

    used = work("fpr <= 0.1")
    model = fix_threshold(fitted(used, tmp_path), 0.8, used.table.classes)
    again = loads(dumps(model), trusted=sorted(trusted_types(load_plugins())))
    assert (again.predict(used.table.X) == model.predict(used.table.X)).all()
    assert again.threshold == 0.8


@pytest.mark.parametrize("executor", ["inline", "local"])
def test_the_classifier_has_it_in_its_best_pipeline(executor: str) -> None:
    X, y = table()
    search = AutoMLClassifier(
        "tiny",
        constraints=["fpr <= 0.1"],
        cv=2,
        max_evaluations=3,
        executor=executor,
        random_state=0,
    ).fit(X, y)
    assert search.feasible_
    assert type(search.best_pipeline_) is FixedThresholdClassifier
    assert (search.predict(X) == search.best_pipeline_.predict(X)).all()
    assert (search.predict_proba(X) == search.best_pipeline_.predict_proba(X)).all()
    assert np.mean(search.predict(X)[y == "no"] == "yes") < 0.2


def test_three_classes_have_no_threshold(tmp_path: Path) -> None:
    _, y = table()
    found = evaluated(work("accuracy >= 0.1", target=np.resize(["x", "y", "z"], len(y))), tmp_path)
    assert "threshold" not in found.details


def test_a_threshold_within_limits_is_known_where_tighter_aims_chose_another(
    tmp_path: Path,
) -> None:
    used = work("fpr <= 0.5", "recall >= 0.7", certify=0.9, on_infeasible="closest")
    used.aims = (Limit("fpr", 0.0), Limit("recall", 0.0, at_least=True))
    found = evaluated(used, tmp_path)
    assert found.constraints[1] < 0.7
    inside = [
        one["values"]
        for one in found.details["other_thresholds"]
        if one["values"][0] <= 0.5 and one["values"][1] >= 0.7
    ]
    assert inside
