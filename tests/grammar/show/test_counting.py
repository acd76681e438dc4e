"""Counts against enumeration, and against the papers' own number."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from hypothesis import given
from hypothesis import strategies as st

from automl_admm.core.space import Choice, Condition, SearchSpace, Selection
from automl_admm.core.structure.pipeline_space import Module, PipelineSpace, Sequence
from automl_admm.grammar import compile_text, load_grammar
from automl_admm.grammar.expand.unfolding import unfold
from automl_admm.grammar.read.reader import read
from automl_admm.grammar.show.counting import count_selections, count_shapes, measure
from automl_admm.plugins.loading import load_plugins

PARTS = ("pca", "pca?", "(pca | scale)", "(pca | (scale | select)?)", "svm", "impute")
TEMPLATES = (
    "any_order{a, b}",
    "any_order{a, b, before{b, a}}",
    "any_order{a, b, c}",
    "any_order{a, b, c, before{b, a}, before{b, c}}",
    "union{a, b}",
    "by_type{a, none}",
    "stack{a}",
)


def enumerate_selections(space: SearchSpace) -> Iterator[Selection]:
    """All of them, the long way."""
    options = [
        item.alternatives if isinstance(item, Choice) else tuple(itertools.permutations(item.items))
        for item in space.decisions
    ]
    names = [item.name for item in space.decisions]
    seen = {
        space.complete(dict(zip(names, picks, strict=True)))
        for picks in itertools.product(*options)
    }
    yield from seen


@given(
    template=st.sampled_from(TEMPLATES),
    parts=st.tuples(*[st.sampled_from(PARTS)] * 3),
    last=st.sampled_from(("svm", "ridge | svm", "stack{a} | ridge")),
)
def test_selections_are_counted_as_they_are_enumerated(components, template, parts, last):
    rules = "".join(f"{name}: {part}\n" for name, part in zip("abc", parts, strict=True))
    text = f"start: {template} d\nd: {last}\n{rules}"
    pipelines = unfold(read(text).bodies(), components)
    assert count_selections(pipelines) == len(list(enumerate_selections(pipelines.space)))


def test_table_a2_without_orders_has_6776_shapes():
    text = "start: a b c d\n" + modules({"a": 7, "b": 8, "c": 11, "d": 11})
    assert count_shapes(unfolded(text).shape) == 6776


def test_the_shipped_table_a2_has_as_many():
    plugins = load_plugins()
    loaded = load_grammar("paper-a2", plugins.components["classification"], plugins.grammars)
    assert count_shapes(loaded.pipelines.shape) == 6776


def test_an_order_of_three_modules_makes_it_six_times_that():
    text = "start: any_order{a, b, c} d\n" + modules({"a": 7, "b": 8, "c": 11, "d": 11})
    assert count_shapes(unfolded(text).shape) == 6 * 6776


def test_where_one_module_stands_before_another_half_of_the_orders_are_left():
    text = "start: any_order{a, b, c, before{c, a}} d\n"
    text += modules({"a": 7, "b": 8, "c": 11, "d": 11})
    assert count_shapes(unfolded(text).shape) == 3 * 6776


def modules(sizes: dict[str, int]) -> str:
    return "".join(
        f"{name}: {' | '.join(f'pca_{name}{number}' for number in range(size))}\n"
        for name, size in sizes.items()
    )


def unfolded(text: str) -> PipelineSpace:
    """A space of components without parameters, under any names."""
    return unfold(read(text).bodies(), Anything())


class Anything:
    """A registry in which every name is a component without parameters."""

    def get(self, name: str) -> object:
        return type("Plain", (), {"parameters": ()})()


def test_conditional_choices_of_a_component_are_counted_where_they_are_active():
    space = SearchSpace(
        (
            Choice("kernel", ("linear", "poly", "rbf")),
            Choice("degree", ("2", "3", "4"), Condition("kernel", ("poly",))),
            Choice("width", ("1", "2"), Condition("kernel", ("poly", "rbf"))),
        )
    )
    module = Module("svm", (("kernel", "kernel"), ("degree", "degree"), ("width", "width")))
    pipelines = PipelineSpace(space, module)
    assert count_selections(pipelines) == 1 + 3 * 2 + 2
    assert count_selections(pipelines) == len(list(enumerate_selections(space)))
    assert count_shapes(module) == 1


def test_two_ways_to_one_pipeline_count_twice(components):
    text = "%import components (pca, ridge)\nstart: first second ridge\nfirst: pca?\nsecond: pca?\n"
    assert count_shapes(compile_text(text, "two", components).pipelines.shape) == 4


def test_what_cannot_be_enumerated_is_counted(components):
    text = "%import components (pca, ridge)\nstart: " + "pca? " * 300 + "ridge\n"
    facts = measure(compile_text(text, "long", components).pipelines)
    assert facts.shapes == facts.selections == 2**300
    assert (facts.shortest, facts.longest) == (1, 301)


def test_the_facts_of_a_space(components):
    text = (
        "%import components (scale, pca, ridge, svm)\n"
        "start: any_order{scaler, reducer} (ridge | svm)\nscaler: scale?\nreducer: pca?\n"
    )
    facts = measure(compile_text(text, "facts", components).pipelines)
    assert (facts.shapes, facts.selections) == (2 * 2 * 2 * 2, 2 * 2 * 2 * (1 + 2))
    assert (facts.decisions, facts.parameters) == (5, 4)
    assert (facts.shortest, facts.longest, facts.depth) == (1, 3, 3)


def test_nothing_is_one_shape():
    assert count_shapes(Sequence()) == 1
