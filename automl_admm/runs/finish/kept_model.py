"""The model of an earlier session: it stays if no better one could be fitted."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

from automl_admm.core.errors import StoreError
from automl_admm.core.evaluations import Evaluation
from automl_admm.core.ranking import rank
from automl_admm.pipelines.fit_results import FinalFitResult
from automl_admm.runs.finish.final_fit import Refit
from automl_admm.runs.session.session import Session


def model_that_is_there(session: Session) -> Refit | None:
    """Return the model in the run's folder, if it is whole, and its evaluation still counts.

    Evaluations on other data, or for other limits, are no longer in the log, or measured anew. A
    certifying run tests its models again.
    """
    folder, prepared = session.folder, session.prepared
    if folder is None or prepared.aside is not None or not folder.model.is_file():
        return None
    try:
        manifest = folder.read(folder.model_manifest)
    except StoreError:
        return None
    limits = [str(constraint.limit) for constraint in prepared.constraints]
    evaluation = _evaluation_of(manifest, session.past.evaluations)
    is_whole = hashlib.sha256(folder.model.read_bytes()).hexdigest() == manifest.get("sha256")
    if evaluation is None or not is_whole or list(manifest.get("constraints", ())) != limits:
        return None
    rows = manifest.get("held_out_rows")
    measured = FinalFitResult(
        held_out_score=manifest.get("held_out_score"),
        held_out_rows=rows if isinstance(rows, int) else 0,
        types=tuple(manifest.get("trusted_types", ())),
    )
    return Refit(evaluation, measured)


def _evaluation_of(manifest: Mapping[str, Any], known: tuple[Evaluation, ...]) -> Evaluation | None:
    """Return the evaluation named by a manifest, by its number and its text."""
    name = manifest.get("evaluation"), manifest.get("pipeline")
    return next((one for one in known if (one.number, one.text) == name and one.ok), None)


def is_better(there: Refit, fitted: Refit, session: Session) -> bool:
    """Return True if the earlier model ranks before the new one."""
    limits = session.prepared.aims
    first = rank([fitted.evaluation, there.evaluation], limits)[0]
    return first is there.evaluation and there.evaluation.key != fitted.evaluation.key
