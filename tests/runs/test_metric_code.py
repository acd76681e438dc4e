"""A metric of one's own is known by its code, not by its name."""

from __future__ import annotations

import subprocess
import sys
from functools import partial, wraps
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.metrics import accuracy_score, fbeta_score, make_scorer

from automl_admm import AutoMLClassifier, MetricPlugin, read_run
from automl_admm.core.errors import StoreError
from automl_admm.runs.given_objects import take_objects
from automl_admm.runs.metric_code import UNKNOWN, digest_metric, is_other_metric

FACTOR = 100


def code_of(scoring: Any) -> str | None:
    config: Any = SimpleNamespace(**take_objects({"scoring": scoring}))
    return digest_metric(config.scoring, config.extra_plugins.get("scoring"))


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


def test_code_that_says_not_all_is_unknown() -> None:
    def importing(model: Any, X: Any, y: Any) -> float:
        from json5 import loss  # a module of unknown version

        return float(loss(model, X, y))

    def hiding(model: Any, X: Any, y: Any) -> float:
        return float(eval("FACTOR"))  # noqa: S307 - what a metric may do

    def at_home(model: Any, X: Any, y: Any) -> float:
        from sklearn.metrics import log_loss

        return float(log_loss(y, model.predict_proba(X)))

    assert code_of(importing) == code_of(hiding) == UNKNOWN
    assert code_of(at_home) != UNKNOWN


def compiled(*parts: str) -> Any:
    """Return the function m of a program, compiled part by part as in a notebook."""
    names: dict[str, Any] = {}
    for part in parts:
        exec(part, names)  # noqa: S102
    return names["m"]


def test_names_of_parameters_and_attributes_of_a_function_count() -> None:
    first = compiled("def m(e, X, y, sample_weight=None): return 1.0")
    before = code_of(first)
    assert before != code_of(compiled("def m(e, X, y, weight=None): return 1.0"))
    first.factor = 2.0
    assert code_of(first) != before


def test_it_does_not_hang_on_how_the_code_was_compiled() -> None:
    parts = ["def h(a): return a + 1", "def m(e, X, y): return h(y) + h(X) + 1"]
    assert code_of(compiled("\n".join(parts))) == code_of(compiled(*parts)) != UNKNOWN


TEXTS = ("", "'One.'", "'Two.'")


def test_a_docstring_is_no_code() -> None:
    text = "def m(e, X, y):\n  {}\n  def h(a):\n    {}\n    return None or a + 7\n  return h(y)"
    whole = [code_of(compiled(text.format(one or "pass", one or "pass"))) for one in TEXTS]
    assert len(set(whole)) == 1
    assert UNKNOWN not in whole
    assert code_of(compiled(text.replace("7", "8").format("pass", "pass"))) != whole[0]
    # Words that are of use are none.
    said = [code_of(compiled(f"def m(e, X, y):\n  return len({one!r})")) for one in TEXTS]
    assert len(set(said)) == len(TEXTS)


def test_a_python_with_other_switches_knows_nothing_of_a_digest() -> None:
    program = (
        "from automl_admm.runs.metric_code import digest_metric\n"
        "def m(e, X, y):\n  assert len(y)\n  return 1.0\n"
        "print(digest_metric(m, None))"
    )
    told = [
        subprocess.run([sys.executable, *switch, "-c", program], capture_output=True, check=True)
        for switch in ([], ["-OO"])
    ]
    plain, bare = (one.stdout.decode().strip() for one in told)
    assert plain != bare
    assert UNKNOWN not in {plain, bare}
    assert not is_other_metric(plain, bare)


@pytest.mark.parametrize("was", ["cpython-311:a", "a", UNKNOWN, None])
def test_digests_of_another_manner_are_not_told_as_other_code(was: str | None) -> None:
    assert not is_other_metric(was, code_of(of_a_global))


class Proxy:
    def __getattr__(self, name: str) -> Any:
        raise RuntimeError("working outside of a request")


def test_an_object_that_must_not_be_looked_at_ends_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(globals(), "FACTOR", Proxy())
    assert code_of(of_a_global) == UNKNOWN


def test_an_object_is_unknown_and_a_name_needs_no_digest() -> None:
    assert code_of(Stateful()) == UNKNOWN
    assert code_of("accuracy") is None
    assert code_of(None) is None


def fit(folder: Path, scoring: Any, evaluations: int, **more: Any) -> None:
    X, y = load_iris(return_X_y=True, as_frame=True)
    fixed: dict[str, Any] = {"grammar": "tiny", "cv": 2, "executor": "inline", "random_state": 0}
    search = AutoMLClassifier(
        scoring=scoring, work_dir=folder, max_evaluations=evaluations, **fixed, **more
    )
    search.fit(X, y)


def test_a_run_does_not_go_on_with_another_metric_of_the_same_name(tmp_path: Path) -> None:
    macro = {"average": "macro"}
    fit(tmp_path / "run", make_scorer(fbeta_score, beta=2.0, **macro), 2)
    with pytest.raises(StoreError, match="the metric has the same name and other code"):
        fit(tmp_path / "run", make_scorer(fbeta_score, beta=0.3, **macro), 3, warm_start=True)
    fit(tmp_path / "run", make_scorer(fbeta_score, beta=2.0, **macro), 3, warm_start=True)
    assert len(read_run(tmp_path / "run").log) == 3
