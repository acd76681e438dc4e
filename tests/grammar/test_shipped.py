"""The grammars that ship, with the components that ship, for every task."""

from __future__ import annotations

import numpy as np
import pytest

from automl_admm.builtin import components as built_in_components
from automl_admm.builtin import grammars as built_in_grammars
from automl_admm.grammar import CompiledGrammar, load_grammar
from automl_admm.plugin_types import TASKS, Task
from automl_admm.plugins import Plugins, PluginSource, load_plugins
from automl_admm.search import default_start
from automl_admm.shape import all_modules
from automl_admm.space import Choice


@pytest.fixture(scope="module")
def plugins() -> Plugins:
    ours = {"components": built_in_components, "grammars": built_in_grammars}
    sources = [PluginSource(name, "tests", lambda it=it: it) for name, it in ours.items()]
    loaded = load_plugins(sources=sources)
    assert [info.state for info in loaded.infos] == ["active", "active"]
    return loaded


def load(plugins: Plugins, name: str, task: Task) -> CompiledGrammar:
    everywhere = frozenset(p.name for registry in plugins.components.values() for p in registry)
    return load_grammar(name, plugins.components[task], plugins.grammars, everywhere)


def alternatives(compiled: CompiledGrammar, name: str) -> tuple[str, ...]:
    found = next(item for item in compiled.pipelines.space.decisions if item.name == name)
    assert isinstance(found, Choice)
    return found.alternatives


def test_every_packaged_grammar_is_registered_with_a_summary(plugins):
    assert {plugin.name for plugin in plugins.grammars} == {"default", "tiny"}
    assert all(plugin.summary[0].isupper() for plugin in plugins.grammars)


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("name", ["default", "tiny"])
def test_a_shipped_grammar_serves_every_task(plugins, name, task):
    compiled = load(plugins, name, task)
    registry = plugins.components[task]
    assert all(module.component in registry for module in all_modules(compiled.pipelines.shape))
    space, rng = compiled.pipelines.space, np.random.default_rng(0)
    for _ in range(50):
        theta = rng.uniform(size=len(space.parameters))
        steps = compiled.pipelines.steps(space.candidate(space.sample(rng), theta))
        roles = [registry.get(step.component).role for step in steps]
        assert steps[0].component == "impute"
        assert roles == ["transformer"] * (len(roles) - 1) + ["estimator"]


@pytest.mark.parametrize("task", TASKS)
def test_the_default_search_starts_at_plain_boosting(plugins, task):
    compiled = load(plugins, "default", task)
    steps = compiled.pipelines.steps(default_start(compiled.pipelines.space))
    assert [step.component for step in steps] == ["impute", "hist_gradient_boosting"]


def test_estimators_of_another_task_are_left_out(plugins):
    classifiers = alternatives(load(plugins, "tiny", "classification"), "estimator")
    regressors = alternatives(load(plugins, "tiny", "regression"), "estimator")
    assert classifiers == ("logistic_regression", "decision_tree", "gaussian_nb")
    assert regressors == ("ridge", "decision_tree")
