"""The files of a model that ships: written, measured on held-out rows, and loaded once."""

from __future__ import annotations

import math
import pickle
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from automl_admm.core.errors import InvalidOutcome
from automl_admm.core.evidence import Estimate, Evidence
from automl_admm.core.messages import say_error
from automl_admm.execution.evidence_files import encode_evidence, hash_files
from automl_admm.execution.shared_state import unheard_warnings
from automl_admm.execution.skops_import import import_skops, save_pipeline
from automl_admm.pipelines.as_code import PipelineCode, code_of, without_thresholds
from automl_admm.pipelines.fit_results import FinalFitResult
from automl_admm.pipelines.limit_values import evidence_of, value_of
from automl_admm.pipelines.memory_peak import peak_mb
from automl_admm.pipelines.predictions.decisions import (
    decisions_of,
    one_class_of,
    only_class,
    rates_of,
)
from automl_admm.pipelines.predictions.measured import Table
from automl_admm.pipelines.score_interval import score_interval
from automl_admm.pipelines.seen_loss import seen_loss
from automl_admm.pipelines.shipped_costs import SHIPPED, is_fact, measure_costs
from automl_admm.pipelines.thresholds.by_group import Thresholds
from automl_admm.pipelines.thresholds.cuts import cut_scores, has_both
from automl_admm.pipelines.thresholds.decider import bar_of, scores_of
from automl_admm.pipelines.thresholds.fixed import fix
from automl_admm.pipelines.thresholds.path import moves
from automl_admm.pipelines.thresholds.single import decide
from automl_admm.plugins.evaluated_pipeline import EvaluatedPipeline
from automl_admm.plugins.records import Constraint

if TYPE_CHECKING:
    from automl_admm.pipelines.work import PipelineWork

EVIDENCE = "evidence.json"
STOPS = "stops.json"
PICKLE = "model.pickle"
ROWS_ASKED = 10_000


def ship(
    work: PipelineWork,
    pipeline: Any,
    fit_seconds: float,
    folder: Path,
    path: Sequence[Thresholds] = (),
) -> FinalFitResult:
    """Write a fitted model to the files that ship, and measure it on held-out rows.

    On these rows the limits are measured at all thresholds of a `path`, too: nothing is predicted
    again for it.
    """
    peak = peak_mb()
    only = _decided_of_all(work, pipeline, fit_seconds)
    # For the process of the run, which loads it faster than the shipped file.
    write_pickle(pipeline, folder)
    types = save_pipeline(pipeline, folder / SHIPPED) if work.persist else ()
    files = hash_files(
        [folder / name for name in ((PICKLE, SHIPPED) if work.persist else (PICKLE,))]
    )
    code = code_of(pipeline) if work.persist else PipelineCode()
    found = FinalFitResult(
        files, only, types=types, code=code, fit_seconds=fit_seconds, peak_mb=peak
    )
    if work.held_out is None:
        return found
    if path:
        found = replace(found, one_sided=_one_sided(work, pipeline, path))
    return _measure_held_out(work, found, pipeline, work.held_out, folder, path)


def ship_single(
    work: PipelineWork,
    pipeline: Any,
    fit_seconds: float,
    folder: Path,
    path: Sequence[Thresholds] = (),
) -> FinalFitResult:
    """Ship a pipeline fitted on all rows, and check the limits on facts on it.

    In the search they were those of fits on fewer rows: a tree of all rows may be larger.
    """
    # Before any limit, which is anybody's code, has had the model in its hands.
    loss = seen_loss(work, pipeline, fit_seconds)
    found = ship(work, pipeline, fit_seconds, folder, path)
    costs = measure_costs(work, pipeline, is_fact, folder, fit_seconds)
    return replace(found, costs=costs, seen_loss=loss)


def ship_decided(
    work: PipelineWork, fitted: bytes, thresholds: Thresholds, seconds: float, folder: Path
) -> FinalFitResult:
    """Ship a model that another child of the same run fitted, with other thresholds."""
    model = without_thresholds(pickle.loads(fitted))  # noqa: S301
    with unheard_warnings():
        decided = fix(model, thresholds, work.table.classes, work.rule, work.cost)
    return ship_single(work, decided, seconds, folder)


def _one_sided(work: PipelineWork, pipeline: Any, path: Sequence[Thresholds]) -> tuple[int, ...]:
    """Return the places on a path at which the model calls all rows of the search the same.

    Of very many rows a part at random tells it.
    """
    rows = np.random.default_rng(0).permutation(len(work.table.y))[:ROWS_ASKED]
    table = work.table.part(np.sort(rows))
    with unheard_warnings():
        scores = scores_of(pipeline, table)
    decided = (cut_scores(scores, bar_of(one, table, work.rule)) for one in path)
    return tuple(place for place, one in enumerate(decided) if not has_both(one))


def _decided_of_all(work: PipelineWork, pipeline: Any, seconds: float) -> str | None:
    """Return the class decided for all rows of the search, if it is only one.

    The model is fitted already: a failure here must not lose it.
    """
    try:
        with unheard_warnings():
            return one_class_of(pipeline, work.table, seconds)
    except Exception:  # noqa: BLE001 - a component is anybody's code
        return None


def _measure_held_out(
    work: PipelineWork,
    found: FinalFitResult,
    pipeline: Any,
    rows: Table,
    folder: Path,
    path: Sequence[Thresholds] = (),
) -> FinalFitResult:
    """Measure on held-out rows. The model is fitted already: a failure here must not lose it.

    The evidence of the limits goes to a file: a certificate may need it.
    """
    try:
        with unheard_warnings():
            measured = work.measure(pipeline, rows, found.fit_seconds)
            score = measured.score
            found = replace(found, held_out_score=score, held_out_rows=len(rows.y))
            interval = score_interval(work.metric, measured.answers, rows, score)
            found = replace(found, held_out_interval=interval)
            if rows.classes is not None:
                decided = decisions_of(measured.answers, rows)
                is_binary = len(rows.classes) == 2
                rates = rates_of(rows.y, decided, rows.roles.weights) if is_binary else {}
                only = only_class(rows, decided)
                found = replace(found, held_out_decisions=rates, held_out_one_class=only)
            size = (folder / SHIPPED).stat().st_size if work.persist else None
            filled = work.filled if work.certifies else None
            part = replace(measured.part, calls=work.calls, saved_bytes=size, filled=filled)
            seen = [evidence_of(constraint, part, "") for constraint in work.constraints]
            proof = _proof(work, part, seen)
        (folder / EVIDENCE).write_bytes(encode_evidence(proof))
        written = [folder / EVIDENCE]
        if path:
            (folder / STOPS).write_bytes(encode_evidence(_at_stops(work, part, rows, path)))
            written.append(folder / STOPS)
        found = replace(found, files={**found.files, **hash_files(written)})
        pairs = zip(work.constraints, seen, strict=True)
        values = tuple(value_of(constraint, evidence, "") for constraint, evidence in pairs)
    except Exception as problem:  # noqa: BLE001 - a metric or a limit is anybody's code
        return replace(found, held_out_problem=say_error(problem))
    return replace(found, held_out_constraints=values)


def _proof(
    work: PipelineWork, part: EvaluatedPipeline, seen: Sequence[Evidence]
) -> Sequence[Evidence]:
    """Return the evidence for a certificate: limits on rows count the rows drawn for it."""
    if work.tested is None:
        return seen
    drawn = replace(part.part(work.tested), weights=None)
    pairs = zip(work.constraints, seen, strict=True)
    return [evidence_of(c, drawn, "") if c.kind == "statistical" else one for c, one in pairs]


def _at_stops(
    work: PipelineWork, part: EvaluatedPipeline, rows: Table, path: Sequence[Thresholds]
) -> list[Evidence]:
    """Return the evidence of the limits that thresholds move, stop by stop.

    A limit that fails at a stop has no value there, and does not pass.
    """
    moved = [one for one in work.constraints if moves(one)]
    found: list[Evidence] = []
    for thresholds in path:
        seen = decide(part, bar_of(thresholds, rows, work.rule))
        counted = seen if work.tested is None else replace(seen.part(work.tested), weights=None)
        found += [_evidence_or_none(one, counted) for one in moved]
    return found


def _evidence_or_none(constraint: Constraint, part: EvaluatedPipeline) -> Evidence:
    try:
        return evidence_of(constraint, part, "")
    except InvalidOutcome:
        return Estimate(math.nan)


def write_pickle(pipeline: Any, folder: Path) -> None:
    """Write a fitted model for other processes of the same run.

    Classes of a notebook, which no module of this process has, are written with their definition;
    the process that defined them reads them as its own.
    """
    with (folder / PICKLE).open("wb") as file:
        try:
            pickle.dump(pipeline, file, protocol=pickle.HIGHEST_PROTOCOL)
        except (pickle.PicklingError, AttributeError):
            import cloudpickle

            file.seek(0)
            file.truncate()
            cloudpickle.dump(pipeline, file, protocol=pickle.HIGHEST_PROTOCOL)


def load_shipped(content: bytes, *, is_saved: bool) -> None:
    """Load a shipped file: the one of a run folder if it `is_saved`, else a pickle."""
    if is_saved:
        skops = import_skops()
        # Our own child wrote it; a user who loads it is asked for the types.
        skops.loads(content, trusted=skops.get_untrusted_types(data=content))
    else:
        pickle.loads(content)  # noqa: S301 - another child of the same run wrote it
