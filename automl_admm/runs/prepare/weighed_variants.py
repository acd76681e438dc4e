"""Pipelines with weights of rows, made of others: for limits on groups."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial

from automl_admm.core.errors import AutomlAdmmError
from automl_admm.core.space import Candidate, Parameter, Value
from automl_admm.core.structure.pipeline_space import PipelineSpace, Step, all_modules, render
from automl_admm.grammar.text.matcher import parse
from automl_admm.pipelines.row_weighing import has_weigher
from automl_admm.plugins.records import ComponentPlugin
from automl_admm.plugins.registry import Registry

Variants = Callable[[Candidate], Sequence[Candidate]]


def variants_of(pipelines: PipelineSpace, components: Registry[ComponentPlugin]) -> Variants | None:
    """Return what makes variants of a pipeline; None if the grammar has no weigher of rows."""
    names = {module.component for module in all_modules(pipelines.shape)}
    weighers = [one for one in components if one.role == "weigher" and one.name in names]
    return partial(_weighed, pipelines, components, weighers) if weighers else None


def _weighed(
    pipelines: PipelineSpace,
    components: Registry[ComponentPlugin],
    weighers: Sequence[ComponentPlugin],
    candidate: Candidate,
) -> list[Candidate]:
    """Return a pipeline with each weigher, at its defaults and at the upper ends of its ranges."""
    if has_weigher(pipelines.steps(candidate), components):
        return []
    settings = ((one, values) for one in weighers for values in (one.defaults, _upper(one)))
    found = (_with_step(pipelines, candidate, *setting) for setting in settings)
    return [one for one in found if one is not None]


def _upper(plugin: ComponentPlugin) -> dict[str, Value]:
    ends = {
        one.name: one.value(1.0)
        for one in plugin.parameters
        if isinstance(one, Parameter) and one.when is None
    }
    return plugin.defaults | ends


def _with_step(
    pipelines: PipelineSpace,
    candidate: Candidate,
    plugin: ComponentPlugin,
    values: Mapping[str, Value],
) -> Candidate | None:
    """Return a pipeline with a further step, where the grammar has it; None if it has not."""
    for text in _texts(pipelines, candidate, Step(plugin.name, tuple(values.items()))):
        with suppress(AutomlAdmmError):
            return parse(text, pipelines)
    return None


def _texts(pipelines: PipelineSpace, candidate: Candidate, step: Step) -> Iterator[str]:
    steps = pipelines.steps(candidate)
    for place in reversed(range(len(steps))):
        yield render((*steps[:place], step, *steps[place:]))
