"""The path of thresholds for a certificate: its stops, its order of safety, and hostile scores."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from automl_admm.builtin.constraints.decision_rates import fpr
from automl_admm.core.limits import Limit
from automl_admm.pipelines.thresholds.by_group import Thresholds
from automl_admm.pipelines.thresholds.path import (
    PATH,
    DecisionPath,
    Stop,
    moves,
    pool,
    trace_path,
)
from automl_admm.plugins.evaluated_pipeline import EvaluatedPipeline
from automl_admm.plugins.records import Constraint

FPR = Constraint(Limit("fpr", 0.1, extreme=0.0), fpr, kind="statistical")
ROWS = 400


def part(y: Any, scores: Any, sensitive: Any = None) -> EvaluatedPipeline:
    return EvaluatedPipeline(
        None, None, np.asarray(y), np.asarray(scores, dtype=float), 0.0, 0.0, sensitive=sensitive
    )


def parts(seed: int = 0) -> list[EvaluatedPipeline]:
    """Two folds in which positive rows score higher."""
    rng = np.random.default_rng(seed)
    folds = []
    for _ in range(2):
        y = (rng.random(ROWS) < 0.3).astype(int)
        folds.append(part(y, 1.0 / (1.0 + np.exp(-rng.normal(size=ROWS) - 1.5 * y))))
    return folds


def traced(
    seen: Sequence[EvaluatedPipeline],
    names: Any = None,
    chosen: Thresholds = Thresholds(0.5),  # noqa: B008 - frozen
) -> tuple[Stop, ...]:
    return trace_path(seen, names, chosen, [FPR], lambda one: (one.single, None))


def test_stops_go_from_few_positive_decisions_to_many() -> None:
    stops = traced(parts())
    rates = [stop.measured[0] for stop in stops]
    assert rates == sorted(rates)
    assert rates[0] < 0.01
    assert rates[-1] > 0.9
    whole = pool(parts())
    for stop in stops:
        called = whole.scores >= stop.thresholds.single
        assert stop.measured[0] == pytest.approx(called[whole.y == 0].mean())
        assert 0 < called.sum() < len(called)


def test_stops_are_close_together_where_the_limit_is() -> None:
    rates = np.array([stop.measured[0] for stop in traced(parts())])
    near = rates[(rates > 0.03) & (rates < 0.11)]
    assert np.max(np.diff(near)) < 0.01


@pytest.mark.parametrize("score", [0.0, 0.5, math.pi, 1e300])
def test_constant_scores_have_no_path(score: float) -> None:
    seen = [part([0, 1, 0, 1], np.full(4, score))]
    assert traced(seen) == ()
    assert traced(seen, [np.array(["f", "m", "f", "m"], dtype=object)], Thresholds(0.5)) == ()


def test_tied_scores_are_called_alike() -> None:
    rng = np.random.default_rng(1)
    scores = rng.choice([0.1, 0.4, 0.9], size=300)
    stops = traced([part(rng.integers(0, 2, 300), scores)])
    # Three scores part the rows in two ways, besides all and none.
    assert len(stops) == 2
    assert stops[0].thresholds.single == pytest.approx(0.65)
    assert stops[1].thresholds.single == pytest.approx(0.25)


def test_a_limit_without_a_value_is_nan_and_no_failure() -> None:
    """No negative row at all: nothing is known of false positives at any threshold."""
    stops = traced([part(np.ones(50), np.arange(50))])
    assert stops
    assert all(math.isnan(stop.measured[0]) for stop in stops)


def test_infinite_scores_make_no_threshold_that_is_no_number() -> None:
    scores = np.r_[np.full(20, -np.inf), np.linspace(-1, 1, 20), np.full(20, np.inf)]
    stops = traced([part(np.arange(60) % 2, scores)])
    assert not any(math.isnan(stop.thresholds.single) for stop in stops)


def test_groups_move_together_and_keep_their_proportion() -> None:
    seen = parts()
    names = [np.array(["f", "m"] * (ROWS // 2), dtype=object)] * 2
    whole, group = pool(seen), np.concatenate(names)
    chosen = Thresholds(0.5, {"f": 0.6, "m": 0.8})

    def shares(thresholds: Thresholds) -> tuple[float, float]:
        called = whole.scores >= thresholds.of_rows(group)
        return float(called[group == "f"].mean()), float(called[group == "m"].mean())

    wanted = shares(chosen)[0] / shares(chosen)[1]
    found = [shares(stop.thresholds) for stop in traced(seen, names, chosen)]
    together = [(f, m) for f, m in found if f == pytest.approx(wanted * m, abs=0.01)]
    assert len(together) > 20
    assert max(f for f, _ in together) > 0.9


@pytest.mark.parametrize("counted", [[0, 1], [0], [1]])
def test_on_other_trails_groups_have_equal_shares_of_their_rows(counted: list[int]) -> None:
    """Of all of them, of the negative or of the positive ones."""
    seen = parts()
    group = np.array(["f", "m"] * ROWS, dtype=object)
    whole = pool(seen)
    of_kind = np.isin(whole.y, counted)
    equal = 0
    for stop in traced(seen, np.split(group, 2), Thresholds(0.5, {"f": 0.3, "m": 0.9})):
        called = whole.scores >= stop.thresholds.of_rows(group)
        f, m = (called[of_kind & (group == name)].mean() for name in ("f", "m"))
        equal += 0.05 < f < 0.95 and abs(f - m) < 0.005
        # Rows of no known group, as of a missing value, are called as often as all together.
        assert (whole.scores >= stop.thresholds.single).mean() == pytest.approx(called.mean())
    assert equal > 8


def test_one_threshold_for_all_groups_is_a_trail_as_well() -> None:
    names = [np.array(["f", "m"] * (ROWS // 2), dtype=object)] * 2
    plain = traced(parts())
    for chosen in (Thresholds(0.5, {"f": 0.6, "m": 0.8}), Thresholds(0.5)):
        stops = traced(parts(), names, chosen)
        assert [stop for stop in stops if not stop.thresholds.by_group] == list(plain)


def test_rows_of_no_known_group_are_called_by_their_weights() -> None:
    group = np.array(["f", "m"] * (ROWS // 2), dtype=object)
    seen = [replace(one, weights=np.where(group == "f", 9.0, 1.0)) for one in parts()]
    whole, groups = pool(seen), np.concatenate([group] * 2)
    stops = traced(seen, [group] * 2, Thresholds(0.5, {"f": 0.6, "m": 0.8}))
    by_group = [one.thresholds for one in stops if one.thresholds.by_group]
    assert by_group
    for thresholds in by_group:
        called = whole.scores >= thresholds.of_rows(groups)
        alike = whole.scores >= thresholds.single
        assert abs(whole.weights[alike].sum() - whole.weights[called].sum()) <= 9.0


def test_a_group_without_negative_rows_has_no_trail_by_these() -> None:
    (one,) = parts()[:1]
    of_f = np.arange(ROWS) % 2 == 0
    names = [np.where(of_f, "f", "m").astype(object)]
    whole = len(traced([one], names))
    assert 0 < len(traced([part(np.where(of_f, 1, one.y), one.scores)], names)) < whole


def test_a_group_that_is_never_called_positive_stays_so() -> None:
    names = [np.array(["f", "m"] * (ROWS // 2), dtype=object)] * 2
    stops = traced(parts(), names, Thresholds(0.5, {"f": math.inf, "m": 0.8}))
    bars = [stop.thresholds.by_group.get("f") for stop in stops]
    assert bars.count(math.inf) > 20


def test_a_path_survives_the_log() -> None:
    frame = pd.DataFrame({"sex": ["f", "m"] * (ROWS // 2)})
    seen = [part(one.y, one.scores, frame) for one in parts()]
    names = [frame["sex"].to_numpy(dtype=object)] * 2
    for stops in (traced(seen), traced(seen, names, Thresholds(0.5, {"f": 0.6, "m": 0.8}))):
        path = DecisionPath("balanced accuracy", stops)
        kept = json.loads(json.dumps({PATH: path.as_details()}))
        assert DecisionPath.from_details(kept) == path
    assert DecisionPath.from_details({}) is None


def test_only_limits_on_decisions_move() -> None:
    assert moves(FPR)
    assert not moves(Constraint(FPR.limit, fpr, kind="statistical", uses_decisions=False))
    assert not moves(Constraint(FPR.limit, fpr, kind="measured"))
