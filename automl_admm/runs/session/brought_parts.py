"""The parts of a run's measurements brought by plugins of others, each with its version.

Another version may compute otherwise under the same name. This project's own distributions are left
out: evaluations count on after their upgrade, as after one of scikit-learn.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import groupby
from typing import TYPE_CHECKING

from automl_admm.core.structure.pipeline_space import all_modules
from automl_admm.plugins.distributions import Behind
from automl_admm.plugins.loading import is_of_others
from automl_admm.plugins.plugin_options import split_request

if TYPE_CHECKING:
    from automl_admm.runs.prepare.preparation import Preparation

BROUGHT = "brought_by"
SHOWN = 3


def brought_parts(prepared: Preparation) -> dict[str, str]:
    """Return the provider of each component, of the metric and of each limit by its words."""
    found = dict(_parts(prepared))
    return {part: one for part, one in sorted(found.items()) if is_of_others(one)}


def behind_parts(prepared: Preparation) -> Behind:
    """Return the distributions that a worker elsewhere must have as they are here."""
    components = prepared.plugins.components[prepared.task]
    modules = all_modules(prepared.grammar.pipelines.shape)
    records = [components.get(name) for name in {module.component for module in modules}]
    types = (name for record in records for name in record.trusted_types)
    return Behind.of((provider for _, provider in _parts(prepared)), types)


def _parts(prepared: Preparation) -> Iterator[tuple[str, str]]:
    plugins = prepared.plugins
    components = plugins.components[prepared.task]
    for module in all_modules(prepared.grammar.pipelines.shape):
        yield f"component '{module.component}'", components.provider(module.component)
    metric = split_request(prepared.metric.name)[0]
    if not callable(prepared.config.scoring) and metric in plugins.metrics:
        yield f"metric '{metric}'", plugins.metrics.provider(metric)
    for one in prepared.constraints:
        if one.declared is not None:
            yield f"limit on '{one.limit.name}'", one.declared.provider


def other_versions(was: Mapping[str, str], is_now: Mapping[str, str]) -> list[str]:
    """Return a line for each provider that changed, or whose version did."""
    both = sorted((was[part], is_now[part], part) for part in was.keys() & is_now.keys())
    found = []
    for (old, new), parts in groupby(both, key=lambda one: one[:2]):
        if old != new:
            found.append(f"{_listed([part for *_, part in parts])}: {old} → {new}")
    return found


def _listed(parts: list[str]) -> str:
    more = f" and {len(parts) - SHOWN} more" if len(parts) > SHOWN else ""
    return ", ".join(parts[:SHOWN]) + more
