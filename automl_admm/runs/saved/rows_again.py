"""Rows of an earlier look given again, told from rows equal to them by chance."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence

import numpy as np

from automl_admm.data.row_hashes import RowHashes

# The risk of taking rows that repeat each other by nature for rows of an earlier look.
DOUBT = 0.01


def hash_of_order(hashes: RowHashes) -> str:
    """Return the hash of rows in their order: so a file that grows is known by its beginning."""
    return hashlib.sha256(hashes.written.tobytes()).hexdigest()


def count_again(rows: RowHashes, tables: Sequence[RowHashes]) -> int:
    """Count the rows equal to those of earlier tables, each of which counts for one row."""
    return int(rows.repeat(RowHashes.together(tables)).sum())


def share_of_twins(tables: Sequence[RowHashes]) -> float:
    """Return the chance of a row to equal another one of its table, never 0 or 1."""
    counts = np.concatenate([table.counts() for table in tables])
    return float((counts[counts > 1].sum() + 1) / (counts.sum() + 2))


def are_again(rows: RowHashes, look: RowHashes, order: str, twin: float) -> bool:
    """Return True if one has all rows of the other, and chance does not explain it.

    `order` is the hash of the look's rows in their order, and `twin` the chance of a row to equal
    another one.
    """
    if not len(rows) or not len(look):
        return False
    if order == hash_of_order(rows.part(slice(len(look)))) and _of_the_order(look) <= DOUBT:
        return True
    for few, many in ((rows, look), (look, rows)):
        if few.repeat(many).all():
            chance = twin ** len(few)
            return min(chance, _of_the_set(many) if len(few) == len(many) else 1.0) <= DOUBT
    return False


def _of_the_order(look: RowHashes) -> float:
    """Return the chance of rows to come in the order of a look."""
    counts = look.counts()
    return math.exp(float((counts * np.log(counts / counts.sum())).sum()))


def _of_the_set(look: RowHashes) -> float:
    """Return the chance of rows to be those of a look in another order.

    Both are parts of twice the look, drawn at random.
    """
    counts = look.counts()
    logs = [_log_of_halves(int(count)) for count in counts]
    return math.exp(sum(logs) - _log_of_halves(int(counts.sum())))


def _log_of_halves(count: int) -> float:
    """Return the logarithm of the number of ways to choose half of `2 * count`."""
    return math.lgamma(2 * count + 1) - 2 * math.lgamma(count + 1)
