"""The model of an earlier session: it stays if no better one could be fitted.

A certified one stays, too, if the later walk certifies nothing: its proof still holds.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from automl_admm.certify.certificate import Certificate, read_certificate
from automl_admm.core.errors import StoreError
from automl_admm.core.evaluations import ONE_CLASS, Evaluation
from automl_admm.core.ranking import rank
from automl_admm.core.results import EvaluationResult
from automl_admm.pipelines.fit_results import FinalFitResult, as_interval
from automl_admm.pipelines.thresholds.cost import NAME as COST
from automl_admm.runs.finish.certification import Examined, is_certified
from automl_admm.runs.finish.ensemble import Ensemble
from automl_admm.runs.finish.final_fit import Refit
from automl_admm.runs.finish.noted_thresholds import read_thresholds
from automl_admm.runs.finish.of_folds import read_of_folds
from automl_admm.runs.finish.run_files import SEEN_LOSS
from automl_admm.runs.prepare.preparation import Preparation
from automl_admm.runs.session.model_run import of_other_session
from automl_admm.runs.session.run_json import describe_run
from automl_admm.runs.session.session import Session


@dataclass(frozen=True)
class Proven:
    """The certified model of an earlier session, its certificate, and the `cost` of its errors."""

    refit: Refit
    certificate: Certificate
    cost: str | None = None

    def stays_before(self, refit: Refit, examined: Examined | None, cost: str | None) -> bool:
        """Return True if a later walk certified nothing, or this pipeline with no better decisions.

        A later look has a smaller risk, so its certificate of the same promises less.
        """
        if examined is None or not is_certified(examined):
            return True
        if refit.evaluation.key != self.refit.evaluation.key or self.refit.of_folds is not None:
            return False
        earlier, later = self.certificate.price, examined.price
        if earlier is None or later is None:
            return earlier is later
        sign = -1.0 if earlier.utility == COST else 1.0
        is_like = (earlier.utility, self.cost) == (later.utility, cost)
        return is_like and sign * earlier.certified >= sign * later.certified


def proven_model_that_is_there(session: Session) -> Proven | None:
    """Return the certified model in the run's folder, if this run asks for the same proof.

    The certificates of all looks hold together with the promised confidence: a later look that does
    not pass takes nothing from an earlier one.
    """
    folder, aside, question = session.folder, session.prepared.aside, session.prepared.question
    if folder is None or aside is None or question is None:
        return None
    try:
        certificate = read_certificate(folder.certificate)
        manifest = folder.read(folder.model_manifest)
    except StoreError:
        return None
    asked = (question.rows, question.data, aside.risk, manifest.get("sha256"))
    told = (certificate.rows_sha256, certificate.data_sha256, certificate.risk)
    if not certificate.is_certified or (*told, certificate.model_sha256) != asked:
        return None
    # Without these it cannot be verified.
    if not (folder.rows_set_aside.is_file() and folder.row_hashes.is_file()):
        return None
    refit = _model_in(session)
    if refit is None:
        return None
    return Proven(_as_certified(refit, manifest, session), certificate, manifest.get("cost"))


def _as_certified(refit: Refit, manifest: Mapping[str, Any], session: Session) -> Refit:
    """Return a model with the thresholds that were tested, and its numbers at these."""
    evaluation = replace(
        refit.evaluation,
        loss=session.prepared.metric.loss(float(manifest["validation_score"])),
        constraints=_values(manifest),
        details={**refit.evaluation.details, **read_thresholds(manifest)},
    )
    return replace(refit, evaluation=evaluation)


def model_that_is_there(session: Session) -> Refit | None:
    """Return the model in the run's folder; a certifying run has tests, and compares by these."""
    return None if session.prepared.aside is not None else _model_in(session)


def _model_in(session: Session) -> Refit | None:
    """Return the model in the run's folder, if it is whole, and its evaluation still counts.

    Evaluations on other data, or for other limits, are no longer in the log, or measured anew. A
    session with other data that was killed leaves others, maybe of the same number and text.
    """
    folder, prepared = session.folder, session.prepared
    if folder is None or not folder.model.is_file():
        return None
    try:
        manifest = folder.read(folder.model_manifest)
    except StoreError:
        return None
    limits = [str(constraint.limit) for constraint in prepared.constraints]
    ensemble = _ensemble_of(manifest, session.past.evaluations)
    evaluation = _evaluation_of(manifest, session.past.evaluations)
    of_folds = read_of_folds(manifest)
    if ensemble is not None:
        evaluation = _as_it_was(ensemble, manifest, prepared)
    elif evaluation is not None:
        evaluation = replace(evaluation, constraints=_values(manifest))
    is_whole = hashlib.sha256(folder.model.read_bytes()).hexdigest() == manifest.get("sha256")
    if evaluation is None or not is_whole or list(manifest["constraints"]) != limits:
        return None
    if of_other_session(manifest, describe_run(prepared)):
        return None
    return Refit(evaluation, _measured(manifest, limits), ensemble=ensemble, of_folds=of_folds)


def _measured(manifest: Mapping[str, Any], limits: list[str]) -> FinalFitResult:
    return FinalFitResult(
        one_class=manifest[ONE_CLASS],
        held_out_score=manifest["held_out_score"],
        held_out_interval=as_interval(manifest["held_out_interval"]),
        held_out_rows=manifest["held_out_rows"],
        held_out_constraints=_held_out(manifest, limits),
        held_out_one_class=manifest["held_out_one_class"],
        held_out_decisions=manifest["held_out_decisions"],
        types=tuple(manifest["trusted_types"]),
        seen_loss=_as_float(manifest[SEEN_LOSS]),
    )


def _as_float(value: float | None) -> float:
    return math.nan if value is None else float(value)


def _values(manifest: Mapping[str, Any]) -> tuple[float, ...]:
    """Return the values of the limits, on validation rows or as measured on the model."""
    return tuple(map(_as_float, manifest["constraints"].values()))


def _held_out(manifest: Mapping[str, Any], limits: list[str]) -> tuple[float, ...]:
    """Return the values on held-out rows, if there are any."""
    values = manifest["held_out_constraints"]
    return tuple(map(_as_float, values.values())) if list(values) == limits else ()


def _ensemble_of(manifest: Mapping[str, Any], known: tuple[Evaluation, ...]) -> Ensemble | None:
    """Return the ensemble that a manifest describes, if all its evaluations are known."""
    content = manifest.get("ensemble")
    if content is None:
        return None
    return Ensemble.from_content(content, {one.number: one for one in known if one.ok})


def _as_it_was(
    ensemble: Ensemble, manifest: Mapping[str, Any], prepared: Preparation
) -> Evaluation:
    """Return the evaluation of an earlier ensemble, by the description of the model."""
    found = EvaluationResult(
        loss=prepared.metric.loss(float(manifest["validation_score"])),
        constraints=_values(manifest),
        details=read_thresholds(manifest),
    )
    return ensemble.as_evaluation(found, 0.0)


def _evaluation_of(manifest: Mapping[str, Any], known: tuple[Evaluation, ...]) -> Evaluation | None:
    """Return the evaluation named by a manifest, by its number and its text."""
    name = manifest.get("evaluation"), manifest.get("pipeline")
    return next((one for one in known if (one.number, one.text) == name and one.ok), None)


def is_better(there: Refit, fitted: Refit, session: Session) -> bool:
    """Return True if the earlier model ranks before the new one.

    They are judged by the limits of the user: what a search aims at gets tighter with each look,
    and of two certified models both are within. Of one pipeline its fit on all rows comes before
    its fold models, unless these are asked for. One whose fit went wrong is better than no sound
    one.
    """
    limits = session.prepared.limits
    if (there.went_wrong is None) is not (fitted.went_wrong is None):
        return there.went_wrong is None
    if there.evaluation.key == fitted.evaluation.key:
        is_less = fitted.of_folds is not None and not fitted.of_folds.is_asked
        return is_less and there.of_folds is None
    earlier = there.as_fitted
    return rank([fitted.as_fitted, earlier], limits)[0] is earlier
