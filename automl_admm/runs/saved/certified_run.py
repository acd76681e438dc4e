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
from automl_admm.constraints.dry_run import meet_data
from automl_admm.constraints.fitted_groups import say_other_groups
from automl_admm.core.errors import Remedy, StoreError
from automl_admm.core.evidence import Evidence, Timing
from automl_admm.core.read_only import own_frame
from automl_admm.core.returned_evidence import as_evidence
from automl_admm.data.fingerprints import Hashes, fingerprint_rows
from automl_admm.data.ingest.applying import blanks_of
from automl_admm.data.ingest.records import Ingest, read_ingest
from automl_admm.data.row_hashes import RowHashes
from automl_admm.execution.shared_state import unheard_warnings
from automl_admm.pipelines.build import predict_scores
from automl_admm.pipelines.predictions.checks import turn
from automl_admm.pipelines.predictions.measured import Table
from automl_admm.pipelines.predictions.wrappers import Numbered
from automl_admm.plugins.evaluated_pipeline import EvaluatedPipeline
from automl_admm.plugins.foreign_calls import measured_by
from automl_admm.plugins.records import Constraint
from automl_admm.runs.finish.model_file import read_model, rows_for_the_model, unpack_model
from automl_admm.runs.prepare.set_aside import CALLS, trial_rows
from automl_admm.runs.saved.given_table import GivenTable
from automl_admm.runs.saved.rows_of_run import RunRows
from automl_admm.runs.session.model_run import read_run_of_model
from automl_admm.store.file_schemas import LARGEST_TOTAL
from automl_admm.store.json_content import RESTORE, read_file
from automl_admm.store.run_folder import RunFolder


@dataclass(frozen=True)
class RowsAside:
    """The rows set aside by a run: their places among all `rows` of its data.

    They are a `fraction` of these. `groups` has the names of the compared groups, and `measured`
    the timings and measurements of the shipped fit: no rows tell them again. Both are by limit.
    `machine` is that of the timings. Only the rows `tested` among them count, None for all.
    """

    rows: int
    places: tuple[int, ...]
    fraction: float | None = None
    groups: Mapping[str, Sequence[str]] = field(default_factory=dict)
    measured: Mapping[str, Any] = field(default_factory=dict)
    tested: tuple[int, ...] | None = None
    machine: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class CertifiedRun(RunRows):
    """A run with a certificate: its limits, the rows set aside for it, and the model's size."""

    aside: RowsAside
    saved_bytes: int

    @property
    def risk(self) -> float:
        """The total risk of all looks at its data."""
        return 1.0 - float(self.settings["certify"])

    def other_groups(self, table: Table) -> tuple[str, ...]:
        """Say which groups of these rows are new, and which of the run are not among them."""
        known = [item.get("groups", ()) for item in self.settings["limits"]]
        pairs = zip(self.limits, known, strict=True)
        return tuple(
            said for one, names in pairs for said in say_other_groups(one, table.sensitive, names)
        )

    def constraints(self, table: Table) -> tuple[Constraint, ...]:
        """Return its limits with their compared groups."""
        return meet_data(self.limits, trial_rows(table), self.aside.groups)

    def evidence(
        self,
        table: Table,
        constraints: Sequence[Constraint],
        tested: Any = None,
        *,
        is_proof: bool = True,
    ) -> list[Evidence]:
        """Measure the limits on the model now; facts of the fit alone are unknown.

        Limits on rows count the rows `tested`, None for all. For a proof these rows have no say in
        the columns that it is about.
        """
        numbered = self.pipeline
        if table.classes is not None:
            numbered = Numbered(self.pipeline, table.classes)
        ingest = read_ingest(self.manifest) or Ingest()
        origins = ingest.origins() or None
        with unheard_warnings(), rows_for_the_model(self.pipeline, table.X):
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
                saved_bytes=self.saved_bytes,
                origins=origins,
                spreads=self.content["data"].get("spreads"),
                blanks=blanks_of(ingest),
                filled=self.content["data"].get("filled") if is_proof else None,
            )
            drawn = evaluated
            if tested is not None:  # drawn by their weights, they count alike
                drawn = replace(evaluated.part(tested), weights=None)
            on = {"statistical": drawn}
            return [measured_by(c.function, on.get(c.kind, evaluated)) for c in constraints]

    def hashes(self) -> RowHashes | None:
        """Return the hashes of each row of its data, in their order; None of a run without any.

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
        if expected and fingerprint_rows(found.exact) != expected:
            raise _unreadable(path, "it is of other rows than the certificate")
        return found

    def _hash_of_data(self) -> str:
        """Return the hash of all rows in the certificate; empty without one."""
        if not self.folder.certificate.exists():
            return ""
        return read_certificate(self.folder.certificate).data_sha256

    def largest_total(self) -> float:
        """Return the largest weight of a group in its data; 0 if all rows count alike."""
        return float(self.content["data"].get(LARGEST_TOTAL, 0.0))

    def recorded(self, constraint: Constraint, seen: Evidence) -> Evidence | None:
        """Return the run's own timing or measurement; None if there is no record."""
        found = self.aside.measured.get(str(constraint.limit))
        if isinstance(seen, Timing) and isinstance(found, list):
            return replace(seen, values=np.array(found, dtype=float))
        return as_evidence(found) if isinstance(found, float) else None


def read_certified(folder: RunFolder, given: GivenTable) -> CertifiedRun:
    """Read a certifying run; the model last, because it tells of plugins."""
    manifest = given.manifest_in(folder)
    content = read_run_of_model(folder, manifest)
    if content["settings"].get("certify") is None:
        raise StoreError(
            f"'{folder.path}' holds no certificate.",
            hint=Remedy("Fit with {certify=0.95} to get one."),
        )
    return read_with_model(folder, content, manifest, given, read_rows_aside(folder))


def read_with_model(
    folder: RunFolder,
    content: Mapping[str, Any],
    manifest: Mapping[str, Any],
    given: GivenTable,
    aside: RowsAside,
) -> CertifiedRun:
    """Return a run with its model, whose file is read once and has its size."""
    file = read_model(folder, manifest)
    pipeline, named = unpack_model(folder, file, manifest), (given.title, given.place)
    return CertifiedRun(folder, content, manifest, pipeline, *named, aside, len(file))


def read_rows_aside(folder: RunFolder) -> RowsAside:
    """Read the places of the rows set aside; raise if the run set none aside."""
    if not folder.rows_set_aside.exists():
        if folder.certificate.exists():
            raise StoreError(f"'{folder.rows_set_aside}' is missing.", hint=RESTORE)
        raise StoreError(
            f"'{folder.path}' holds no certificate.", hint="There was no time left to test."
        )
    said = folder.read(folder.rows_set_aside)
    tested = said.get("tested")
    return RowsAside(
        rows=said["rows"],
        places=tuple(said["places"]),
        fraction=said["fraction"],
        groups=said["groups"],
        measured=said["measured"],
        tested=None if tested is None else tuple(tested),
        machine=said.get("machine", {}),
    )


def _read_hashes(path: Path) -> RowHashes | None:
    try:
        file = io.BytesIO(read_file(path))
        exact, *more = (_load(file) for _ in range(4))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, EOFError) as problem:
        raise _unreadable(path, str(problem)) from problem
    if any(len(one) != len(exact) for one in more):
        raise _unreadable(path, "its hashes are of different rows")
    return RowHashes(exact, *more)


def _load(file: io.BytesIO) -> Hashes:
    found = np.load(file, allow_pickle=False)
    if not isinstance(found, np.ndarray) or found.ndim != 1 or found.dtype != np.uint64:
        raise ValueError("it holds something else")
    return found


def _unreadable(path: Path, reason: str) -> StoreError:
    return StoreError(f"'{path}' cannot be read: {reason}.", hint="Fit again.")
