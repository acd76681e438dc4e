"""What a run over pipelines writes into its folder, beside the store."""

from __future__ import annotations

import hashlib
import math
import platform
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from automl_admm.certify.certificate import Certificate, encode_certificate
from automl_admm.core.problem import ONE_CLASS, Evaluation
from automl_admm.core.protocols import Finished
from automl_admm.core.run import RunResult
from automl_admm.data.fingerprints import Hashes, fingerprint_rows, hash_rows
from automl_admm.execution.task_folders import read_regular, remove_tree
from automl_admm.pipelines.labels import is_turned, positive_of, sorted_order, sorted_texts
from automl_admm.pipelines.thresholds.single import say_threshold
from automl_admm.runs.finish.untrusted_types import tell_strangers
from automl_admm.runs.session.changes import hash_space
from automl_admm.runs.session.saved_request import describe_request
from automl_admm.store.json_content import with_digest
from automl_admm.store.run_folder import RunFolder, write_atomically, write_json

if TYPE_CHECKING:
    from automl_admm.pipelines.predictions.measured import Table
    from automl_admm.pipelines.work import PipelineWork
    from automl_admm.runs.pipelines import PipelineResult
    from automl_admm.runs.prepare.preparation import Preparation

LIBRARIES = ("automl-admm", "numpy", "scipy", "pandas", "scikit-learn", "skops")


@dataclass(frozen=True, slots=True)
class Stretch:
    """One session of a run: when it began, and how long it took, None if nobody could say."""

    begun: str
    seconds: float | None = None


def write_settings(
    folder: RunFolder,
    prepared: Preparation,
    stretches: Sequence[Stretch],
    *,
    state: str,
    result: RunResult | None = None,
) -> None:
    """`run.json`: the resolved settings, what they ran on and with, and how it ended."""
    content: dict[str, Any] = {
        "state": state,
        "written": datetime.now(UTC).isoformat(timespec="seconds"),
        "title": prepared.config.title,
        **describe_run(prepared),
        "sessions": [asdict(stretch) for stretch in stretches],
    }
    if result is not None:
        content["result"] = {
            "feasible": result.feasible,
            "fallback": result.fallback,
            "stopped_by": result.stopped_by,
            "seconds": round(result.seconds, 3),
            "one_class": None if result.best is None else result.best.one_class,
            "evaluations": len(result.evaluations),
            "ledger": {account: round(spent, 3) for account, spent in result.ledger.items()},
            "work": {account: round(spent, 3) for account, spent in result.work.items()},
        }
    write_json(folder.settings, content)
    text = prepared.grammar.text.encode()
    if not folder.grammar.exists() or folder.grammar.read_bytes() != text:
        write_atomically(folder.grammar, text)


def describe_run(prepared: Preparation) -> dict[str, Any]:
    """What a run is made of: what was asked for and resolved, the data, and the versions."""
    return {
        "request": describe_request(prepared.config),
        "settings": _settings(prepared),
        "data": _describe(prepared.work),
        "schema": prepared.schema.describe(),
        "versions": versions(),
        "plugins": {info.name: info.provider for info in prepared.plugins.infos},
    }


def _settings(prepared: Preparation) -> dict[str, Any]:
    config, classes = prepared.config, prepared.work.table.classes
    return {
        "grammar": str(config.grammar),
        "grammar_text": prepared.grammar.text,
        "space_sha256": hash_space(prepared.grammar.pipelines.space),
        "max_depth": config.max_depth,
        "starts": [prepared.grammar.pipelines.text(start) for start in prepared.starts],
        "task": prepared.task,
        "budget_seconds": config.seconds,
        "max_evaluations": config.max_evaluations,
        "metric": prepared.metric.name,
        "metric_best": prepared.metric.best,
        "limits": [_limit(constraint.limit) for constraint in prepared.constraints],
        "theta_solver": config.theta_solver,
        "z_solver": config.z_solver,
        "strategy": config.strategy,
        "executor": config.executor,
        "workers": config.workers,
        "folds": len(prepared.work.splits),
        "test_size": config.test_size,
        "certify": config.certify,
        "group_thresholds": config.group_thresholds,
        # None is the last of the sorted labels, as it was in all runs of older versions.
        "positive": str(positive_of(classes)) if is_turned(classes) else None,
        "target": prepared.target,
        "sensitive": list(prepared.sensitive),
        "seed": config.seed,
    }


def _describe(work: PipelineWork) -> dict[str, Any]:
    table, held_out = work.table, work.held_out
    return {
        "rows": len(table.y),
        "columns": table.X.shape[1],
        "sha256": fingerprint(table),
        "held_out_sha256": None if held_out is None else fingerprint(held_out),
    }


def write_model(folder: RunFolder, fitted: Path, outcome: PipelineResult) -> None:
    """The fitted pipeline, and a manifest that says what it is and holds its hash."""
    content = read_regular(fitted)
    write_atomically(folder.model, content)
    prepared, refit = outcome.preparation, outcome.refit
    table = prepared.work.table
    manifest = {
        "sha256": hashlib.sha256(content).hexdigest(),
        "pipeline": outcome.best.text,
        "evaluation": None if outcome.fallback else outcome.best.number,
        "fallback": outcome.fallback,
        "rows": refit.rows or len(table.y),
        "task": prepared.task,
        "metric": prepared.metric.name,
        "validation_score": outcome.score,
        "held_out_score": refit.held_out_score,
        "held_out_rows": refit.held_out_rows,
        "feasible": outcome.result.feasible,
        "certified": outcome.is_certified,
        "certificate_sha256": _hash_of(outcome.certificate),
        ONE_CLASS: refit.one_class,
        "constraints": {
            str(constraint.limit): value if math.isfinite(value) else None
            for constraint, value in zip(
                prepared.constraints, outcome.best.constraints, strict=True
            )
        },
        "columns": [str(name) for name in getattr(table.X, "columns", range(table.X.shape[1]))],
        "text_columns": [str(name) for name in prepared.work.context.categorical],
        "schema": prepared.schema.describe(),
        **_thresholds(outcome.best),
        "classes": None if table.classes is None else sorted_texts(table.classes),
        "positive": None if (label := positive_of(table.classes)) is None else str(label),
        "versions": versions(),
    }
    write_json(folder.model_manifest, with_digest(manifest))
    tell_strangers(content, outcome)


def _hash_of(certificate: Certificate | None) -> str | None:
    if certificate is None:
        return None
    return hashlib.sha256(encode_certificate(certificate)).hexdigest()


def _thresholds(evaluation: Evaluation) -> dict[str, Any]:
    """Where the model says yes, if that was chosen."""
    names = ("threshold", "group_thresholds")
    found = {name: evaluation.details[name] for name in names if name in evaluation.details}
    return {name: _as_plain(value) for name, value in found.items()}


def _as_plain(threshold: Any) -> Any:
    """A threshold as JSON has it, which knows no infinity: `never` and `always` are words."""
    if isinstance(threshold, Mapping):
        return {name: _as_plain(value) for name, value in threshold.items()}
    return threshold if math.isfinite(threshold) else say_threshold(threshold)


def keep_predictions(folder: RunFolder | None, evaluation: Evaluation, finished: Finished) -> None:
    """Move an evaluation's out-of-fold predictions to the run folder, and drop its scratch."""
    if finished.folder is None:
        return
    source = finished.folder / "predictions.npz"
    if folder is not None and source.exists():
        folder.predictions.mkdir(exist_ok=True)
        source.replace(folder.predictions / f"{evaluation.number}.npz")
    remove_tree(finished.folder)


def versions() -> dict[str, str]:
    """The versions that a result may hang on."""
    return {"python": platform.python_version()} | {
        name: metadata.version(name) for name in LIBRARIES
    }


def _limit(limit: Any) -> dict[str, Any]:
    return {"name": limit.name, "bound": limit.bound, "at_least": limit.at_least}


def fingerprint(table: Any) -> str:
    """The hash of the rows of a table and their target."""
    import pandas as pd

    frame = pd.DataFrame(table.X)
    digest = hashlib.sha256(repr([*map(str, frame.columns)]).encode())
    digest.update(pd.util.hash_pandas_object(frame, index=False).to_numpy().tobytes())
    # The same rows whichever class is the positive one.
    y = table.y if table.classes is None else np.argsort(sorted_order(table.classes))[table.y]
    digest.update(pd.util.hash_pandas_object(pd.Series(y), index=False).to_numpy().tobytes())
    return digest.hexdigest()


def fingerprint_data(table: Table) -> str:
    """The hash of all that is known of all rows, whatever their order and which column is what."""
    return fingerprint_rows(hash_table(table))


def hash_table(table: Table) -> Hashes:
    """A number for each row, by its features, its label, and what limits alone see of it."""
    import pandas as pd

    frame = pd.DataFrame(table.X)
    known = set(map(str, frame.columns))
    apart = [] if table.sensitive is None else [n for n in table.sensitive if str(n) not in known]
    features = (frame.iloc[:, place] for place in range(frame.shape[1]))
    more = (table.sensitive[name] for name in apart)
    return hash_rows([*features, *more, table.labels()], len(table.y))


def run_of(searched: str, seed: int) -> str:
    """What a search is made of, that a question is asked by: its rows by their hash, its seed."""
    return f"{searched} {seed}"
