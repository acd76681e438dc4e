"""A metric of one's own is known by its code, not by its name."""

from __future__ import annotations

from functools import partial, wraps
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from sklearn.metrics import accuracy_score, fbeta_score, make_scorer

from automl_admm import MetricPlugin
from automl_admm.runs.given_objects import take_objects
from automl_admm.runs.session.metric_code import UNKNOWN, metric_code

FACTOR = 100


def code_of(scoring: Any) -> str | None:
    config: Any = SimpleNamespace(**take_objects({"scoring": scoring}))
    return metric_code(config)


def scaled(factor: float) -> Any:
    return lambda model, X, y: factor * float(np.mean(model.predict(X) == y))


def of_a_global(model: Any, X: Any, y: Any) -> float:
    return FACTOR * float(np.mean(model.predict(X) == y))


def a_record(factor: float) -> MetricPlugin:
    return MetricPlugin(name="mine", summary="mine", factory=partial(scaled, factor))


class Stateful:
    def __call__(self, model: Any, X: Any, y: Any) -> float:
        return 0.5


@pytest.mark.parametrize(
    "make",
    [lambda beta: make_scorer(fbeta_score, beta=beta), scaled, a_record],
    ids=["scorer", "function", "record"],
)
def test_the_same_code_has_the_same_digest_and_another_has_another(make: Any) -> None:
    assert code_of(make(2.0)) == code_of(make(2.0)) != code_of(make(0.3))
    assert UNKNOWN not in {code_of(make(2.0)), code_of(make(0.3))}


def test_what_a_function_finds_outside_of_itself_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    before = code_of(of_a_global)
    monkeypatch.setitem(globals(), "FACTOR", 1)
    assert code_of(of_a_global) != before
    monkeypatch.setitem(globals(), "FACTOR", Stateful())
    assert code_of(of_a_global) == UNKNOWN


def test_a_wrapper_is_not_taken_for_the_function_whose_name_it_bears() -> None:
    @wraps(accuracy_score)
    def negated(*given: Any, **more: Any) -> float:
        return -float(accuracy_score(*given, **more))

    assert code_of(make_scorer(negated)) != code_of(make_scorer(accuracy_score))


def test_an_object_is_unknown_and_a_name_needs_no_digest() -> None:
    assert code_of(Stateful()) == UNKNOWN
    assert code_of("accuracy") is None
    assert code_of(None) is None
