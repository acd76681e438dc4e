"""Ensembles within limits that no threshold moves: members are chosen for the limits together."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from automl_admm import Constraint, Limit
from automl_admm.core.fold_means import means_over_folds
from automl_admm.core.space import Array
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
        sure = 1 / (1 + np.exp(-known - drawn.normal(size=ROWS)))
        return np.stack([1 - sure, sure], axis=1)

    fair = [knowing(0.5, 0.5) for _ in range(2)]
    return np.stack([*fair, *(knowing(3.0, 1.2) for _ in range(3)), *(knowing(0.4, 2.0),) * 3])


def chosen(work: PipelineWork, given: Array) -> EnsembleResult:
    return choose_ensemble(work, given, Purse.unlimited(len(given)))


def single(work: PipelineWork, given: Array) -> int:
    """The best one within the limits."""
    rated, within = Rated.of(work.metric, work.table, work.splits), Within.of(work)
    return rated.best(given, rated.parts, within)


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
    outside = Within.of(work)
    assert outside is not None
    parts = Rated.of(work.metric, work.table, work.splits).parts
    assert outside.on(parts)(blend(given, free.counts)) > 0.0, "the best of all breaks it"

    found = chosen(work, given)
    assert found.choice.is_better
    assert found.choice.excess <= found.choice.single_excess
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


def test_where_nothing_can_be_within_nothing_is_said_to_be() -> None:
    work = work_for(NUMBERS, "bias <= -2")
    found = chosen(work, quantities(work))
    assert found.evaluation is None or not work.aims[0].holds(found.evaluation.constraints[0])


def test_a_limit_that_fails_on_averages_is_kept_by_none() -> None:
    def fails(evaluated: Any) -> float:
        raise ValueError("it looks for something that a mean has not")

    limit = Constraint(Limit("own", 1.0), fails, kind="statistical", uses_decisions=False)
    work = work_for(WORDS)
    within = Within(work, (limit,), (limit.limit,))
    parts = Rated.of(work.metric, work.table, work.splits).parts
    assert within.on(parts)(chances(work)[0]) == np.inf


def test_thresholds_keep_the_limits_that_they_move() -> None:
    """Of classes they move those on decisions; a quantity has none."""
    limits = ("fpr <= 0.1", "auc_gap[sex] <= 0.05", "latency_us <= 100")
    assert [one.limit.name for one, _ in still_limits(work_for(WORDS, *limits))] == ["auc_gap[sex]"]
    assert Within.of(work_for(WORDS, "fpr <= 0.1")) is None
    assert len(still_limits(work_for(NUMBERS, "mae <= 1", "mae_gap[sex] <= 1"))) == 2


def test_a_task_tells_how_far_both_are_outside() -> None:
    work = work_for(WORDS, "auc_gap[sex] <= 0.05")
    found = chosen(work, chances(work))
    again = EnsembleResult.from_json(found.as_json()).choice
    assert (again.excess, again.single_excess) == (found.choice.excess, found.choice.single_excess)


def test_the_values_are_those_of_an_evaluation() -> None:
    """Folds are averaged by group, as an evaluation does it; so the whole table is asked here."""
    work = work_for(WORDS, "auc_gap[sex] <= 0.05", "brier <= 0.3")
    given, within = chances(work), Within.of(work)
    parts = Rated.of(work.metric, work.table, work.splits).parts
    counts = np.array([1, 0, 2, 0, 0, 1, 0, 0])
    assert within is not None
    mean = blend(given, counts)
    found = means_over_folds([within.seen(mean, one) for one in parts])
    assert evaluate_predictions(work, mean).constraints == pytest.approx(found)
