from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from automl_admm.core.evidence import (
    F1,
    Average,
    Calibration,
    Estimate,
    Explained,
    Gap,
    Largest,
    Mean,
    Quantile,
    RankCorrelation,
    Ranking,
    Rate,
    RootMeanSquare,
)
from automl_admm.core.returned_evidence import as_evidence


@pytest.mark.parametrize("record", [Rate, F1])
@pytest.mark.parametrize("counts", [(0, 0), (3, 3), (2.0, 3), (np.int64(1), np.float64(4.0))])
def test_whole_counts_of_some_among_all_are_taken(record: Any, counts: Any) -> None:
    assert as_evidence(record(*counts)) == record(*counts)


@pytest.mark.parametrize("record", [Rate, F1])
@pytest.mark.parametrize(
    "counts", [(5, 3), (0.5, 3), (-1, 3), (1, 2.5), (math.nan, 3), (1, math.inf), (0, -1)]
)
def test_other_counts_are_refused_with_what_is_due(record: Any, counts: Any) -> None:
    for found in (record(*counts), Largest({"x": Gap({"a": Rate(1, 4), "b": record(*counts)})})):
        with pytest.raises(ValueError, match=r"it counts .* of .*, where whole numbers are due"):
            as_evidence(found)


def test_a_bare_number_is_an_estimate_and_evidence_stays_as_it_is() -> None:
    assert as_evidence(np.float64(2)) == Estimate(2.0)
    rate = Rate(1, 4)
    assert as_evidence(rate) is rate
    for wrong in (None, "much", "0.5", b"1", [1, 2]):
        with pytest.raises(TypeError, match="where a number is due"):
            as_evidence(wrong)


FOUR = np.array([0.1, 0.2, 0.3, 0.4])
OF_FOUR = [
    Rate(1, 4),
    F1(1, 4),
    Mean(FOUR, 0.0, 1.0),
    RootMeanSquare(FOUR),
    Explained(FOUR, FOUR),
    Quantile(FOUR, 0.9),
    Ranking(FOUR[:3], FOUR[3:]),
    Calibration(FOUR, FOUR.round()),
    RankCorrelation(0.5, 4),
    Average({"a": Rate(0, 2), "b": Rate(1, 2)}, are_apart=True),
]


@pytest.mark.parametrize("evidence", OF_FOUR, ids=lambda one: type(one).__name__)
def test_no_more_rows_count_than_there_were(evidence: Any) -> None:
    # A certificate takes each row for an independent one: a million made of four prove anything.
    for found in (evidence, Gap({"a": evidence, "b": Rate(0, 1)})):
        assert as_evidence(found, 4) is found
        with pytest.raises(ValueError, match="it counts 4 rows where it was given 3"):
            as_evidence(found, 3)
