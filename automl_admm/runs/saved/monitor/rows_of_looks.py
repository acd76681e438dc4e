"""Rows of earlier looks among those of a look: each may count once."""

from __future__ import annotations

from collections.abc import Sequence

from automl_admm.core.errors import DataError
from automl_admm.data.row_hashes import RowHashes
from automl_admm.runs.saved.certified_run import CertifiedRun
from automl_admm.runs.saved.monitor.earlier_looks import EarlierLook
from automl_admm.runs.saved.natural_twins import count_unexplained, repeats_noted
from automl_admm.runs.saved.row_origin import learned_rows
from automl_admm.runs.saved.rows_again import are_again, share_of_twins

HINT = "Give only rows that arrived since: a row that counts twice proves what is not so."


def refuse_again(run: CertifiedRun, hashes: RowHashes, looks: Sequence[EarlierLook]) -> None:
    """Raise if more of the rows equal rows of earlier looks than chance explains."""
    before = [look.hashes for look in looks]
    twin = share_of_twins([RowHashes.together(before), hashes])
    for look in looks:
        if are_again(hashes, look.hashes, look.order, twin):
            raise DataError(
                f"{run.data} has the rows of look {look.number} again.",
                hint=HINT,
            )
    learned = learned_rows(run) if before else None
    noted, is_timed = repeats_noted(run), "time" in run.roles
    if found := count_unexplained(hashes, before, learned, noted, is_timed=is_timed):
        raise DataError(
            f"{found} of the {len(hashes)} rows of {run.data} equal rows of earlier looks, which "
            "chance does not explain.",
            hint=HINT,
        )
