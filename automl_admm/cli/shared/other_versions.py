"""Warnings that a model was fitted with other versions than are installed here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from automl_admm.cli.shared.screen import say
from automl_admm.runs.finish.model_versions import tell_versions


def warn_of_versions(manifest: Mapping[str, Any]) -> None:
    """Print a line on stderr for each distribution behind a model with another version here."""
    for line in tell_versions(manifest):
        say(f"warning: {line}", err=True)
