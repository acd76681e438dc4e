"""Definitions of the package run without it."""

from __future__ import annotations

import sys
import types
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

from automl_admm.runs.finish.script.bundle import Bundle

PARTS = "automl_admm.runs.finish.script.table_parts"


def run(bundle: Bundle, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    lines = ["from __future__ import annotations", *sorted(bundle.imports), bundle.text]
    text = "\n".join(lines)
    assert "automl_admm" not in text
    module = types.ModuleType("script")
    monkeypatch.setitem(sys.modules, "script", module)
    exec(text, vars(module))  # noqa: S102 - what the script does
    return vars(module)


def test_a_class_comes_with_what_it_uses(monkeypatch: pytest.MonkeyPatch) -> None:
    bundle = Bundle()
    bundle.add("automl_admm.constraints.group_classifier", "GroupThresholdClassifier")
    bundle.add("automl_admm.pipelines.stacking", "StackedPredictions")
    known = run(bundle, monkeypatch)
    fitted = known["GroupThresholdClassifier"](
        LogisticRegression(),
        columns={"age": (30.0,)},
        thresholds={"age < 30": 0.9},
    )
    X = pd.DataFrame({"age": np.arange(60.0)})
    fitted.fit(X, (X["age"] > 25).astype(int))
    assert list(fitted.groups_of(X.head(31)))[-2:] == ["age < 30", "30 <= age"]
    assert set(fitted.predict(X)) == {0, 1}
    with pytest.raises(ValueError, match="thresholds part two classes"):
        fitted.fit(X, X["age"])


def test_each_definition_stands_once_and_after_what_it_needs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    bundle = Bundle()
    for _ in range(2):
        bundle.add("automl_admm.data.row_portions", "Portion")
    assert bundle.text.count("class Portion") == 1
    assert run(bundle, monkeypatch)["Portion"](2, 8).places(np.arange(8)).tolist() == sorted(
        np.random.default_rng(0).permutation(8)[:2].tolist()
    )


def test_two_definitions_of_one_name_are_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    bundle = Bundle()
    assert bundle.add("automl_admm.data.conforming", "TRUE") == "TRUE"
    assert bundle.add(PARTS, "truth_of") == "truth_of"
    known = run(bundle, monkeypatch)
    assert isinstance(known["TRUE"], frozenset)
    assert isinstance(known["TABLE_PARTS_TRUE"], tuple)
    assert known["truth_of"]("True") is True
