"""A certificate computed again: the same model on the same rows has to give the same findings."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from automl_admm.certify.certificate import Certificate, read_certificate
from automl_admm.certify.verdicts import Finding
from automl_admm.certify.verification import verify
from automl_admm.data.columns import check_columns
from automl_admm.data.sensitive import known_columns
from automl_admm.errors import DataError, StoreError
from automl_admm.evaluation.objective import unheard_warnings
from automl_admm.evaluation.pipeline import predict_scores
from automl_admm.evaluation.seen import Table
from automl_admm.evaluation.views import Numbered
from automl_admm.evidence import Evidence, as_evidence
from automl_admm.limits.trial import TrialRows, columns_of, meet_data
from automl_admm.plugin_types import Constraint, EvaluatedPipeline
from automl_admm.plugins import load_plugins
from automl_admm.runner.assembly import resolve_constraints
from automl_admm.runner.certification import CALLS, judge_all
from automl_admm.runner.config import RunConfig, count_workers
from automl_admm.runner.files import fingerprint
from automl_admm.runner.model_file import load_model
from automl_admm.store.folder import RunFolder


@dataclass(frozen=True)
class Verified:
    """The certificate of a run, what was found again, and what differs, in sentences."""

    certificate: Certificate
    findings: tuple[Finding, ...]
    differences: tuple[str, ...]


def verify_run(folder: RunFolder, frame: Any) -> Verified:
    """Test the model of a run again on the rows that were set aside.

    `frame` has these rows alone, or all rows of the data in the order they had.
    """
    if not folder.certificate.exists():
        raise StoreError(
            f"'{folder.path}' holds no certificate.", hint="Fit with --certify to get one."
        )
    certificate = read_certificate(folder.certificate)
    settings = folder.read(folder.settings)["settings"]
    pipeline = load_model(folder)  # it tells which plugins were skipped, so that is done first
    table = _table(folder, settings, _rows_set_aside(folder, certificate, frame))
    constraints = _constraints(settings["limits"], table)
    # Calls are timed with as many threads as they were in the run; that holds for what is loaded.
    with threadpool_limits(max(count_workers(-1) // int(settings["workers"]), 1)):
        seen = _evidence(pipeline, table, constraints, certificate)
    findings = judge_all(seen, constraints, certificate.risk_spent)
    model = hashlib.sha256(folder.model.read_bytes()).hexdigest()
    differences = verify(certificate, model, fingerprint(table), findings)
    return Verified(certificate, findings, differences)


def _rows_set_aside(folder: RunFolder, certificate: Certificate, frame: Any) -> Any:
    known = folder.read(folder.rows_set_aside)
    if len(frame) == known["rows"]:
        return frame.iloc[known["places"]].reset_index(drop=True)
    if len(frame) == certificate.rows:
        return frame.reset_index(drop=True)
    raise DataError(
        f"DATA has {len(frame)} rows, and the run had {known['rows']}, of which "
        f"{certificate.rows} were set aside.",
        hint="Give the file that the run was made on, or just the rows set aside.",
    )


def _table(folder: RunFolder, settings: dict[str, Any], frame: Any) -> Table:
    """The rows as the search's own: features by name, the target as numbers, sensitive columns."""
    manifest = folder.read(folder.model_manifest)
    for name in [settings["target"], *settings["sensitive"]]:
        if name not in frame.columns:
            raise DataError(f"DATA has no column '{name}', which the certificate is about.")
    y, classes = frame[settings["target"]].to_numpy(), None
    if manifest["classes"] is not None:
        classes, y = np.unique(y, return_inverse=True)
        if [str(label) for label in classes] != manifest["classes"]:
            raise DataError(f"the target '{settings['target']}' has other classes than in the run.")
    X = check_columns(frame, manifest["columns"])
    wanted = columns_of(_resolved(settings["limits"]))
    sensitive = frame[settings["sensitive"]] if settings["sensitive"] else None
    return Table(X, y, classes, known_columns(sensitive, X, wanted))


def _resolved(limits: Sequence[dict[str, Any]]) -> tuple[Constraint, ...]:
    """The limits of the run, measured by what is installed under their names."""
    texts = (f"{x['name']} {'>=' if x['at_least'] else '<='} {x['bound']!r}" for x in limits)
    return resolve_constraints(RunConfig(constraints=tuple(texts)), load_plugins(quietly=True))


def _constraints(limits: Sequence[dict[str, Any]], table: Table) -> tuple[Constraint, ...]:
    """The limits of the run, made ready for these rows."""
    classes = 0 if table.classes is None else len(table.classes)
    rows = TrialRows(table.X, table.y, table.sensitive, classes)
    return meet_data(_resolved(limits), rows)


def _evidence(
    pipeline: Any, table: Table, constraints: tuple[Constraint, ...], certificate: Certificate
) -> list[Evidence]:
    """What the limits see of the model now; what only a fit can tell is taken from the run."""
    numbered = pipeline if table.classes is None else Numbered(pipeline, table.classes)
    with unheard_warnings():
        evaluated = EvaluatedPipeline(
            pipeline=numbered,
            X=table.X,
            y=table.y,
            predictions=np.asarray(predict_scores(pipeline, table.X)),
            fit_seconds=_claimed(certificate, "fit_seconds"),
            predict_seconds=math.nan,
            decisions=np.asarray(numbered.predict(table.X)),
            sensitive=table.sensitive,
            peak_mb=_claimed(certificate, "memory_mb"),
            calls=CALLS,
        )
        return [as_evidence(constraint.function(evaluated)) for constraint in constraints]


def _claimed(certificate: Certificate, name: str) -> float:
    found = (one.value for one in certificate.findings if one.limit.split()[0] == name)
    return next(found, math.nan)
