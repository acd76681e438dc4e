"""The log of a run as commands show it: its settings, its limits and its evaluations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any

from automl_admm.core.errors import StoreError
from automl_admm.core.evaluations import Evaluation
from automl_admm.core.limits import Limit
from automl_admm.pipelines.thresholds.elsewhere import without_unmeasured
from automl_admm.runs.session.begun_change import refuse_half_changed
from automl_admm.runs.session.written_limits import moved_relative, named_as, read_limit
from automl_admm.store.file_schemas import RUN_ID
from automl_admm.store.json_content import RESTORE
from automl_admm.store.run_folder import RunFolder
from automl_admm.store.sqlite.log import SqliteStore


@dataclass(frozen=True)
class Log:
    """The request in `run.json`, and the evaluations."""

    settings: Mapping[str, Any]
    limits: tuple[Limit, ...]
    evaluations: tuple[Evaluation, ...]


def read_evaluations(folder: RunFolder) -> tuple[Evaluation, ...]:
    """Return all evaluations of a run folder; raise if a kill has cut a change of it short."""
    refuse_half_changed(folder)
    with closing(SqliteStore(folder.store)) as store:
        return tuple(store.read())


def read_log(folder: RunFolder) -> Log:
    """Read a run folder; raise if its settings and its evaluations have other limits.

    Values at other thresholds that an earlier version did not measure are NaN.
    """
    settings = folder.read(folder.settings)["settings"]
    evaluations = read_evaluations(folder)
    check_limits(folder, settings, evaluations)
    items = settings["limits"]
    sound = tuple(without_guesses(evaluations, items))
    return Log(settings, tuple(map(read_limit, items)), sound)


def without_guesses(
    evaluations: Sequence[Evaluation], items: Sequence[Mapping[str, Any]]
) -> Sequence[Evaluation]:
    """Return evaluations without the values that earlier versions told at other thresholds.

    `items` are the limits. Only values of limits on decisions relative to the baseline were wrong.
    """
    places = moved_relative(items)
    if not places:
        return evaluations
    return [without_unmeasured(one, places) for one in evaluations]


def is_for_limits(manifest: Mapping[str, Any], limits: Sequence[Limit]) -> bool:
    """Return True unless a model was chosen for other limits, as by a session before these.

    Folders of older versions do not tell, and neither do models that no limit was measured on.
    """
    chosen = list(manifest.get("constraints") or ())
    asked = [str(named_as(limit, chosen)) for limit in limits]
    return RUN_ID not in manifest or not chosen or chosen == asked


def check_limits(
    folder: RunFolder, settings: Mapping[str, Any], evaluations: Sequence[Evaluation]
) -> None:
    """Raise if there are other limits in the settings of a run than values in its log."""
    limits = len(settings["limits"])
    if any(len(one.constraints) != limits for one in evaluations if one.ok):
        reason = "its limits are not those that were measured"
        raise StoreError(f"'{folder.settings}' is damaged: {reason}.", hint=RESTORE)
