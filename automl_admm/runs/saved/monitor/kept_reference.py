"""The counts of a reference, kept in the folder of a run for later looks.

Those of the model's predictions are of the first look with rows enough, not of the reference: on
rows that it learned from, as those mostly are, a model is surer than on any others.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from automl_admm.core.errors import StoreError
from automl_admm.core.messages import say_count
from automl_admm.data.drift import FEWEST, Summary, read_summary, summarize
from automl_admm.runs.saved.certified_run import CertifiedRun
from automl_admm.runs.saved.monitor.earlier_looks import read_kept, unreadable
from automl_admm.runs.saved.monitor.watched_columns import (
    PREDICTION,
    features_of_model,
)
from automl_admm.store.run_folder import write_json

SCHEMA = 1
FILE, PREDICTIONS = "reference.json", "predictions"
# With fewer rows a look is no base for those to come: hardly any shift from it could be told.
FEWEST_ROWS = 100
GIVE_AGAIN = "Give the rows of the reference again."
GIVE_MORE = "Give more rows of the time of the fit."


@dataclass(frozen=True)
class Reference:
    """Counts by column, and a sentence if they cannot be used, or find nothing."""

    columns: Mapping[str, Summary]
    doubt: str | None = None


def keep(run: CertifiedRun, rows: Any, model: str, look: int) -> Reference:
    """Count a reference, and keep the counts with the hash of the model.

    Kept predictions stay if the counts are the same. Beside another reference, or if their look was
    deleted, those of this look take their place.
    """
    path, made = run.folder.monitoring / FILE, dict[str, Summary]()
    taken = run.taken_in(rows.reset_index(drop=True), run.place)
    for name, column in features_of_model(run, taken):
        made[name] = summarize(column)
    counts = {name: summary.as_json() for name, summary in made.items()}
    content = {"schema_version": SCHEMA, "model_sha256": model, "rows": len(rows)}
    content["columns"] = counts
    kept, predictions = _beside_the_same(path, content, look)
    write_json(path, content if kept is None else {**content, PREDICTIONS: kept})
    return Reference(made | predictions, _say_few(len(rows)))


def _beside_the_same(
    path: Path, content: Mapping[str, Any], look: int
) -> tuple[Any, dict[str, Summary]]:
    """Return the predictions kept beside the same counts, as in the file and as read.

    A file that cannot be read has none: the reference at hand takes its place.
    """
    try:
        with _reading(path):
            before = read_kept(path, GIVE_AGAIN) if path.exists() else {}
            is_same = all(before.get(name) == value for name, value in content.items())
            kept = before.get(PREDICTIONS) if is_same else None
            return kept, _predictions(kept, look)
    except StoreError:
        return None, {}


@contextmanager
def _reading(path: Path) -> Iterator[None]:
    """Turn the errors of a damaged file into one that names it."""
    try:
        yield
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as problem:
        raise unreadable(path, problem, GIVE_AGAIN) from problem


def keep_predictions(run: CertifiedRun, predictions: Any, look: int) -> None:
    """Keep the counts of the predictions of a look beside those of the reference, if they suffice.

    A look of a few rows leaves it to a later one.
    """
    if len(predictions) < FEWEST_ROWS:
        return
    path = run.folder.monitoring / FILE
    kept = {"look": look, "summary": summarize(predictions).as_json()}
    write_json(path, {**read_kept(path, GIVE_AGAIN), PREDICTIONS: kept})


def _predictions(kept: Mapping[str, Any] | None, look: int) -> dict[str, Summary]:
    """Return the summary of the predictions of an earlier look, if there is one."""
    if kept is None or kept["look"] >= look:
        return {}
    return {PREDICTION: read_summary(kept["summary"])}


def read_reference(run: CertifiedRun, model: str, look: int) -> Reference:
    """Read the counts of the reference; none if they are of another model.

    Counts of another model's predictions are not those of this one.
    """
    path = run.folder.monitoring / FILE
    if not path.exists():
        return Reference({})
    with _reading(path):
        content = read_kept(path, GIVE_AGAIN)
        if content["model_sha256"] != model:
            told = f"The reference kept in '{run.folder.path}' is of another model: give the rows "
            return Reference({}, f"{told}again to look for shifts.")
        rows = int(content["rows"])
        read = {name: read_summary(one, rows) for name, one in content["columns"].items()}
        return Reference(read | _predictions(content.get(PREDICTIONS), look), _say_few(rows))


def _say_few(rows: int) -> str | None:
    """Say that a reference has too few rows; None if it has enough for a test."""
    if rows >= FEWEST:
        return None
    told = f"The reference has {say_count(rows, 'row')}: no shift is found by fewer than"
    return f"{told} {FEWEST:.0f}. {GIVE_MORE}"
