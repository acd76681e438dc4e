"""A run folder as reports see it: read once, never written, also while the run goes on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from automl_admm.certify.certificate import Certificate, read_certificate
from automl_admm.core.errors import StoreError
from automl_admm.core.evaluations import Evaluation
from automl_admm.core.limits import Limit
from automl_admm.report.searched import Searched
from automl_admm.report.shown import demand_shown
from automl_admm.runs.saved.own_certificate import is_of_the_model, tell_other_script, tell_swapped
from automl_admm.runs.session.model_run import of_other_session, refuse_mixed, say_earlier
from automl_admm.runs.session.run_log import Log, read_log
from automl_admm.runs.session.written_limits import read_moved
from automl_admm.runs.standings import Standing
from automl_admm.store.files import StoreFiles
from automl_admm.store.json_content import read_file
from automl_admm.store.run_folder import RunFolder
from automl_admm.store.sqlite.lock import Holder, read_holder

if TYPE_CHECKING:
    from automl_admm.report.rows.given import GivenRows, RowsAsked


@dataclass(frozen=True)
class RunView:
    """The files of one run: `run.json`, its log, the manifest of its model, its certificate.

    `manifest`, `certificate` and `script` are None before the run has written them. A certificate
    of another model is left out, and then `is_foreign` is True. So is the model of an earlier
    session with other data or limits: then `earlier_model` tells the differences. `swapped` is a
    sentence if the file of the model is not the one that the manifest describes. `is_alive` is True
    while the process that writes the run lives on this host. `rows` are labelled ones of the user.
    """

    folder: RunFolder
    content: Mapping[str, Any]
    log: Log
    manifest: Mapping[str, Any] | None = None
    certificate: Certificate | None = None
    is_foreign: bool = False
    earlier_model: tuple[str, ...] = ()
    swapped: str | None = None
    script: str | None = None
    other_script: str | None = None
    is_alive: bool = False
    made: str = ""
    rows: GivenRows | None = None

    @property
    def settings(self) -> Mapping[str, Any]:
        """The settings of the run, resolved."""
        return self.log.settings

    @property
    def result(self) -> Mapping[str, Any]:
        """The end of the last session; empty while there is none."""
        found: Mapping[str, Any] = self.content.get("result") or {}
        return found

    @property
    def is_certified(self) -> bool | None:
        """True if the model's limits are proven; None before a model, or if no proof was asked."""
        if self.certificate is not None:
            return self.certificate.is_certified
        is_asked = self.settings.get("certify") is not None and self.manifest is not None
        return False if is_asked else None

    @property
    def untested(self) -> str | None:
        """The reason why a certifying run tested nothing of its model; None if it did."""
        return None if self.manifest is None else self.manifest.get("untested")

    @property
    def title(self) -> str:
        """The name of the data, else of the folder."""
        return str(self.content.get("title") or self.folder.path.name)

    @property
    def metric(self) -> str:
        """The name of the score."""
        return str(self.settings["metric"])

    @property
    def limits(self) -> tuple[Limit, ...]:
        """The limits, in the order of their values."""
        return self.log.limits

    @property
    def evaluations(self) -> tuple[Evaluation, ...]:
        """All evaluations, in the order of their numbers."""
        return self.log.evaluations

    @cached_property
    def searched(self) -> Searched:
        """The evaluations with their limits and their score."""
        return Searched(
            evaluations=self.evaluations,
            limits=self.limits,
            moved=read_moved(self.settings["limits"]),
            metric=self.metric,
            best_score=float(self.settings["metric_best"]),
            workers=int(self.settings["workers"]),
            sessions=tuple(self.content.get("sessions", ())),
        )

    @property
    def standings(self) -> tuple[Standing, ...]:
        """All evaluations, the ranked ones first, best first."""
        return self.searched.standings

    @property
    def feasible(self) -> frozenset[int]:
        """The numbers of the evaluations within the limits, on all rows and folds."""
        return self.searched.feasible

    @property
    def ranked(self) -> tuple[Evaluation, ...]:
        """The evaluations on all rows and folds, in the order of their numbers."""
        return self.searched.ranked

    @property
    def is_over(self) -> bool:
        """True if the last session has come to an end of its own."""
        return self.content.get("state") != "running"

    @property
    def learned_rows(self) -> int:
        """The number of rows that the final fit learns from: all that are not held out."""
        return int(self.content["data"]["rows"])

    @property
    def searched_rows(self) -> int:
        """The number of rows that evaluations share: a part of large data, else all of them."""
        share = self.content["request"].get("searched_rows")
        return self.learned_rows if share is None else min(int(share), self.learned_rows)

    def score(self, evaluation: Evaluation) -> float:
        """Return the score of an evaluation: losses are minimised, scores maximised."""
        return self.searched.score(evaluation)


def read_view(path: Path, asked: RowsAsked | None = None) -> RunView:
    """Read a run folder; raise a StoreError in one line if it is none, or damaged.

    Only for labelled rows the model is loaded.
    """
    folder = RunFolder(path)
    content = folder.read(folder.settings)
    demand_shown(content, folder.settings)
    log = read_log(folder)
    manifest = _manifest(folder)
    _demand_model(folder, content, manifest)
    earlier = () if manifest is None else of_other_session(manifest, content)
    refuse_mixed(folder, content, earlier)
    if earlier and asked is not None:
        raise _no_rows_beside(folder, earlier)
    certificate = None if earlier else _certificate(folder)
    is_ours = certificate is not None and is_of_the_model(folder, certificate, manifest)
    holder = read_holder(StoreFiles(folder.store).lock)
    other_script = tell_other_script(folder, manifest)
    return RunView(
        folder=folder,
        content={**content, "sessions": _with_seconds(content.get("sessions", ()), holder)},
        log=log,
        manifest=None if earlier else manifest,
        earlier_model=earlier,
        swapped=tell_swapped(folder, content, manifest),
        certificate=certificate if is_ours else None,
        is_foreign=certificate is not None and not is_ours,
        script=_text(folder.script) if other_script is None else None,
        other_script=other_script,
        is_alive=holder is not None and holder.is_alive,
        made=datetime.now(UTC).isoformat(timespec="seconds"),
        rows=_rows(folder, asked, manifest),
    )


def _with_seconds(
    sessions: Sequence[Mapping[str, Any]], holder: Holder | None
) -> list[Mapping[str, Any]]:
    """Return the sessions, one that was killed or goes on with the seconds that it last noted."""
    return [
        {**one, "seconds": holder.seconds}
        if one["seconds"] is None and holder is not None and holder.session == number
        else one
        for number, one in enumerate(sessions, start=1)
    ]


def _manifest(folder: RunFolder) -> Mapping[str, Any] | None:
    return folder.read(folder.model_manifest) if folder.model_manifest.exists() else None


def _demand_model(
    folder: RunFolder, content: Mapping[str, Any], manifest: Mapping[str, Any] | None
) -> None:
    """Raise if a file of a saved model is gone: there is nothing to predict with.

    The model is written before its manifest, and a run is done only after both.
    """
    is_saved = manifest is not None or content.get("state") == "done"
    for path in (folder.model_manifest, folder.model):
        if is_saved and not path.exists():
            raise StoreError(
                f"'{folder.path}' holds no {path.name}, though its run saved a model.",
                hint="Restore it, or resume the run.",
            )


def _no_rows_beside(folder: RunFolder, earlier: tuple[str, ...]) -> StoreError:
    """Return the error of labelled rows for a model that the rest of the report is not about."""
    return StoreError(
        f"{say_earlier(earlier)}; labelled rows would be shown of a model that '{folder.path}' is "
        "not about any more.",
        hint=f"`automl-admm evaluate {folder.path} DATA` measures it.",
    )


def _certificate(folder: RunFolder) -> Certificate | None:
    return read_certificate(folder.certificate) if folder.certificate.exists() else None


def _text(path: Path) -> str | None:
    if not path.exists():
        return None
    return read_file(path).decode("utf-8", "replace")


def _rows(
    folder: RunFolder, asked: RowsAsked | None, manifest: Mapping[str, Any] | None
) -> GivenRows | None:
    """Return the answers of the model to labelled rows, if there are any."""
    if asked is None:
        return None
    # Models need scikit-learn, which a look at a run does not wait for.
    from automl_admm.report.rows.given import read_given

    return read_given(folder, asked, manifest)
