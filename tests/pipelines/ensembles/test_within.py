"""Ensembles within limits that no threshold moves: members are chosen for the limits together."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest

from automl_admm import Constraint, Limit
from automl_admm.core.fold_means import means_over_folds
from automl_admm.core.space import Array
from automl_admm.pipelines.ensembles import rated
from automl_admm.pipelines.ensembles.choice import choose
from automl_admm.pipelines.ensembles.greedy import Purse, blend
from automl_admm.pipelines.ensembles.rated import Rated
from automl_admm.pipelines.ensembles.task import (
    EnsembleResult,
    choose_ensemble,
    evaluate_predictions,
)
from automl_admm.pipelines.ensembles.within import Within, still_limits
from automl_admm.pipelines.work import PipelineWork
from automl_admm.runs.config import RunConfig
from automl_admm.runs.prepare.preparation import prepare

ROWS = 800
RNG = np.random.default_rng(0)
X = pd.DataFrame({"a": RNG.normal(size=ROWS), "sex": np.where(np.arange(ROWS) % 2, "f", "m")})
NUMBERS = X["a"].to_numpy() + 3.0
WORDS = np.where(RNG.uniform(size=ROWS) < 0.4, "yes", "no")


def work_for(y: Any, *limits: Any, **options: Any) -> PipelineWork:
    is_classes = y.dtype.kind != "f"
    known: dict[str, Any] = {
        "grammar": "tiny",
        "task": "classification" if is_classes else "regression",
        "scoring": "roc_auc" if is_classes else "r2",
        "cv": 4,
        "executor": "inline",
        "random_state": 0,
        "constraints": limits,
    }
    return prepare(RunConfig(**known | options), X, pd.Series(y)).work


def validated(work: PipelineWork) -> Array:
    return np.concatenate([valid for _, valid in work.splits])


def quantities(work: PipelineWork) -> Array:
    """Predictions with little noise that are too large, and those with much that are too small."""
    truth, drawn = work.table.y[validated(work)], np.random.default_rng(1)
    strong = [truth + 0.3 + 0.3 * drawn.normal(size=ROWS) for _ in range(4)]
    weak = [truth - 0.6 + 0.8 * drawn.normal(size=ROWS) for _ in range(4)]
    return np.stack([*weak, *strong])


def chances(work: PipelineWork) -> Array:
    """Chances that know more of the one sex, and those that know more of the other one."""
    places, drawn = validated(work), np.random.default_rng(1)
    truth, is_f = work.table.y[places], (X["sex"] == "f").to_numpy()[places]

    def knowing(of_f: float, of_m: float) -> Array:
        known = np.where(is_f, of_f, of_m) * (truth - 0.5)
        sure = 1 / (1 + np.exp(-known - drawn.normal(size=len(truth))))
        return np.stack([1 - sure, sure], axis=1)

    fair = [knowing(0.5, 0.5) for _ in range(2)]
    return np.stack([*fair, *(knowing(3.0, 1.2) for _ in range(3)), *(knowing(0.4, 2.0),) * 3])


def chosen(work: PipelineWork, given: Array) -> EnsembleResult:
    return choose_ensemble(work, given, Purse.unlimited(len(given)))


def holds(work: PipelineWork, prediction: Array) -> bool:
    within = Within.of(work)
    assert within is not None
    return within.on(Rated.of(work.metric, work.table, work.splits).parts)(prediction)


def single(work: PipelineWork, given: Array) -> int:
    """The best one within the limits."""
    found = Rated.of(work.metric, work.table, work.splits)
    return found.best(given, found.parts, Within.of(work))


@pytest.mark.parametrize(
    ("y", "limit", "members"),
    [
        (NUMBERS, "bias <= 0", quantities),
        (WORDS, "auc_gap[sex] <= 0.05", chances),
    ],
    ids=["bias", "gap"],
)
def test_members_outside_a_limit_are_within_it_together(y: Any, limit: str, members: Any) -> None:
    work = work_for(y, limit)
    given, (aim,) = members(work), work.aims
    free = chosen(work_for(y), given).choice
    assert not holds(work, blend(given, free.counts)), "the best of all breaks it"

    found = chosen(work, given)
    assert found.choice.is_better
    assert found.evaluation is not None
    assert aim.holds(found.evaluation.constraints[0])
    alone = np.eye(len(given), dtype=int)[single(work, given)]
    assert found.choice.counts.tolist() != alone.tolist()


def test_what_is_within_by_itself_is_chosen_as_without_the_limit() -> None:
    free = chosen(work_for(NUMBERS), quantities(work_for(NUMBERS)))
    work = work_for(NUMBERS, "bias <= 5")
    held = chosen(work, quantities(work))
    assert held.choice.counts.tolist() == free.choice.counts.tolist()
    assert held.choice.gain == free.choice.gain
    assert held.evaluation is not None


def test_where_no_pipeline_is_within_none_is_chosen_for_the_limit() -> None:
    """The average is that of the metric, and what it lacks is told by its evaluation."""
    work, free = work_for(NUMBERS, "bias <= -2"), work_for(NUMBERS)
    found = chosen(work, quantities(work))
    expected = chosen(free, quantities(free)).choice
    assert found.choice.counts.tolist() == expected.counts.tolist()
    assert found.choice.gain == expected.gain
    assert found.evaluation is not None
    assert not work.aims[0].holds(found.evaluation.constraints[0])


def test_a_pipeline_that_costs_too_much_by_itself_is_none_to_beat() -> None:
    work = work_for(NUMBERS, "mae <= 2", "latency_us <= 50")
    truth, drawn = work.table.y[validated(work)], np.random.default_rng(1)
    fast = [truth + 0.5 * drawn.normal(size=ROWS) for _ in range(8)]
    slow = [truth + 0.15 * drawn.normal(size=ROWS) for _ in range(4)]
    costs, most = np.array([[10.0]] * 8 + [[80.0]] * 4), np.array([50.0])
    found = choose_ensemble(work, np.stack([*fast, *slow]), Purse(costs, most)).choice
    without = choose_ensemble(work, np.stack(fast), Purse(costs[:8], most)).choice
    assert found.is_better
    assert found.counts.tolist() == [*without.counts, 0, 0, 0, 0]
    assert found.gain == without.gain
    # One that has less room for members has the same pipelines beside it.
    strict = Purse(costs, np.array([30.0]), alone=np.array([80.0]))
    assert not choose_ensemble(work, np.stack([*fast, *slow]), strict).choice.is_better


@pytest.mark.parametrize("cv", [0.5, 4])
def test_limits_are_measured_on_whole_folds_as_in_an_evaluation(cv: Any) -> None:
    """The parts of a holdout are few rows each: their calibration errors are much larger."""
    work = work_for(WORDS, "calibration_error <= 0.12", cv=cv)
    given = chances(work)
    parts = Rated.of(work.metric, work.table, work.splits).parts
    told = [evaluate_predictions(work, one).constraints[0] for one in given]
    assert [holds(work, one) for one in given] == [value <= 0.12 for value in told]
    within = Within.of(work)
    assert within is not None
    within.on(parts)(given[0])
    assert sum(len(one.places) for one in within.bases.values()) == len(validated(work))


def test_of_many_rows_the_limit_asks_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rated, "MOST_ROWS", 100)
    work = work_for(WORDS, "auc_gap[sex] <= 0.05")
    given, within = chances(work), Within.of(work)
    parts = Rated.of(work.metric, work.table, work.splits).parts
    assert sum(len(part.places) for part in parts) < 120
    assert within is not None
    within.on(parts)(given[0])
    assert sum(len(part.whole) for part in parts) == ROWS
    told = [evaluate_predictions(work, one).constraints[0] for one in given]
    assert [within.on(parts)(one) for one in given] == [value <= 0.05 for value in told]


def test_the_key_of_a_mean_takes_no_memory_by_the_rows() -> None:
    """A key of the rows themselves would be kept for each mean that was measured."""
    work = work_for(WORDS, "auc_gap[sex] <= 0.05")
    given, within = chances(work), Within.of(work)
    parts = Rated.of(work.metric, work.table, work.splits).parts
    assert within is not None
    for one in given:
        within.on(parts)(one)
    keys = [*within.bases, *(key for base in within.bases.values() for key in base.known)]
    assert len(keys) > len(parts)
    assert max(map(len, keys)) <= 32


def test_a_metric_of_decisions_keeps_the_limit_by_its_members() -> None:
    work = work_for(WORDS, "auc_gap[sex] <= 0.05", scoring="balanced_accuracy")
    given = chances(work)
    found = chosen(work, given)
    assert holds(work, blend(given, found.choice.counts))
    assert found.evaluation is None or found.evaluation.constraints[0] <= 0.05


def test_a_limit_relative_to_a_baseline_is_none_to_choose_by() -> None:
    """It has no number where the choice is made."""
    assert still_limits(work_for(WORDS, "auc_gap[sex] <= 0.5 * baseline")) == []


def test_a_limit_that_fails_on_averages_is_kept_by_none() -> None:
    asked: list[int] = []

    def fails(evaluated: Any) -> float:
        asked.append(1)
        raise ValueError("it looks for something that a mean has not")

    limit = Constraint(Limit("own", 1.0), fails, kind="statistical", uses_decisions=False)
    work = work_for(WORDS)
    within, rated_rows = (
        Within(work, (limit,), (limit.limit,)),
        Rated.of(work.metric, work.table, work.splits),
    )
    given = chances(work)
    assert not within.on(rated_rows.parts)(given[0])
    choose(given, rated_rows, Purse.unlimited(len(given)), None, within)
    assert len(asked) <= (len(given) + 5) * 4, "each mean is asked once on each fold"


def test_thresholds_keep_the_limits_that_they_move() -> None:
    """Of classes they move those on decisions; a quantity has none."""
    limits = ("fpr <= 0.1", "auc_gap[sex] <= 0.05", "latency_us <= 100")
    assert [one.limit.name for one, _ in still_limits(work_for(WORDS, *limits))] == ["auc_gap[sex]"]
    assert Within.of(work_for(WORDS, "fpr <= 0.1")) is None
    assert len(still_limits(work_for(NUMBERS, "mae <= 1", "mae_gap[sex] <= 1"))) == 2


def test_the_values_are_those_of_an_evaluation() -> None:
    """Folds are averaged by group, as an evaluation does it; so the whole table is asked here."""
    work = work_for(WORDS, "auc_gap[sex] <= 0.05", "brier <= 0.3")
    given, within = chances(work), Within.of(work)
    parts = Rated.of(work.metric, work.table, work.splits).parts
    counts = np.array([1, 0, 2, 0, 0, 1, 0, 0])
    assert within is not None
    mean = blend(given, counts)
    found = means_over_folds([within.seen(mean, one.whole) for one in parts])
    assert evaluate_predictions(work, mean).constraints == pytest.approx(found)


def test_no_row_of_a_measured_prediction_is_kept() -> None:
    """Of many rows and hundreds of predictions the evidence would take much memory."""
    work = work_for(WORDS, "auc_gap[sex] <= 0.05", "calibration_error <= 0.5")
    given, within = chances(work), Within.of(work)
    assert within is not None
    holds_on = within.on(Rated.of(work.metric, work.table, work.splits).parts)
    for one in given:
        holds_on(one)
    kept = [found for base in within.bases.values() for found in base.known.values()]
    assert kept
    assert len(pickle.dumps(kept[0])) < ROWS
