"""Exports of a run by the exporters of plugins."""

from __future__ import annotations

from pathlib import Path

from automl_admm.core.errors import ConfigurationError, PluginError, UnknownNameError
from automl_admm.core.messages import say_value
from automl_admm.plugins.foreign_calls import naming_failures
from automl_admm.plugins.loading import load_plugins
from automl_admm.runs.prepare.suggestions import whence
from automl_admm.runs.saved.saved_run import read_saved_run


def export(folder: Path, request: str) -> str:
    """Write a run as `NAME:TARGET` asks, and return a line about it."""
    plugins = load_plugins(quietly=True)
    name, _, target = request.partition(":")
    names = {record.name for record in plugins.exporters}
    if name not in names:
        raise UnknownNameError("exporter", name, names, hint=whence(name, plugins))
    exporter, title = plugins.exporters.get(name), plugins.exporters.title(name)
    if not target:
        raise ConfigurationError(
            f"'{request}' does not say where to write.", hint=f"Write {name}:{exporter.target}"
        )
    run = read_saved_run(folder)
    with naming_failures(title):
        said: object = exporter.write(run, target)
    if not isinstance(said, str):
        raise PluginError(f"{title} returned {say_value(said)}, no line of text.")
    return said
