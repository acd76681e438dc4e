"""The end of a task as it counts for the search."""

from __future__ import annotations

from typing import Any

import pytest

from automl_admm.core.evaluations import Status
from automl_admm.core.protocols import Finished
from automl_admm.runs.driving.judgement import check_end


@pytest.mark.parametrize(
    "details",
    [
        {"temperature": "hot"},
        {"least_share": None},
        {"lower_threshold": [0.5]},
        {"group_thresholds": {"a": "0.5"}},
        {"class_weights": [1.0]},
        {"calibration": {"slope": 1.0}},
        {"calibration": {"slope": 1.0, "offset": 0.0, "response": "votes"}},
    ],
    ids=str,
)
def test_details_that_no_store_reads_again_are_invalid(details: dict[str, Any]) -> None:
    told = Finished(1, Status.SUCCESS, {"loss": 0.5, "details": details})
    end = check_end(told, (), until_deadline=False)
    (name,) = details
    assert (end.status, end.message) == (
        Status.INVALID,
        f"not valid in the details: '{name}'",
    )
    assert end.result.details == {}
    failed = Finished(1, Status.ERROR, details, "no node")
    end = check_end(failed, (), until_deadline=False)
    assert (end.status, end.message, end.result.details) == (Status.ERROR, "no node", {})


def test_details_of_a_wrong_form_are_invalid() -> None:
    told = Finished(1, Status.SUCCESS, {"loss": 0.5, "details": {"folds_left": "two"}})
    end = check_end(told, (), until_deadline=False)
    assert end.status is Status.INVALID
    assert end.message == "not valid in the details: 'folds_left'"


def test_other_details_are_kept() -> None:
    details = {"temperature": 2, "calibration": None, "class_weights": {"a": 0.5}, "mine": "hot"}
    told = Finished(1, Status.SUCCESS, {"loss": 0.5, "details": details})
    end = check_end(told, (), until_deadline=False)
    assert (end.status, end.result.details) == (Status.SUCCESS, details)
