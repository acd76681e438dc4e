"""The tree of a pipeline space: what a selection means, module by module.

The grammar compiler makes it, the pipeline builder and the text form read it. It knows names
only: nothing here imports a component.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from automl_admm.space import Candidate, SearchSpace, Selection, Value


@dataclass(frozen=True, slots=True)
class Module:
    """One component; `parameters` maps its argument names to names in the search space."""

    component: str
    parameters: tuple[tuple[str, str], ...] = ()
    fixed: tuple[tuple[str, Value], ...] = ()


@dataclass(frozen=True, slots=True)
class Sequence:
    """Modules one after another; an empty one is what `none` stands for."""

    items: tuple[Shape, ...] = ()


@dataclass(frozen=True, slots=True)
class Alternatives:
    """The branch that a choice takes, by label."""

    decision: str
    branches: tuple[tuple[str, Shape], ...]


@dataclass(frozen=True, slots=True)
class Ordered:
    """Modules in the order that an order decision gives them, by label."""

    decision: str
    items: tuple[tuple[str, Shape], ...]


Shape = Module | Sequence | Alternatives | Ordered
NOTHING = Sequence()


@dataclass(frozen=True, slots=True)
class Step:
    """One component of a concrete pipeline with the values of its parameters."""

    component: str
    values: tuple[tuple[str, Value], ...] = ()


@dataclass(frozen=True)
class PipelineSpace:
    """A search space together with what its selections mean as pipelines."""

    space: SearchSpace
    shape: Shape

    def steps(self, candidate: Candidate) -> tuple[Step, ...]:
        """The concrete pipeline that a candidate stands for, integers on their grids."""
        values = self.space.values(candidate)
        return tuple(_step(module, values) for module in modules(self.shape, candidate.selection))

    def text(self, candidate: Candidate) -> str:
        """The pipeline as text, all parameters written out."""
        return render(self.steps(candidate))

    def key(self, candidate: Candidate) -> str:
        """A hash that two candidates share if they are one pipeline on the same share of rows."""
        return content_hash(keyed(self.text(candidate), candidate))


def modules(shape: Shape, selection: Selection) -> Iterator[Module]:
    """The components of a selection in the order in which data flow through them."""
    match shape:
        case Module():
            yield shape
        case Sequence(items):
            for item in items:
                yield from modules(item, selection)
        case Alternatives(decision, branches):
            yield from modules(dict(branches)[str(selection.get(decision))], selection)
        case Ordered(decision, items):
            named = dict(items)
            for label in selection.get(decision) or ():
                yield from modules(named[label], selection)


def all_modules(shape: Shape) -> Iterator[Module]:
    """Every component that a space mentions, in the order in which it is written."""
    match shape:
        case Module():
            yield shape
        case Sequence(items):
            for item in items:
                yield from all_modules(item)
        case Alternatives(branches=named) | Ordered(items=named):
            for _, item in named:
                yield from all_modules(item)


def _step(module: Module, values: Mapping[str, Value | tuple[str, ...]]) -> Step:
    """A module with the values of its parameters; those whose condition fails are left out."""
    active = [(argument, values[name]) for argument, name in module.parameters if name in values]
    plain = [(argument, value) for argument, value in active if not isinstance(value, tuple)]
    return Step(module.component, (*module.fixed, *plain))


def render(steps: tuple[Step, ...]) -> str:
    """Write a pipeline as text: `impute(strategy="mean") pca(n_components=0.9)`."""
    return " ".join(f"{step.component}({', '.join(map(_argument, step.values))})" for step in steps)


def _argument(pair: tuple[str, Value]) -> str:
    name, value = pair
    return f"{name}={json.dumps(value)}"


def keyed(text: str, candidate: Candidate) -> str:
    """What to hash for the key of a candidate with this text: the fidelity is part of it."""
    return text if candidate.fidelity == 1.0 else f"{text} @ {candidate.fidelity:.6g}"


def content_hash(text: str) -> str:
    """A short stable hash: equal text, equal key, in any process."""
    return hashlib.sha256(text.encode()).hexdigest()[:24]
