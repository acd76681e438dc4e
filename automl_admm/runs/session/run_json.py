"""`run.json`: the settings of a run, the data it ran on, its sessions and how it ended."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any

import numpy as np

from automl_admm.core.run import RunResult, RunState
from automl_admm.core.structure.pipeline_space import all_modules
from automl_admm.data.fingerprints import hash_rows
from automl_admm.data.ingest.records import ANSWERS
from automl_admm.data.row_roles import NAMES
from automl_admm.pipelines.labels import is_turned, positive_text, text_of
from automl_admm.pipelines.predictions.measured import Table
from automl_admm.plugins.distributions import behind_providers
from automl_admm.plugins.given_parts import GivenParts
from automl_admm.plugins.plugin_options import split_request
from automl_admm.runs.driving.profile import fit_times
from automl_admm.runs.options import OPTIONS
from automl_admm.runs.prepare.basis import basis_of
from automl_admm.runs.prepare.preparation import Preparation
from automl_admm.runs.provenance import fingerprint, machine, sum_of_rows, versions
from automl_admm.runs.saved_request import describe_request
from automl_admm.runs.session.brought_parts import BROUGHT, brought_parts
from automl_admm.runs.session.changes import MIXED, hash_space
from automl_admm.runs.session.model_run import PARTS
from automl_admm.runs.session.written_limits import write_limit
from automl_admm.store.file_schemas import (
    LARGEST_TOTAL,
    QUANTITIES,
    REPEATED,
    RUN_FORMAT,
    RUN_ID,
    TARGET_TYPE,
)
from automl_admm.store.json_content import FORMAT
from automl_admm.store.run_folder import RunFolder, write_atomically, write_json


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
    state: RunState,
    run_id: str | None = None,
    mixed: Sequence[str] = (),
    result: RunResult | None = None,
) -> None:
    """Write `run.json`: settings, data, versions, sessions and the end of the run."""
    content: dict[str, Any] = {
        FORMAT: RUN_FORMAT,
        "state": state,
        **({} if run_id is None else {RUN_ID: run_id}),
        "written": datetime.now(UTC).isoformat(timespec="seconds"),
        "title": prepared.config.title,
        **describe_run(prepared),
        **({MIXED: list(mixed)} if mixed else {}),
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
            "fits": {one.component: round(one.seconds, 3) for one in fit_times(result.evaluations)},
        }
    write_json(folder.settings, content)
    text = prepared.grammar.text.encode()
    if not folder.grammar.exists() or folder.grammar.read_bytes() != text:
        write_atomically(folder.grammar, text)


def describe_run(prepared: Preparation) -> dict[str, Any]:
    """Describe the ingredients of a run: its request, its settings, the data, the versions."""
    return {
        "request": describe_request(prepared.config),
        "settings": _settings(prepared),
        "data": _describe(prepared) | _weights(prepared),
        "schema": prepared.schema.describe(),
        **prepared.ingest.as_content(),
        "column_kinds": sorted(prepared.work.context.kinds),
        "has_gaps": prepared.work.context.has_gaps,
        "ordered_columns": list(map(str, prepared.work.context.ordered)),
        **prepared.answers.as_content(ANSWERS),
        "given_objects": {
            name: part.said
            for name, part in prepared.config.extra_plugins.items()
            if isinstance(part, GivenParts)
        },
        "metric_code": prepared.config.metric_code,
        "components_left_out": dict(prepared.grammar.left_out),
        "portfolio": _portfolio(prepared),
        "priors": _priors(prepared),
        "basis": basis_of(prepared),
        **prepared.reused.as_content(),
        "versions": versions() | behind_providers(_providers(prepared)),
        "machine": machine(),
        "plugins": {info.name: info.provider for info in prepared.plugins.infos},
        BROUGHT: brought_parts(prepared),
    }


def describe_run_of_model(prepared: Preparation) -> dict[str, Any]:
    """Describe the run of a model by its request, settings, data and plugins."""
    content = describe_run(prepared)
    return {part: content[part] for part in PARTS}


def _providers(prepared: Preparation) -> set[str]:
    """Return the distributions that brought the components of the grammar, and what searches."""
    plugins, config = prepared.plugins, prepared.config
    components = plugins.components[prepared.task]
    modules = all_modules(prepared.grammar.pipelines.shape)
    return {
        *(components.provider(module.component) for module in modules),
        plugins.theta_solvers.provider(split_request(config.theta_solver)[0]),
        plugins.z_solvers.provider(split_request(config.z_solver)[0]),
        plugins.strategies.provider(split_request(config.strategy)[0]),
        plugins.executors.provider(split_request(config.executor)[0]),
    }


def _settings(prepared: Preparation) -> dict[str, Any]:
    config, classes = prepared.config, prepared.work.table.classes
    compared = {
        option.compared_as: getattr(config, option.name)
        for option in OPTIONS
        if option.compared_as is not None
    }
    # The metric and others that the data decide by default stand here as they were resolved.
    return compared | {
        "grammar": str(config.grammar),
        "grammar_text": prepared.grammar.text,
        "space_sha256": hash_space(prepared.grammar.pipelines.space),
        "max_depth": config.max_depth,
        "starts": _starts_of_user(prepared),
        "task": prepared.task,
        "budget_seconds": config.seconds,
        "max_evaluations": config.max_evaluations,
        "metric": prepared.metric.name,
        "metric_best": prepared.metric.best,
        "limits": list(map(write_limit, prepared.constraints)),
        "theta_solver": config.theta_solver,
        "z_solver": config.z_solver,
        "strategy": config.strategy,
        "executor": config.executor,
        "workers": config.n_jobs,
        "folds": len(prepared.work.splits),
        "split": prepared.split,
        # None is the last of the sorted labels.
        "positive": positive_text(classes) if is_turned(classes) else None,
        "target": prepared.target,
        "sensitive": list(prepared.sensitive),
        **{role: prepared.columns.get(role) for role in NAMES},
        "seed": config.random_state,
    }


def _starts_of_user(prepared: Preparation) -> list[str]:
    """Return the texts of the user's starts: what else is tried first stands apart."""
    texts = map(prepared.grammar.pipelines.text, prepared.starts)
    return [text for text in texts if text not in prepared.reused.tried_first]


def _portfolio(prepared: Preparation) -> dict[str, Any]:
    """Return the pipelines that are tried first, and how many the grammar does not derive."""
    found, pipelines = prepared.portfolio, prepared.grammar.pipelines
    return {
        "pipelines": [pipelines.text(start) for start in found.starts],
        "not_derived": found.not_derived,
    }


def _priors(prepared: Preparation) -> dict[str, Any] | None:
    """Return what the solvers are given of other tables; None if no solver takes it."""
    taken = prepared.plan.taken(prepared.portfolio.priors)
    if not (taken.arms or taken.settings):
        return None
    return {
        "tables": taken.tables,
        "learned": prepared.portfolio.learned,
        "alternatives": len(taken.arms),
        "settings": sum(map(len, taken.settings.values())),
    }


def _describe(prepared: Preparation) -> dict[str, Any]:
    work = prepared.work
    table, held_out = work.table, work.held_out
    return {
        "rows": len(table.y),
        "columns": table.shape[1],
        "sha256": fingerprint(table),
        "held_out_sha256": None if held_out is None else fingerprint(held_out),
        "rows_sum": sum_of_rows(table),
        "held_out_rows_sum": None if held_out is None else sum_of_rows(held_out),
        REPEATED: prepared.repeated,
        **_target(table),
        **({} if table.sensitive is None else {"for_limits": _hashes(table.sensitive)}),
        **({} if work.spreads is None else {"spreads": dict(work.spreads)}),
        **({} if work.filled is None else {"filled": list(work.filled)}),
    }


def _target(table: Table) -> dict[str, Any]:
    """Return the classes, or the type of a quantity: its hash hangs on it."""
    if table.classes is not None:
        return {"classes": labels_in_text(table.classes)}
    kind = str(table.y.dtype)
    return {TARGET_TYPE: kind} if kind in QUANTITIES else {}


def _weights(prepared: Preparation) -> dict[str, float]:
    """Return the largest weight of a group: later rows are drawn as those of the run are."""
    has_any = not {"weight", "group"}.isdisjoint(prepared.columns)
    return {LARGEST_TOTAL: prepared.largest} if has_any and math.isfinite(prepared.largest) else {}


def labels_in_text(labels: Any) -> list[str]:
    """Return the different labels as sorted texts, whole numbers alike in any type."""
    import pandas as pd

    classes = pd.unique(pd.Series(labels).dropna())
    whole = (isinstance(one, float | np.floating) and float(one).is_integer() for one in classes)
    pairs = zip(classes, whole, strict=True)
    return sorted(text_of(int(one)) if is_whole else text_of(one) for one, is_whole in pairs)


def _hashes(columns: Any) -> dict[str, str]:
    """Return a hash of each column named by limits: it may be no feature."""
    return {
        str(name): hashlib.sha256(hash_rows([columns[name]], len(columns)).tobytes()).hexdigest()
        for name in columns
    }
