"""Models of tests are saved in the very bytes of skops."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from quick_schema import as_json
from sklearn.ensemble import StackingClassifier
from sklearn.tree import DecisionTreeClassifier
from skops.io import dumps

MODEL = StackingClassifier([("tree", DecisionTreeClassifier())]).fit([[0.0], [1.0]] * 9, [0, 1] * 9)


@pytest.mark.parametrize(
    "content",
    [
        {"a": [1, (2.5, None), {}], "b": {"c": [], "d": {"e": 'ü \n "\\" \x00'}}, "f": True},
        [math.nan, -math.inf, 1e300, 10**30, ""],
        {"inner": {1: ["a"], None: {"b": 2}}},
        "a text",
        7,
    ],
)
def test_it_is_written_character_by_character_as_json_writes_it(content: Any) -> None:
    assert as_json(content, indent=2) == json.dumps(content, indent=2)
    assert as_json(content) == json.dumps(content)


def test_so_is_the_schema_of_a_model() -> None:
    with pytest.MonkeyPatch.context() as patch:
        seen: list[Any] = []
        patch.setattr(
            "skops.io._persist.json.dumps", lambda *given, **how: seen.append((given, how)) or "{}"
        )
        dumps(MODEL)
    (((state,), how),) = seen
    assert as_json(state, **how) == json.dumps(state, **how)
    assert how == {"indent": 2}, "skops writes otherwise now: so must the helper"
