"""Labelled rows beside a run: held out by the run, learned from by it, or others."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from automl_admm.constraints.fitted_groups import strata_of
from automl_admm.core.errors import DataError, StoreError
from automl_admm.data.reading.streams import is_stream, title_of
from automl_admm.data.row_portions import read_portion
from automl_admm.data.splits import hold_out
from automl_admm.pipelines.predictions.measured import Table
from automl_admm.runs.provenance import add_sums, fingerprint, sum_of_rows
from automl_admm.runs.saved.certified_run import CertifiedRun, RowsAside, read_rows_aside
from automl_admm.runs.saved.learned_rows import LearnedRows

HELD_OUT, OF_THE_FILE, LEARNED, OTHER = "held out", "held out of all", "learned from", "other"
ALL = "all"


@dataclass(frozen=True, slots=True)
class Origin:
    """The file of rows, its sha256, and their part in the run.

    `kind` is held out (all of them), held out of all (those alone were taken of the run's table),
    learned from, all (both, in another order, so that they cannot be told apart), or other. Rows
    that `is_shuffled` are those of the run in another order. Of the `given` rows so many were
    measured. `known` of them equal rows that the model learned from; None if the run kept no hashes
    of its rows. `doubt` is a sentence.
    """

    file: str
    sha256: str | None
    rows_sha256: str
    kind: str
    given: int
    measured: int
    known: int | None
    doubt: str | None
    is_shuffled: bool = False


def hash_of(source: Path) -> str | None:
    """Return the sha256 of a file; None for a stream or a folder."""
    if is_stream(source) or not source.is_file():
        return None
    with source.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def find_origin(
    run: CertifiedRun, whole: Table, given: int, source: Path | None
) -> tuple[Origin, Any]:
    """Return the origin of rows, and the places of those to measure, None for all."""
    found, places = _recognised(run, whole)
    shuffled = _in_another_order(run, whole) if found == OTHER else None
    found = shuffled or found
    measured = len(whole.y) if places is None else len(places)
    rows = whole if places is None else whole.part(places)
    learned = None if found in (HELD_OUT, OF_THE_FILE) else learned_rows(run)
    known = None if learned is None else learned.count(run.row_hashes(whole))
    origin = Origin(
        file=run.data if source is None else title_of(source),
        sha256=None if source is None else hash_of(source),
        rows_sha256=fingerprint(rows),
        kind=found,
        given=given,
        measured=measured,
        known=known,
        doubt=_doubt(run, given, known) if found == OTHER else None,
        is_shuffled=shuffled is not None,
    )
    return origin, places


def count_learned(run: CertifiedRun, origin: Origin) -> int | None:
    """Count the rows, of all that were given, that the model learned from; None if unknown.

    Of rows that are not the run's own, those that equal rows of it count.
    """
    if origin.kind == LEARNED:
        return origin.given
    if origin.kind == HELD_OUT:
        return 0
    if origin.kind == ALL:
        return int(run.content["data"]["rows"])
    return origin.given - origin.measured if origin.kind == OF_THE_FILE else origin.known


def _recognised(run: CertifiedRun, whole: Table) -> tuple[str, Any]:
    """Recognise rows by the hashes of the run; they are of all rows, in their order."""
    data, here = run.content["data"], fingerprint(whole)
    held_out = data["held_out_sha256"]
    if here == held_out:
        return HELD_OUT, None
    if here == data["sha256"]:
        return LEARNED, None
    places = None if held_out is None else _places(run, whole)
    if places is None or fingerprint(whole.part(places)) != held_out:
        return OTHER, None
    return OF_THE_FILE, places


def _in_another_order(run: CertifiedRun, whole: Table) -> str | None:
    """Recognise rows of the run in any order; None for others."""
    data = run.content["data"]
    learned, held_out = data["rows_sum"], data["held_out_rows_sum"]
    kinds = {learned: LEARNED}
    if held_out is not None:
        kinds |= {held_out: HELD_OUT, add_sums(learned, held_out): ALL}
    return kinds.get(sum_of_rows(whole))


def _places(run: CertifiedRun, whole: Table) -> Any:
    """Return the places of the rows held out if these are all rows of the run; else None.

    A certifying run wrote them down. Any other one is asked to part these rows again; only their
    hash can tell if they are the same.
    """
    aside, settings = _aside(run), run.settings
    if aside is not None:
        is_whole = len(whole.y) == aside.rows
        return np.array(aside.places, dtype=np.intp) if is_whole else None
    task, fraction = settings.get("task"), settings.get("test_size")
    if not task or not fraction or settings.get("certify") is not None:
        return None
    try:
        constraints = run.constraints(whole) if settings["limits"] else ()
        groups = [by(whole.sensitive) for one in constraints if (by := strata_of(one)) is not None]
        return hold_out(whole.y, task, fraction, settings["seed"], groups, whole.roles)[1]
    except DataError:  # too few rows to be parted, or one group: they are not those of the run
        return None


def _aside(run: CertifiedRun) -> RowsAside | None:
    """Return the rows set aside; None of a run that kept none."""
    try:
        return read_rows_aside(run.folder)
    except StoreError:
        if run.folder.rows_set_aside.exists():
            raise
        return None


def learned_rows(run: CertifiedRun) -> LearnedRows | None:
    """Return the rows learned from by the model; None if the run kept no hash of each."""
    aside = _aside(run)
    if aside is None or not run.folder.row_hashes.exists():
        return None
    hashes = replace(run, aside=aside).hashes()
    are_drawn = not {"group", "time"} & set(run.roles)
    return None if hashes is None else LearnedRows.of(hashes, aside.places, are_drawn=are_drawn)


def _doubt(run: CertifiedRun, given: int, known: int | None) -> str | None:
    """Say why other rows may be rows that the model learned from."""
    request = run.content["request"]
    portion = read_portion(request.get("portion"))
    if request.get("share") is not None:
        return "The run read a share of a file: if these are of that file, it learned from some."
    if portion is not None and portion.rows == given:
        return (
            f"The run learned from {portion.taken} rows of a table with as many rows as this one: "
            "if it is the same, these rows are among them."
        )
    if known is None:
        return (
            "The run kept no hash of each row, so its own rows are not recognised among others. "
            "Make sure that it never saw these: else all numbers are too good."
        )
    return None


def warn_of(origin: Origin) -> str | None:
    """Return a sentence if numbers of these rows are, or may be, too good."""
    if origin.kind == LEARNED:
        return (
            "The labelled rows are those that the model learned from: their numbers are too good."
        )
    if origin.kind == ALL:
        return (
            "The labelled rows are the run's own in another order, and the model learned from most "
            "of them: their numbers are too good."
        )
    if origin.known:
        told = f"{origin.known} of the labelled rows equal rows that the model learned from"
        return f"{told}."
    return origin.doubt and f"Labelled rows of unknown origin: {origin.doubt}"
