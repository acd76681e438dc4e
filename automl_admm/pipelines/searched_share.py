"""The rows of a search on a share of them, apart from the others: evaluations need no more."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from automl_admm.execution.beginnings import Beginning

if TYPE_CHECKING:
    from automl_admm.pipelines.work import PipelineWork

Rows = NDArray[np.intp]
# Only what is at most this part of the rows is sent before the others.
MOST = 0.5


@dataclass(frozen=True, eq=False)
class SearchedShare:
    """The `places` of the rows of a share in the whole table of so many `rows`."""

    places: Rows
    rows: int


def begin_on_share(work: PipelineWork) -> Beginning | None:
    """Divide a work into the rows of its splits, and all rows; None if the splits need most rows.

    The splits are the same, by the new places of their rows.
    """
    rows = len(work.table.y)
    is_searched = np.zeros(rows, dtype=bool)
    for split in work.splits:
        for part in split:
            is_searched[part] = True
    places = np.flatnonzero(is_searched)
    if len(places) > MOST * rows:
        return None
    splits = tuple(
        (np.searchsorted(places, train), np.searchsorted(places, valid))
        for train, valid in work.splits
    )
    share = replace(
        work,
        table=work.table.part(places),
        splits=splits,
        held_out=None,
        tested=None,
        share=SearchedShare(places, rows),
    )
    # What brings the work on all rows back.
    changed = ("table", "splits", "held_out", "tested", "share")
    rest = {name: getattr(work, name) for name in changed}
    return Beginning(share, frozenset({"evaluate"}), rest)
