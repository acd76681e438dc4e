"""From the steps of a candidate to a plain scikit-learn pipeline, unfitted and fitted."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from automl_admm.errors import ConfigurationError
from automl_admm.plugin_types import BuildContext, ComponentPlugin
from automl_admm.registry import Registry
from automl_admm.shape import Step
from automl_admm.space import Choice, Parameter, Value

SEEDS = 2**32


def build_pipeline(
    steps: Sequence[Step], components: Registry[ComponentPlugin], context: BuildContext, seed: int
) -> Any:
    """Build the unfitted pipeline: seeded, on one core, its steps named after their components.

    A parameter that a step leaves out takes the component's default. Only the first step is
    told which columns hold what: no later one can know what the steps before it make of them.
    """
    from sklearn.pipeline import Pipeline

    if not steps:
        raise ConfigurationError("a pipeline needs at least one step.")
    built, arriving = [], context
    for name, step in zip(_step_names(steps), steps, strict=True):
        plugin = components.get(step.component)
        component = plugin.factory(_with_defaults(plugin, step), arriving)
        _settle(component, seed % SEEDS)
        built.append((name, component))
        arriving = BuildContext(context.task)
    return Pipeline(built)


def _step_names(steps: Iterable[Step]) -> list[str]:
    names: list[str] = []
    for step in steps:
        name, count = step.component, 1
        while name in names:
            count += 1
            name = f"{step.component}_{count}"
        names.append(name)
    return names


def _with_defaults(plugin: ComponentPlugin, step: Step) -> dict[str, Value]:
    # One with a condition of its own may rightly be absent.
    defaults = {item.name: _default(item) for item in plugin.parameters if item.when is None}
    return {**defaults, **dict(step.values)}


def _default(item: Parameter | Choice) -> Value:
    if isinstance(item, Choice):
        return item.value(item.alternatives[0])
    return item.value(item.default_unit())


def _settle(component: Any, seed: int) -> None:
    """Seed whatever draws, and keep to one core.

    To scikit-learn's own classes `n_jobs=None` says one core already, and some warn if it is set.
    """
    ours = type(component).__module__.startswith("sklearn.")
    known = component.get_params()
    seeds = {name: seed for name in known if name.endswith("random_state")}
    cores = {
        name: 1
        for name, value in known.items()
        if name.endswith("n_jobs") and not (ours and value is None)
    }
    component.set_params(**seeds, **cores)


def fit_pipeline(
    pipeline: Any, steps: Sequence[Step], components: Registry[ComponentPlugin], X: Any, y: Any
) -> Any:
    """Fit a copy of the pipeline step by step, and lower what the data bound on the way.

    Where nothing is lowered this is `Pipeline.fit`. What comes out is a plain fitted pipeline,
    with the lowered values as its parameters: it can be cloned and fitted again.
    """
    from sklearn.base import clone
    from sklearn.pipeline import Pipeline

    fitted: list[tuple[str, Any]] = []
    arriving = X
    for (name, component), step in zip(clone(pipeline).steps, steps, strict=True):
        _lower(component, components.get(step.component), np.shape(arriving))
        if len(fitted) < len(steps) - 1:
            arriving = component.fit_transform(arriving, y)
        else:
            component.fit(arriving, y)
        fitted.append((name, component))
    return Pipeline(fitted)


def _lower(component: Any, plugin: ComponentPlugin, shape: tuple[int, ...]) -> None:
    bounds = {"rows": shape[0], "columns": shape[1]}
    known = component.get_params(deep=False)
    for name, axis in (plugin.capped or {}).items():
        value, bound = known.get(name), max(bounds[axis], 1)
        if isinstance(value, int) and value > bound:
            component.set_params(**{name: bound})


def predict_scores(pipeline: Any, X: Any) -> Any:
    """Predict the most that the model can say: probabilities, else scores, else the values."""
    for method in ("predict_proba", "decision_function"):
        if hasattr(pipeline, method):
            return getattr(pipeline, method)(X)
    return pipeline.predict(X)
