"""Pseudo-counts of other tables: scores and draws of selections."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest

from automl_admm.builtin.z.lessons import Lessons
from automl_admm.core.priors import ArmPrior
from automl_admm.core.space import Choice, Order, SearchSpace

SPACE = SearchSpace(
    (
        Choice("scaler", ("none", "one")),
        Choice("model", ("a", "b", "c")),
        Order("steps", ("x", "y")),
    )
)
ARMS = {
    ("model", "a"): ArmPrior(0.8, 0.2),
    ("model", "b"): ArmPrior(0.0, 1.0),
    ("model", "gone"): ArmPrior(1.0, 0.0),
    ("other", "a"): ArmPrior(1.0, 0.0),
}


def score(lessons: Lessons, **picks: str) -> float:
    return lessons.score(SPACE.complete(picks))


def test_a_score_compares_arms_with_the_others_of_their_decision() -> None:
    lessons = Lessons.of(SPACE, ARMS, 4.0)
    usual = (0.8 + 0.05) / 2
    assert score(lessons, model="a") == pytest.approx(math.log(0.8 / usual))
    assert score(lessons, model="b") == pytest.approx(math.log(0.05 / usual))
    # Of what was never tried nothing is known, for good or bad.
    assert score(lessons, model="c") == score(lessons, model="c", scaler="one") == 0.0


def test_draws_follow_the_counts_and_leave_room_for_the_rest() -> None:
    lessons, rng = Lessons.of(SPACE, ARMS, 4.0), np.random.default_rng(0)
    drawn = [lessons.draw(rng) for _ in range(600)]
    models = Counter(one.get("model") for one in drawn)
    assert models["a"] > models["c"] > models["b"] > 0
    assert min(Counter(one.get("scaler") for one in drawn).values()) > 200
    assert min(Counter(one.get("steps") for one in drawn).values()) > 200
