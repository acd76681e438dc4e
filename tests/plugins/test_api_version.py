from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import Any

import pytest

from automl_admm.plugin_api import API_VERSION, MetricPlugin, hookimpl
from automl_admm.plugins import api_version
from automl_admm.plugins.loading import PluginSource, load_plugins

HAS = "of the plugin API, and this automl-admm has 2.4."


class Mine:
    """A plugin with a metric, made for some version."""

    def __init__(self, requires_api: Any) -> None:
        self.requires_api = requires_api

    @hookimpl
    def metrics(self) -> Iterator[MetricPlugin]:
        yield MetricPlugin(name="mine", summary="a metric", factory=dict)


def loaded(requires_api: Any) -> tuple[bool, str]:
    source = PluginSource("mine", "my-plugin 2.0", lambda: Mine(requires_api))
    plugins = load_plugins(sources=[source])
    return "mine" in plugins.metrics, plugins.infos[0].state


@pytest.mark.parametrize("wanted", [None, API_VERSION])
def test_a_plugin_for_this_version_is_loaded(wanted: Any) -> None:
    assert loaded(wanted) == (True, "active")


@pytest.mark.parametrize(
    ("wanted", "says"),
    [
        ("2.5", f"it needs version 2.5 {HAS} Update it: pip install -U automl-admm"),
        ("3.0", "it needs version 3.0"),
        ("1.9", f"it was made for version 1.9 {HAS} Update the plugin: pip install -U my-plugin"),
        (">=2", "its requires_api must read like '1.0', not '>=2'"),
        (2.4, "its requires_api must read like '1.0', not 2.4"),
    ],
)
def test_a_plugin_for_another_version_is_left_out_in_one_line(
    wanted: Any, says: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(api_version, "API_VERSION", "2.4")
    with caplog.at_level(logging.WARNING):
        is_there, state = loaded(wanted)
    assert not is_there
    assert state.startswith("failed: ")
    assert says in state
    assert len(caplog.messages) == 1
    assert says in caplog.messages[0]
    assert "\n" not in caplog.messages[0]


def test_an_older_version_of_the_same_number_is_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(api_version, "API_VERSION", "2.4")
    assert loaded("2.0") == (True, "active")
