"""The evaluations that rank before the shipped one."""

from __future__ import annotations

from typing import Any

import pytest
from report_runs import an_evaluation

from automl_admm.certify.certificate import Certificate
from automl_admm.report.outranked import tell_outranked
from automl_admm.runs.standings import standings

CERTIFICATE = Certificate(
    model_sha256="a" * 64,
    rows_sha256="b" * 64,
    rows=100,
    pipeline="ridge()",
    findings=(),
    risk=0.05,
    risk_spent=0.025,
    look=1,
    order=("key-5#0", "key-5#1", "key-3#4", "key-3#5", "key-2#0"),
    position=4,
    versions={},
    time="2026-11-21T15:00:00+00:00",
)
BY_TESTS = "what shipped is #3, by the tests for its certificate (look 1)"


def told(manifest: dict[str, Any], *better: int, certificate: Any = CERTIFICATE) -> str | None:
    """Say what ranks before evaluation 3, of which the `better` ones have a smaller loss."""
    losses = {number: 0.1 if number in better else 0.5 for number in (1, 2, 4, 5, 6)} | {3: 0.3}
    found = [an_evaluation(number, loss=loss, constraints=()) for number, loss in losses.items()]
    known = {"evaluation": 3, "last_evaluation": 6, **manifest}
    return tell_outranked(known, certificate, standings(found, ()))


@pytest.mark.parametrize(
    ("number", "reason"),
    [
        (1, "not in the order of these tests"),
        (2, "later in the order of these tests, which end at the first failure"),
        (5, "tested before it, with decisions that are no better"),
        (6, "evaluated after these tests, and no later ones gave it the place"),
    ],
)
def test_each_has_the_reason_why_it_does_not_ship(number: int, reason: str) -> None:
    said = f"{BY_TESTS}; before it, by validation rows, rank #{number} ({reason})."
    assert told({"last_evaluation": 5}, number) == said


def test_many_are_counted_and_those_passed_over_have_their_reason_elsewhere() -> None:
    assert str(told({}, 1, 2, 4, 5)).endswith("(not in the order of these tests), 1 more.")
    passed = {"evaluation": 1, "reason": "late", "others": [{"evaluation": 4, "reason": "late"}]}
    assert str(told({"passed_over": passed}, 1, 4, 2)).count("rank #2 (") == 1
    assert told({"passed_over": passed}, 1, 4) == "what shipped is #3."


def test_without_a_certificate_the_line_alone_is_named() -> None:
    assert told({}, 1, certificate=None) == "what shipped is #3."


def test_the_best_and_an_ensemble_need_no_word() -> None:
    assert told({}) is None
    assert told({"evaluation": None}, 1) is None
