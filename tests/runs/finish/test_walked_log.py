"""The log as it was when a model was chosen, after sessions that added to it or changed it."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import Any

import pytest
from report_runs import an_evaluation

from automl_admm.certify.certificate import Certificate
from automl_admm.core.evaluations import ENDED, Evaluation, Status
from automl_admm.runs.finish.walked_log import came_later, describe_log, has_log_of

TIME = "2026-11-21T15:00:00+00:00"
MADE = datetime.fromisoformat(TIME).timestamp()
OF_SPACE = {"settings": {"space_sha256": "a"}}


def ended(number: int, moment: float | None = None) -> Evaluation:
    details = {} if moment is None else {ENDED: moment}
    return replace(an_evaluation(number), details=details)


def of_time() -> Certificate:
    found: Any = type("Certificate", (), {"time": TIME})
    return found


def test_the_number_of_one_that_was_cut_short_is_given_to_another_later() -> None:
    cut_short = replace(an_evaluation(2), status=Status.CANCELLED)
    manifest = describe_log((an_evaluation(1), cut_short))
    assert manifest["last_evaluation"] == 1
    later = an_evaluation(2)
    assert has_log_of(manifest, (an_evaluation(1), later), OF_SPACE)
    assert came_later(later, manifest, None)
    assert not came_later(an_evaluation(1), manifest, None)


@pytest.mark.parametrize(
    ("log", "is_there"),
    [
        ((an_evaluation(1), an_evaluation(2), an_evaluation(3)), True),
        ((an_evaluation(2), an_evaluation(1)), True),
        ((an_evaluation(2),), False),
        ((an_evaluation(1), replace(an_evaluation(2), key="of another grammar")), False),
        ((), False),
    ],
    ids=["more", "another order", "one is gone", "a number of another", "nothing"],
)
def test_a_log_without_all_that_it_had_is_another(
    log: tuple[Evaluation, ...], is_there: bool
) -> None:
    manifest = describe_log((an_evaluation(1), an_evaluation(2)))
    assert has_log_of(manifest, log, OF_SPACE) is is_there


@pytest.mark.parametrize(
    ("moment", "is_later"),
    [(MADE - 60.0, False), (MADE + 0.9, False), (MADE + 60.0, True), (None, False)],
    ids=["before", "in the same second", "after", "not noted"],
)
def test_a_model_of_an_earlier_version_goes_by_the_time_of_its_certificate(
    moment: float | None, is_later: bool
) -> None:
    """It counted evaluations that were cut short."""
    assert came_later(ended(2, moment), {"last_evaluation": 2}, of_time()) is is_later
    assert not came_later(ended(2, moment), {"last_evaluation": 2}, None)
    assert came_later(ended(3, moment), {"last_evaluation": 2}, of_time())


@pytest.mark.parametrize(
    ("run", "is_there"),
    [({}, True), ({"run": OF_SPACE}, True), ({"run": {"settings": {"space_sha256": "b"}}}, False)],
    ids=["it does not tell", "the same", "another grammar"],
)
def test_a_model_of_an_earlier_version_goes_by_its_grammar(
    run: dict[str, Any], is_there: bool
) -> None:
    assert has_log_of({"last_evaluation": 1, **run}, (an_evaluation(1),), OF_SPACE) is is_there
