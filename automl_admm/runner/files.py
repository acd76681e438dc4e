"""What a run over pipelines writes into its folder, beside the store."""

from __future__ import annotations

import hashlib
import platform
import shutil
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

from automl_admm.problem import Evaluation
from automl_admm.protocols import Finished
from automl_admm.run_records import RunResult
from automl_admm.runner.changes import hash_space
from automl_admm.runner.request import describe_request
from automl_admm.store.folder import RunFolder, write_atomically, write_json

if TYPE_CHECKING:
    from automl_admm.evaluation.objective import PipelineWork
    from automl_admm.runner.pipelines import PipelineResult
    from automl_admm.runner.preparation import Preparation

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
            "stopped_by": result.stopped_by,
            "seconds": round(result.seconds, 3),
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
        "versions": versions(),
        "plugins": {info.name: info.provider for info in prepared.plugins.infos},
    }


def _settings(prepared: Preparation) -> dict[str, Any]:
    config = prepared.config
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
    content = fitted.read_bytes()
    write_atomically(folder.model, content)
    prepared, refit = outcome.preparation, outcome.refit
    table = prepared.work.table
    manifest = {
        "sha256": hashlib.sha256(content).hexdigest(),
        "pipeline": outcome.best.text,
        "evaluation": outcome.best.number,
        "task": prepared.task,
        "metric": prepared.metric.name,
        "validation_score": outcome.score,
        "held_out_score": refit.held_out_score,
        "held_out_rows": refit.held_out_rows,
        "feasible": outcome.result.feasible,
        "certified": outcome.is_certified,
        "constraints": {
            str(constraint.limit): value
            for constraint, value in zip(
                prepared.constraints, outcome.best.constraints, strict=True
            )
        },
        "columns": [str(name) for name in getattr(table.X, "columns", range(table.X.shape[1]))],
        "text_columns": [str(name) for name in prepared.work.context.categorical],
        **_thresholds(outcome.best),
        "classes": None if table.classes is None else [str(label) for label in table.classes],
        "versions": versions(),
    }
    write_json(folder.model_manifest, manifest)


def _thresholds(evaluation: Evaluation) -> dict[str, Any]:
    """Where the model says yes, if that was chosen."""
    names = ("threshold", "group_thresholds")
    return {name: evaluation.details[name] for name in names if name in evaluation.details}


def keep_predictions(folder: RunFolder | None, evaluation: Evaluation, finished: Finished) -> None:
    """Move an evaluation's out-of-fold predictions to the run folder, and drop its scratch."""
    if finished.folder is None:
        return
    source = finished.folder / "predictions.npz"
    if folder is not None and source.exists():
        folder.predictions.mkdir(exist_ok=True)
        source.replace(folder.predictions / f"{evaluation.number}.npz")
    shutil.rmtree(finished.folder, ignore_errors=True)


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
    digest.update(pd.util.hash_pandas_object(pd.Series(table.y), index=False).to_numpy().tobytes())
    return digest.hexdigest()
