"""Warnings that a model is of an earlier session, or was fitted with other versions than here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from automl_admm.cli.shared.screen import say
from automl_admm.runs.finish.model_versions import tell_versions
from automl_admm.runs.session.model_run import of_other_session, refuse_mixed, say_earlier
from automl_admm.store.run_folder import RunFolder


def warn_of_model(folder: RunFolder, manifest: Mapping[str, Any]) -> None:
    """Warn of a model of an earlier session, and of each distribution with another version here."""
    check_session(folder, manifest)
    for line in tell_versions(manifest):
        say(f"warning: {line}", err=True)


def check_session(folder: RunFolder, manifest: Mapping[str, Any]) -> None:
    """Warn on stderr if a session with other data or limits has begun since the model.

    One that has ended has a model of its own: then raise, because the folder is mixed.
    """
    content = folder.read(folder.settings) if folder.settings.exists() else {}
    if other := of_other_session(manifest, content):
        refuse_mixed(folder, content, other)
        say(f"warning: {say_earlier(other)}; it is the one that answers here.", err=True)
