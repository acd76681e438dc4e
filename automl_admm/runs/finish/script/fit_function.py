"""The functions `build` and `fit` of `pipeline.py`, with the rows that the run trained on."""

from __future__ import annotations

import numpy as np

from automl_admm.data.ingest.answers import NUMBER
from automl_admm.data.row_portions import read_portion
from automl_admm.pipelines.as_code import PipelineCode, expression
from automl_admm.pipelines.ensembles.all_classes import AllClasses
from automl_admm.runs.finish.outcome import PipelineResult
from automl_admm.runs.finish.script import parts
from automl_admm.runs.finish.script.bundle import Bundle
from automl_admm.runs.finish.script.packed_rows import (
    fold_lines,
    packed_folds,
    packed_rows,
    whole_target,
)
from automl_admm.runs.prepare.preparation import Preparation

PARTS = parts.__name__
ROLES = "automl_admm.data.row_roles"
WEIGHTS = "automl_admm.pipelines.weighting"
CALIBRATED = "automl_admm.pipelines.calibrated"
PORTIONS = "automl_admm.data.row_portions"
ABOUT = '    """Fit on the rows of a file that the run trained on; return the others, too."""'
LACKING = f"{AllClasses.__module__}.{AllClasses.__name__}"
# With weights the fit returns those of the other rows, too; users of the script are given three.
THREE = (
    "\n\ndef fit(train):",
    ABOUT,
    "    return fit_by_weight(train)[:3]",
)
ALL_ROWS = "np.ones(len(y), dtype=bool)"


def build_function(code: PipelineCode) -> str:
    """Return the function that makes the unfitted pipeline."""
    return (
        'def build():\n    """Return the pipeline, unfitted."""\n'
        f"    return {_indented(code.pipeline)}"
    )


def name_of_fit(outcome: PipelineResult) -> str:
    """Return the name of the function whose results the score takes: with weights it has four."""
    return "fit_by_weight" if _is_weighted(outcome) else "fit"


def fit_function(outcome: PipelineResult, code: PipelineCode, bundle: Bundle) -> str:
    """Return the function that fits on the rows of the run; what it calls goes to the bundle."""
    rows = _trained_on(outcome)
    if rows.startswith(("is_for", "unpack")):
        bundle.add(PARTS, rows.partition("(")[0])
    lines = [
        f"def {name_of_fit(outcome)}(train):",
        ABOUT,
        "    table, place = read_table(train, COLUMNS | ANSWER, MISSING, CSV, MORE)",
        *_taking_rows(outcome.preparation, bundle),
        "    X, y = rows_of(table, place), table[TARGET].to_numpy()",
        f"    is_kept = {_indented(rows)}",
        *_fitting(outcome, code, bundle),
    ]
    if code.calibration:
        calibrated = bundle.add(CALIBRATED, "calibrated")
        lines.append(f"    model = {calibrated}(model, {code.calibration})")
    if code.thresholds:
        wrapped = _indented(code.thresholds)
        # The model is fitted already: only the labels count.
        rows = "X, y" if LACKING in code.imports else "X[is_kept], y[is_kept]"
        lines.append(f"    model = {wrapped}.fit({rows})")
    found = "model, X[~is_kept], y[~is_kept]"
    if not _is_weighted(outcome):
        return "\n".join([*lines, f"    return {found}"])
    return "\n".join([*lines, f"    return {found}, kept_weights(relative, ~is_kept)", *THREE])


def _taking_rows(prepared: Preparation, bundle: Bundle) -> list[str]:
    """Return the lines that take the rows which the run prepared, with answers in numbers."""
    lines, portion = [], read_portion(prepared.config.portion)
    if portion is not None:
        bundle.add(PORTIONS, "Portion")
        told = f"Portion({portion.taken}, {portion.rows})"
        lines.append("    # The run had time to prepare a portion of the rows.")
        lines.append(f"    table = table.iloc[{told}.places(table[TARGET])]")
    lines += _read_answers(prepared, bundle)
    if prepared.columns.get("weight") is not None:
        lines.append("    table = table[table[WEIGHT] > 0]")
    return lines


def _read_answers(prepared: Preparation, bundle: Bundle) -> list[str]:
    """Return the lines that make numbers of a target and of weights in text."""
    wanted = {prepared.target, prepared.columns.get("weight")}
    found = {
        str(one.name): dict(one.facts)
        for one in prepared.answers.readings
        if str(one.name) in wanted
    }
    if not found:
        return []
    read = NUMBER.read
    reader = bundle.add(read.__module__, read.__name__)
    return [
        f"    for name, facts in {expression(found)}.items():",
        f'        table[name] = {reader}(table[name], facts, place)[""]',
    ]


def _fitting(outcome: PipelineResult, code: PipelineCode, bundle: Bundle) -> list[str]:
    is_weighted = _is_weighted(outcome)
    folds, kept = packed_folds(outcome), "X[is_kept], y[is_kept]"
    lines = _weights(bundle) if is_weighted else []
    if folds:
        bundle.add(PARTS, "fit_folds")
        bundle.add(PARTS, "unpack_rows")
        more = ", weights, fit_estimator" if is_weighted else ""
        # Rows that the run held out may have labels of their own.
        more += ", labels=np.unique(y)" if LACKING in code.imports else ""
        fitted = f"fit_folds(build(), {kept}, folds{more})"
        return [*lines, *fold_lines(folds), f"    model = {fitted}"]
    if LACKING in code.imports:
        bundle.add(PARTS, "fit_folds")
        more = ", relative, fit_estimator" if is_weighted else ""
        several = '[is_kept] * len(getattr(model, "estimators", [model]))'
        told = "    # Labels of other rows are classes, too."
        fitted = f"    model = fit_folds(model, X, y, {several}{more})"
        return [*lines, told, "    model = build()", fitted]
    if is_weighted:
        return [*lines, f"    model = fit_weighted(build(), {kept}, weights, fit_estimator)"]
    return [f"    model = build().fit({kept})"]


def _is_weighted(outcome: PipelineResult) -> bool:
    return outcome.preparation.work.table.roles.weights is not None


def _weights(bundle: Bundle) -> list[str]:
    bundle.add(PARTS, "fit_weighted")
    bundle.add(PARTS, "kept_weights")
    bundle.add(WEIGHTS, "fit_estimator")
    bundle.add(ROLES, "_relative")
    return [
        "    relative = _relative(table[WEIGHT].to_numpy(dtype=float))",
        "    weights = kept_weights(relative, is_kept)",
    ]


def _trained_on(outcome: PipelineResult) -> str:
    """Return code that tells of each row if the run trained on it: by rule, or else row by row."""
    prepared = outcome.preparation
    if prepared.config.share is not None or outcome.refit.rows is not None:
        return ALL_ROWS
    is_kept = np.ones(prepared.rows, dtype=bool)
    is_kept[np.asarray(prepared.set_aside, dtype=np.intp)] = False
    if is_kept.all():
        return ALL_ROWS
    by_class, config = prepared.task == "classification", prepared.config
    found = parts.is_for_training(
        whole_target(outcome),
        by_class=by_class,
        share=config.test_size,
        seed=config.random_state,
    )
    if bool((found == is_kept).all()):
        rule = f"by_class={by_class}, share={config.test_size!r}, seed={config.random_state}"
        return f"is_for_training(y, {rule})"
    return packed_rows(is_kept)


def _indented(code: str) -> str:
    return code.replace("\n", "\n    ")
