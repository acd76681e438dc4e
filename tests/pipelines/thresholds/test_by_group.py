"""A threshold for each group: better by the limits first, chosen without training, as it ships."""

from __future__ import annotations

import itertools
import pickle
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import balanced_accuracy_score

from automl_admm import AutoMLClassifier, Constraint, EvaluatedPipeline, Limit
from automl_admm.builtin.constraints.decision_rates import fpr
from automl_admm.builtin.constraints.fairness import (
    demographic_parity_difference,
    equalized_odds_difference,
)
from automl_admm.constraints.group_classifier import GroupThresholdClassifier
from automl_admm.constraints.group_comparison import GapOf, Grouped
from automl_admm.core.errors import NewValuesWarning
from automl_admm.core.fold_means import mean_over_folds
from automl_admm.core.results import EvaluationResult
from automl_admm.pipelines.thresholds import by_group as group_thresholds
from automl_admm.pipelines.thresholds.by_group import (
    Thresholds,
    calling_as_much,
    choose_group_thresholds,
    name_thresholds,
)
from automl_admm.pipelines.thresholds.single import (
    ALWAYS,
    Aimed,
    choose_threshold,
    decide,
    violation,
)
from automl_admm.pipelines.work import PipelineWork
from automl_admm.runs.config import RunConfig
from automl_admm.runs.prepare.preparation import prepare
from automl_admm.search.starts import default_start

# An example costs thirty milliseconds: half as many as the profile says.
EXAMPLES = settings().max_examples // 2


def part(groups: Any, y: Any, scores: Any) -> EvaluatedPipeline:
    scores, names = np.asarray(scores, dtype=float), np.asarray(groups, dtype=object)
    frame = pd.DataFrame({"g": names})
    yes = (scores >= 0.5).astype(int)
    return EvaluatedPipeline(None, None, np.asarray(y), scores, 0.0, 0.0, yes, frame)


def names_of(parts: list[EvaluatedPipeline]) -> list[Any]:
    return [one.sensitive["g"].to_numpy(dtype=object) for one in parts]


def limited(function: Any, bound: float, groups: tuple[str, ...] = ("f", "m")) -> Aimed:
    limit = Limit("gap", bound)

    def names(frame: Any) -> Any:
        return frame["g"].to_numpy(dtype=object)

    return Aimed(Constraint(limit, Grouped(function, names, groups), kind="statistical"), limit)


def worth(
    aimed: list[Aimed], parts: list[EvaluatedPipeline], thresholds: Thresholds
) -> tuple[float, float]:
    """(violation, −balanced accuracy), as in the order that thresholds are chosen by."""
    pairs = zip(parts, names_of(parts), strict=True)
    decided = [decide(one, thresholds.of_rows(names)) for one, names in pairs]
    values = [mean_over_folds([one.constraint.function(p) for p in decided]) for one in aimed]
    y = np.concatenate([one.y for one in decided])
    yes = np.concatenate([one.decisions for one in decided])
    merit = balanced_accuracy_score(y, yes)
    return violation(aimed, np.array(values)), -float(merit)


APART = part(["f"] * 4 + ["m"] * 4, [0, 0, 1, 1] * 2, [0.1, 0.2, 0.3, 0.4, 0.6, 0.7, 0.8, 0.9])


def test_two_groups_whose_scores_lie_apart_are_decided_alike() -> None:
    aimed = [limited(equalized_odds_difference, 0.0)]
    single = choose_threshold([APART], aimed, 0.5)
    assert single is not None
    assert worth(aimed, [APART], Thresholds(single))[0] > 0.0  # all or none would be alike, too
    found = choose_group_thresholds([APART], names_of([APART]), aimed, single)
    assert 0.2 < found.by_group["f"] <= 0.3
    assert 0.7 < found.by_group["m"] <= 0.8
    assert worth(aimed, [APART], found) == (0.0, -1.0)


def test_rows_of_no_known_group_are_called_as_often_as_all() -> None:
    """One threshold makes these groups alike by calling all or none of them."""
    aimed = [limited(equalized_odds_difference, 0.0)]
    found = choose_group_thresholds([APART], names_of([APART]), aimed, ALWAYS)
    assert 0.4 < found.single <= 0.6  # four of the eight rows, as the groups' own thresholds call


def test_rows_that_weigh_nothing_are_called_as_they_were() -> None:
    scores, weights = np.array([0.1, 0.2, 0.3, 0.9]), np.array([1.0, 1.0, 1.0, 0.0])
    for called in (np.zeros(4, dtype=bool), scores > 0.5):
        found = calling_as_much(scores, called, weights)
        assert ((scores >= found) == called).all()


def test_equal_scores_are_called_alike_where_fewer_are_nearer_to_what_was_called() -> None:
    scores, called = np.array([0.2] * 7 + [0.5]), np.arange(8) >= 6
    assert (scores >= calling_as_much(scores, called, None)).sum() == 1


def test_weights_count_in_the_threshold_of_rows_of_no_known_group() -> None:
    """The groups call a weight of 11 of 16; the upper four of the eight rows have 6 of it."""
    weights = np.array([3.0, 1.0, 3.0, 3.0, 0.5, 0.5, 2.5, 2.5])
    weighted = replace(APART, weights=weights)
    aimed = [limited(equalized_odds_difference, 0.0)]
    found = choose_group_thresholds([weighted], names_of([weighted]), aimed, ALWAYS)
    called = APART.scores >= found.of_rows(names_of([APART])[0])
    assert called.tolist() == [False, False, True, True] * 2
    of_others = APART.scores >= found.single
    assert abs(weights[of_others].sum() - weights[called].sum()) <= 1.0


def test_what_one_threshold_breaks_is_kept_by_one_a_group() -> None:
    """Neither group may be called positive as a whole, so that one threshold cannot end it."""
    y = np.resize([0, 1], 400)
    scores = np.concatenate([np.linspace(0.0, 0.4, 200), np.linspace(0.6, 1.0, 200)])
    one = part(["f"] * 200 + ["m"] * 200, y, scores)
    half = Limit("selected", 0.45, at_least=True), Limit("selected", 0.55)
    measure = Constraint(half[0], lambda e: float(np.mean(e.decisions)), kind="statistical")
    aimed = [limited(demographic_parity_difference, 0.05)]
    aimed += [Aimed(replace(measure, limit=limit), limit) for limit in half]
    single = choose_threshold([one], aimed, 0.5)
    assert single is not None
    found = choose_group_thresholds([one], names_of([one]), aimed, single)

    def broken(thresholds: Thresholds) -> float:
        decided = decide(one, thresholds.of_rows(names_of([one])[0]))
        values = [m.constraint.function(decided) for m in aimed]
        return violation(aimed, np.array([getattr(v, "value", v) for v in values]))

    assert broken(Thresholds(single)) > 0.0
    assert broken(found) == 0.0


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("bound", [0.0, 0.2])
def test_no_other_pair_of_thresholds_breaks_less_or_is_worth_much_more(
    seed: int, bound: float
) -> None:
    rng = np.random.default_rng(seed)
    groups, y = np.repeat(["f", "m"], 10), np.resize([0, 0, 0, 1, 1], 20)
    scores = np.round(rng.random(20) + 0.4 * y + np.repeat([0.0, 0.5], 10), 3)
    one = part(groups, y, scores)
    aimed = [limited(GapOf(fpr), bound)]
    single = choose_threshold([one], aimed, 0.5)
    assert single is not None
    found = choose_group_thresholds([one], names_of([one]), aimed, single)
    bars = [[*scores[groups == name], 9.0] for name in ("f", "m")]
    every = (dict(zip(("f", "m"), pair, strict=True)) for pair in itertools.product(*bars))
    best = min(worth(aimed, [one], Thresholds(0.5, pair)) for pair in every)
    broken, negative_merit = worth(aimed, [one], found)
    assert broken == pytest.approx(best[0])
    assert negative_merit <= best[1] + 0.07


ROW = st.tuples(st.sampled_from("fm"), st.integers(0, 1), st.integers(0, 20).map(lambda k: k / 20))
FOLD = st.lists(ROW, min_size=8, max_size=30).filter(
    lambda rows: len({(g, y) for g, y, _ in rows}) == 4
)


@settings(max_examples=EXAMPLES)
@given(folds=st.lists(FOLD, min_size=1, max_size=3), bound=st.sampled_from([0.0, 0.1, 0.4]))
def test_they_are_never_worse_than_the_single_one(folds: list[Any], bound: float) -> None:
    parts = [part(*zip(*rows, strict=True)) for rows in folds]
    aimed = [limited(equalized_odds_difference, bound)]
    single = choose_threshold(parts, aimed, 0.5)
    if single is None:
        return
    found = choose_group_thresholds(parts, names_of(parts), aimed, single)
    before, after = worth(aimed, parts, Thresholds(single)), worth(aimed, parts, found)
    assert after[0] <= before[0] + 1e-9
    if after[0] == before[0]:
        assert after[1] <= before[1] + 1e-9


def test_where_nothing_is_better_the_single_threshold_stays() -> None:
    one = part(list("fmfmfmfm"), [0, 0, 0, 0, 1, 1, 1, 1], [0.1, 0.1, 0.2, 0.2, 0.8, 0.8, 0.9, 0.9])
    found = choose_group_thresholds([one], names_of([one]), [limited(GapOf(fpr), 0.1)], 0.5)
    assert found == Thresholds(0.5)


def test_the_metric_decides_among_those_within_the_limits() -> None:
    def near(thresholds: Thresholds) -> float:
        return -abs(thresholds.by_group["f"] - 0.15) - abs(thresholds.by_group["m"] - 0.85)

    loose = [limited(GapOf(fpr), 1.0)]
    found = choose_group_thresholds([APART], names_of([APART]), loose, 0.5, near)
    assert found.by_group == pytest.approx({"f": 0.15, "m": 0.85})


@pytest.mark.parametrize("groups", [2, 7, 20])
def test_the_number_of_measurements_is_bounded(
    groups: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(0)
    names = tuple(f"g{i:02}" for i in range(groups))
    y, scores = np.resize([0, 1], 2000), rng.random(2000)
    one = part(rng.choice(names, 2000), y, scores)
    counted: list[int] = []
    measure = group_thresholds.mean_values

    def count(*arguments: Any) -> Any:
        counted.append(1)
        return measure(*arguments)

    monkeypatch.setattr(group_thresholds, "mean_values", count)
    choose_group_thresholds([one], names_of([one]), [limited(GapOf(fpr), 0.01, names)], 0.5)
    assert 20 < len(counted) <= 200


def test_a_row_of_no_known_group_is_decided_at_the_single_threshold() -> None:
    thresholds = Thresholds(0.5, {"f": 0.25, "m": 0.75})
    names = np.array(["m", "x", "f", "g missing"], dtype=object)
    assert thresholds.of_rows(names).tolist() == [0.75, 0.5, 0.25, 0.5]


def test_the_log_tells_them_in_words() -> None:
    thresholds = Thresholds(0.5, {"f": 0.25, "m": 0.75})
    assert name_thresholds(thresholds.as_details()) == "f at 0.25, m at 0.75, others at 0.5"
    assert name_thresholds(Thresholds(0.5).as_details()) == ""
    assert name_thresholds({}) == ""


def table(rows: int = 400) -> tuple[pd.DataFrame, Any]:
    """More of m are positive than of f, so that pipelines score them higher."""
    rng = np.random.default_rng(0)
    sex = np.where(rng.random(rows) < 0.5, "m", "f")
    positive = rng.random(rows) < np.where(sex == "m", 0.75, 0.25)
    X = pd.DataFrame({"a": rng.normal(size=rows) + 1.6 * positive})
    X["age"] = rng.integers(20, 60, rows)
    return X.assign(sex=sex), np.where(positive, "yes", "no")


def work(*constraints: Any, **more: Any) -> PipelineWork:
    X, y = table()
    config = RunConfig(
        grammar="tiny", constraints=constraints, max_evaluations=1, executor="inline", cv=3, **more
    )
    return prepare(config, X, y).work


def evaluated(used: PipelineWork, folder: Path) -> EvaluationResult:
    return used.evaluate(default_start(used.space.space), 0, folder)


ODDS = "equalized_odds_difference[sex] <= 0.1"


@pytest.mark.parametrize("scoring", ["roc_auc", "accuracy", "f1"])
def test_an_evaluation_has_one_a_group_where_it_is_allowed(scoring: str, tmp_path: Path) -> None:
    single = evaluated(work(ODDS, scoring=scoring), tmp_path)
    assert "group_thresholds" not in single.details
    found = evaluated(work(ODDS, scoring=scoring, group_thresholds=True), tmp_path)
    by_group = found.details["group_thresholds"]
    assert by_group["m"] > by_group["f"]
    assert found.constraints[0] <= max(0.1, single.constraints[0])
    if scoring == "roc_auc":
        assert found.loss == single.loss
    else:
        assert found.loss < single.loss


@pytest.mark.parametrize("columns", ["sex", "age:30,45", "sex,age:40"])
def test_what_is_measured_is_what_ships(columns: str, tmp_path: Path) -> None:
    seen: list[EvaluatedPipeline] = []

    def look(evaluated: EvaluatedPipeline) -> float:
        seen.append(evaluated)
        return 0.0

    watched = Constraint(Limit("look", 1.0), look)
    limits = (watched, f"fpr_gap[{columns}] <= 0.1", "fpr <= 0.3", "latency_us <= 1e6")
    used = work(*limits, group_thresholds=True, test_size=0.3)
    details = evaluated(used, tmp_path).details
    groups = used.constraints[1].groups
    assert groups is not None
    for one in seen:
        names = groups(one.sensitive)
        bars = [details["group_thresholds"][name] for name in names]
        assert (one.decisions == (one.scores >= np.array(bars))).all()
        assert (one.pipeline.predict(one.X) == one.decisions).all()
        assert one.pipeline.steps  # what is inside stays in view
    chosen = {name: details[name] for name in ("threshold", "group_thresholds")}
    found = used.refit(default_start(used.space.space), 0, tmp_path, **chosen)
    model = pickle.loads((tmp_path / "model.pickle").read_bytes())
    assert type(model) is GroupThresholdClassifier
    assert used.held_out is not None
    negative = used.held_out.y == 0
    called = model.predict(used.held_out.X)[negative] == "yes"
    assert np.mean(called) == found.held_out_constraints[2]
    assert list(model.feature_names_in_) == ["a", "age", "sex"]


@pytest.mark.parametrize("executor", ["inline", "local"])
def test_the_classifier_has_it_in_its_best_pipeline(executor: str) -> None:
    X, y = table()
    search = AutoMLClassifier(
        "tiny",
        constraints=[ODDS],
        group_thresholds=True,
        scoring="balanced_accuracy",
        cv=2,
        max_evaluations=3,
        executor=executor,
        random_state=0,
    ).fit(X, y)
    model = search.best_pipeline_
    assert type(model) is GroupThresholdClassifier
    assert set(model.thresholds) == {"f", "m"}
    assert (search.predict(X) == model.predict(X)).all()
    strangers = X.assign(sex="x")
    with pytest.warns(NewValuesWarning, match="of column 'sex'"):
        chances = search.predict_proba(strangers)
    told = f"{len(X)} rows are of the group 'x', which"
    with (
        pytest.warns(NewValuesWarning, match="of column 'sex'"),
        pytest.warns(NewValuesWarning, match=told),
    ):
        decided = search.predict(strangers)
    at_single = chances[:, 1] >= model.threshold
    assert (decided == np.where(at_single, "yes", "no")).all()
