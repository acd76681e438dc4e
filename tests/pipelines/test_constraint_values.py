"""What constraints are shown, and what becomes of those that have no value."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from automl_admm import AutoMLClassifier, AutoMLRegressor, Constraint, EvaluatedPipeline, Limit
from automl_admm.constraints.parse import read_text
from automl_admm.constraints.resolve import constraint_of, with_groups
from automl_admm.core.errors import InvalidOutcome, NoSuccessError
from automl_admm.core.evidence import Estimate, Gap, Largest, Rate, Timing
from automl_admm.pipelines.cross_validation import judge_folds
from automl_admm.pipelines.few_row_model import constant_pipeline
from automl_admm.pipelines.limit_values import evidence_of, value_of
from automl_admm.plugins.records import ConstraintFunction, ConstraintPlugin
from automl_admm.plugins.registry import Registry
from automl_admm.runs.config import RunConfig
from automl_admm.runs.pipelines import run_pipelines
from automl_admm.runs.prepare.preparation import prepare
from automl_admm.search.starts import default_start

ROWS = 90


def table() -> tuple[pd.DataFrame, Any]:
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.normal(size=ROWS), "b": rng.normal(size=ROWS)})
    return X, np.where(X["a"] + 0.5 * rng.normal(size=ROWS) > 0, "yes", "no")


def search(*constraints: Any, **more: Any) -> AutoMLClassifier:
    given = {"max_evaluations": 3, "executor": "inline", "random_state": 0, "cv": 3} | more
    return AutoMLClassifier("tiny", constraints=constraints, **given)


def test_a_constraint_sees_decisions_scores_and_sensitive_columns() -> None:
    X, y = table()
    seen: list[EvaluatedPipeline] = []

    def look(evaluated: EvaluatedPipeline) -> float:
        seen.append(evaluated)
        return 0.0

    sex = np.resize(["f", "m"], ROWS)
    search(Constraint(Limit("look", 1.0), look)).fit(X, y, sensitive_features={"sex": sex})
    for evaluated in seen:
        assert (evaluated.decisions == evaluated.pipeline.predict(evaluated.X)).all()
        assert set(evaluated.decisions) <= {0, 1}
        assert (evaluated.scores == evaluated.predictions[:, 1]).all()
        assert list(evaluated.sensitive["sex"]) == list(sex[evaluated.X.index])
        assert list(evaluated.X.columns) == ["a", "b"]
        assert evaluated.peak_mb > 10


def test_what_hardly_differs_between_folds_is_measured_on_the_first() -> None:
    X, y = table()
    seen: list[int] = []

    def first(evaluated: EvaluatedPipeline) -> float:
        seen.append(evaluated.X.index[0])
        return float(len(seen))

    limit = Constraint(Limit("first", 9.0), first, first_fold=True)
    config = RunConfig(grammar="tiny", constraints=(limit,), cv=3, test_size=0.0)
    work = prepare(config, X, y).work
    measured = [work.table.part(valid) for _, valid in work.splits]
    found, _ = judge_folds(work, [work.measure(constant(work), rows, 0.0) for rows in measured])
    assert found.constraints == (1.0,)
    assert seen == [measured[0].X.index[0]]


def constant(work: Any) -> Any:
    return constant_pipeline("classification").fit(work.table.X, work.table.labels())


def test_values_are_averaged_over_folds() -> None:
    X, y = table()
    found: list[float] = []

    def wrong(evaluated: EvaluatedPipeline) -> Rate:
        rate = Rate(int((evaluated.decisions != evaluated.y).sum()), len(evaluated.y))
        found.append(rate.value)
        return rate

    fitted = search(Constraint(Limit("wrong", 1.0), wrong), max_evaluations=1).fit(X, y)
    assert fitted.cv_results_["wrong"][0] == pytest.approx(np.mean(found[:3]))


def test_a_quantity_is_decided_as_it_is_predicted() -> None:
    X, _ = table()
    quantity = X["a"] + np.random.default_rng(1).normal(size=ROWS)
    found = AutoMLRegressor(
        "tiny", constraints=["r2 >= -9"], max_evaluations=1, executor="inline", cv=3
    ).fit(X, quantity)
    assert found.cv_results_["r2"][0] == pytest.approx(found.best_score_)


def broken(evaluated: EvaluatedPipeline) -> float:
    raise ZeroDivisionError("no rows to divide by")


def not_a_number(evaluated: EvaluatedPipeline) -> float:
    return math.nan


def endless(evaluated: EvaluatedPipeline) -> float:
    return -math.inf


def silent(evaluated: EvaluatedPipeline) -> Any:
    return None


def nobody(evaluated: EvaluatedPipeline) -> Rate:
    return Rate(0, 0, "rows of group 'x'")


@pytest.mark.parametrize(
    ("function", "says"),
    [
        (broken, "'own' failed in fold 1 of 3: ZeroDivisionError: no rows to divide by"),
        (not_a_number, "'own' has no value: it gives no number in fold 1 of 3"),
        (endless, "'own' has no value: it is -inf in fold 1 of 3"),
        (silent, "'own' failed in fold 1 of 3: TypeError: it returned None where"),
        (nobody, "'own' has no value: it has no rows of group 'x' in fold 1 of 3"),
    ],
)
def test_what_has_no_value_is_never_within_the_limit(
    function: ConstraintFunction, says: str
) -> None:
    X, y = table()
    with pytest.raises(NoSuccessError, match=says):
        search(Constraint(Limit("own", 1.0), function)).fit(X, y)


@pytest.mark.parametrize(
    ("written", "value", "misses"),
    [
        ("share <= 0.9", 3.0, True),
        ("share >= 0.5", 3.0, True),
        ("share >= 0.5", -1.0, True),
        ("share <= 0.9", 1 + 1e-6, True),
        ("share <= 0.9", 1 + 1e-12, False),
        ("share >= 0.5", -1e-12, False),
        ("free <= 0.9", -3.0, False),
    ],
)
def test_a_value_outside_the_declared_range_is_the_fault_of_its_plugin(
    written: str, value: float, misses: bool
) -> None:
    measures: Registry[ConstraintPlugin] = Registry("constraint")
    share = ConstraintPlugin(name="share", summary="s", function=lambda _: value, highest=1.0)
    measures.add(share, "bad-plugin 0.3")
    measures.add(replace(share, name="free", lowest=None, highest=None), "bad-plugin 0.3")
    constraint = constraint_of(read_text(written), measures)
    if not misses:
        assert value_of(constraint, Estimate(value), "") == value
        return
    said = r"'share' \(bad-plugin 0.3\) is at fault: .* in fold 1, but declares .*highest=1"
    with pytest.raises(InvalidOutcome, match=said):
        value_of(constraint, Estimate(value), " in fold 1")


@pytest.mark.parametrize("written", ["share_gap[sex] <= 0.1", "share_ratio[sex] >= 0.8"])
def test_a_value_of_a_group_outside_the_range_is_no_part_of_a_comparison(written: str) -> None:
    measures: Registry[ConstraintPlugin] = Registry("constraint")
    share = ConstraintPlugin(
        name="share", summary="s", function=lambda _: 40.0, highest=1.0, kind="statistical"
    )
    measures.add(share, "bad-plugin 0.3")
    sex = pd.DataFrame({"sex": ["f", "m"] * 4})
    constraint = with_groups(constraint_of(read_text(written), measures), ("f", "m"))
    y = np.array([0, 1] * 4)
    part = EvaluatedPipeline(None, sex, y, y, 0.0, 0.0, y, sensitive=sex)
    said = r"'share' \(bad-plugin 0.3\) is at fault: it is 40 in a group, but declares lowest=0"
    with pytest.raises(InvalidOutcome, match=said):
        evidence_of(constraint, part, " in fold 1")


def test_a_limit_that_writes_to_what_it_is_shown_is_told_and_changes_nothing() -> None:
    def flattering(evaluated: EvaluatedPipeline) -> float:
        evaluated.y[:] = evaluated.decisions
        return 0.0

    y = np.array([0, 1])
    part = EvaluatedPipeline(None, None, y, y, 0.0, 0.0, 1 - y)
    said = "'mine' failed in fold 1: .*assignment destination is read-only"
    with pytest.raises(InvalidOutcome, match=said):
        evidence_of(Constraint(Limit("mine", 0.5), flattering), part, " in fold 1")
    assert y.tolist() == [0, 1]


def test_a_limit_that_writes_to_a_frame_changes_a_frame_of_its_own() -> None:
    def blanking(evaluated: EvaluatedPipeline) -> float:
        evaluated.X["a"] = 0.0
        evaluated.sensitive["a"] = 0.0
        return 0.0

    y, frame = np.array([0, 1]), pd.DataFrame({"a": [1.0, 2.0]})
    part = EvaluatedPipeline(None, frame, y, y, 0.0, 0.0, y, sensitive=frame)
    evidence_of(Constraint(Limit("mine", 0.5), blanking), part, "")
    assert frame["a"].tolist() == [1.0, 2.0]


def test_more_events_than_trials_are_told() -> None:
    y = np.array([0, 1])
    part = EvaluatedPipeline(None, None, y, y, 0.0, 0.0, y)
    said = "'mine' failed in fold 1: .*it counts 5 events of 3 trials, where whole numbers are due"
    with pytest.raises(InvalidOutcome, match=said):
        evidence_of(Constraint(Limit("mine", 0.5), lambda _: Rate(5, 3)), part, " in fold 1")


def test_more_trials_than_rows_are_told() -> None:
    # By a million trials that nobody made, any limit would be certified.
    y = np.array([0, 1])
    part = EvaluatedPipeline(None, None, y, y, 0.0, 0.0, y)
    said = "'mine' failed in fold 1: .*it counts 1000000 rows where it was given 2"
    with pytest.raises(InvalidOutcome, match=said):
        evidence_of(Constraint(Limit("mine", 0.5), lambda _: Rate(1, 10**6)), part, " in fold 1")


def test_times_are_no_evidence_of_rows() -> None:
    y = np.array([0, 1])
    part = EvaluatedPipeline(None, None, y, y, 0.0, 0.0, y)
    times = Timing(np.zeros(10**6), 0.9)
    said = "'mine' is at fault: it returned times, and is not declared as measured"
    for found in (times, Largest({"a": Rate(0, 1), "b": times}), Gap({"a": times, "b": times})):
        limit = Constraint(Limit("mine", 0.5), lambda _, one=found: one, kind="statistical")
        with pytest.raises(InvalidOutcome, match=said):
            evidence_of(limit, part, "")
    measured = Constraint(Limit("mine", 0.5), lambda _: times, kind="measured")
    assert evidence_of(measured, part, "") is times


def test_a_limit_made_by_hand_knows_its_extreme() -> None:
    mine = Constraint(Limit("mine", 0.5, extreme=0.0), lambda _: -1.0)
    with pytest.raises(InvalidOutcome, match="'mine' is at fault: it is -1, but declares lowest=0"):
        value_of(mine, Estimate(-1.0), "")


def test_held_out_rows_that_lack_a_group_cost_the_limit_and_not_the_score() -> None:
    X, y = table()
    X["sex"] = np.where(np.arange(ROWS) < 6, "few", "many")
    y[:6] = ["yes", "no"] * 3
    config = RunConfig(
        grammar="tiny",
        constraints=("auc_gap[sex] <= 1",),
        max_evaluations=1,
        executor="inline",
        test_size=0.34,
        cv=2,
    )
    prepared = prepare(config, X, y)
    held_out = prepared.work.held_out
    assert held_out is not None
    one_class = held_out.part(np.flatnonzero((held_out.X["sex"] == "many") | (held_out.y == 0)))
    refit = run_pipelines(replace(prepared, work=replace(prepared.work, held_out=one_class))).refit
    assert refit.measured.held_out_score is not None
    assert refit.measured.held_out_constraints == ()
    assert "group 'few' has no positive rows" in refit.measured.held_out_problem


def test_nothing_is_trained_that_a_cheap_limit_excludes() -> None:
    X, y = table()
    trained: list[int] = []

    def steps(evaluated: EvaluatedPipeline) -> float:
        trained.append(len(evaluated.pipeline.steps))
        return float(trained[-1])

    short = Constraint(Limit("steps", 2), steps, cheap=len)
    fitted = search(short, max_evaluations=16, strategy="admm:first=2,step=0").fit(X, y)
    assert set(trained) == {2}
    assert set(fitted.cv_results_["status"]) <= {"success", "stopped"}


def test_what_a_cheap_limit_excludes_is_refused_where_it_is_asked_for_all_the_same(
    tmp_path: Path,
) -> None:
    X, y = table()
    short = Constraint(Limit("steps", 1), lambda evaluated: 3.0, cheap=len)
    work = prepare(RunConfig(grammar="tiny", constraints=(short,)), X, y).work
    with pytest.raises(InvalidOutcome, match=r"not trained: the limit 'steps <= 1' excludes it"):
        work.evaluate(default_start(work.space.space), 0, tmp_path)
