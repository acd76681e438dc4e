"""Rows equal to those of a table by chance, told from rows taken out of it.

Each distinct row of the table is evidence once. So values newly frequent, as where an outage blanks
all columns, count for one row at most: they are a shift, and no rows given again. The equal rows
within the table tell how many are to be expected.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy import special

from automl_admm.data.row_hashes import RowHashes

# The risk of taking rows that repeat each other by nature for rows that are given again.
DOUBT = 1e-4
# Values that stand at least so often come again by nature if beside those of one count such a share
# of them stands once more or once less. A table given several times has each value equally often.
OFTEN = 5
DIFFERING = 0.25
# A table of two files of the same objects has half as many pairs as a table of rows drawn freely:
# no two rows of one file are the same object.
OF_THE_SAME_OBJECTS = 2.0


def are_by_chance(rows: RowHashes, table: RowHashes) -> bool:
    """Return True if chance explains how many of the new rows equal one of a table.

    The pairs of equal rows among the m of the table measure chance: they are m (m - 1) / 2 pairs,
    and n new rows make n m pairs with them. So 2 n / (m - 1) equal rows are expected for each pair.
    """
    found = rows.count_singles_of(table)
    pairs = int((table.counts() == 2).sum())
    expected = OF_THE_SAME_OBJECTS * 2.0 * len(rows) / max(len(table) - 1, 1)
    return is_likely(found, pairs, expected)


def are_by_chance_at_each_count(
    rows: RowHashes, table: RowHashes, more: float = OF_THE_SAME_OBJECTS
) -> bool:
    """Return True if chance explains how many single rows are found, pairs, triples and so on.

    The table is of one file, or of rows drawn freely. So its repeated rows are evidence as well:
    singles are held to its pairs, pairs to its triples, and values that stand often to those that
    stand about as often: objects of many files are in nearly all of them. There may be `more` times
    as many equal rows between tables as within. A table with some rows twice on purpose measures
    no chance.
    """
    if rows.count_of(table) <= 1:
        return True
    return _are_drawn(table.counts()) and all(
        _is_likely_of(int(times), counts, is_found, more * len(rows))
        for counts, is_found in rows.found_of(table)
        for times in np.unique(counts[is_found])
    )


def _is_likely_of(
    times: int, counts: NDArray[np.intp], is_found: NDArray[np.bool_], rows: float
) -> bool:
    found = int(is_found[counts == times].sum())
    more = int((counts == times + 1).sum())
    near, alike = int((abs(counts - times) <= 1).sum()), int((counts == times).sum())
    if times >= OFTEN and near - alike >= DIFFERING * alike:
        more = near
    expected = (times + 1.0) * rows / max(int(counts.sum()) - times, 1)
    return found <= 1 or is_likely(found, more, expected)


def _are_drawn(counts: NDArray[np.intp]) -> bool:
    """Return True if rows may have been drawn, each with a frequency of its own.

    Then so many pairs beside singles come with triples, at least by the inequality of Cauchy and
    Schwarz on the first three moments of the frequencies.
    """
    singles, pairs, triples = (int((counts == times).sum()) for times in (1, 2, 3))
    at_most = singles + 2.0 * math.sqrt(singles + 1.0)  # of each there may well be so many
    at_least = max(pairs - 2.0 * math.sqrt(pairs), 0.0)
    return bool(special.pdtr(triples, 2.0 / 3.0 * at_least**2 / at_most) > DOUBT)


def are_as_many(rows: RowHashes, others: RowHashes, table: RowHashes) -> bool:
    """Return True if new rows equal rows of a table as often as `others` drawn with it do.

    So rows twice in the table, by mistake or on purpose, are no evidence of chance beyond their
    share among the others.
    """
    found = rows.count_of(table)
    if found <= 1 or not len(others):
        return True
    known = int(others.are_in(table).sum())
    return is_likely(found, known, len(rows) / len(others))


def is_likely(found: int, known: int, expected: float) -> bool:
    """Return True if chance explains a count, expected to be so many times a known one."""
    share = expected / (1.0 + expected)
    return bool(special.bdtrc(found - 1, found + known, share) > DOUBT)
