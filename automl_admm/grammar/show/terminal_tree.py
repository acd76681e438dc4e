"""The structure of a pipeline space as a tree, for a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from automl_admm.core.structure.pipeline_space import (
    Alternatives,
    ByType,
    Module,
    Ordered,
    Sequence,
    Shape,
    Stack,
    Union,
    parts_of,
)
from automl_admm.grammar.tree import NONE

if TYPE_CHECKING:
    from rich.tree import Tree

BRANCHES: Mapping[type, str] = {
    Union: "side by side (union)",
    Stack: "predictions as features (stack)",
    ByType: "by type of column (by_type)",
}


def draw_tree(shape: Shape, title: str) -> Tree:
    """Draw the structure as a tree: the pieces of a sequence stand one below the other."""
    from rich.text import Text
    from rich.tree import Tree

    def grow(tree: Tree, piece: Shape, prefix: str) -> None:
        # As Text: rich would take brackets in a plain string for markup.
        branch = tree.add(Text(prefix + caption(piece)))
        for label, item in _labelled(piece):
            grow(branch, item, f"{label}: " if label else "")

    tree = Tree(Text(title))
    for item in shape.items if isinstance(shape, Sequence) else (shape,):
        grow(tree, item, "")
    return tree


def caption(shape: Shape) -> str:
    """Return a piece in a few words, without its parts."""
    match shape:
        case Module(component, parameters):
            return f"{component}({', '.join(name for name, _ in parameters)})"
        case Sequence(items):
            return "one after another" if items else NONE
        case Alternatives(decision):
            return f"one of: {decision}"
        case Ordered(decision, items, precedence):
            pairs = [f"{items[a][0]} before {items[b][0]}" for a, b in precedence]
            return f"in any order: {', '.join([decision, *pairs])}"
        case _:
            return BRANCHES[type(shape)]


def _labelled(shape: Shape) -> Iterator[tuple[str, Shape]]:
    """Return the parts of a piece, each with a label unless its caption has it."""
    match shape:
        case Alternatives(branches=named) | Ordered(items=named):
            for label, item in named:
                yield ("" if _says(item, label) else label), item
        case ByType(numeric, categorical):
            yield "numbers", numeric
            yield "categories", categorical
        case _:
            for item in parts_of(shape):
                yield "", item


def _says(item: Shape, label: str) -> bool:
    """Return True if the caption of an item contains its label."""
    match item:
        case Module(component):
            return component == label
        case Alternatives(decision):
            return decision == label
        case Sequence(items):
            return not items and label == NONE
        case _:
            return False
