"""Built-in hooks are asked once, those of others at each start of a run."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import SimpleNamespace

import pytest

from automl_admm.core.errors import PluginError
from automl_admm.plugins.loading import PluginSource, load_plugins
from automl_admm.plugins.provided import ask_once, ask_provider
from automl_admm.plugins.records import MetricPlugin
from automl_admm.plugins.specs import hookimpl


def metric(name: str) -> MetricPlugin:
    return MetricPlugin(name=name, summary="a number", factory=dict)


@pytest.mark.parametrize(("is_ours", "asked"), [(True, 1), (False, 2)])
def test_a_built_in_hook_is_asked_once(is_ours: bool, asked: int) -> None:
    calls: list[str] = []

    @hookimpl
    def metrics() -> Iterator[MetricPlugin]:
        calls.append("asked")
        yield metric(f"number-{len(calls)}")

    plugin = SimpleNamespace(metrics=metrics)
    source = PluginSource("some", "automl-admm 1", lambda: plugin, builtin=is_ours)
    loaded = [load_plugins(sources=[source]) for _ in range(2)]
    assert len(calls) == asked
    assert [[record.name for record in one.metrics] for one in loaded] == [
        ["number-1"],
        [f"number-{asked}"],
    ]


@pytest.mark.parametrize("ask", [ask_once, ask_provider])
def test_what_is_no_record_of_the_kind_is_refused(ask: Callable[..., object]) -> None:
    with pytest.raises(PluginError, match="a MetricPlugin was expected, not 'text'"):
        ask(lambda: ["text"], MetricPlugin)
