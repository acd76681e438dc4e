"""The part of `run.json` that belongs to a model: `model.json` has a copy of it.

A session with other data or limits writes `run.json` long before it has a model of its own, and may
be killed in between.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from automl_admm.core.errors import StoreError
from automl_admm.core.run import RunState
from automl_admm.runs.gone_plugins import PLUGINS
from automl_admm.runs.session.brought_parts import BROUGHT
from automl_admm.runs.session.changes import find_changes
from automl_admm.store.file_schemas import OF_RUN
from automl_admm.store.run_folder import TOGETHER, RunFolder

PARTS = (
    *("request", "settings", "data", "basis", "ordered_columns", "components_left_out"),
    *(PLUGINS, BROUGHT),
)
# The table as the model read it: `model.json` has it beside the copy.
READ = ("schema", "ingest")


def read_run_of_model(
    folder: RunFolder, manifest: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Return the content of `run.json` as the model in the folder needs it.

    The model itself tells, also where another session has begun since, or `run.json` is not there.
    `manifest` is that of the model, if it was read before.
    """
    manifest = folder.read(folder.model_manifest) if manifest is None else manifest
    content = folder.read(folder.settings) if folder.settings.exists() else {}
    refuse_mixed(folder, content, of_other_session(manifest, content))
    return {**content, **manifest[OF_RUN]}


def of_other_session(manifest: Mapping[str, Any], content: Mapping[str, Any]) -> tuple[str, ...]:
    """Tell by which data, limits or settings a model is not of the session in `run.json`.

    Nothing is told of a model that this session made, or may go on with.
    """
    if not content:
        return ()
    own = {part: manifest[part] for part in READ if part in manifest}
    changes = find_changes({**manifest[OF_RUN], **own}, content)
    return changes.lines if changes.void or changes.bounds else ()


def say_earlier(other: tuple[str, ...]) -> str:
    """Say that the model in a folder is of an earlier session, with the differences."""
    return f"the model in the folder is of an earlier session, before changes ({'; '.join(other)})"


def tell_earlier(folder: RunFolder, manifest: Mapping[str, Any]) -> str | None:
    """Say if the model of a folder is of a session before other data or limits; None if not.

    A session that has ended has a model of its own: then raise, because the folder is mixed.
    """
    content = folder.read(folder.settings) if folder.settings.exists() else {}
    other = of_other_session(manifest, content)
    refuse_mixed(folder, content, other)
    return f"{say_earlier(other)}; it is the one that answers here" if other else None


def refuse_mixed(folder: RunFolder, content: Mapping[str, Any], other: tuple[str, ...]) -> None:
    """Raise if a run has ended and its model is of another session: it is none of its own."""
    if other and content.get("state") == RunState.DONE:
        raise StoreError(
            f"'{folder.model_manifest}' was made for other settings than "
            f"'{folder.settings.name}' has ({'; '.join(other)}).",
            hint=TOGETHER,
        )
