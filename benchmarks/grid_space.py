"""A space of pipelines whose numbers stand on grids, so that there are few enough to measure all.

A grammar is compiled as for a run; then each of its numbers becomes a whole number, the place on
a grid that divides its own axis (a logarithmic one, if the parameter has that) into equal steps.
Solvers see an ordinary `SearchSpace` of choices, orders, categories and whole numbers.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product

from automl_admm.core.decisions import Choice, Decision, Pick
from automl_admm.core.space import Candidate, Parameter, SearchSpace
from automl_admm.core.structure.pipeline_space import PipelineSpace
from automl_admm.grammar.compile import compile_text
from automl_admm.plugins.contexts import LearningTask
from automl_admm.plugins.loading import load_plugins

# Points of a grid, by the name of the parameter without its component.
POINTS = {"C": 7, "n_neighbors": 6, "n_components": 2, "percentile": 3}
POINTS_OF_NUMBER, POINTS_OF_COUNT = 6, 5


def points_of(parameter: Parameter) -> int:
    """Return the size of a parameter's grid; a category keeps all of its values."""
    if not parameter.is_integer:
        return POINTS.get(parameter.name.rpartition(".")[2], POINTS_OF_NUMBER)
    every = int(parameter.high - parameter.low) + 1
    if parameter.is_category or parameter.values:
        return every
    return min(POINTS.get(parameter.name.rpartition(".")[2], POINTS_OF_COUNT), every)


def axis_of(parameter: Parameter) -> Parameter:
    """Return the parameter as solvers see it: the place on its grid."""
    if parameter.is_category or parameter.values:
        return parameter
    last = points_of(parameter) - 1
    default = round(parameter.default_unit() * last)
    return Parameter(parameter.name, 0, last, kind="int", default=default, when=parameter.when)


@dataclass(frozen=True)
class GridSpace:
    """The pipelines of a grammar on grids."""

    pipelines: PipelineSpace

    @classmethod
    def of(cls, grammar: str, name: str, task: LearningTask = "classification") -> GridSpace:
        """Compile a grammar for a task."""
        plugins = load_plugins()
        components = plugins.components[task]
        return cls(compile_text(grammar, name, components, grammars=plugins.grammars).pipelines)

    @cached_property
    def space(self) -> SearchSpace:
        """The space that solvers search."""
        known = self.pipelines.space
        return SearchSpace(known.decisions, tuple(map(axis_of, known.parameters)))

    def text(self, candidate: Candidate) -> str:
        """Return the text of a candidate's pipeline; equal pipelines have equal texts.

        A place on the grid of k points is the same place on [0, 1] of the parameter itself.
        """
        return self.pipelines.text(self.space.projected(replace(candidate, fidelity=1.0)))

    def every(self) -> Iterator[Candidate]:
        """Yield a candidate of every pipeline, once."""
        texts: set[str] = set()
        for candidate in self._with_repeats():
            text = self.text(candidate)
            if text not in texts:
                texts.add(text)
                yield candidate

    def _with_repeats(self) -> Iterator[Candidate]:
        space = self.space
        names = [decision.name for decision in space.decisions]
        picks = product(*map(picks_of, space.decisions))
        selections = (space.complete(dict(zip(names, each, strict=True))) for each in picks)
        for selection in dict.fromkeys(selections):
            active = [space.parameters[place] for place in space.active(selection)]
            for theta in product(*map(units_of, active)):
                yield Candidate(selection, theta)


def picks_of(decision: Decision) -> list[Pick]:
    """Return all alternatives of a choice, or all permutations of an order."""
    if isinstance(decision, Choice):
        return list(decision.alternatives)
    return list(decision.permutations())


def units_of(parameter: Parameter) -> list[float]:
    """Return all places of a whole number on [0, 1]."""
    return [parameter.to_unit(n) for n in range(int(parameter.low), int(parameter.high) + 1)]
