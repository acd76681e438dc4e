"""Metrics of plugins whose factory does what none should."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from automl_admm.core.errors import ConfigurationError, PluginError
from automl_admm.pipelines.metrics import resolve_metric
from automl_admm.plugins.records import MetricPlugin
from automl_admm.plugins.registry import Registry


@pytest.mark.parametrize(
    ("factory", "says"),
    [
        (lambda: {}["rates"], "KeyError: 'rates'."),
        (lambda: None, "its factory returned None, no scorer."),
    ],
)
def test_a_metric_that_cannot_be_made_is_named(factory: Callable[[], Any], says: str) -> None:
    registry: Registry[MetricPlugin] = Registry("metric")
    registry.add(MetricPlugin(name="gini", summary="s", factory=factory), "dist 0.2.0")
    with pytest.raises(PluginError) as error:
        resolve_metric("gini", "classification", 2, registry)
    assert str(error.value) == f"metric 'gini' (dist 0.2.0) cannot be made: {says}"


@dataclass(frozen=True)
class CostOptions:
    missed: float = 1.0


def test_a_metric_of_a_plugin_may_have_options() -> None:
    def build(options: CostOptions) -> Any:
        return lambda estimator, X, y: -options.missed

    registry: Registry[MetricPlugin] = Registry("metric")
    record = MetricPlugin(name="cost", summary="s", factory=build, options=CostOptions)
    registry.add(record, "me 1.0")
    for request, score in (("cost", -1.0), ("cost:missed=5", -5.0)):
        metric = resolve_metric(request, "classification", 2, registry)
        assert (metric.name, metric.scorer(None, None, None)) == (request, score)
    with pytest.raises(ConfigurationError, match=r"'cost' has no option 'mised'\. Did you mean"):
        resolve_metric("cost:mised=5", "classification", 2, registry)
