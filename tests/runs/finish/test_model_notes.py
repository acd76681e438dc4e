"""The mark of a saved model, by its manifest."""

from __future__ import annotations

from typing import Any

import pytest

from automl_admm.runs.finish.model_notes import tell_mark

GOOD: dict[str, Any] = {
    "fallback": None,
    "one_class": None,
    "certified": False,
    "feasible": True,
    "untested": None,
    "certificate_sha256": None,
    "rows": 50,
}


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"fallback": "constant"}, "a constant"),
        ({"fallback": "few rows"}, "fitted on 50 rows"),
        ({"one_class": "no", "feasible": False}, "every row the class 'no'"),
        ({"went_wrong": "its loss is 9", "certified": True}, "is none: its loss is 9"),
        ({"feasible": False}, "outside the limits"),
        ({"untested": "no time was left"}, "not certified"),
        ({"certificate_sha256": "00ff"}, "not certified"),
    ],
)
def test_what_ended_with_an_exit_code_is_marked(changes: dict[str, Any], said: str) -> None:
    line = tell_mark({**GOOD, **changes})
    assert line is not None
    assert said in line


@pytest.mark.parametrize("changes", [{}, {"certified": True, "certificate_sha256": "00ff"}])
def test_a_model_that_is_as_asked_has_none(changes: dict[str, Any]) -> None:
    assert tell_mark({**GOOD, **changes}) is None
