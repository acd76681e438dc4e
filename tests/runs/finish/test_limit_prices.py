from __future__ import annotations

import pytest

from automl_admm.core.evaluations import Evaluation, Status
from automl_admm.core.limits import Limit
from automl_admm.core.space import Candidate
from automl_admm.runs.finish.limit_prices import binding, price_limits

LIMITS = (Limit("fpr", 0.10), Limit("recall", 0.50, at_least=True))


def evaluation(loss: float, fpr: float, recall: float, **changes: object) -> Evaluation:
    given = {"status": Status.SUCCESS, "loss": loss, "constraints": (fpr, recall), **changes}
    return Evaluation(1, f"{loss}", Candidate((), ()), **given)


def test_a_step_more_room_buys_what_was_found_there() -> None:
    log = [evaluation(0.30, 0.05, 0.9), evaluation(0.20, 0.105, 0.9), evaluation(0.10, 0.5, 0.9)]
    fpr, recall = price_limits(log, LIMITS)
    assert (fpr.broken, fpr.measured) == (2, 3)
    assert fpr.relaxed.bound == pytest.approx(0.11)
    assert fpr.gain == pytest.approx(0.10)
    assert recall.relaxed.bound == pytest.approx(0.45)
    assert (recall.broken, recall.gain) == (0, 0.0)
    assert binding([fpr, recall]) is fpr


def test_without_anything_inside_the_most_broken_limit_binds() -> None:
    log = [evaluation(0.3, 0.5, 0.2), evaluation(0.2, 0.4, 0.9)]
    prices = price_limits(log, LIMITS)
    assert [price.gain for price in prices] == [None, None]
    assert binding(prices).limit.name == "fpr"


def test_what_failed_is_not_counted_and_nothing_binds_where_all_is_inside() -> None:
    failed = evaluation(0.1, 0.9, 0.1, status=Status.CRASHED)
    prices = price_limits([failed, evaluation(0.3, 0.05, 0.9)], LIMITS)
    assert [price.measured for price in prices] == [1, 1]
    assert binding(prices) is None


def test_a_limit_of_nothing_is_relaxed_by_what_was_measured() -> None:
    log = [evaluation(0.3, 0.0, 0.9), evaluation(0.2, 0.01, 0.9)]
    price = price_limits(log, (Limit("fpr", 0.0), LIMITS[1]))[0]
    assert price.relaxed.bound > 0.0


def test_limits_count_and_not_what_a_certifying_search_aims_at() -> None:
    """Its threshold keeps the tighter aims as well as it can, and so it may break a limit."""
    elsewhere = [{"threshold": 0.4, "values": [0.09, 0.6], "loss": 0.25}]
    details = {"threshold": 0.6, "other_thresholds": elsewhere}
    log = [evaluation(0.3, 0.02, 0.4, details=details), evaluation(0.2, 0.105, 0.5)]
    fpr, recall = price_limits(log, LIMITS)
    assert (recall.broken, fpr.broken) == (0, 1)
    assert fpr.gain == pytest.approx(0.05)
