"""The code of a pipeline builds the same pipeline."""

from __future__ import annotations

import ast
import importlib
import sys
from dataclasses import asdict
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy.special import expit
from sklearn.base import BaseEstimator
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer

from automl_admm.core.structure.pipeline_space import Step
from automl_admm.pipelines.as_code import PipelineCode, code_of, expression
from automl_admm.pipelines.build import build_pipeline
from automl_admm.plugins.loading import load_plugins
from automl_admm.plugins.records import TASKS, BuildContext, LearningTask

COMPONENTS = load_plugins().components
CASES = [
    (task, record.name) for task in TASKS for record in COMPONENTS[task] if record.role != "weigher"
]


def built(code: PipelineCode) -> Any:
    known: dict[str, object] = {}
    for path in code.imports:
        module, _, name = path.rpartition(".")
        known[name] = getattr(importlib.import_module(module), name)
    return eval(code.pipeline, known)  # noqa: S307 - what the script does


@pytest.mark.parametrize(("task", "name"), CASES)
def test_every_component_is_built_again(task: LearningTask, name: str) -> None:
    context = BuildContext(task, ("a", "b"), ("c",))
    pipeline = build_pipeline([Step(name)], COMPONENTS[task], context, seed=7)
    code = code_of(pipeline)
    assert not code.problem
    assert repr(built(code)) == repr(pipeline)
    assert all("._" not in path for path in code.imports), code.imports
    assert PipelineCode.from_json(asdict(code)) == code


class Odd(BaseEstimator):  # type: ignore[misc]
    def __init__(self, value: object = None) -> None:
        self.value = value


def nested() -> object:
    """An array of two lists of two numbers: their list makes an array of four numbers."""
    found = np.empty(2, dtype=object)
    found[:] = [[1, 2], [3, 4]]
    return found


@pytest.mark.parametrize(
    "value",
    [
        np.array([1, "a"], dtype=object),
        np.array([None, "a", 2.5, True], dtype=object),
        np.array([1.5, 2.0]),
        np.array([1.5, np.nan], dtype=np.float32),
        np.array([1, 2], dtype=np.int8),
        np.array([1, 2], dtype=">i8"),
        np.array(["a", "b"], dtype="U9"),
        np.array([b"a"]),
        np.array([], dtype=bool),
        np.array([[1, 2], [3, 4]]),
        np.array(list("abcdefghijklmnopqrstuvwxyz" * 9), dtype=object),
    ],
    ids=lambda value: f"{value.dtype}-{value.size}",
)
def test_an_array_keeps_its_type(value: Any) -> None:
    again = built(code_of(Odd(value))).value
    assert again.dtype == value.dtype
    assert list(map(type, again.ravel().tolist())) == list(map(type, value.ravel().tolist()))
    np.testing.assert_array_equal(again, value)


def test_the_type_of_an_array_is_written_only_where_it_matters() -> None:
    assert code_of(Odd(np.array([1, 2]))).pipeline == "Odd(value=array([1, 2]))"
    told = code_of(Odd(np.array([1, "a"], dtype=object))).pipeline
    assert told == 'Odd(value=array([1, "a"], dtype="|O"))'


@pytest.mark.parametrize(
    ("value", "told"),
    [
        (object(), "a parameter is a object"),
        (lambda x: x, "is not at the top of a module"),
        (np.random.default_rng(0), "a parameter is a Generator"),
        (np.datetime64("2020-01-01", "ns"), "a parameter is a datetime64"),
        (np.longdouble(0.5), "a parameter is a longdouble"),
        (np.array(["2020-01-01"], "M8[ns]"), r"an array of datetime64[ns] that no list makes"),
        (np.array([1, 2], "m8[D]"), "an array of timedelta64[D]"),
        (np.zeros(2, [("a", int), ("b", float)]), "an array of [('a', '<i8'), ('b', '<f8')]"),
        (nested(), "an array of object that no list makes"),
        (np.zeros((0, 2)), "an array of float64 that no list makes"),
        (expit, "expit is a ufunc of another package than numpy"),
    ],
)
def test_what_no_code_builds_is_told(value: object, told: str) -> None:
    code = code_of(Pipeline([("odd", Odd(value))]))
    assert told in code.problem
    assert not code.pipeline


def test_a_class_is_not_taken_for_another_one_of_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    """A package gives out a class of its own by the name of one in its private module."""
    hidden = ModuleType("outer._hidden")
    inner, outer = (type("Odd", (Odd,), {"__module__": hidden.__name__}) for _ in range(2))
    nested: Any = inner
    vars(hidden)["Odd"] = inner
    monkeypatch.setitem(sys.modules, hidden.__name__, hidden)
    package = ModuleType("outer")
    monkeypatch.setitem(sys.modules, package.__name__, package)
    vars(package)["Odd"] = outer
    assert code_of(inner()).imports == ("outer._hidden.Odd",)
    assert type(built(code_of(inner()))) is inner
    assert code_of(nested(outer())).problem == "two objects have the name Odd"
    vars(package)["Odd"] = inner
    assert code_of(inner()).imports == ("outer.Odd",)


def test_functions_are_named_with_their_module() -> None:
    code = code_of(FunctionTransformer(np.log1p, kw_args={"where": True}))
    assert built(PipelineCode(code.pipeline, imports=code.imports)).func is np.log1p


@pytest.mark.parametrize(
    "value",
    [
        {"a": [1, 2.5, None, True], "b": (1,), "c": {"x": {"y": "z"}}},
        ['"', "'", "\\", "\n", "\t", "é", "\x1f", "\u2028", "x" * 200, "#N/A N/A"] * 3,
        [float(x) for x in range(100)],
        (),
        frozenset({1, 2}),
        np.float64(0.1),
    ],
)
def test_an_expression_is_the_value(value: object) -> None:
    text = expression(value)
    assert eval(text) == value  # noqa: S307
    assert type(eval(text)) is (float if isinstance(value, np.floating) else type(value))  # noqa: S307


@given(st.text(st.characters(exclude_categories=())))
@example("👩\u200d💻")
@example('tab\t😀"\\')
@example("\ud83d\ude00")
def test_any_text_is_read_back(text: str) -> None:
    assert eval(expression(text)) == text  # noqa: S307
    assert ast.literal_eval(expression([text, {text: 1}])) == [text, {text: 1}]


def test_numbers_that_are_none_are_written() -> None:
    assert np.isnan(eval(expression(float("nan"))))  # noqa: S307
    assert eval(expression([float("inf"), -np.inf])) == [np.inf, -np.inf]  # noqa: S307
