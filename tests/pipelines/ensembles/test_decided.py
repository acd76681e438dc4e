"""Ensembles for metrics of decisions: members by log loss, compared at thresholds of their own."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import make_scorer

from automl_admm.core.space import Array
from automl_admm.pipelines.ensembles.choice import choose
from automl_admm.pipelines.ensembles.decided import DecidedRated
from automl_admm.pipelines.ensembles.greedy import Purse
from automl_admm.pipelines.ensembles.rated import Rated
from automl_admm.pipelines.ensembles.task import choose_ensemble
from automl_admm.pipelines.work import PipelineWork
from automl_admm.runs.config import RunConfig
from automl_admm.runs.prepare.preparation import prepare

COUNT = 1500


def work_for(y: Any, **options: Any) -> PipelineWork:
    known: dict[str, Any] = {
        "grammar": "tiny",
        "task": "classification",
        "scoring": "balanced_accuracy",
        "cv": 4,
        "executor": "inline",
        "random_state": 0,
    }
    X = pd.DataFrame({"a": np.arange(len(y)) % 7})
    return prepare(RunConfig(**known | options), X, pd.Series(y)).work


def labels(rows: int = COUNT, share: float = 0.15) -> Any:
    return np.where(np.random.default_rng(0).uniform(size=rows) < share, "yes", "no")


def chances(work: PipelineWork, members: int = 8, noise: float = 1.0) -> Array:
    """Probabilities below ½ for nearly all rows, each member with noise of its own."""
    y = work.table.y[np.concatenate([valid for _, valid in work.splits])]
    drawn = np.random.default_rng(1).normal(size=(members, len(y)))
    sure = 1 / (1 + np.exp(3.0 - 1.5 * y - noise * drawn))
    return np.stack([1 - sure, sure], axis=2)


def judge_of(work: PipelineWork) -> DecidedRated:
    return DecidedRated(work, Rated.of(work.metric, work.table, work.splits))


@pytest.mark.parametrize("limits", [(), ("fpr <= 0.1",)])
def test_a_mean_that_never_says_yes_by_default_is_found_at_a_threshold(limits: Any) -> None:
    work = work_for(labels(), constraints=limits)
    given = chances(work)
    rated = Rated.of(work.metric, work.table, work.splits)
    assert not choose(given, rated, Purse.unlimited(8)).is_better
    found = choose_ensemble(work, given, Purse(np.zeros((8, 0)), np.zeros(0)))
    assert found.choice.is_better
    assert found.evaluation is not None
    assert 0.0 < found.evaluation.details["threshold"] < 0.3
    assert 1 - found.evaluation.loss > 0.75
    assert all(value <= 0.1 for value in found.evaluation.constraints)


def test_a_metric_of_probabilities_is_judged_as_before() -> None:
    work = work_for(labels(), scoring="roc_auc")
    given = chances(work)
    rated = Rated.of(work.metric, work.table, work.splits)
    found = choose_ensemble(work, given, Purse.unlimited(8)).choice
    expected = choose(given, rated, Purse.unlimited(8))
    assert found.counts.tolist() == expected.counts.tolist()
    assert (found.gain, found.error) == (expected.gain, expected.error)


def test_the_threshold_of_a_part_is_chosen_on_the_others() -> None:
    """In one part the probabilities are others: a threshold of its own would be right there."""
    work = work_for(labels(), constraints=("fpr <= 0.1",))
    given, judge = chances(work, noise=0.0), judge_of(work)
    part = judge.rated.parts[0]
    moved = given.copy()
    moved[:, part.places, 1] /= 10.0
    moved[..., 0] = 1.0 - moved[..., 1]
    (known,) = judge.losses_on(part, judge.rated.others(part), given[:1])
    (strange,) = judge.losses_on(part, judge.rated.others(part), moved[:1])
    assert known == pytest.approx(0.0)
    assert strange == pytest.approx(0.5)


def test_a_gain_counts_from_two_standard_errors_on() -> None:
    judge = judge_of(work_for(labels()))
    found = choose(chances(judge.work), judge.rated, Purse.unlimited(8), judge)
    assert found.errors == 2.0
    assert replace(found, gain=1.9 * found.error).is_better is False
    assert replace(found, gain=2.1 * found.error).is_better is True


def test_within_limits_that_thresholds_keep_a_loss_of_its_noise_may_be_taken() -> None:
    judge = judge_of(work_for(labels(), constraints=("fpr <= 0.1",)))
    found = choose(chances(judge.work), judge.rated, Purse.unlimited(8), judge)
    assert found.errors == -1.0
    assert replace(found, gain=-0.9 * found.error).is_better is True
    assert replace(found, gain=-1.1 * found.error).is_better is False
    # The thresholds do not keep this one.
    assert judge_of(work_for(labels(), constraints=("columns <= 9",))).errors == 2.0


def test_a_pipeline_that_may_not_ship_is_none_to_beat() -> None:
    judge = judge_of(work_for(labels(share=0.5), scoring="accuracy"))
    (strong,) = chances(judge.work, members=1, noise=0.2)
    given = np.stack([strong, *chances(judge.work)])

    def gain(*refused: int) -> float:
        purse = Purse(
            np.isin(np.arange(9), refused)[:, None] * 1.0, np.array([np.inf]), np.zeros(1)
        )
        return choose(given, judge.rated, purse, judge).gain

    # It may be a member, as the others.
    assert gain(0) > gain() + 0.05
    # The first of those left has to be beaten, and where none is left the first of all.
    assert gain(*range(1, 9)) == gain(*range(9)) == gain()


def test_several_classes_are_judged_at_their_weights() -> None:
    rng = np.random.default_rng(0)
    y = rng.choice(["a", "b", "c"], size=300, p=[0.6, 0.3, 0.1])
    work = work_for(y, constraints=('recall{class="c"} >= 0.5',))
    truth = work.table.y[np.concatenate([valid for _, valid in work.splits])]
    drawn = rng.normal(size=(8, len(truth), 3)) + 1.5 * np.eye(3)[truth] + [2.0, 1.0, -1.0]
    given = np.exp(drawn) / np.exp(drawn).sum(axis=2, keepdims=True)
    found = choose_ensemble(work, given, Purse.unlimited(8))
    assert found.choice.is_better
    assert found.evaluation is not None
    assert found.evaluation.constraints[0] >= 0.5
    assert found.evaluation.details["class_weights"]["c"] > 1.0


def test_a_metric_that_fails_on_a_part_gives_no_ensemble() -> None:
    """A holdout is scored as a whole before the search, and in parts here."""

    def unruly(y: Any, decided: Any) -> float:
        if len(y) < COUNT / 5:
            raise RuntimeError("too few rows")
        return float((y == decided).mean())

    work = work_for(labels(), scoring=make_scorer(unruly), cv=0.25)
    found = choose_ensemble(work, chances(work), Purse.unlimited(8))
    assert not found.choice.is_better
    assert found.evaluation is None
