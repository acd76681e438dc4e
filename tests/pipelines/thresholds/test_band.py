"""Rows left undecided: the band of two classes, the least share of several, and the path."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from automl_admm.builtin.constraints.abstention import abstain
from automl_admm.builtin.constraints.decision_rates import error
from automl_admm.constraints.undecided import OfDecided
from automl_admm.core.limits import Limit
from automl_admm.pipelines.labels import UNDECIDED
from automl_admm.pipelines.thresholds.band import choose_band, choose_least_share
from automl_admm.pipelines.thresholds.by_class import decide_by_weights
from automl_admm.pipelines.thresholds.by_group import Thresholds
from automl_admm.pipelines.thresholds.cuts import Band, cut_scores
from automl_admm.pipelines.thresholds.path import PATH, DecisionPath, pool, trace_path
from automl_admm.pipelines.thresholds.single import Aimed
from automl_admm.plugins.evaluated_pipeline import EvaluatedPipeline
from automl_admm.plugins.records import Constraint

ABSTAIN = Constraint(Limit("abstain", 0.2), abstain, kind="statistical", counts_undecided=True)
ROWS = 600


def limited(bound: float) -> tuple[Aimed, Aimed]:
    wrong = Constraint(Limit("error", bound), OfDecided(error), kind="statistical")
    return Aimed(wrong, wrong.limit), Aimed(ABSTAIN, ABSTAIN.limit)


def parts() -> list[EvaluatedPipeline]:
    """Two folds; rows with scores from 0.4 to 0.6 are of either class, all others are certain."""
    rng, folds = np.random.default_rng(0), []
    for _ in range(2):
        scores = rng.random(ROWS)
        is_open = np.abs(scores - 0.5) < 0.1
        y = np.where(is_open, rng.random(ROWS) < 0.5, scores > 0.5).astype(int)
        folds.append(EvaluatedPipeline(None, None, y, scores, 0.0, 0.0))
    return folds


def test_the_band_lies_where_the_mistakes_are() -> None:
    seen = parts()
    band = choose_band(seen, limited(0.02), 0.5, 0.2)
    assert isinstance(band, Band)
    assert band.lower == pytest.approx(0.4, abs=0.03)
    assert band.upper == pytest.approx(0.6, abs=0.03)
    whole = pool(seen)
    decided = cut_scores(whole.scores, band)
    assert np.mean(decided == UNDECIDED) <= 0.2
    assert np.mean(decided[decided != UNDECIDED] != whole.y[decided != UNDECIDED]) <= 0.02


def test_no_more_rows_are_left_undecided_than_allowed() -> None:
    seen = parts()
    for most in (0.001, 0.05, 0.1):
        cut = choose_band(seen, limited(0.0), 0.5, most)
        assert np.mean(cut_scores(pool(seen).scores, cut) == UNDECIDED) <= most


def test_a_threshold_that_is_no_worse_stays() -> None:
    """A merit that falls with every row left undecided has no use for a band."""
    seen = parts()
    rows = pool(seen)
    merit = lambda cut: -float(np.mean(cut_scores(rows.scores, cut) == UNDECIDED))  # noqa: E731
    assert choose_band(seen, limited(0.5), 0.5, 0.2, merit) == 0.5


@pytest.mark.parametrize("scores", [np.full(4, 0.5), np.array([0.1, 0.1, 0.9, 0.9])])
def test_few_or_equal_scores_have_no_band_without_both_classes(scores: Any) -> None:
    seen = [EvaluatedPipeline(None, None, np.array([0, 0, 1, 1]), scores, 0.0, 0.0)]
    assert choose_band(seen, limited(0.0), 0.5, 0.9) == 0.5


def test_of_several_classes_the_least_certain_rows_are_left() -> None:
    rng = np.random.default_rng(1)
    y = rng.integers(3, size=ROWS)
    is_open = rng.random(ROWS) < 0.15
    sure, unsure = np.eye(3)[y] * 0.7 + 0.1, rng.dirichlet([9, 9, 9], size=ROWS)
    told = np.where(is_open[:, None], unsure, sure)
    seen = [EvaluatedPipeline(None, None, y, told, 0.0, 0.0)]
    least = choose_least_share(seen, limited(0.0), (1.0, 1.0, 1.0), 0.2)
    decided = decide_by_weights(told, (1.0, 1.0, 1.0), None, least)
    assert 0.05 < np.mean(decided == UNDECIDED) <= 0.2
    assert is_open[decided == UNDECIDED].mean() > 0.7
    # Weights of 0 leave a row without a share: it is undecided rather than of the first class.
    nothing = decide_by_weights(np.array([[0.0, 0.0, 1.0]]), (1.0, 1.0, 0.0), None, 0.1)
    assert nothing.tolist() == [UNDECIDED]


def test_the_path_moves_the_band_as_a_whole_and_is_read_back() -> None:
    seen, (wrong, _) = parts(), limited(0.02)
    chosen = Thresholds.at(Band(0.4, 0.6))
    moved = [wrong.constraint, ABSTAIN]
    stops = trace_path(seen, None, chosen, moved, lambda one: (one.single, None))
    whole = pool(seen)
    width = int((cut_scores(whole.scores, chosen.cut) == UNDECIDED).sum())
    assert len(stops) > 10
    for stop in stops:
        decided = cut_scores(whole.scores, stop.thresholds.cut)
        left = decided == UNDECIDED
        assert left.sum() == width
        assert stop.measured[1] == pytest.approx(left.mean())
        assert stop.measured[0] == pytest.approx(np.mean(decided[~left] != whole.y[~left]))
        assert {0, 1} <= set(decided.tolist())
    written = json.dumps({PATH: DecisionPath("error", stops).as_details()})
    read = DecisionPath.from_details(json.loads(written))
    assert read is not None
    assert read.stops == stops
    # Without a band there are no lower thresholds.
    plain = tuple(replace(one, thresholds=Thresholds(one.thresholds.single)) for one in stops)
    earlier = {PATH: DecisionPath("error", plain).as_details()}
    assert "lower_thresholds" not in earlier[PATH]
    assert (DecisionPath.from_details(earlier) or read).stops == plain


def test_thresholds_are_written_with_the_band() -> None:
    assert Thresholds.at(Band(0.25, 0.5)).as_details() == {
        "threshold": 0.5,
        "lower_threshold": 0.25,
    }
    several = Thresholds(math.nan, by_class={"a": 1.0, "b": 1.0}, least_share=0.4)
    assert several.as_details() == {"class_weights": {"a": 1.0, "b": 1.0}, "least_share": 0.4}
