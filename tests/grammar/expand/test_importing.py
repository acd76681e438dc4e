"""Rules of registered grammars in a grammar of one's own."""

from __future__ import annotations

import pytest

from automl_admm.core.errors import GrammarError
from automl_admm.grammar import compile_text
from automl_admm.plugins.records import GrammarPlugin
from automl_admm.plugins.registry import Registry

BASE = """%import components (pca, scale, select, ridge, forest)
%override forest: "forest" "(" "n_estimators" "=" "70" ")"
start: prepare model
prepare: scaler reducer
scaler: scale?
reducer: pca | select
model: ridge | forest
"""
TEXTS = {
    "base": BASE,
    "mid-way": "%import base (start, model)\n%extend model: stack{model} ridge -> double\n",
    "broken": "%import components (ridge)\nstart: ridge |\nmodel: ridge pcs\n",
    "syntax": "start ridge",
    "ring": "%import circle (start)\n",
    "circle": "%import ring (start)\n",
    "held": "%import components (pca, select, ridge)\nstart: a ridge\na: c?\nc: pca | select\n",
    "boosted": "%import? components (lightgbm)\n%import components (ridge)\n"
    "start: model\nmodel: lightgbm | ridge\n",
}


@pytest.fixture
def grammars(tmp_path):
    registry = Registry("grammar")
    for name, text in TEXTS.items():
        path = tmp_path / f"{name}.lark"
        path.write_text(text, "utf-8")
        registry.add(GrammarPlugin(name=name, summary="a grammar", path=path), "tests")
    return registry


def compiled(text, components, grammars):
    return compile_text(text, "mine", components, grammars=grammars).pipelines


def test_a_whole_grammar_is_imported_by_its_start(components, grammars):
    ours = compiled("%import base (start)\n", components, grammars)
    theirs = compile_text(BASE, "base", components).pipelines
    assert ours == theirs


def test_what_an_imported_rule_needs_comes_with_it_and_clashes_with_nothing(components, grammars):
    text = (
        "%import components (ridge, scale)\n%import base (prepare)\n"
        "start: prepare reducer ridge\nreducer: scale?\n"
    )
    pipelines = compiled(text, components, grammars)
    found = {item.name: item.alternatives for item in pipelines.space.decisions}
    assert found == {
        "scaler": ("scale", "none"),
        "reducer": ("pca", "select"),
        "reducer#2": ("scale", "none"),
    }


@pytest.mark.parametrize("imports", ["(prepare)|(model, start)", "(start)|(prepare)|(model)"])
@pytest.mark.parametrize("changes", ["", "%extend model: scale ridge\n"])
def test_two_imports_of_a_grammar_are_as_one(components, grammars, imports, changes):
    rest = f"%import components (scale, ridge)\n{changes}" if changes else ""
    several = "".join(f"%import base {names}\n" for names in imports.split("|"))
    one = "%import base (start, prepare, model)\n"
    assert compiled(several + rest, components, grammars) == compiled(
        one + rest, components, grammars
    )


def test_a_rule_that_is_imported_twice_is_told_where_it_stands_again(components, grammars):
    text = "%import base (model)\n%import base (scaler, model)\nstart: scaler model\n"
    with pytest.raises(GrammarError, match=r"mine:2:23: .*'model' is imported twice"):
        compiled(text, components, grammars)


def test_a_rule_is_told_from_an_imported_one_of_its_name(components, grammars):
    text = (
        "%import components (scale, ridge)\n%import held (a)\n"
        "%extend a: c\nstart: a ridge\nc: scale?\n"
    )
    pipelines = compiled(text, components, grammars)
    found = {item.name: item.alternatives for item in pipelines.space.decisions}
    assert found == {
        "a": ("c", "none", "c#2"),
        "a.c": ("pca", "select"),
        "a.c#2": ("scale", "none"),
    }


def test_imported_rules_are_overridden_and_extended(components, grammars):
    text = (
        "%import components (impute, svm)\n%import base (start, scaler, model)\n"
        "%override scaler: impute\n%extend model: svm\n"
    )
    pipelines = compiled(text, components, grammars)
    choice = next(item for item in pipelines.space.decisions if item.name == "model")
    assert choice.alternatives == ("ridge", "forest", "svm")
    start = pipelines.space.candidate(
        pipelines.space.complete({"model": "forest"}), pipelines.space.default_theta()
    )
    assert pipelines.text(start).startswith('impute(strategy="mean") pca(')
    assert pipelines.text(start).endswith(" forest(n_estimators=70)")


def test_the_rules_of_a_shipped_grammar_can_be_imported(components):
    from automl_admm.plugins.loading import load_plugins

    plugins = load_plugins()
    text = "%import paper_a2 (scaler)\n%import default (estimator)\n%import components (impute)\n"
    text += "%extend scaler: impute\nstart: impute scaler estimator\n"
    everywhere = frozenset(p.name for registry in plugins.components.values() for p in registry)
    task = plugins.components["regression"]
    pipelines = compile_text(text, "mine", task, everywhere, grammars=plugins.grammars).pipelines
    labels = {item.name: item.alternatives for item in pipelines.space.decisions}
    assert len(labels["scaler"]) == 9
    assert "hist_gradient_boosting" in labels["estimator"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("%import bsae (model)\nstart: model\n", "no grammar 'bsae'\n.*\n.*\n.*'base'"),
        ("%import base (modle)\nstart: modle\n", "has no rule 'modle'\n.*\n.*\n.*'model'"),
        ("%import ring (start)\n", "grammar 'ring' has mistakes of its own, or imports itself"),
        ("%import syntax (start)\n", "grammar 'syntax' has mistakes of its own"),
        ("%import broken (model)\nstart: model\n", "uses 'pcs', which is not defined"),
        ("%import base (model)\nstart: model\nmodel: model\n", "'model' is defined twice"),
        ("%import base (model, scaler)\nstart: model\n", "rule 'scaler' is not used"),
    ],
)
def test_a_mistake_in_an_import_stands_where_it_is_imported(components, grammars, text, message):
    with pytest.raises(GrammarError, match=message) as caught:
        compiled(text, components, grammars)
    assert "mine:1:" in caught.value.message


def test_an_imported_grammar_may_import(components, grammars):
    pipelines = compiled("%import mid_way (start)\n", components, grammars)
    found = {item.name: item.alternatives for item in pipelines.space.decisions}
    labels = ("ridge", "forest", "double")
    assert (found["model"], found["model.model"]) == (labels, labels)
    assert found["model.model.model"] == labels[:2]


def test_an_imported_rule_brings_its_optional_components_as_such(components, grammars):
    text = "%import boosted (model)\nstart: model\n"
    found = compile_text(text, "mine", components, grammars=grammars)
    assert found.left_out == {"lightgbm": ""}
    ours = "%import components (lightgbm)\n%import boosted (model)\nstart: lightgbm | model\n"
    with pytest.raises(GrammarError, match="there is no component 'lightgbm'"):
        compiled(ours, components, grammars)
