"""Components that need kinds of columns: left out with a table that lacks them."""

from __future__ import annotations

import pytest

from automl_admm.core.errors import GrammarError
from automl_admm.core.structure.pipeline_space import all_modules
from automl_admm.grammar import compile_text
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
    known = {} if kinds is None else {"kinds": frozenset(kinds)}
    pipelines = compile_text(CHOICE, "text", encoders, **known).pipelines
    assert {module.component for module in all_modules(pipelines.shape)} == {"forest", *left}


def test_a_table_without_these_columns_has_the_space_of_a_grammar_without_the_components(encoders):
    cut = "%import components (impute, forest)\nstart: encoder forest\nencoder: impute\n"
    pipelines = compile_text(CHOICE, "text", encoders, kinds=frozenset()).pipelines
    assert pipelines.space == compile_text(cut, "text", encoders).pipelines.space
    assert pipelines.space.decisions == ()


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        ("start: words forest", "'words' needs categorical and text columns, and the table has"),
        ("start: (counts | words) forest", "no alternative of 'counts | words' is left: component"),
    ],
)
def test_a_grammar_without_a_pipeline_for_the_columns_says_what_is_missing(encoders, rule, message):
    names = [name for name in ("counts", "words") if name in rule]
    text = f"%import components ({', '.join(names)}, forest)\n{rule}\n"
    with pytest.raises(GrammarError, match=message):
        compile_text(text, "text", encoders, kinds=frozenset())
