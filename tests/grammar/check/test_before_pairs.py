"""`before{a, b}` in an order: what is drawn, counted, written and read keeps to it."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from automl_admm.core.errors import ConfigurationError, GrammarError
from automl_admm.core.structure.pipeline_space import PipelineSpace
from automl_admm.grammar import compile_text
from automl_admm.grammar.show.counting import count_shapes
from automl_admm.grammar.text.matcher import parse
from automl_admm.plugins.records import GrammarPlugin
from automl_admm.plugins.registry import Registry

GRAMMAR = """\
%import components (impute, scale, pca, select, ridge)
start: any_order{last, filled, scaler, reducer, before{filled, scaler}, before{scaler, last}} ridge
filled: impute?
scaler: scale?
reducer: pca?
last: select?
"""
ROW = ("filled", "scaler", "last")


@pytest.fixture(scope="module")
def pipelines(components) -> PipelineSpace:
    return compile_text(GRAMMAR, "mine", components).pipelines


def test_the_default_is_arranged(pipelines):
    assert pipelines.space.complete({}).get("start.order") == (
        "filled",
        "scaler",
        "last",
        "reducer",
    )


def test_shapes_are_those_orders_that_keep_to_it(pipelines):
    kept = [
        way
        for way in itertools.permutations((*ROW, "reducer"))
        if [item for item in way if item in ROW] == list(ROW)
    ]
    assert count_shapes(pipelines.shape) == 2**4 * len(kept) == 2**4 * 4


@given(seed=st.integers(0, 2**32 - 1))
def test_what_is_drawn_keeps_to_it_and_reads_back(pipelines, seed):
    space, rng = pipelines.space, np.random.default_rng(seed)
    drawn = space.candidate(space.sample(rng), rng.uniform(size=len(space.parameters)))
    order = drawn.selection.get("start.order")
    assert [item for item in order if item in ROW] == list(ROW)
    text = pipelines.text(drawn)
    read = parse(text, pipelines)
    assert pipelines.text(read) == text
    assert space.complete(dict(read.selection.picks)) == read.selection


WRONG = {
    "scale() impute() ridge()": (9, "'filled' stands before 'scaler'"),
    "impute() select() pca() scale() ridge()": (25, "'scaler' stands before 'last'"),
    "select() impute() ridge()": (10, "'filled' stands before 'last'"),
}


@pytest.mark.parametrize("text", WRONG)
def test_a_text_against_it_is_not_in_the_language_and_says_so(pipelines, text):
    column, says = WRONG[text]
    with pytest.raises(ConfigurationError) as caught:
        parse(text, pipelines)
    assert caught.value.message.startswith(f"pipeline:1:{column}: error[P005]: {says}")


def test_what_does_nothing_goes_where_it_may_stand(pipelines):
    read = parse("pca() impute() select() ridge()", pipelines)
    assert read.selection.get("start.order") == ("reducer", "filled", "scaler", "last")
    assert read.selection.get("scaler") == "none"


def test_it_comes_with_a_rule_that_is_imported(components, tmp_path):
    path = tmp_path / "theirs.lark"
    path.write_text(GRAMMAR, "utf-8")
    registry: Registry[GrammarPlugin] = Registry("grammar")
    registry.add(GrammarPlugin(name="theirs", summary="theirs", path=path), "tests")
    text = "%import theirs (start)\n"
    ours = compile_text(text, "ours", components, grammars=registry).pipelines
    assert ours == compile_text(GRAMMAR, "theirs", components).pipelines


def test_orders_with_other_precedences_are_other_alternatives(components):
    text = (
        "%import components (scale, pca, ridge)\nstart: way ridge\n"
        "way: any_order{scale, pca, before{scale, pca}}\n"
        "   | any_order{scale, pca, before{pca, scale}}\n"
    )
    pipelines = compile_text(text, "ways", components).pipelines
    assert count_shapes(pipelines.shape) == 2
    read = parse("pca() scale() ridge()", pipelines)
    assert read.selection.get("way") == "any_order{scale, pca, before{pca, scale}}"


def test_it_speaks_of_as_many_pieces_as_can_be_counted(components):
    names = [f"r{number}" for number in range(13)]
    rules = "".join(f"{name}: pca?\n" for name in names)

    def grammar(bound: list[str]) -> str:
        pairs = ", ".join(f"before{{r0, {name}}}" for name in bound)
        start = f"start: any_order{{{', '.join(names)}, {pairs}}} ridge\n"
        return "%import components (pca, ridge)\n" + start + rules

    compile_text(grammar(names[1:-1]), "most", components)
    with pytest.raises(GrammarError, match="can speak of 12 pieces of an order at most"):
        compile_text(grammar(names[1:]), "more", components)
