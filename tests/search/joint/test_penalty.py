"""The price of a violation in a joint search."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from automl_admm import Parameter, SearchSpace, minimize
from automl_admm.core.evaluations import Evaluation, Status
from automl_admm.core.limits import Limit
from automl_admm.core.ranking import best_of, violation
from automl_admm.core.space import Candidate, Selection
from automl_admm.search.joint.penalty import FIRST_WEIGHT, STEEPEST, Penalty, Review
from automl_admm.search.protocol import Book

LIMITS = (Limit("g", 2.0),)
LIMIT = Limit("g", 0.45)


def seen(*pairs: tuple[float, float]) -> list[Evaluation]:
    """Evaluations of these losses and constraints."""
    return [
        Evaluation(
            number, str(number), Candidate(Selection(()), ()), Status.SUCCESS, loss, (value,)
        )
        for number, (loss, value) in enumerate(pairs)
    ]


def cheapest(penalty: Penalty, evaluations: list[Evaluation]) -> Evaluation:
    return min(
        evaluations,
        key=lambda e: e.loss / penalty.unit + penalty.weight * violation(e.constraints, LIMITS),
    )


def test_at_first_a_breach_by_a_tenth_weighs_a_usual_gain() -> None:
    (breach,) = seen((1.0, 2.2))
    first = Penalty.first(seen((5.0, 1.0)))
    assert first.unit == 0.5
    assert first.weight * violation(breach.constraints, LIMITS) == pytest.approx(1.0)


def test_a_penalty_by_which_the_best_is_the_cheapest_stays() -> None:
    known = seen((5.0, 1.0), (4.9, 3.0), (7.0, 9.0))
    first = Penalty.first(known)
    assert cheapest(first, known) is best_of(known, LIMITS)
    assert first.mended(known, LIMITS) is first


def test_the_best_becomes_the_cheapest() -> None:
    known = seen((5.0, 1.0), (1.0, 2.4), (4.0, 2.3), (3.0, math.nan))
    first = Penalty(0.5)
    assert cheapest(first, known) is known[1]
    mended = first.mended(known, LIMITS)
    assert cheapest(mended, known) is known[0]
    assert mended.mended(known, LIMITS) is mended


def test_with_nothing_within_the_limits_the_nearest_is_the_best() -> None:
    known = seen((5.0, 2.2), (1.0, 3.0), (3.0, 2.6))
    mended = Penalty(0.2).mended(known, LIMITS)
    assert cheapest(mended, known) is known[0]


def test_a_breach_by_a_hair_makes_no_wall_at_once() -> None:
    known = seen((5.0, 1.0), (1.0, 2.0 + 1e-12))
    first = Penalty(5.0)
    mended = first.mended(known, LIMITS)
    assert mended.weight * mended.unit == pytest.approx(STEEPEST * FIRST_WEIGHT * first.unit)


def test_nothing_known_mends_nothing() -> None:
    assert Penalty(1.0).mended([], LIMITS) == Penalty(1.0)


@pytest.mark.parametrize("solver", ["tpe", "trust-region", "gp:limits=priced"])
def test_a_solver_that_knows_no_limits_searches_where_they_hold(solver: str) -> None:
    """The loss falls more steeply than a breach of the limit costs at first; the best is 0.65."""
    space = SearchSpace((), (Parameter("x", 0, 1), Parameter("y", 0, 1)))
    found = minimize(
        lambda v: {"loss": 0.1 + v["x"] + 0.2 * (v["y"] - 0.3) ** 2, "g": 1 - v["x"]},
        space,
        max_evaluations=60,
        theta_solver=solver,
        strategy="joint",
        constraints=["g <= 0.45"],
        random_state=1,
    )
    within = [e for e in found.evaluations if LIMIT.holds(e.constraints[0])]
    assert found.loss < 0.67
    assert len(within) >= 14


def test_a_search_that_goes_on_has_the_penalty_that_it_had() -> None:
    """Each review raises it tenfold at most; as many are made up for as there would have been."""
    known = seen((5.0, 1.0), *((1.0, 2.0 + 1e-9) for _ in range(69)))
    book = Book(key=repr)
    book.receive(known)
    review = Review.of(book, LIMITS)
    penalty = Penalty.first(known)
    for _ in (8, 16, 32, 64):
        penalty = penalty.mended(known, LIMITS)
    assert review.penalty == penalty
    assert review.due == 140
    assert not review.mends()


def test_without_limits_nothing_is_reviewed() -> None:
    book = Book(key=repr)
    review = Review.of(book, ())
    bare = [replace(evaluation, constraints=()) for evaluation in seen(*((1.0, 0.0),) * 20)]
    book.receive(bare)
    assert not review.mends()
