"""Components that need kinds of columns: left out with a table that lacks them."""

from __future__ import annotations

import pytest

from automl_admm.core.errors import GrammarError
from automl_admm.core.structure.pipeline_space import all_modules
from automl_admm.grammar import compile_text
from automl_admm.grammar.text.matcher import parse
from automl_admm.plugins.records import ComponentPlugin
from automl_admm.plugins.registry import Registry
from tests.grammar.conftest import build

HEAD = "%import components (impute, counts, words, forest)\n"
CHOICE = HEAD + "start: encoder forest\nencoder: impute | counts | words\n"


@pytest.fixture(scope="module")
def encoders() -> Registry[ComponentPlugin]:
    registry: Registry[ComponentPlugin] = Registry("component")
    needs = {"impute": (), "counts": ("categorical",), "words": ("text", "categorical")}
    for name, kinds in needs.items():
        plugin = ComponentPlugin(
            name=name, summary="fake", role="transformer", factory=build, needs=frozenset(kinds)
        )
        registry.add(plugin, "tests")
    forest = ComponentPlugin(name="forest", summary="fake", role="estimator", factory=build)
    registry.add(forest, "tests")
    return registry


@pytest.mark.parametrize(
    ("kinds", "left"),
    [
        ((), {"impute"}),
        (("tags",), {"impute"}),
        (("text",), {"impute"}),
        (("categorical",), {"impute", "counts"}),
        (("categorical", "text"), {"impute", "counts", "words"}),
        (None, {"impute", "counts", "words"}),
    ],
)
def test_a_choice_loses_components_whose_columns_the_table_lacks(encoders, kinds, left):
    known = {} if kinds is None else {"facts": frozenset(kinds)}
    pipelines = compile_text(CHOICE, "text", encoders, **known).pipelines
    assert {module.component for module in all_modules(pipelines.shape)} == {"forest", *left}


def test_a_table_without_these_columns_has_the_space_of_a_grammar_without_the_components(encoders):
    cut = "%import components (impute, forest)\nstart: encoder forest\nencoder: impute\n"
    pipelines = compile_text(CHOICE, "text", encoders, facts=frozenset()).pipelines
    assert pipelines.space == compile_text(cut, "text", encoders).pipelines.space
    assert pipelines.space.decisions == ()


FIXED = '"{name}" "(" "{argument}" "=" "{value}" ")"'
RIDGE = FIXED.format(name="ridge", argument="alpha", value=5)
PCA = FIXED.format(name="pca", argument="whiten", value="true")


@pytest.mark.parametrize(
    ("rules", "labels"),
    [
        (f"start: pca (gone | {RIDGE}) | pca ridge", ("pca ridge", "pca ridge#2")),
        (f"start: pca ridge | pca (gone | {RIDGE})", ("pca ridge", "pca ridge#2")),
        (f"start: (gone | {PCA}) ridge | pca ridge", ("pca ridge", "pca ridge#2")),
        ("start: pca (gone | ridge) | pca ridge | ridge", ("pca ridge", "ridge")),
        (f"start: pca (gone | {RIDGE}) | (gone | pca) {RIDGE} | ridge", ("pca ridge", "ridge")),
        ("start: (gone~0..1 | pca)? ridge", ("none", "pca")),
    ],
)
def test_what_a_loss_makes_look_alike_stays_two_unless_it_is_the_same(components, rules, labels):
    text = f"%import? components (gone)\n%import components (pca, ridge)\n{rules}\n"
    pipelines = compile_text(text, "text", components).pipelines
    choice = pipelines.space.decisions[0]
    assert choice.alternatives == labels
    for candidate in (pipelines.space.complete({choice.name: label}) for label in labels):
        written = pipelines.text(
            pipelines.space.candidate(candidate, pipelines.space.default_theta())
        )
        assert pipelines.text(parse(written, pipelines)) == written


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        ("start: words forest", "'words' needs category columns and text columns, and the table"),
        ("start: (counts | words) forest", "no alternative of 'counts | words' is left: component"),
    ],
)
def test_a_grammar_without_a_pipeline_for_the_columns_says_what_is_missing(encoders, rule, message):
    names = [name for name in ("counts", "words") if name in rule]
    text = f"%import components ({', '.join(names)}, forest)\n{rule}\n"
    with pytest.raises(GrammarError, match=message):
        compile_text(text, "text", encoders, facts=frozenset())


@pytest.mark.parametrize(
    "rules",
    [
        "start: impute counts forest",
        "start: any_order{impute, counts} forest",
        "start: impute? either forest\neither: counts | words",
        "start: impute union{impute, counts} forest",
        "start: counts~1..2 impute forest",
        "start: by_type{impute, both} forest\nboth: impute counts",
    ],
)
def test_an_encoder_behind_another_component_is_refused(encoders, rules):
    """It would meet numbers, and pass them on: a pipeline that looks encoded and is not."""
    names = [name for name in ("impute", "counts", "words") if name in rules]
    text = f"%import components ({', '.join(names)}, forest)\n{rules}\n"
    with pytest.raises(GrammarError, match="can stand where the kinds of the columns are not"):
        compile_text(text, "text", encoders)


@pytest.mark.parametrize(
    "rules",
    [
        "start: (impute | counts) forest",
        "start: by_type{impute, counts} forest",
        "start: union{impute, counts} forest",
        "start: by_type{impute, either} forest\neither: union{impute, counts}",
    ],
)
def test_an_encoder_may_stand_wherever_the_raw_table_arrives(encoders, rules):
    text = f"%import components (impute, counts, forest)\n{rules}\n"
    assert compile_text(text, "text", encoders).pipelines.shape
