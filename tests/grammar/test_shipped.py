"""The grammars that ship, with the components that ship, for every task."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest

from automl_admm.builtin import components as built_in_components
from automl_admm.builtin import grammars as built_in_grammars
from automl_admm.core.space import Choice
from automl_admm.core.structure.pipeline_space import Branches, Item, Step, all_modules, all_steps
from automl_admm.grammar import CompiledGrammar, compile_text, load_grammar
from automl_admm.plugins.loading import Plugins, PluginSource, load_plugins
from automl_admm.plugins.records import TASKS, ComponentPlugin, LearningTask
from automl_admm.plugins.registry import Registry
from automl_admm.search.starts import default_start

SHIPPED = ("default", "paper-a2", "paper-a3", "regression", "shapes", "tiny")


@pytest.fixture(scope="module")
def plugins() -> Plugins:
    ours = {"components": built_in_components, "grammars": built_in_grammars}
    sources = [PluginSource(name, "tests", lambda it=it: it) for name, it in ours.items()]
    loaded = load_plugins(sources=sources)
    assert [info.state for info in loaded.infos] == ["active", "active"]
    return loaded


def load(plugins: Plugins, name: str, task: LearningTask) -> CompiledGrammar:
    everywhere = frozenset(p.name for registry in plugins.components.values() for p in registry)
    return load_grammar(name, plugins.components[task], plugins.grammars, everywhere)


def alternatives(compiled: CompiledGrammar, name: str) -> tuple[str, ...]:
    found = next(item for item in compiled.pipelines.space.decisions if item.name == name)
    assert isinstance(found, Choice)
    return found.alternatives


def test_every_packaged_grammar_is_registered_with_a_summary(plugins):
    assert {plugin.name for plugin in plugins.grammars} == set(SHIPPED)
    assert all(plugin.summary[0].isupper() for plugin in plugins.grammars)


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("name", SHIPPED)
def test_a_shipped_grammar_serves_every_task(plugins, name, task):
    compiled = load(plugins, name, task)
    registry = plugins.components[task]
    assert all(module.component in registry for module in all_modules(compiled.pipelines.shape))
    space, rng = compiled.pipelines.space, np.random.default_rng(0)
    for _ in range(50):
        theta = rng.uniform(size=len(space.parameters))
        steps = compiled.pipelines.steps(space.candidate(space.sample(rng), theta))
        first = registry.get(next(step.component for step in all_steps(steps)))
        assert first.name == "impute" or first.needs
        assert estimators_end(steps, registry)


def estimators_end(items: tuple[Item, ...], registry: Registry[ComponentPlugin]) -> bool:
    """Whether the last item is an estimator, and so is the last one of all that is stacked."""
    roles = [
        registry.get(item.component).role if isinstance(item, Step) else item.kind for item in items
    ]
    stacked = [item for item in items if isinstance(item, Branches) and item.kind == "stack"]
    return (
        "estimator" not in roles[:-1]
        and roles[-1] == "estimator"
        and all(estimators_end(part, registry) for item in stacked for part in item.parts)
    )


def test_the_papers_tables_have_their_numbers_of_pipelines(plugins):
    for name, count in (("paper-a2", 8 * 11 * 7 * 11), ("paper-a3", 6 * 3 * 6)):
        space = load(plugins, name, "classification").pipelines.space
        modules = [item for item in space.decisions if item.when is None and "." not in item.name]
        assert math.prod(len(item.alternatives) for item in modules) == count


def test_the_shapes_grammar_has_every_shape(plugins):
    pipelines = load(plugins, "shapes", "classification").pipelines
    rng = np.random.default_rng(0)
    texts = [
        pipelines.text(pipelines.space.candidate(pipelines.space.sample(rng), theta))
        for theta in rng.uniform(size=(50, len(pipelines.space.parameters)))
    ]
    for kind in ("by_type{", "union{", "stack{"):
        assert any(kind in text for text in texts)
    assert any(text.count("stack{") == 2 for text in texts)


@pytest.mark.parametrize("task", TASKS)
def test_the_default_search_starts_at_plain_boosting(plugins, task):
    compiled = load(plugins, "default", task)
    steps = compiled.pipelines.steps(default_start(compiled.pipelines.space))
    assert [step.component for step in steps] == ["impute", "hist_gradient_boosting"]


@pytest.mark.parametrize("task", TASKS)
def test_without_packages_the_default_is_what_it_is_without_its_optional_import(plugins, task):
    compiled = load(plugins, "default", task)
    assert set(compiled.left_out) == {"lightgbm", "xgboost"}
    lines = compiled.text.replace(": lightgbm\n         | hist", ": hist").splitlines()
    plain = [line for line in lines if not re.search("lightgbm|xgboost", line)]
    registry = plugins.components[task]
    everywhere = frozenset(p.name for each in plugins.components.values() for p in each)
    assert compile_text("\n".join(plain), "plain", registry, everywhere).pipelines == (
        compiled.pipelines
    )


@pytest.mark.parametrize(
    ("kinds", "encoders"),
    [
        (["categorical"], ("impute", "target", "ordinal")),
        (["categorical", "many_levels"], ("impute", "target", "ordinal", "one_hot", "counts")),
        (["text"], ("impute", "char_text")),
    ],
)
@pytest.mark.parametrize("name", ["default", "regression"])
def test_encoders_are_searched_for_the_columns_that_a_table_has(plugins, name, kinds, encoders):
    components = plugins.components["classification"]
    everywhere = frozenset(p.name for registry in plugins.components.values() for p in registry)
    compiled = load_grammar(name, components, plugins.grammars, everywhere, facts=frozenset(kinds))
    names = [decision.name for decision in compiled.pipelines.space.decisions]
    (chosen,) = (name for name in names if name.endswith("encoder"))
    assert alternatives(compiled, chosen) == encoders


@pytest.mark.parametrize("name", ["default", "regression"])
def test_a_table_of_numbers_has_no_encoder_to_choose(plugins, name):
    components = plugins.components["classification"]
    everywhere = frozenset(p.name for registry in plugins.components.values() for p in registry)
    compiled = load_grammar(name, components, plugins.grammars, everywhere, facts=frozenset())
    names = {decision.name for decision in compiled.pipelines.space.decisions}
    assert not {"start", "encoder"} & names
    used = {module.component for module in all_modules(compiled.pipelines.shape)}
    assert not [used for used in used if components.get(used).needs]


def test_estimators_of_another_task_are_left_out(plugins):
    classifiers = alternatives(load(plugins, "tiny", "classification"), "estimator")
    regressors = alternatives(load(plugins, "tiny", "regression"), "estimator")
    assert classifiers == ("logistic_regression", "decision_tree", "gaussian_nb")
    assert regressors == ("ridge", "decision_tree")
