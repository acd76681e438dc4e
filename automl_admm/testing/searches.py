"""Whole searches for the tests of a plugin: from Python, and by the command line.

`main(["fit", …])` ends with a SystemExit that has the exit code; `load_plugins` shows whether a
plugin is found, and what it provides.
"""

from __future__ import annotations

from automl_admm.api import AutoMLClassifier, AutoMLRegressor, minimize
from automl_admm.cli.main import main
from automl_admm.plugins.loading import load_plugins

__all__ = ["AutoMLClassifier", "AutoMLRegressor", "load_plugins", "main", "minimize"]
