"""A run folder in Python: its evaluations and its course as frames, its model, its certificate."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import KW_ONLY, dataclass, fields, replace
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import Any

from automl_admm.api.run_frames import frame_of_evaluations, frame_of_states
from automl_admm.certify.certificate import Certificate
from automl_admm.core.errors import StoreError
from automl_admm.core.limits import Limit
from automl_admm.core.run import SavedRun
from automl_admm.data.ingest.records import Ingest, read_ingest
from automl_admm.data.ingest.reporting import table_of
from automl_admm.pipelines.fit_results import as_interval
from automl_admm.plugins.records import ComponentPlugin
from automl_admm.report.view import RunView, read_view
from automl_admm.runs.saved.loaded_model import LoadedClassifier, LoadedRegressor, load
from automl_admm.runs.saved.saved_run import read_saved_run
from automl_admm.runs.session.iterations import read_iterations
from automl_admm.store.run_folder import RunFolder


@dataclass(frozen=True)
class FolderRun(SavedRun):
    """The run in a folder, as `read_run` found it: call `read_run` again to see what came later.

    `best` leads the leaderboard. `feasible` tells if the model is within the limits, or `best`
    before there is a model. A killed run is `running` and not `is_alive`. Without a model, as in a
    run that goes on, `models` is empty, and the scores are None.

    >>> FolderRun.__mro__[1].__name__
    'SavedRun'
    """

    _: KW_ONLY
    view: RunView

    @property
    def folder(self) -> Path:
        """The folder of the run, independent of the process's present working folder."""
        return self.view.folder.path

    @property
    def is_alive(self) -> bool:
        """True while the run goes on in a process that lives on this host."""
        return not self.view.is_over and self.view.is_alive

    @property
    def settings(self) -> Mapping[str, Any]:
        """The resolved settings in `run.json`."""
        return self.view.settings

    @property
    def limits(self) -> tuple[Limit, ...]:
        """The limits, with their bounds as numbers."""
        return self.view.limits

    @cached_property
    def evaluations(self) -> Any:
        """A frame with a line for each evaluation; docs/reference/read_run.md has its columns."""
        # Of one moment: a run that goes on may have got further between two reads of its store.
        searched = replace(self.view.searched, evaluations=self.log)
        return frame_of_evaluations(searched, self.info.space)

    @cached_property
    def states(self) -> Any:
        """A frame with a line for each outer iteration of ADMM; empty for other strategies."""
        return frame_of_states(read_iterations(self.view.folder), self.limits)

    @property
    def models(self) -> tuple[Path, ...]:
        """The files of the model that shipped: the fitted pipeline, and a script that fits it."""
        if self.view.manifest is None:
            return ()
        script = () if self.view.script is None else (self.view.folder.script,)
        return tuple(path for path in (self.view.folder.model, *script) if path.exists())

    @property
    def model(self) -> Mapping[str, Any] | None:
        """The content of `model.json`."""
        return self.view.manifest

    def load_model(self) -> LoadedClassifier | LoadedRegressor:
        """Return the fitted model, ready for raw rows, as `automl_admm.load` does."""
        return load(self.folder)

    @property
    def certificate(self) -> Certificate | None:
        """The certificate of this model; None without one."""
        return self.view.certificate

    @property
    def validation_score(self) -> float | None:
        """The score of the model on the rows that chose it."""
        return self._said_of_model("validation_score")

    @property
    def held_out_score(self) -> float | None:
        """The score of the model on rows that it never saw; None if none were held out."""
        return self._said_of_model("held_out_score")

    @property
    def held_out_interval(self) -> tuple[float, float] | None:
        """The 95 % interval of that score, by a bootstrap; None for none."""
        return as_interval((self.model or {}).get("held_out_interval"))

    @property
    def data_notes(self) -> Any:
        """A frame with the kind of each column, and what was noted of it; by name of column."""
        return table_of(read_ingest(self.content) or Ingest(()))

    def _said_of_model(self, name: str) -> float | None:
        found = (self.model or {}).get(name)
        return None if found is None else float(found)

    def __repr__(self) -> str:
        count = "1 evaluation" if len(self.log) == 1 else f"{len(self.log)} evaluations"
        return f"<run '{self.folder}': {self.state}, {count}>"


def read_run(path: str | PathLike[str], *, components: Iterable[ComponentPlugin] = ()) -> FolderRun:
    """Read the run in a folder: finished, killed, or going on in another process.

    Nothing in the folder changes. A folder that holds no run, is damaged, or whose components are
    not installed raises an error in one line. Give `components` that the run was given as records.

    >>> read_run("nowhere")
    Traceback (most recent call last):
    automl_admm.core.errors.StoreError: 'nowhere' holds no run.json. Name the folder that …
    """
    folder = Path(path)
    if folder.exists() and not folder.is_dir():
        raise StoreError(f"'{folder}' is no folder.", hint="Name the folder of a run.")
    view, saved = read_view(folder), read_saved_run(folder, components)
    known = {one.name: getattr(saved, one.name) for one in fields(SavedRun)}
    # Its files are read when they are asked for, and the working folder may be another one then.
    place = folder.absolute()
    known["info"] = replace(saved.info, folder=place)
    return FolderRun(**known, view=replace(view, folder=RunFolder(place)))
