"""Numbers in records of evidence, as authors of plugins write them."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from automl_admm.core.evidence import (
    F1,
    Average,
    Explained,
    Fact,
    Gap,
    Largest,
    Mean,
    Quantile,
    RankCorrelation,
    Rate,
    RootMeanSquare,
    Timing,
)
from automl_admm.core.plain_evidence import in_plain_numbers
from automl_admm.core.returned_evidence import as_evidence

FOUR = np.array([1.0, 2.0, 3.0, 4.0])
NUMBERS = [3, 3.0, np.int64(3), np.float32(3), np.array(3), Fraction(3)]


def kinds(evidence: Any, *names: str) -> set[type]:
    return {type(getattr(evidence, name)) for name in names}


@pytest.mark.parametrize("three", NUMBERS, ids=lambda one: type(one).__name__)
def test_counts_are_whole_and_ends_are_not_whatever_the_author_wrote(three: Any) -> None:
    rate, hits = as_evidence(Rate(three, 4)), as_evidence(F1(three, three))
    assert (rate, kinds(rate, "events", "trials")) == (Rate(3, 4), {int})
    assert (hits, kinds(hits, "hits", "rows")) == (F1(3, 3), {int})
    assert kinds(as_evidence(RankCorrelation(0.5, three)), "rows") == {int}
    for record in (Mean(FOUR, three, three), Quantile(FOUR, 0.5, three)):
        assert as_evidence(record).lowest == 3.0  # type: ignore[attr-defined]
        assert kinds(as_evidence(record), "lowest") == {float}
    for record in (RootMeanSquare(FOUR, three), Explained(FOUR, FOUR, three)):
        assert kinds(as_evidence(record), "largest") == {float}


def test_true_is_one_event() -> None:
    found = as_evidence(Rate(True, np.True_))  # type: ignore[arg-type]
    assert kinds(found, "events", "trials") == {int}
    assert found == Rate(1, 1)


def test_parts_in_parts_are_made_plain_and_all_else_is_left() -> None:
    found: Any = as_evidence(Largest({"x": Gap({"a": Rate(2.0, 4, "women"), "b": Fact(3)})}))  # type: ignore[arg-type]
    inner = found.parts["x"].groups
    assert (inner["a"], inner["b"]) == (Rate(2, 4, "women"), Fact(3))
    assert kinds(inner["a"], "events") == {int}
    assert kinds(inner["b"], "value") == {int}
    apart = as_evidence(Average({"a": Rate(2.0, 4)}, are_apart=True))  # type: ignore[arg-type]
    assert isinstance(apart, Average)
    assert apart.are_apart is True


@pytest.mark.parametrize(
    "evidence",
    [Rate(1, 4), Mean(FOUR, 1.0, 5.0), Timing(FOUR, 0.5), Gap({"a": Rate(1, 4)}), Fact(1)],
    ids=lambda one: type(one).__name__,
)
def test_what_is_plain_stays_the_same_record(evidence: Any) -> None:
    assert in_plain_numbers(evidence) is evidence


@pytest.mark.parametrize("end", [None, "3", [1, 2]], ids=["none", "text", "list"])
def test_an_end_that_is_no_number_is_refused_by_its_name(end: Any) -> None:
    with pytest.raises(TypeError, match=r"its highest is .* where a number is due"):
        as_evidence(Mean(FOUR, 0, end))


class Tenth(Rate):
    """Events of ten rows."""

    def __init__(self, events: float) -> None:
        super().__init__(events, 10.0)  # type: ignore[arg-type]


def test_a_kind_with_a_constructor_of_its_own_is_made_plain() -> None:
    found: Any = as_evidence(Tenth(3.0))
    assert (found.events, found.trials) == (3, 10)
    assert kinds(found, "events", "trials") == {int}
