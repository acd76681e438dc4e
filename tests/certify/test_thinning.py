"""Thinned evidence: as if rows had been drawn, of each kind and in parts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from automl_admm.certify.thinning import thin
from automl_admm.core.evidence import (
    F1,
    Calibration,
    Estimate,
    Evidence,
    Explained,
    Fact,
    Gap,
    Largest,
    Mean,
    Quantile,
    Ranking,
    Rate,
)


def thinned(evidence: Evidence, share: float, seed: int = 0) -> Evidence:
    return thin(evidence, share, np.random.default_rng(seed))


def test_events_and_trials_are_kept_alike() -> None:
    found = [thinned(Rate(300, 1000), 0.2, seed) for seed in range(400)]
    events = [one.events for one in found if isinstance(one, Rate)]
    trials = [one.trials for one in found if isinstance(one, Rate)]
    assert np.mean(events) == pytest.approx(60, abs=1.5)
    assert np.mean(trials) == pytest.approx(200, abs=3)
    assert np.var(events) == pytest.approx(300 * 0.2 * 0.8, rel=0.3)
    both = thinned(F1(300, 1000), 0.2)
    assert isinstance(both, F1)
    assert 0 < both.hits < both.rows < 1000


def test_values_of_a_row_stay_together() -> None:
    values = np.arange(1000.0)
    found = thinned(Explained(errors=values, truth=values + 0.5, largest=7.0), 0.3)
    assert isinstance(found, Explained)
    assert list(found.truth) == list(found.errors + 0.5)
    assert (len(found.errors), found.largest) == (pytest.approx(300, abs=60), 7.0)
    sure = thinned(Calibration(values / 1000, values), 0.3)
    assert isinstance(sure, Calibration)
    assert list(sure.truth) == pytest.approx(list(sure.probabilities * 1000))


def test_rows_of_two_classes_are_drawn_apart() -> None:
    found = thinned(Ranking(np.arange(500.0), np.arange(500.0)), 0.5)
    assert isinstance(found, Ranking)
    assert list(found.positives) != list(found.negatives)


def test_parts_are_thinned_each() -> None:
    gap = Gap({"f": Rate(100, 400), "m": Mean(np.ones(400), 0.0, 1.0)})
    found = thinned(Largest({"tpr": gap}), 0.5)
    assert isinstance(found, Largest)
    parts = found.parts["tpr"]
    assert isinstance(parts, Gap)
    assert isinstance(parts.groups["f"], Rate)
    assert parts.groups["f"].trials == pytest.approx(200, abs=50)


@pytest.mark.parametrize(
    "kept", [Fact(3.0), Estimate(0.5), Rate(5, 4)], ids=["fact", "number", "odd"]
)
def test_what_is_of_no_rows_stays_as_it_is(kept: Evidence) -> None:
    assert thinned(kept, 0.01) == kept


@pytest.mark.parametrize(
    "empty",
    [Rate(3, 9), Mean(np.ones(4), 0.0, 1.0), Quantile(np.ones(4), 0.5)],
    ids=lambda one: type(one).__name__,
)
def test_a_share_of_one_is_all_and_of_nothing_is_none(empty: Evidence) -> None:
    assert thinned(empty, 1.0) is empty
    assert np.isnan(thinned(empty, 0.0).value)


def test_a_smaller_share_keeps_rows_of_a_larger_one() -> None:
    """Counts in front of values must not change which of them are kept, either."""
    values = np.arange(300.0)
    parts: dict[str, Any] = {
        "rate": Rate(300, 1000),
        "f1": F1(40, 90),
        "mean": Mean(values, 0.0, 300.0),
    }
    before = dict(parts)
    for share in (0.999, 0.7, 0.5, 0.31, 0.1, 0.01, 1e-9):
        found = thinned(Largest(parts), share, seed=7)
        assert isinstance(found, Largest)
        now: dict[str, Any] = dict(found.parts)
        rate, f1, mean = (now[name] for name in parts)
        others = rate.trials - rate.events
        assert rate.events <= before["rate"].events
        assert others <= before["rate"].trials - before["rate"].events
        assert f1.hits <= before["f1"].hits
        assert set(mean.values) <= set(before["mean"].values)
        before = now


def test_rows_that_go_from_share_to_share_are_a_plain_draw() -> None:
    """Of those kept at 0.6 each stays at 0.2 by a third, however many they are."""
    pairs = []
    for seed in range(600):
        large, small = (thinned(Rate(50, 50), share, seed) for share in (0.6, 0.2))
        assert isinstance(large, Rate)
        assert isinstance(small, Rate)
        pairs.append((large.events, small.events))
    large_counts, small_counts = np.array(pairs).T
    left = small_counts - large_counts / 3
    assert np.mean(left) == pytest.approx(0.0, abs=0.4)
    assert np.var(left) == pytest.approx(30 * (1 / 3) * (2 / 3), rel=0.25)
    assert abs(np.corrcoef(left, large_counts)[0, 1]) < 0.15


def test_counts_beyond_all_rows_of_a_table_are_thinned_at_once() -> None:
    found = thinned(Rate(10**12, 3 * 10**12), 0.3)
    assert isinstance(found, Rate)
    assert found.trials == pytest.approx(0.9e12, rel=1e-4)
