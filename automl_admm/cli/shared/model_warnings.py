"""Warnings that a model is of an earlier session, or was fitted with other versions than here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from automl_admm.cli.shared.screen import say
from automl_admm.runs.finish.model_notes import tell_versions
from automl_admm.runs.session.model_run import tell_earlier
from automl_admm.store.run_folder import RunFolder


def warn_of_model(folder: RunFolder, manifest: Mapping[str, Any]) -> None:
    """Warn of a model of an earlier session, and of each distribution with another version here."""
    if told := tell_earlier(folder, manifest):
        say(f"warning: {told}.", err=True)
    for line in tell_versions(manifest):
        say(f"warning: {line}", err=True)
