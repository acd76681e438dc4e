"""The size of a pipeline space, counted without enumeration.

A *shape* settles the choices and orders of the grammar; a *selection* settles the components' own
unordered parameters as well (the kernel of an svm). Both are numbers of derivations: a pipeline
with two derivations counts twice, as a search meets it twice.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import prod

from automl_admm.core.space import Choice
from automl_admm.core.structure.pipeline_space import (
    Alternatives,
    Module,
    Ordered,
    PipelineSpace,
    Shape,
    parts_of,
)
from automl_admm.core.structure.precedence import count_extensions


@dataclass(frozen=True, slots=True)
class Facts:
    """The size of a space; `shortest` and `longest` count the components of a pipeline."""

    shapes: int
    selections: int
    decisions: int
    parameters: int
    shortest: int
    longest: int
    depth: int


def measure(pipelines: PipelineSpace) -> Facts:
    """All facts of a space."""
    shape, space = pipelines.shape, pipelines.space
    shortest, longest = _lengths(shape)
    return Facts(
        shapes=count_shapes(shape),
        selections=count_selections(pipelines),
        decisions=len(space.decisions),
        parameters=len(space.parameters),
        shortest=shortest,
        longest=longest,
        depth=_depth(shape),
    )


def count_shapes(shape: Shape) -> int:
    """Count the shapes: Σ over alternatives, Π over pieces, and T! for an order of T pieces.

    With `before` pairs in an order, only the permutations in keeping with them are counted.
    """
    return _count(shape, lambda module: 1)  # noqa: ARG005 - a component is one shape


def count_selections(pipelines: PipelineSpace) -> int:
    """Count the different selections of the search space."""
    decisions = pipelines.space.decisions
    choices = {item.name: item for item in decisions if isinstance(item, Choice)}
    return _count(pipelines.shape, lambda module: _settings(module, choices))


def _count(shape: Shape, ways: Callable[[Module], int]) -> int:
    if isinstance(shape, Module):
        return ways(shape)
    counts = [_count(item, ways) for item in parts_of(shape)]
    if isinstance(shape, Alternatives):
        return sum(counts)
    if isinstance(shape, Ordered):
        # Linear extensions of the partial order; T! without pairs.
        return prod(counts) * count_extensions(len(counts), shape.precedence)
    return prod(counts)


def _settings(module: Module, choices: Mapping[str, Choice]) -> int:
    """Count the settings of a component's choices, conditions included."""
    own = [choices[name] for _, name in module.parameters if name in choices]
    names = {choice.name for choice in own}

    def below(choice: Choice) -> int:
        hanging = [c for c in own if c.when is not None and c.when.decision == choice.name]
        return sum(
            prod(below(c) for c in hanging if c.when is not None and label in c.when.alternatives)
            for label in choice.alternatives
        )

    return prod(below(c) for c in own if c.when is None or c.when.decision not in names)


def _lengths(shape: Shape) -> tuple[int, int]:
    """Return the least and the largest number of components of a pipeline."""
    if isinstance(shape, Module):
        return 1, 1
    lengths = [_lengths(item) for item in parts_of(shape)]
    shortest, longest = [low for low, _ in lengths], [high for _, high in lengths]
    if isinstance(shape, Alternatives):
        return min(shortest), max(longest)
    return sum(shortest), sum(longest)


def _depth(shape: Shape) -> int:
    """Return the nesting depth of choices, orders and branches."""
    return max((1 + _depth(item) for item in parts_of(shape)), default=0)
