"""Refuse rows of the fit, on which broken limits seem to hold, and rows of earlier looks."""

from __future__ import annotations

from collections.abc import Sequence

from automl_admm.core.errors import DataError
from automl_admm.data.row_hashes import RowHashes
from automl_admm.pipelines.predictions.measured import Table
from automl_admm.runs.saved.certified_run import CertifiedRun
from automl_admm.runs.saved.monitor.earlier_looks import EarlierLook
from automl_admm.runs.saved.natural_twins import count_unexplained, repeats_noted
from automl_admm.runs.saved.row_origin import (
    ALL,
    LEARNED,
    OF_THE_FILE,
    OTHER,
    Origin,
    count_learned,
    find_origin,
    learned_rows,
    warn_of,
)
from automl_admm.runs.saved.rows_again import are_again, share_of_twins

ONCE = "Give only rows that arrived since: a row that counts twice proves what is not so."


def check_new(run: CertifiedRun, table: Table, hashes: RowHashes) -> tuple[int | None, str | None]:
    """Raise if these are rows of the run; return how many the model learned from, and doubt.

    As far as chance explains them they may equal rows of the run, as rows of few values do.
    """
    origin, _ = find_origin(run, table, len(table.y), None)
    learned = count_learned(run, origin)
    if origin.kind in (LEARNED, ALL, OF_THE_FILE):
        raise DataError(
            f"{run.data} has the rows of the run, and the model learned from {learned} of "
            f"its {len(table.y)}: limits would seem to hold that are broken.",
            hint="Give rows that arrived after the fit.",
        )
    _refuse_some(run, origin, hashes)
    return learned, _doubt(origin)


def _doubt(origin: Origin) -> str | None:
    told = warn_of(origin)
    if origin.kind != OTHER or not origin.known:
        return told
    return (
        f"{told} New rows may equal so many by chance; if they are of the same objects, unchanged "
        "since the fit, limits seem to hold on them that are broken."
    )


def _refuse_some(run: CertifiedRun, origin: Origin, hashes: RowHashes) -> None:
    rows = learned_rows(run) if origin.kind == OTHER and origin.known else None
    if rows is None or rows.explain(hashes):
        return
    told = f"{origin.known} of the {origin.given} rows of {run.data}"
    hint = (
        "Leave them out: give rows that arrived after the fit. Those of the same objects, "
        "unchanged since, are what the model learned from."
    )
    raise DataError(
        f"{told} equal rows that the model learned from, which chance does not explain: limits "
        "would seem to hold that are broken.",
        hint=hint,
    )


def refuse_again(run: CertifiedRun, hashes: RowHashes, looks: Sequence[EarlierLook]) -> None:
    """Raise if more of the rows equal rows of earlier looks than chance explains."""
    before = [look.hashes for look in looks]
    twin = share_of_twins([RowHashes.together(before), hashes])
    for look in looks:
        if are_again(hashes, look.hashes, look.order, twin):
            raise DataError(f"{run.data} has the rows of look {look.number} again.", hint=ONCE)
    learned = learned_rows(run) if before else None
    noted, is_timed = repeats_noted(run), "time" in run.roles
    if found := count_unexplained(hashes, before, learned, noted, is_timed=is_timed):
        raise DataError(
            f"{found} of the {len(hashes)} rows of {run.data} equal rows of earlier looks, which "
            "chance does not explain.",
            hint=ONCE,
        )
