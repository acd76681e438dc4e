"""A certifying run, read from its folder, and rows as that run saw them."""

from __future__ import annotations

import io
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from automl_admm.certify.certificate import read_certificate
from automl_admm.constraints.dry_run import columns_of, meet_data
from automl_admm.constraints.fitted_groups import say_other_groups
from automl_admm.core.errors import DataError, Remedy, StoreError
from automl_admm.core.evidence import Evidence, Timing
from automl_admm.core.read_only import own_frame
from automl_admm.core.returned_evidence import as_evidence
from automl_admm.data.columns import check_columns, quantities_of, refuse_in_target
from automl_admm.data.conforming import Place, row_of
from automl_admm.data.fingerprints import Hashes, fingerprint_rows
from automl_admm.data.ingest.answers import PLAIN, read_answer, read_sensitive, read_target
from automl_admm.data.ingest.applying import TakenIn, take_in
from automl_admm.data.ingest.records import ANSWERS, Ingest, read_ingest
from automl_admm.data.row_roles import NAMES, RoleColumns
from automl_admm.data.sensitive import known_columns
from automl_admm.execution.shared_state import unheard_warnings
from automl_admm.pipelines.build import predict_scores
from automl_admm.pipelines.predictions.checks import turn
from automl_admm.pipelines.predictions.measured import Table
from automl_admm.pipelines.predictions.wrappers import Numbered
from automl_admm.plugins.evaluated_pipeline import EvaluatedPipeline
from automl_admm.plugins.foreign_calls import measured_by
from automl_admm.plugins.loading import load_plugins
from automl_admm.plugins.records import Constraint
from automl_admm.runs.config import RunConfig
from automl_admm.runs.finish.model_file import load_model, rows_for_the_model
from automl_admm.runs.gone_plugins import telling_gone_plugins
from automl_admm.runs.prepare.assembly import resolve_constraints
from automl_admm.runs.prepare.set_aside import CALLS, trial_rows
from automl_admm.runs.saved.label_numbers import number_labels
from automl_admm.runs.session.model_run import read_run_of_model
from automl_admm.runs.session.written_limits import limit_as_text, with_its_groups
from automl_admm.store.file_schemas import OF_RUN
from automl_admm.store.json_content import RESTORE, read_file
from automl_admm.store.run_folder import RunFolder


@dataclass(frozen=True)
class RowsAside:
    """The rows set aside by a run: their places among all `rows` of its data.

    They are a `fraction` of these. `groups` has the names of the compared groups, and `measured`
    the timings and measurements of the shipped fit: no rows tell them again. Both are by limit,
    and empty in runs of older versions, as are the fraction and the `machine` of the timings. Only
    the rows `tested` among them count, None for all; `largest` is the largest weight of a group in
    the data.
    """

    rows: int
    places: tuple[int, ...]
    fraction: float | None = None
    groups: Mapping[str, Sequence[str]] = field(default_factory=dict)
    measured: Mapping[str, Any] = field(default_factory=dict)
    tested: tuple[int, ...] | None = None
    largest: float = 0.0
    machine: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        places = self.places
        if any(not 0 <= place < len(places) for place in self.tested or ()):
            raise ValueError("the rows tested are not among them")
        is_in = bool(places) and min(places) >= 0 and max(places) < self.rows
        if not is_in or len(set(places)) < len(places):
            raise ValueError(f"its places are not among {self.rows} rows")


@dataclass(frozen=True)
class CertifiedRun:
    """The files of a run: its `run.json`, the manifest of its model, its rows set aside.

    `data` names the table that stands beside it in messages, and `place` the place of its rows,
    given their numbers in it.
    """

    folder: RunFolder
    content: Mapping[str, Any]
    manifest: Mapping[str, Any]
    aside: RowsAside
    pipeline: Any
    data: str
    place: Place = row_of

    @property
    def settings(self) -> Mapping[str, Any]:
        """The request, resolved."""
        return dict(self.content["settings"])

    @property
    def risk(self) -> float:
        """The total risk of all looks at its data."""
        return 1.0 - float(self.settings["certify"])

    def table(self, frame: Any) -> Table:
        """Rows as the search's own: features by name, the target as numbers, sensitive columns.

        The index of the frame has the numbers of the rows in the table of the user.
        """
        settings = self.settings
        if settings["target"] is None:
            raise StoreError(
                f"'{self.folder.path}' does not say which column is the target: its y had no name.",
                hint="Fit again with a y that has one, such as pandas.Series(y, name='target').",
            )
        roles = self.roles
        for name in [settings["target"], *settings["sensitive"], *roles.values()]:
            if name not in frame.columns:
                raise DataError(f"{self.data} has no column '{name}', which the run was told of.")
        place, frame = _places_by_index(self.place, frame.index), frame.reset_index(drop=True)
        y, classes = self._target(frame[settings["target"]], place), None
        if self.manifest["classes"] is not None:
            classes, y = self._classes(y, place)
        taken = self.taken_in(frame, place)
        wanted = columns_of(self.limits())
        sensitive = frame[settings["sensitive"]] if settings["sensitive"] else None
        sensitive = read_sensitive(sensitive, self._answers, place)
        known = known_columns(sensitive, taken.for_limits(), wanted)
        return Table(taken.made, y, classes, known, self._columns(frame).read())

    def for_limits(self, frame: Any) -> Any:
        """Return the rows with all numbers in text as numbers, as limits see them."""
        seen = self.taken_in(frame).for_limits()
        read = read_sensitive(frame, self._answers).copy(deep=False)
        for name in seen.columns:
            read[name] = seen[name]
        return read

    def _target(self, column: Any, place: Place) -> Any:
        """Return the values of the target; raise on the first row without one, or no number."""
        refuse_in_target(column.isna(), f"the target '{column.name}' is missing", place)
        values = read_target(column, self._answers, place).to_numpy()
        if self.manifest["classes"] is not None:
            return values
        return quantities_of(values, f"the target '{column.name}'", place)

    def taken_in(self, frame: Any, place: Place = row_of) -> TakenIn:
        """The features of rows, and the table that the model is given."""
        ingest, columns = read_ingest(self.manifest), self.manifest["columns"]
        if ingest is None:
            X = check_columns(frame, columns)
            return TakenIn(X, X, Ingest())
        # A limit may compare groups by a column that the model is not given.
        left = [name for name in ingest.by_name() if name not in columns and name in frame.columns]
        return take_in(check_columns(frame, [*columns, *left]), ingest, place)

    @property
    def roles(self) -> dict[str, str]:
        """The names of columns with weights, groups or times, by their role."""
        known = {role: self.settings.get(role) for role in NAMES}
        return {role: name for role, name in known.items() if name is not None}

    def counted(self, frame: Any) -> Any:
        """Return the rows with a weight above 0: the run left out the others.

        They keep their index.
        """
        if self.roles.get("weight") not in frame.columns:
            return frame
        mask = self._columns(frame).counted()
        return frame if mask is None else frame[mask]

    def _columns(self, frame: Any) -> RoleColumns:
        known = {r: frame[n].reset_index(drop=True) for r, n in self.roles.items() if n in frame}
        if "weight" in known:
            known["weight"] = read_answer(known["weight"], self._answers)
        return RoleColumns(**known)

    @property
    def _answers(self) -> Ingest:
        """The readings of numbers in text in the columns that are no features."""
        return read_ingest(self.manifest, ANSWERS) or PLAIN

    def _classes(self, labels: Any, place: Place) -> tuple[Any, Any]:
        """The labels of the classes, the positive one last, and the number of each row's."""
        names, positive = list(self.manifest["classes"]), self.manifest.get("positive")
        if positive is not None and positive not in names:
            reason = f"'{self.folder.model_manifest}' has no class '{positive}' to be positive."
            raise StoreError(reason)
        classes = np.asarray(self.pipeline.classes_)
        numbers = number_labels(labels, names, self.settings["target"], place)
        if len(names) == 2 and positive == names[0]:
            return classes[::-1], 1 - numbers
        return classes, numbers

    def limits(self) -> tuple[Constraint, ...]:
        """Return its limits, measured by the installed functions of their names."""
        config = RunConfig(
            constraints=tuple(map(limit_as_text, self.settings["limits"])),
            cost=self.settings.get("cost"),
            column_cost=self.settings.get("column_cost"),
        )
        items = self.settings["limits"]
        with telling_gone_plugins(self.content):
            found = resolve_constraints(config, load_plugins(quietly=True))
        try:
            return tuple(map(with_its_groups, found, items))
        except ValueError as problem:
            told_by = (
                self.folder.model_manifest if OF_RUN in self.manifest else self.folder.settings
            )
            raise StoreError(f"'{told_by}' is damaged: {problem}.", hint=RESTORE) from problem

    def other_groups(self, table: Table) -> tuple[str, ...]:
        """Say which groups of these rows are new, and which of the run are not among them.

        Older runs did not write down their groups.
        """
        known = [item.get("groups", ()) for item in self.settings["limits"]]
        pairs = zip(self.limits(), known, strict=True)
        return tuple(
            said for one, names in pairs for said in say_other_groups(one, table.sensitive, names)
        )

    def constraints(self, table: Table) -> tuple[Constraint, ...]:
        """Return its limits with their compared groups; an older run's come from the rows."""
        return meet_data(self.limits(), trial_rows(table), self.aside.groups)

    def evidence(
        self, table: Table, constraints: Sequence[Constraint], tested: Any = None
    ) -> list[Evidence]:
        """Measure the limits on the model now; facts of the fit alone are unknown.

        Limits on rows count the rows `tested`, None for all.
        """
        numbered = self.pipeline
        if table.classes is not None:
            numbered = Numbered(self.pipeline, table.classes)
        with unheard_warnings(), rows_for_the_model():
            evaluated = EvaluatedPipeline(
                pipeline=numbered,
                X=table.X,
                y=table.y,
                predictions=turn(predict_scores(self.pipeline, own_frame(table.X)), table.classes),
                fit_seconds=math.nan,
                predict_seconds=math.nan,
                decisions=np.asarray(numbered.predict(own_frame(table.X))),
                sensitive=table.sensitive,
                weights=table.roles.weights,
                calls=CALLS,
                saved_bytes=self.folder.model.stat().st_size,
                origins=None
                if (ingest := read_ingest(self.manifest)) is None
                else ingest.origins(),
                spreads=self.content["data"].get("spreads"),
            )
            drawn = evaluated
            if tested is not None:  # drawn by their weights, they count alike
                drawn = replace(evaluated.part(tested), weights=None)
            on = {"statistical": drawn}
            return [measured_by(c.function, on.get(c.kind, evaluated)) for c in constraints]

    def hashes(self) -> Hashes | None:
        """Return a number for each row of its data, in their order; older runs wrote none.

        They are those of the certificate: with others the run's own rows would pass for fresh ones.
        """
        path, expected = self.folder.row_hashes, self._hash_of_data()
        found = _read_hashes(path)
        if found is None:
            if expected:
                raise StoreError(f"'{path}' is missing.", hint=RESTORE)
            return None
        if len(found) != self.aside.rows:
            raise _unreadable(path, f"it has {len(found)} rows")
        if expected and fingerprint_rows(found) != expected:
            raise _unreadable(path, "it is of other rows than the certificate")
        return found

    def _hash_of_data(self) -> str:
        """Return the hash of all rows in the certificate; older ones have none."""
        if not self.folder.certificate.exists():
            return ""
        return read_certificate(self.folder.certificate).data_sha256

    def recorded(self, constraint: Constraint, seen: Evidence) -> Evidence | None:
        """Return the run's own timing or measurement; None if there is no record."""
        found = self.aside.measured.get(str(constraint.limit))
        if isinstance(seen, Timing) and isinstance(found, list):
            return replace(seen, values=np.array(found, dtype=float))
        return as_evidence(found) if isinstance(found, float) else None


def read_certified(folder: RunFolder, data: str, place: Place = row_of) -> CertifiedRun:
    """Read a certifying run; the model last, because it tells of plugins."""
    content, manifest = read_run_of_model(folder), folder.read(folder.model_manifest)
    if content.get("settings", {}).get("certify") is None:
        raise StoreError(
            f"'{folder.path}' holds no certificate.",
            hint=Remedy("Fit with {certify=0.95} to get one."),
        )
    aside = read_rows_aside(folder)
    return CertifiedRun(folder, content, manifest, aside, load_model(folder), data, place)


def read_rows_aside(folder: RunFolder) -> RowsAside:
    """Read the places of the rows set aside; raise if the run set none aside."""
    if not folder.rows_set_aside.exists():
        if folder.certificate.exists():
            raise StoreError(f"'{folder.rows_set_aside}' is missing.", hint=RESTORE)
        raise StoreError(
            f"'{folder.path}' holds no certificate.", hint="There was no time left to test."
        )
    said = folder.read(folder.rows_set_aside)
    try:
        rows, places = int(said["rows"]), tuple(map(int, said["places"]))
        fraction = said.get("fraction")
        groups = {limit: list(map(str, names)) for limit, names in said.get("groups", {}).items()}
        share = None if fraction is None else float(fraction)
        tested, largest = said.get("tested"), float(said.get("largest") or 0.0)
        drawn = None if tested is None else tuple(map(int, tested))
        measured, known = dict(said.get("measured", {})), dict(said.get("machine", {}))
        return RowsAside(rows, places, share, groups, measured, drawn, largest, known)
    except (KeyError, TypeError, ValueError, AttributeError) as problem:
        reason = f"it has no {problem}" if isinstance(problem, KeyError) else str(problem)
        raise StoreError(f"'{folder.rows_set_aside}' cannot be read: {reason}.") from problem


def _places_by_index(place: Place, index: Any) -> Place:
    return lambda number: place(int(index[number]))


def _read_hashes(path: Path) -> Hashes | None:
    try:
        found = np.load(io.BytesIO(read_file(path)), allow_pickle=False)
    except FileNotFoundError:
        return None
    except (OSError, ValueError, EOFError) as problem:
        raise _unreadable(path, str(problem)) from problem
    if found.ndim != 1 or found.dtype != np.uint64:
        raise _unreadable(path, "it holds something else")
    return np.asarray(found)


def _unreadable(path: Path, reason: str) -> StoreError:
    return StoreError(f"'{path}' cannot be read: {reason}.", hint="Fit again.")
