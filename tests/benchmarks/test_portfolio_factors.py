"""The order that learns from each result: what it concludes from other tables, and its table."""

from __future__ import annotations

import numpy as np
import pytest
from portfolio.factors import FIXED, Prior, adapt, table_of

from automl_admm.runs.prepare.portfolio import Experience, Facts

# Where p0 is good p2 is, too; where p1 is good p3 is.
REGRETS = np.array(
    [
        [0.0, 0.1, 0.9, 1.0],
        [1.0, 0.9, 0.1, 0.0],
        [0.1, 0.0, 1.0, 0.9],
        [0.9, 1.0, 0.0, 0.1],
    ]
)
BAD, GOOD = 0.9, 0.2


@pytest.fixture
def prior() -> Prior:
    facts = tuple(Facts(1000, 10, 2, 0) for _ in range(4))
    known = Experience(("p0", "p1", "p2", "p3"), facts, REGRETS, np.full((4, 4), 0.1))
    return Prior.of(known, np.full(4, 0.25), 2)


@pytest.mark.parametrize(("losses", "following"), [((GOOD, BAD), 2), ((BAD, GOOD), 3)])
@pytest.mark.parametrize(("unit", "level"), [(1.0, 0.0), (50.0, 7.0), (0.01, -3.0)])
def test_the_next_one_is_good_where_the_good_one_was_in_whatever_unit_losses_are(
    prior: Prior, losses: tuple[float, float], following: int, unit: float, level: float
) -> None:
    assert prior.choose([0, 1], level + unit * np.array(losses), [2, 3]) == following


def test_each_pipeline_is_tried_once(prior: Prior) -> None:
    found = adapt(prior, REGRETS[:, 0], (0, 1, 2, 3), (1,))
    assert found[0] == 1
    assert sorted(found) == [0, 1, 2, 3]


def test_the_table_has_means_and_the_tables_better_and_worse_than_the_fixed_order() -> None:
    fixed = np.full((8, 5), 0.5)
    better = fixed - np.array([0.1] * 7 + [-0.3])[:, None]
    table = table_of({FIXED: fixed, "2 factors": better}, "abc")
    assert table["rows"][0] == [FIXED, *["0.500"] * 5]
    # 7 of 8: p = 18 / 256 by signs, times 5 comparisons.
    assert table["rows"][1] == ["2 factors", *["0.450 (7/1, 0.35)"] * 5]
