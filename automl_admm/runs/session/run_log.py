"""The log of a run as commands show it: its settings, its limits and its evaluations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any

from automl_admm.core.errors import StoreError
from automl_admm.core.evaluations import Evaluation
from automl_admm.core.limits import Limit
from automl_admm.runs.session.begun_change import refuse_half_changed
from automl_admm.runs.session.written_limits import read_limit
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
    """Read a run folder; raise if its settings and its evaluations have other limits."""
    settings = folder.read(folder.settings)["settings"]
    evaluations = read_evaluations(folder)
    check_limits(folder, settings, evaluations)
    return Log(settings, tuple(map(read_limit, settings["limits"])), evaluations)


def check_limits(
    folder: RunFolder, settings: Mapping[str, Any], evaluations: Sequence[Evaluation]
) -> None:
    """Raise if there are other limits in the settings of a run than values in its log."""
    limits = len(settings["limits"])
    if any(len(one.constraints) != limits for one in evaluations if one.ok):
        reason = "its limits are not those that were measured"
        raise StoreError(f"'{folder.settings}' is damaged: {reason}.", hint=RESTORE)
