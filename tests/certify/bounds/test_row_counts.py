"""The rows behind evidence, and evidence on other numbers of rows."""

from __future__ import annotations

import numpy as np
import pytest

from automl_admm.certify.bounds.row_counts import counts, smallest, stretch
from automl_admm.core.evidence import (
    Estimate,
    Fact,
    Gap,
    Largest,
    Mean,
    Ranking,
    Rate,
    Ratio,
    Timing,
)

RNG = np.random.default_rng(0)
RANKING = Ranking(RNG.normal(1, 1, 90), RNG.normal(0, 1, 210))
GAP = Gap({"A": Rate(600, 2000, "negatives"), "B": Rate(36, 120, "negatives")})


def test_every_cell_is_named_and_counted() -> None:
    assert counts(Rate(3, 10, "negatives")) == {"negatives": 10, "events among negatives": 3}
    assert counts(RANKING) == {"positives": 90, "negatives": 210}
    assert counts(Timing(np.ones(4), 0.9)) == {"calls": 4}
    assert counts(Mean(np.ones(4), 0, 1)) == {"rows": 4}
    assert counts(Fact(1)) == counts(Estimate(1)) == {}
    odds = Largest({"tpr": Gap({"A": Rate(1, 5, "positives")}), "fpr": GAP})
    assert counts(odds)["positives for tpr in group 'A'"] == 5
    assert counts(odds)["negatives for fpr in group 'B'"] == 120


def test_the_smallest_cell_is_found_and_named() -> None:
    assert str(smallest(GAP)) == "negatives in group 'B'"
    assert smallest(Fact(1)) is None


@pytest.mark.parametrize("factor", [0.1, 0.37, 1.0, 3.3])
@pytest.mark.parametrize(
    "evidence",
    [
        Rate(20, 400),
        GAP,
        Ratio(GAP.groups),
        RANKING,
        Mean(RNG.uniform(0, 1, 300), 0, 1),
        Timing(RNG.exponential(1, 300), 0.5),
        Largest({"fpr": GAP, "other": GAP}),
    ],
    ids=lambda evidence: type(evidence).__name__,
)
def test_stretching_keeps_the_value_and_changes_the_rows(evidence: object, factor: float) -> None:
    stretched = stretch(evidence, factor)
    assert stretched.value == pytest.approx(evidence.value, abs=0.12)
    for cell, rows in counts(evidence).items():
        if not cell.startswith("events"):
            assert counts(stretched)[cell] == max(1, round(rows * factor))


def test_nothing_comes_of_no_rows() -> None:
    assert stretch(Rate(0, 0), 5) == Rate(0, 0)
    assert len(stretch(Mean(np.ones(0), 0, 1), 5).values) == 0
    assert stretch(Fact(3), 5) == Fact(3)
