"""The counts of a reference, kept in the folder of a run for later looks.

Those of the model's predictions are of the first look, not of the reference: on rows that it
learned from, as those mostly are, a model is surer than on any others.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from automl_admm.data.drift import Summary, read_summary, summarize
from automl_admm.runs.saved.certified_run import CertifiedRun
from automl_admm.runs.saved.monitor.earlier_looks import read_kept
from automl_admm.runs.saved.monitor.watched_columns import (
    PREDICTION,
    dates_of_model,
    features_of_model,
)
from automl_admm.store.run_folder import write_json

SCHEMA = 1
FILE, PREDICTIONS = "reference.json", "predictions"


@dataclass(frozen=True)
class Reference:
    """Counts by column, and a sentence if some that are kept cannot be used."""

    columns: Mapping[str, Summary]
    doubt: str | None = None


def keep(run: CertifiedRun, rows: Any, model: str, look: int) -> Reference:
    """Count a reference, and keep the counts with the hash of the model.

    Predictions that are kept beside the same counts stay, but for those of a look that was deleted
    and is to come. Those beside another reference are as old as that: this look's take their place.
    """
    path, made = run.folder.monitoring / FILE, dict[str, Summary]()
    for name, column in features_of_model(run, rows.reset_index(drop=True)):
        made[name] = summarize(column)
    counts = {name: summary.as_json() for name, summary in made.items()}
    content = {"schema_version": SCHEMA, "model_sha256": model, "rows": len(rows)}
    before = read_kept(path) if path.exists() else {}
    is_same = before.get("model_sha256") == model and before.get("columns") == counts
    of_model = before if is_same else {}
    kept = {PREDICTIONS: of_model[PREDICTIONS]} if PREDICTIONS in of_model else {}
    write_json(path, {**content, "columns": counts, **kept})
    return Reference(made | _predictions(kept, look))


def keep_predictions(run: CertifiedRun, predictions: Any, look: int) -> None:
    """Keep the counts of the predictions of a look beside those of the reference."""
    path = run.folder.monitoring / FILE
    kept = {"look": look, "summary": summarize(predictions).as_json()}
    write_json(path, {**read_kept(path), PREDICTIONS: kept})


def _predictions(content: Mapping[str, Any], look: int) -> dict[str, Summary]:
    """Return the summary of the predictions of an earlier look, if there is one."""
    kept = content.get(PREDICTIONS)
    if kept is None or kept["look"] >= look:
        return {}
    found = read_summary(kept["summary"])
    return {} if found is None else {PREDICTION: found}


def read_reference(run: CertifiedRun, model: str, look: int, *, had_others: bool) -> Reference:
    """Read the counts of the reference; none if they are of another model.

    Counts of another model's predictions are not those of this one. Older versions noted no model:
    `had_others` is True if there were looks at another one.
    """
    path = run.folder.monitoring / FILE
    content = read_kept(path) if path.exists() else {"columns": {}}
    if _is_of_another(content, model, had_others=had_others):
        return Reference({}, _say_others(run.folder.path))
    dates = dates_of_model(run)
    read = {
        name: None if name in dates and _is_by_name(one) else read_summary(one)
        for name, one in content["columns"].items()
        if name != PREDICTION  # of an older version, of rows that the model may have learned from
    }
    usable = {name: summary for name, summary in read.items() if summary is not None}
    left = [name for name in read if name not in usable]
    usable |= _predictions(content, look)
    return Reference(usable, _say_left(run.folder.path, left) if left else None)


def _is_of_another(reference: Mapping[str, Any], model: str, *, had_others: bool) -> bool:
    if "model_sha256" in reference:
        return bool(reference["model_sha256"] != model)
    return bool(reference["columns"]) and had_others


def _is_by_name(summary: Mapping[str, Any]) -> bool:
    """Return True for levels as older versions kept them, dates among them."""
    return "counts" in summary and summary["edges"] is None


def _say_others(place: Path) -> str:
    return (
        f"The reference kept in '{place}' is of another model, or of an older version: give "
        "the rows again to look for shifts."
    )


def _say_left(place: Path, names: list[str]) -> str:
    columns = ", ".join(f"'{name}'" for name in names)
    return (
        f"The reference kept in '{place}' is of an older version, by whose counts chance looks "
        f"like a shift of {columns}: give its rows again to compare {columns}."
    )
