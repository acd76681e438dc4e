"""The tree of a pipeline space: the pipeline of each selection, module by module.

The grammar compiler makes it; the pipeline builder and the text form read it. It knows names only:
nothing here imports a component.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from automl_admm.core.space import Candidate, Choice, Parameter, SearchSpace, Selection, Value


@dataclass(frozen=True, slots=True)
class Module:
    """One component; `parameters` maps its argument names to names in the search space.

    The fixed ones in `idle` have no effect in the table at hand: a text may give them any value
    that was declared.
    """

    component: str
    parameters: tuple[tuple[str, str], ...] = ()
    fixed: tuple[tuple[str, Value], ...] = ()
    idle: tuple[Parameter | Choice, ...] = ()


@dataclass(frozen=True, slots=True)
class Sequence:
    """Modules one after another; an empty one is `none`."""

    items: tuple[Shape, ...] = ()


@dataclass(frozen=True, slots=True)
class Alternatives:
    """The branches of a choice, by label."""

    decision: str
    branches: tuple[tuple[str, Shape], ...]


@dataclass(frozen=True, slots=True)
class Ordered:
    """Modules arranged by an order decision, by label.

    `precedence` is that of the decision: pairs (earlier, later) of places in `items`.
    """

    decision: str
    items: tuple[tuple[str, Shape], ...]
    precedence: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Union:
    """Branches side by side, their outputs joined; one without a component adds no columns."""

    items: tuple[Shape, ...]


@dataclass(frozen=True, slots=True)
class Stack:
    """The predictions of a piece as features beside its inputs."""

    item: Shape


@dataclass(frozen=True, slots=True)
class ByType:
    """A path for the number columns and one for the category columns, their outputs joined."""

    numeric: Shape
    categorical: Shape


Shape = Module | Sequence | Alternatives | Ordered | Union | Stack | ByType
BranchKind = Literal["union", "stack", "by_type"]
NOTHING = Sequence()


@dataclass(frozen=True, slots=True)
class Step:
    """One component of a concrete pipeline with the values of its parameters."""

    component: str
    values: tuple[tuple[str, Value], ...] = ()


@dataclass(frozen=True, slots=True)
class Branches:
    """A place of a concrete pipeline with data flowing through several parts side by side."""

    kind: BranchKind
    parts: tuple[tuple[Item, ...], ...]

    @property
    def is_empty(self) -> bool:
        """True if no part holds a component: such branches pass the data on."""
        return not any(occupied(part) for part in self.parts)


Item = Step | Branches


@dataclass(frozen=True)
class PipelineSpace:
    """A search space together with the pipelines of its selections."""

    space: SearchSpace
    shape: Shape

    def steps(self, candidate: Candidate) -> tuple[Item, ...]:
        """Return the concrete pipeline of a candidate, integers on their grids."""
        values = self.space.values(candidate)
        flow = flow_of(self.shape, candidate.selection)
        return tuple(_item(piece, candidate.selection, values) for piece in flow)

    def text(self, candidate: Candidate) -> str:
        """Return the pipeline as text, all parameters written out."""
        return render(self.steps(candidate))

    def model(self, candidate: Candidate) -> str:
        """Return the name of the component that a pipeline ends in; of branches, the whole text."""
        *_, last = self.steps(candidate)
        return last.component if isinstance(last, Step) else render((last,))

    def key(self, candidate: Candidate) -> str:
        """Return a hash, equal for equal pipelines on the same share of rows.

        A grammar may write a component in several places, with its arguments in other orders: they
        are brought into one: that of the first place.
        """
        arranged = tuple(_arranged(item, self._places) for item in self.steps(candidate))
        return content_hash(keyed(render(arranged), candidate))

    @cached_property
    def _places(self) -> Mapping[str, Mapping[str, int]]:
        """Return the place of each argument, by component."""
        found: dict[str, dict[str, int]] = {}
        for module in all_modules(self.shape):
            places = found.setdefault(module.component, {})
            for argument, _ in (*module.fixed, *module.parameters):
                places.setdefault(argument, len(places))
        return found


def flow_of(shape: Shape, selection: Selection) -> Iterator[Module | Union | Stack | ByType]:
    """Yield the components and branches of a selection in the order of the data flow."""
    match shape:
        case Sequence(items):
            for item in items:
                yield from flow_of(item, selection)
        case Alternatives(decision, branches):
            yield from flow_of(dict(branches)[str(selection.get(decision))], selection)
        case Ordered(decision, items):
            named = dict(items)
            for label in selection.get(decision) or ():
                yield from flow_of(named[label], selection)
        case _:
            yield shape


def all_modules(shape: Shape) -> Iterator[Module]:
    """Yield every component of a space, in the order of writing."""
    if isinstance(shape, Module):
        yield shape
    for item in parts_of(shape):
        yield from all_modules(item)


def parts_of(shape: Shape) -> tuple[Shape, ...]:
    """Return all pieces of a shape, chosen or not."""
    match shape:
        case Sequence(items) | Union(items):
            return items
        case Alternatives(branches=named) | Ordered(items=named):
            return tuple(item for _, item in named)
        case Stack(item):
            return (item,)
        case ByType(numeric, categorical):
            return (numeric, categorical)
        case Module():
            return ()


Values = Mapping[str, Value | tuple[str, ...]]
KINDS: Mapping[type, BranchKind] = {Union: "union", Stack: "stack", ByType: "by_type"}


def _item(
    piece: Module | Union | Stack | ByType, selection: Selection, values: Values
) -> Step | Branches:
    if isinstance(piece, Module):
        return _step(piece, values)
    flows = (flow_of(part, selection) for part in parts_of(piece))
    parts = tuple(tuple(_item(inner, selection, values) for inner in flow) for flow in flows)
    return Branches(KINDS[type(piece)], parts)


def _step(module: Module, values: Values) -> Step:
    """Return a module with its parameters' values; leave out those with a failing condition."""
    active = [(argument, values[name]) for argument, name in module.parameters if name in values]
    # An order is structure, not an argument.
    plain = [(argument, value) for argument, value in active if not isinstance(value, tuple)]
    return Step(module.component, (*module.fixed, *plain))


def _arranged(item: Item, places: Mapping[str, Mapping[str, int]]) -> Item:
    """Return a piece of a pipeline with the arguments of each component in their places."""
    if isinstance(item, Branches):
        parts = tuple(tuple(_arranged(one, places) for one in part) for part in item.parts)
        return Branches(item.kind, parts)
    known = places[item.component]
    return Step(item.component, tuple(sorted(item.values, key=lambda pair: known[pair[0]])))


def occupied(items: Iterable[Item]) -> tuple[Item, ...]:
    """Return the working items: leave out branches without a component."""
    return tuple(item for item in items if isinstance(item, Step) or not item.is_empty)


def all_steps(items: Iterable[Item]) -> Iterator[Step]:
    """Yield the components of a concrete pipeline, those in branches included."""
    for item in items:
        if isinstance(item, Step):
            yield item
        else:
            for part in item.parts:
                yield from all_steps(part)


def render(items: Iterable[Item]) -> str:
    """Write a pipeline as text: `impute(strategy="mean") union{pca(), none} ridge(alpha=1.0)`."""
    return " ".join(map(_rendered, items))


def _rendered(item: Item) -> str:
    if isinstance(item, Step):
        return f"{item.component}({', '.join(map(_argument, item.values))})"
    # An empty branch reads `none`, as in a grammar.
    return f"{item.kind}{{{', '.join(render(part) or 'none' for part in item.parts)}}}"


def _argument(pair: tuple[str, Value]) -> str:
    name, value = pair
    return f"{name}={json.dumps(value)}"


def keyed(text: str, candidate: Candidate) -> str:
    """Return the text to hash for a candidate's key: the fidelity is part of it."""
    # Fewer rows are another evaluation; the plain text is the key of the whole one.
    return text if candidate.fidelity == 1.0 else f"{text} @ {candidate.fidelity:.6g}"


def content_hash(text: str) -> str:
    """Return a short stable hash: equal text, equal key, in any process."""
    # 96 bits: a collision among a million pipelines is out of the question.
    return hashlib.sha256(text.encode()).hexdigest()[:24]
