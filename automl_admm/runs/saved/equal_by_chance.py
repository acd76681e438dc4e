"""Rows equal to those of a table by chance, told from rows taken out of it.

Only rows alone in the table are evidence, each of them once. So values newly frequent, as where an
outage blanks all columns, count for one row at most: they are a shift, and no rows given again.
The pairs of equal rows within the table tell how many are to be expected.
"""

from __future__ import annotations

from scipy import stats

from automl_admm.data.row_hashes import RowHashes

# The risk of calling rows that repeat each other by nature rows that are given again.
DOUBT = 1e-4
# A table of two files of the same objects has half as many pairs as a table of rows drawn freely:
# no two rows of one file are the same object.
OF_THE_SAME_OBJECTS = 2.0


def are_by_chance(rows: RowHashes, table: RowHashes) -> bool:
    """Return True if so many of new rows equal some of a table by chance, as it may well be.

    Of n new rows and m of a table as many are expected to meet, for each pair of equal rows among
    the m, as there are pairs of a new row with an old one for each pair of old ones. Of both
    together the new ones have a share.
    """
    found = rows.count_singles_of(table)
    counts = table.first(min(rows.kinds, table.kinds)).counts()
    pairs = int((counts == 2).sum())
    expected = OF_THE_SAME_OBJECTS * 2.0 * len(rows) / max(len(table) - 1, 1)
    return is_likely(found, pairs, expected)


def is_likely(found: int, known: int, expected: float) -> bool:
    """Return True if a count may well be, expected to be so many times a known one."""
    share = expected / (1.0 + expected)
    return bool(stats.binom.sf(found - 1, found + known, share) > DOUBT)
