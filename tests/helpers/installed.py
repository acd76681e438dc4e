"""The installed plugins, loaded once for all tests that leave them as they are."""

from __future__ import annotations

from automl_admm.plugins.loading import load_plugins

PLUGINS = load_plugins()
