"""What holds for every grammar, drawn at random."""

from __future__ import annotations

import itertools
import re

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from automl_admm.core.space import Order
from automl_admm.grammar import compile_text
from automl_admm.grammar.read.reader import read
from automl_admm.grammar.tree import (
    BEGINNING,
    NONE,
    Before,
    Choice,
    Node,
    Reference,
    Repetition,
    Sequence,
    Template,
    children,
    choice,
    label,
    references,
    sequence,
)

TRANSFORMERS = ("impute", "scale", "pca", "select")


def name(text: str) -> Node:
    return Reference(text, BEGINNING)


def optional(node: Node) -> Node:
    return choice((node, name(NONE)), BEGINNING)


def repeated(node: Node, low: int, more: int) -> Node:
    return Repetition(node, low, low + more, BEGINNING)


def has_repeated_parts(node: Node) -> bool:
    labels = [label(child) for child in children(node)]
    own = isinstance(node, Choice | Template) and len(labels) > len(set(labels))
    return own or any(map(has_repeated_parts, children(node)))


names = st.sampled_from(TRANSFORMERS).map(name)


@st.composite
def orders(draw: st.DrawFn) -> Node:
    """Pieces in any order, or in any that has some of them in a row."""
    items = draw(st.lists(names, min_size=2, max_size=3, unique_by=label))
    row = draw(st.permutations(items))[: draw(st.sampled_from((0, 2, 3)))]
    said = Before(tuple((label(item), BEGINNING) for item in row), BEGINNING)
    return Template("any_order", tuple(items), BEGINNING, (said,) if row else ())


pieces = st.recursive(
    names | orders(),
    lambda inner: st.one_of(
        inner.map(optional),
        st.lists(inner, min_size=2, max_size=3).map(lambda x: sequence(tuple(x), BEGINNING)),
        st.lists(inner, min_size=2, max_size=3).map(lambda x: choice(tuple(x), BEGINNING)),
        st.builds(repeated, inner, st.integers(0, 2), st.integers(1, 2)),
    ),
    max_leaves=8,
).filter(lambda node: not has_repeated_parts(node))


def pattern(node: Node) -> str:
    """A regular expression for the components of a piece, each with a space behind it."""
    match node:
        case Reference(text):
            return "" if text == NONE else f"{text} "
        case Sequence(items):
            return "".join(map(pattern, items))
        case Choice(alternatives):
            return f"(?:{'|'.join(map(pattern, alternatives))})"
        case Repetition(item, low, high):
            return f"(?:{pattern(item)}){{{low},{high}}}"
        case Template(arguments=items, before=before):
            labels = [label(item) for item in items]
            ways = itertools.permutations(map(pattern, items))
            named = zip(itertools.permutations(labels), map("".join, ways), strict=True)
            pairs = [pair for row in before for pair in row.pairs()]
            kept = [way for order, way in named if keeps(order, pairs)]
            return f"(?:{'|'.join(kept)})"
        case _:
            raise AssertionError(node)


def keeps(order: tuple[str, ...], pairs: list[tuple[str, str]]) -> bool:
    return all(order.index(earlier) < order.index(later) for earlier, later in pairs)


def written(node: Node) -> str:
    """A grammar of three rules: the piece, a choice of estimators, and `start`."""
    used = sorted({item.name for item in references(node)} - {NONE})
    return (
        f"%import components ({', '.join([*used, 'ridge', 'forest'])})\n"
        f"start: first model\nfirst: {label(node)}\nmodel: ridge | forest\n"
    )


@given(pieces)
def test_a_label_reads_back_as_what_it_was_written_from(node):
    body = read(f"start: {label(node)}\n").bodies()["start"]
    assert label(body) == label(node)


@given(pieces, st.integers(0, 2**32 - 1))
def test_every_selection_is_a_pipeline_of_the_grammar(components, node, seed):
    pipelines = compile_text(written(node), "drawn", components).pipelines
    rng = np.random.default_rng(seed)
    selection = pipelines.space.sample(rng)
    candidate = pipelines.space.candidate(
        selection, rng.uniform(size=len(pipelines.space.parameters))
    )
    steps = pipelines.steps(candidate)
    flow = "".join(f"{step.component} " for step in steps)
    assert re.fullmatch(f"{pattern(node)}(?:ridge |forest )", flow)
    for step in steps:
        declared = components.get(step.component).parameters
        assert [argument for argument, _ in step.values] == [item.name for item in declared]


@given(pieces)
def test_the_first_alternatives_are_where_a_search_starts(components, node):
    pipelines = compile_text(written(node), "drawn", components).pipelines
    space = pipelines.space
    for decision, pick in space.complete({}):
        found = next(item for item in space.decisions if item.name == decision)
        if isinstance(found, Order):
            pairs = [(found.items[a], found.items[b]) for a, b in found.precedence]
            kept = [way for way in itertools.permutations(found.items) if keeps(way, pairs)]
            assert pick in kept
            assert pick == found.items or found.items not in kept
        else:
            assert pick == found.alternatives[0]
    steps = pipelines.steps(space.candidate(space.complete({}), space.default_theta()))
    assert steps[-1].component == "ridge"
