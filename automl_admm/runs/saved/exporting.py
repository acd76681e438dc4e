"""Exports of a run by the exporters of plugins."""

from __future__ import annotations

from pathlib import Path

from automl_admm.core.errors import ConfigurationError, PluginError, UnknownNameError
from automl_admm.core.messages import say_value
from automl_admm.core.run import SavedRun
from automl_admm.plugins.foreign_calls import naming_failures
from automl_admm.plugins.loading import Plugins, load_plugins
from automl_admm.plugins.records import ExporterPlugin
from automl_admm.runs.prepare.suggestions import whence
from automl_admm.runs.saved.saved_run import read_saved_run


def export(folder: Path, request: str) -> str:
    """Write a run as `NAME:TARGET` asks, and return a line about it."""
    plugins = load_plugins(quietly=True)
    name, _, target = request.partition(":")
    exporter = _exporter(name, plugins)
    if not target:
        raise ConfigurationError(
            f"'{request}' does not say where to write.", hint=f"Write {name}:{exporter.target}"
        )
    return _write(plugins.exporters.title(name), exporter, read_saved_run(folder), target)


def _exporter(name: str, plugins: Plugins) -> ExporterPlugin:
    names = {record.name for record in plugins.exporters}
    if name not in names:
        raise UnknownNameError("exporter", name, names, hint=whence(name, plugins))
    return plugins.exporters.get(name)


def _write(title: str, exporter: ExporterPlugin, run: SavedRun, target: str) -> str:
    with naming_failures(title):
        said: object = exporter.write(run, target)
    if not isinstance(said, str):
        raise PluginError(f"{title} returned {say_value(said)}, no line of text.")
    return said
