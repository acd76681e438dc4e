"""Rows as a finished run saw them: its columns, its target, its roles."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property, lru_cache
from types import MappingProxyType
from typing import Any

import numpy as np

from automl_admm.constraints.dry_run import columns_of
from automl_admm.core.errors import DataError, StoreError
from automl_admm.data.canonical_rows import WIDE_TYPE
from automl_admm.data.columns import check_columns, quantities_of
from automl_admm.data.conforming import Place, refuse_rows, row_of
from automl_admm.data.ingest.answers import PLAIN, read_answer, read_sensitive, read_target
from automl_admm.data.ingest.applying import TakenIn, take_in
from automl_admm.data.ingest.records import ANSWERS, Ingest, read_ingest
from automl_admm.data.row_hashes import RowHashes
from automl_admm.data.row_roles import NAMES, RoleColumns, Roles
from automl_admm.data.sensitive import known_columns
from automl_admm.data.table_schema import Column, read_schema
from automl_admm.pipelines.labels import text_of
from automl_admm.pipelines.predictions.measured import Table
from automl_admm.plugins.loading import load_plugins
from automl_admm.plugins.records import Constraint
from automl_admm.runs.config import RunConfig
from automl_admm.runs.gone_plugins import telling_gone_plugins
from automl_admm.runs.prepare.assembly import resolve_constraints
from automl_admm.runs.provenance import TARGET, feature_key, row_hashes_of
from automl_admm.runs.session.written_limits import limit_as_text, with_its_groups
from automl_admm.store.file_schemas import TARGET_TYPE
from automl_admm.store.json_content import RESTORE
from automl_admm.store.run_folder import RunFolder

# Types of numbers with a range and digits of their own, and their names in numpy.
NARROW: Mapping[str, str] = MappingProxyType(
    {
        **dict.fromkeys(("float16", "halffloat[pyarrow]"), "float16"),
        **dict.fromkeys(("float32", "Float32", "float[pyarrow]"), "float32"),
    }
)
MOST_EXACT = 2.0**53  # beyond it floats skip whole numbers


@dataclass(frozen=True)
class RunRows:
    """The files of a run, which say how it saw rows: its `run.json`, its model and the manifest.

    `data` names the table that stands beside it in messages, and `place` the place of its rows,
    given their numbers in it.
    """

    folder: RunFolder
    content: Mapping[str, Any]
    manifest: Mapping[str, Any]
    pipeline: Any
    data: str
    place: Place

    @property
    def settings(self) -> Mapping[str, Any]:
        """The request, resolved."""
        return dict(self.content["settings"])

    def table(self, frame: Any) -> Table:
        """Rows as the search's own: features by name, the target as numbers, sensitive columns.

        The index of the frame has the numbers of the rows in the table of the user.
        """
        settings = self.settings
        if settings["target"] is None:
            raise StoreError(
                f"'{self.folder.path}' does not say which column is the target: its y had no name.",
                hint="Fit again with a y that has one, such as pandas.Series(y, name='label').",
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
        wanted = columns_of(self.limits)
        sensitive = frame[settings["sensitive"]] if settings["sensitive"] else None
        sensitive = read_sensitive(sensitive, self._answers, place)
        known = known_columns(sensitive, taken.for_limits(), wanted)
        return Table(taken.made, y, classes, known, self._roles_of(frame, place))

    def row_hashes(self, table: Table) -> RowHashes:
        """Return the hashes of the rows of a `table`, by which those of the run are known."""
        narrow, target = self._narrow_types(table.names), self.content["data"].get(TARGET_TYPE)
        if target in NARROW:
            narrow[TARGET] = NARROW[target]
        return row_hashes_of(table, narrow)

    def _narrow_types(self, used: Iterable[str]) -> dict[str, str]:
        """Return the types of narrow columns in training, also of wide features made narrow.

        From Python a feature may have the name of a later column, and another type. A file has one
        column of that name, read in the type of the last.
        """
        kinds = [(one.name, one.dtype) for one in self._described if one.holds == "number"]
        read = {feature_key(name): kind for name, kind in kinds}
        first = {feature_key(name): kind for name, kind in reversed(kinds)}
        own = read | {key: first[key] for key in map(feature_key, used) if key in first}
        return {
            key: NARROW.get(kind, WIDE_TYPE)
            for key, kind in own.items()
            if kind in NARROW or kind != read[key]
        }

    def _roles_of(self, frame: Any, place: Place) -> Roles:
        # From Python a feature may have the name of a role, and another type: roles come last.
        types = {str(one.name): one.dtype for one in self._described}
        known = {role: types.get(name, "") for role, name in self.roles.items()}
        narrow = {role: NARROW[kind] for role, kind in known.items() if kind in NARROW}
        return self._columns(frame, place).read(narrow=narrow)

    @property
    def _described(self) -> tuple[Column, ...]:
        """The columns in training: features, the target, sensitive ones, and those with a role."""
        return read_schema(self.manifest).columns

    def for_limits(self, frame: Any) -> Any:
        """Return the rows with all numbers in text as numbers, as limits see them."""
        seen = self.taken_in(frame).for_limits()
        read = read_sensitive(frame, self._answers).copy(deep=False)
        for name in seen.columns:
            read[name] = seen[name]
        return read

    def _target(self, column: Any, place: Place) -> Any:
        """Return the values of the target; raise on the first row without one, or no number."""
        refuse_rows(column.isna(), f"the target '{column.name}' is missing", place)
        values = read_target(column, self._answers, place).to_numpy()
        if self.manifest["classes"] is not None:
            return values
        figures = quantities_of(values, f"the target '{column.name}'", place)
        return _in_type(figures, values, self.content["data"].get(TARGET_TYPE))

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
        place = _places_by_index(self.place, frame.index)
        mask = self._columns(frame, place).counted()
        return frame if mask is None else frame[mask]

    def _columns(self, frame: Any, place: Place) -> RoleColumns:
        known = {r: frame[n].reset_index(drop=True) for r, n in self.roles.items() if n in frame}
        if "weight" in known:
            known["weight"] = read_answer(known["weight"], self._answers, place)
        return RoleColumns(**known, place=place)

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

    @cached_property  # a command asks several times, and each time would load all plugins
    def limits(self) -> tuple[Constraint, ...]:
        """Its limits, measured by the installed functions of their names."""
        config = RunConfig(
            constraints=tuple(map(limit_as_text, self.settings["limits"])),
            cost=self.settings.get("cost"),
            column_cost=self.settings.get("column_cost"),
        )
        with telling_gone_plugins(self.content):
            found = resolve_constraints(config, load_plugins(quietly=True))
        try:
            return tuple(map(with_its_groups, found, self.settings["limits"]))
        except ValueError as problem:
            told_by = self.folder.model_manifest
            raise StoreError(f"'{told_by}' is damaged: {problem}.", hint=RESTORE) from problem


def _places_by_index(place: Place, index: Any) -> Place:
    return lambda number: place(int(index[number]))


def _in_type(figures: Any, values: Any, known: str | None) -> Any:
    """Return quantities in the type of the run's own, by which hashes of rows are told.

    Where it does not say one, it is that of the file. Quantities that this type has not stay as
    they are, such as those with digits after the point; beside one beyond a narrow type the others
    have the digits of it.
    """
    given = values if values.dtype.kind in "biuf" else figures
    if known is None:
        return given
    with np.errstate(all="ignore"):  # beyond the range of the type
        cast = given.astype(known)
    if cast.dtype.kind != "f":
        return cast if np.array_equal(cast, given) else figures
    is_held = np.isfinite(cast)
    return cast if is_held.all() else np.where(is_held, cast.astype(float), figures)


def number_labels(labels: Any, classes: Sequence[str], target: str, place: Place) -> Any:
    """Return the numbers of labels, by their names in the manifest; raise for an unknown one."""
    numbers = {name: number for number, name in enumerate(classes)}
    texts = [next((text for text in _texts(one) if text in numbers), None) for one in labels]
    found = [-1 if text is None else numbers[text] for text in texts]
    if -1 in found:
        row = found.index(-1)
        said = f"{place(row)}: column '{target}' holds '{labels[row]}'"
        hint = f"Its classes are: {', '.join(classes)}."
        raise DataError(f"{said}, which is no class of the run.", hint=hint)
    return np.array(found, dtype=np.intp)


def _texts(label: Any) -> Iterator[str]:
    """Yield the texts that a label may have in a manifest."""
    yield text_of(label)
    # As in features 1 and 1.0 are one number: gaps make floats of whole numbers.
    is_number = isinstance(label, int | float | np.integer | np.floating)
    if is_number and type(label) is not bool and _is_whole(label):
        yield from (text_of(int(label)), text_of(float(label)))
    if isinstance(label, str):
        yield from _moments(label)


@lru_cache
def _moments(text: str) -> tuple[str, ...]:
    """Return the names of the date and of the duration that a text may be, as `predict` writes."""
    import pandas as pd

    found = []
    for kind in (pd.Timestamp, pd.Timedelta):
        with suppress(ValueError, OverflowError):
            found.append(text_of(kind(text)))
    return tuple(found)


def _is_whole(label: Any) -> bool:
    """Return True for a whole number; a large float may stand for several, and is none."""
    is_float = isinstance(label, float | np.floating)
    return float(label).is_integer() and not (is_float and abs(label) > MOST_EXACT)
