"""A low fidelity by fewer iterations or trees, for an estimator that declares such a parameter."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from automl_admm.core.space import Parameter
from automl_admm.core.structure.pipeline_space import Item, Step
from automl_admm.plugins.records import ComponentPlugin
from automl_admm.plugins.registry import Registry


def declared_size(steps: Sequence[Item], components: Registry[ComponentPlugin]) -> int | None:
    """Return the size that a fidelity is a share of: the value of the estimator's own parameter.

    None if the last step declares none, or does without the parameter here: rows are shared then.
    """
    last = steps[-1] if steps else None
    if not isinstance(last, Step) or last.component not in components:
        return None
    record = components.get(last.component)
    value = dict(last.values).get(record.fidelity)
    if value is None:
        value = next((_default(p) for p in record.parameters if p.name == record.fidelity), None)
    return None if value is None else int(str(value))


def row_share(
    steps: Sequence[Item], components: Registry[ComponentPlugin], fidelity: float
) -> float:
    """Return the share of the rows to learn from: all of them if the size has the share."""
    return fidelity if declared_size(steps, components) is None else 1.0


def at_fidelity(
    steps: Sequence[Item], components: Registry[ComponentPlugin], fidelity: float
) -> Sequence[Item]:
    """Return the steps with a share of the declared size, one at least; without one unchanged."""
    size = declared_size(steps, components) if fidelity < 1.0 else None
    last = steps[-1] if steps else None
    if size is None or not isinstance(last, Step):
        return steps
    name = components.get(last.component).fidelity
    values = dict(last.values) | {name: max(round(size * fidelity), 1)}
    return [*steps[:-1], replace(last, values=tuple(values.items()))]


def _default(parameter: object) -> int | None:
    """Return the default of a parameter; one with a condition of its own may rightly be absent."""
    if not isinstance(parameter, Parameter) or parameter.when is not None:
        return None
    return int(str(parameter.value(parameter.default_unit())))
