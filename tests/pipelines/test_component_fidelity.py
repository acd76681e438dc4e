"""An estimator that declares its size has a share of it, and all rows, at a low fidelity."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier

from automl_admm.core.errors import PluginError
from automl_admm.core.space import Candidate, Choice, Condition, Parameter
from automl_admm.core.structure.pipeline_space import Step
from automl_admm.pipelines.component_fidelity import at_fidelity, declared_size
from automl_admm.pipelines.cross_validation import FoldRun
from automl_admm.plugins.records import ComponentPlugin
from automl_admm.plugins.registry import Registry
from automl_admm.runs.config import RunConfig
from automl_admm.runs.given_objects import take_objects
from automl_admm.runs.prepare.preparation import prepare

TREES = Parameter("n_estimators", 4, 40, kind="int", default=20)


def forest(**more: Any) -> ComponentPlugin:
    return ComponentPlugin(
        **{
            "name": "own_forest",
            "summary": "s",
            "role": "estimator",
            "factory": lambda values, context: RandomForestClassifier(values["n_estimators"]),
            "parameters": (TREES, Parameter("leaf", 0.1, 1.0)),
            "fidelity": "n_estimators",
            "tasks": ("classification",),
            **more,
        }
    )


def registry(record: ComponentPlugin) -> Registry[ComponentPlugin]:
    found: Registry[ComponentPlugin] = Registry("component")
    found.add(record, "me 1.0")
    return found


@pytest.mark.parametrize(
    ("values", "fidelity", "trees"),
    [
        ((("n_estimators", 30),), 0.1, 3),
        ((("n_estimators", 30),), 0.001, 1),
        ((), 0.5, 10),
    ],
)
def test_the_size_is_shared(values: Any, fidelity: float, trees: int) -> None:
    steps = [Step("impute"), Step("own_forest", values)]
    (first, last) = at_fidelity(steps, registry(forest()), fidelity)
    assert first == steps[0]
    assert dict(last.values)["n_estimators"] == trees  # type: ignore[union-attr]


def test_a_whole_evaluation_is_as_it_was() -> None:
    steps = [Step("own_forest", (("n_estimators", 30),))]
    assert at_fidelity(steps, registry(forest()), 1.0) is steps


@pytest.mark.parametrize(
    ("steps", "record"),
    [
        ([], forest()),
        ([Step("ridge")], forest()),
        ([Step("own_forest", (("n_estimators", 30),))], forest(fidelity="")),
        (
            [Step("own_forest", (("booster", "no"),))],
            forest(
                parameters=(
                    Choice("booster", ("a", "no")),
                    Parameter("n_estimators", 4, 40, kind="int", when=Condition("booster", ("a",))),
                )
            ),
        ),
    ],
)
def test_without_a_size_rows_are_shared(steps: Any, record: ComponentPlugin) -> None:
    assert declared_size(steps, registry(record)) is None
    assert at_fidelity(steps, registry(record), 0.5) is steps


@pytest.mark.parametrize(
    "wrong",
    [
        {"fidelity": "leaf"},
        {"fidelity": "trees"},
        {"parameters": (Parameter("n_estimators", 0, 9, kind="int"),)},
        {"role": "transformer"},
    ],
)
def test_what_is_no_size_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(PluginError, match="no whole number of an estimator"):
        forest(**wrong)


def test_an_evaluation_has_fewer_trees_on_all_rows(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    text = "%import components (own_forest)\nstart: own_forest\n"
    settings = {"grammar": text, "components": [forest()], "cv": 2, "max_evaluations": 1}
    prepared = prepare(RunConfig(**take_objects(settings)), X, (X[:, 0] > 0).astype(int))
    work, space = prepared.work, prepared.grammar.pipelines.space
    whole = space.candidate(space.complete({}), space.default_theta())
    for fidelity, trees in ((1.0, 20), (0.25, 5)):
        part = Candidate(whole.selection, whole.theta, fidelity)
        seen = FoldRun(work, part, 0, tmp_path).fit_and_measure(work.splits[0])
        model = seen.pipeline.steps[-1][1]
        assert len(model.estimators_) == trees
        assert model.estimators_[0].tree_.weighted_n_node_samples[0] == 100
