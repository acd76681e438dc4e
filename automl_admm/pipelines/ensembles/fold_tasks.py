"""The parts of a run's work on fold models: to keep, to load, and to fit them."""

from __future__ import annotations

import pickle
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from automl_admm.core.results import EvaluationResult
from automl_admm.core.space import Candidate
from automl_admm.execution.evidence_files import hash_files
from automl_admm.pipelines.ensembles.fold_models import (
    MODELS,
    FoldModels,
    Keeping,
    check_averaged,
    shipped_folds,
)
from automl_admm.pipelines.memory_peak import peak_mb
from automl_admm.pipelines.predictions.measured import Seen

if TYPE_CHECKING:
    from automl_admm.pipelines.work import PipelineWork


def keep_models(
    work: PipelineWork,
    found: EvaluationResult,
    seen: Sequence[Seen],
    keeping: Keeping | None,
    folder: Path,
) -> EvaluationResult:
    """Write the fold models if the rule wants them, and tell the file's hash in the result.

    An evaluation that was stopped early has not all of them.
    """
    limits = work.aims or tuple(one.limit for one in work.constraints)
    if keeping is None or len(seen) < len(work.splits) or not keeping.wants(found, limits):
        return found
    models = FoldModels.of(seen, shipped_folds(work.splits, work.table.roles))
    path = folder / MODELS
    if not models.has_mean or not models.write(path, keeping.most_bytes):
        return found
    return replace(found, files=hash_files([path]))


def load_models(content: bytes | None) -> FoldModels | None:
    """Return the models that another child of the same run kept, if there are any."""
    if content is None:
        return None
    found: FoldModels = pickle.loads(content)  # noqa: S301
    return found


def fit_models(work: PipelineWork, candidate: Candidate, seed: int) -> FoldModels:
    """Fit the models of the folds as the evaluation did, on the same rows.

    Models without a mean are told after the first fit.
    """
    models, peaks, begun = [], [0.0], time.perf_counter()
    places = shipped_folds(work.splits, work.table.roles)
    for place in places:
        rows = work.table.part(work.splits[place][0])
        models.append(work.fit_on(candidate, seed, rows))
        peaks.append(peak_mb())
        if len(places) > 1:
            check_averaged(models[-1])
    return FoldModels(tuple(models), time.perf_counter() - begun, max(peaks))
