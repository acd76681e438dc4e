"""Numbers that estimators take are asked of those that scikit-learn has, and of no other."""

from __future__ import annotations

from typing import Any

import pytest

from automl_admm.core.space import Parameter
from automl_admm.grammar.check.accepted_numbers import why_refused
from automl_admm.plugins.loading import load_plugins
from automl_admm.plugins.records import TASKS, ComponentPlugin


@pytest.mark.parametrize("task", TASKS)
def test_every_range_that_ships_is_taken(task: Any) -> None:
    asked = 0
    for plugin in load_plugins({}, quietly=True).components[task]:
        for one in plugin.parameters:
            if isinstance(one, Parameter) and not one.values:
                number = int if one.is_integer else float
                for end in (number(one.low), number(one.high)):
                    assert why_refused(plugin, one.name, end) is None, (plugin.name, one.name, end)
                    asked += 1
    assert asked > 50


def test_a_plugin_is_not_built_for_a_check() -> None:
    def factory(values: Any, context: Any) -> Any:
        raise AssertionError

    plugin = ComponentPlugin(
        name="strange",
        summary="of a plugin",
        role="estimator",
        factory=factory,
        parameters=(Parameter("C", 0.1, 1.0),),
    )
    assert why_refused(plugin, "C", 0.0) is None
