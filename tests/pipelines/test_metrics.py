"""Metrics of plugins whose factory does what none should."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from automl_admm.core.errors import PluginError
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
