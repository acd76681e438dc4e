"""Files of a run over pipelines in its folder, beside the store."""

from __future__ import annotations

import hashlib
import io
import logging
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from automl_admm.certify.certificate import Certificate, encode_certificate
from automl_admm.constraints.group_comparison import Grouped
from automl_admm.core.evaluations import ONE_CLASS
from automl_admm.core.evidence import Evidence, Timing
from automl_admm.core.run import FallbackKind
from automl_admm.core.structure.pipeline_space import all_steps
from automl_admm.data.ingest.records import ANSWERS
from automl_admm.data.row_hashes import RowHashes
from automl_admm.data.table_schema import DECIMAL
from automl_admm.execution.task_folders import read_regular
from automl_admm.pipelines.fit_results import FinalFitResult
from automl_admm.pipelines.labels import positive_text, sorted_texts
from automl_admm.pipelines.row_weighing import names_of_weighers
from automl_admm.plugins.distributions import behind_types
from automl_admm.plugins.loading import is_ours
from automl_admm.plugins.records import Constraint
from automl_admm.runs.config import RunConfig
from automl_admm.runs.finish.decision_summary import explain_few_found
from automl_admm.runs.finish.model_file import trusted_types
from automl_admm.runs.finish.noted_thresholds import (
    WALKED,
    note_calibration,
    note_thresholds,
    walked_content,
)
from automl_admm.runs.finish.outcome import PipelineResult
from automl_admm.runs.finish.passed_over import WENT_WRONG, PassedOver, as_content
from automl_admm.runs.finish.script.pipeline_script import make_script, put_script
from automl_admm.runs.finish.walked_log import describe_log
from automl_admm.runs.prepare.preparation import Preparation
from automl_admm.runs.provenance import machine, row_hashes_of, versions
from automl_admm.runs.session.run_json import describe_run_of_model
from automl_admm.store.file_schemas import AS_SHIPPED, OF_RUN, RUN_FORMAT, RUN_ID, SCRIPT_SHA256
from automl_admm.store.json_content import FORMAT, with_digest
from automl_admm.store.run_folder import RunFolder, write_atomically, write_json

PASSED_OVER = "passed_over"
SEEN_LOSS = "seen_loss"

logger = logging.getLogger(__name__)


def write_model(
    folder: RunFolder, run_id: str | None, fitted: Path, outcome: PipelineResult
) -> None:
    """Write the fitted pipeline, a manifest with its description and its hash, and its script."""
    content, script = read_regular(fitted), make_script(outcome)
    write_atomically(folder.model, content)
    prepared, refit = outcome.preparation, outcome.refit
    ensemble = refit.ensemble
    is_single = outcome.fallback is None and ensemble is None
    manifest = {
        FORMAT: RUN_FORMAT,
        RUN_ID: run_id,
        "sha256": hashlib.sha256(content).hexdigest(),
        SCRIPT_SHA256: None if script is None else hashlib.sha256(script).hexdigest(),
        "pipeline": outcome.best.text,
        "evaluation": outcome.best.number if is_single else None,
        **describe_log(outcome.result.evaluations),
        "ensemble": None if ensemble is None else ensemble.as_content(prepared.metric),
        WALKED: walked_content(refit.walked),
        "fallback": outcome.fallback,
        PASSED_OVER: as_content(refit.passed_over),
        "untested": refit.untested,
        "alone": refit.alone,
        "of_folds": None if refit.of_folds is None else refit.of_folds.as_content(),
        "rows": refit.learned_rows or len(prepared.work.table.y),
        "task": prepared.task,
        "metric": prepared.metric.name,
        "validation_score": outcome.score,
        **_on_held_out(prepared.constraints, refit.measured),
        "feasible": outcome.result.feasible,
        "certified": outcome.is_certified,
        "certificate_sha256": _hash_of(outcome.certificate),
        ONE_CLASS: refit.one_class,
        SEEN_LOSS: _finite(refit.measured.seen_loss),
        WENT_WRONG: outcome.went_wrong,
        "constraints": _values(prepared.constraints, outcome.best.constraints),
        AS_SHIPPED: _as_shipped(outcome),
        "few_found": explain_few_found(outcome),
        **_of_the_table(outcome),
        **note_thresholds(outcome.best),
        **note_calibration(outcome.best),
        **_costs(prepared.config),
        "trusted_types": list(refit.measured.types),
        "versions": versions() | behind_types(refit.measured.types),
        OF_RUN: describe_run_of_model(prepared),
    }
    write_json(folder.model_manifest, with_digest(manifest))
    put_script(folder, script)
    tell_strangers(outcome)


def _of_the_table(outcome: PipelineResult) -> dict[str, Any]:
    """Return what a later table is held to, and the classes."""
    prepared = outcome.preparation
    table = prepared.work.table
    return {
        "columns": [str(one.name) for one in prepared.ingest.readings if not one.is_left_out],
        "text_columns": [str(name) for name in prepared.work.context.categorical],
        **outcome.learned,
        "schema": prepared.schema.describe(),
        **_decimal_commas(outcome),
        **prepared.ingest.as_content(),
        **prepared.answers.as_content(ANSWERS),
        "is_array": not hasattr(table.X, "columns"),
        "classes": None if table.classes is None else sorted_texts(table.classes),
        "positive": positive_text(table.classes),
    }


def _as_shipped(outcome: PipelineResult) -> list[str]:
    """Return the limits whose values were measured on the model that ships."""
    pairs = zip(outcome.preparation.constraints, outcome.as_shipped, strict=True)
    return [str(one.limit) for one, is_shipped in pairs if is_shipped]


def note_passed_over(folder: RunFolder, passed: Sequence[PassedOver]) -> None:
    """Note in the manifest of a model that stays the better evaluations passed over now."""
    manifest = folder.read(folder.model_manifest)
    content = as_content(passed)
    if manifest.get(PASSED_OVER) != content:
        write_json(folder.model_manifest, with_digest({**manifest, PASSED_OVER: content}))


def _on_held_out(constraints: Sequence[Constraint], found: FinalFitResult) -> dict[str, Any]:
    return {
        "held_out_score": found.held_out_score,
        "held_out_interval": found.held_out_interval,
        "held_out_rows": found.held_out_rows,
        "held_out_constraints": _values(constraints, found.held_out_constraints),
        "held_out_one_class": found.held_out_one_class,
        "held_out_decisions": dict(found.held_out_decisions),
    }


def _values(constraints: Sequence[Constraint], values: Sequence[float]) -> dict[str, float | None]:
    """Return a value for each limit; nothing if the limits could not be measured."""
    pairs = zip(constraints, values, strict=True) if values else ()
    return {str(one.limit): _finite(value) for one, value in pairs}


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _costs(config: RunConfig) -> dict[str, Any]:
    """Return the costs that the user gave, of decisions and of columns."""
    said = {"cost": config.cost, "column_cost": config.column_cost}
    return {name: value for name, value in said.items() if value is not None}


def _decimal_commas(outcome: PipelineResult) -> dict[str, str]:
    """Return the decimal sign of the training file if it was a comma."""
    sign = outcome.training_file.csv.get(DECIMAL)
    return {} if sign is None else {DECIMAL: sign}


def _hash_of(certificate: Certificate | None) -> str | None:
    if certificate is None:
        return None
    return hashlib.sha256(encode_certificate(certificate)).hexdigest()


def untrusted_types(outcome: PipelineResult) -> tuple[str, ...]:
    """Return the types in the shipped file that nobody installed here trusts."""
    return tuple(
        sorted({*outcome.refit.measured.types} - trusted_types(outcome.preparation.plugins))
    )


def tell_strangers(outcome: PipelineResult) -> None:
    """Warn of a component whose plugin does not name the types `predict` is to trust."""
    # A constant is no pipeline of the grammar: nobody's component is in it.
    if outcome.fallback is FallbackKind.CONSTANT:
        return
    prepared, strange = outcome.preparation, untrusted_types(outcome)
    registry = prepared.plugins.components[prepared.task]
    pipelines = list(map(prepared.grammar.pipelines.steps, outcome.candidates))
    used = {step.component for steps in pipelines for step in all_steps(steps)}
    names = sorted(used - names_of_weighers(pipelines, registry))  # these are not in the file
    foreign = [name for name in names if not is_ours(registry, name)]
    if foreign and strange:
        told = "%s: its trusted_types lack %s, so that `automl-admm predict` refuses the model"
        titles = " and ".join(map(registry.title, foreign))
        logger.warning(told, titles, ", ".join(strange))


def write_rows_aside(
    folder: RunFolder, run_id: str | None, prepared: Preparation, evidence: Sequence[Evidence]
) -> None:
    """Write the places of rows set aside, the run's own measurements, and the hashes of its rows.

    Each row has a number to tell it from others.
    """
    aside, places = prepared.aside, [int(place) for place in prepared.set_aside]
    content: dict[str, Any] = {
        **({} if run_id is None else {RUN_ID: run_id}),
        "rows": prepared.rows,
        "places": places,
        "fraction": None if aside is None else aside.fraction,
        "groups": {
            str(one.limit): list(one.function.names)
            for one in prepared.constraints
            if isinstance(one.function, Grouped)
        },
        "measured": {
            str(one.limit): _as_plain(seen)
            for one, seen in zip(prepared.constraints, evidence, strict=False)
            if one.kind == "measured"
        },
    }
    if content["measured"]:
        content["machine"] = machine()
    if prepared.work.tested is not None:
        content["tested"] = [int(place) for place in prepared.work.tested]
    write_json(folder.rows_set_aside, content)
    file, hashes = io.BytesIO(), _hashes(prepared)
    for kind in (hashes.exact, hashes.canonical, hashes.placed, hashes.written):
        np.save(file, kind)
    write_atomically(folder.row_hashes, file.getvalue())


def _as_plain(evidence: Evidence) -> float | list[float] | None:
    if isinstance(evidence, Timing):
        return [float(value) for value in evidence.values]
    return float(evidence.value) if math.isfinite(evidence.value) else None


def _hashes(prepared: Preparation) -> RowHashes:
    """Return the hashes of every row of the data, in their order."""
    hashes = RowHashes(*np.zeros((4, prepared.rows), dtype=np.uint64))
    aside = np.zeros(prepared.rows, dtype=bool)
    aside[prepared.set_aside] = True
    for places, table in ((~aside, prepared.work.table), (aside, prepared.work.held_out)):
        if table is not None:
            found = row_hashes_of(table)
            hashes.exact[places], hashes.canonical[places] = found.exact, found.canonical
            hashes.placed[places], hashes.written[places] = found.placed, found.written
    return hashes
