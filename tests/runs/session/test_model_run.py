"""A model is of the session in `run.json`, or of one before changes that matter for it."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from automl_admm.runs.session.model_run import of_other_session, say_earlier

SESSION: dict[str, Any] = {
    "data": {
        "rows": 100,
        "columns": 4,
        "sha256": "aa",
        "held_out_sha256": None,
        "rows_sum": f"{1:016x}",
        "held_out_rows_sum": None,
    },
    "schema": [],
    "ordered_columns": [],
    "components_left_out": {},
    "brought_by": {},
    "basis": {"splits": "aa"},
    "settings": {
        "metric": "roc_auc",
        "target": "y",
        "sensitive": [],
        "folds": 3,
        "limits": [{"name": "fpr", "bound": 0.05, "at_least": False}],
        "space_sha256": "cc",
        "grammar_text": "start: ridge\n",
        "seed": 1,
        "workers": 2,
    },
}
MODEL: dict[str, Any] = {"run_id": "a", "constraints": {"fpr <= 0.05": 0.01}, "run": SESSION}


def session(**changes: Any) -> dict[str, Any]:
    found = copy.deepcopy(SESSION)
    for part in (found["data"], found["settings"]):
        part.update({key: value for key, value in changes.items() if key in part})
    return found


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({}, ()),
        ({"workers": 4, "seed": 2}, ()),
        ({"sha256": "bb"}, ("data: 100 rows, 4 columns as before, but other values",)),
        ({"rows": 90}, ("data: 100 rows, 4 columns → 90 rows, 4 columns",)),
        ({"metric": "f1"}, ("metric: 'roc_auc' → 'f1'",)),
        ({"limits": []}, ("limits: fpr <= 0.05 → none",)),
        # The log has the evaluations that another space has, too, and the model may be of one.
        ({"space_sha256": "dd", "grammar_text": "start: lasso\n"}, ()),
    ],
)
def test_a_model_is_of_another_session_if_its_numbers_mean_something_else(
    changes: dict[str, Any], told: tuple[str, ...]
) -> None:
    assert of_other_session(MODEL, session(**changes)) == told


def test_without_settings_beside_it_a_model_is_of_no_other_session() -> None:
    assert of_other_session(MODEL, {}) == ()


def test_the_differences_are_told_in_a_line() -> None:
    told = say_earlier(("data: 1 → 2", "metric: 'r2' → 'f1'"))
    assert told.endswith("of an earlier session, before changes (data: 1 → 2; metric: 'r2' → 'f1')")
