"""The chance of rows to equal others by nature, and counts of rows beyond it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from automl_admm.certify.bounds.bounds import exact_bounds
from automl_admm.core.evidence import Rate
from automl_admm.data.row_hashes import RowHashes
from automl_admm.runs.saved.certified_run import CertifiedRun
from automl_admm.runs.saved.learned_rows import DOUBT, LearnedRows
from automl_admm.runs.saved.row_origin import learned_rows
from automl_admm.runs.saved.rows_again import count_again
from automl_admm.store.file_schemas import TWINS


@dataclass(frozen=True)
class NaturalTwins:
    """The share of rows that equal one of so many others, at most, but for the risk.

    With several numbers of others the share is that of all rows beside tables of these sizes.
    """

    share: float
    others: tuple[int, ...]

    @classmethod
    def seen(cls, twins: int, rows: int, others: Sequence[int]) -> NaturalTwins:
        """Bound the share by the number of twins among some rows."""
        bounds = exact_bounds(Rate(twins, rows), DOUBT)
        return cls(1.0 if bounds is None else bounds.upper, tuple(others))

    @classmethod
    def across(cls, learned: LearnedRows, kinds: int) -> NaturalTwins:
        """Bound it by rows set aside that equal rows of the search, by so many of their hashes."""
        known = LearnedRows(learned.hashes.first(kinds), learned.aside.first(kinds))
        return cls(known.chance, (len(known.hashes),))

    @classmethod
    def within(cls, tables: Sequence[RowHashes]) -> NaturalTwins:
        """Bound it by rows that equal another one of their own table."""
        counts = [table.counts() for table in tables]
        twins = sum(int(one[one > 1].sum()) for one in counts)
        sizes = [len(table) for table in tables]
        return cls.seen(twins, sum(sizes), sizes)

    def among(self, rows: int) -> float:
        """Return the chance of a row to equal one of so many others, at most.

        It grows with their number, and less than in proportion: each may equal one before it.
        """
        sizes = np.array(self.others, dtype=float)
        reached = np.average(np.minimum(1.0, sizes / max(rows, 1)), weights=sizes)
        return min(1.0, self.share / float(reached)) if reached > 0 else 1.0

    def explain(self, found: int, rows: int, others: int) -> bool:
        """Return True if it may well be that so many of the rows equal one of the others."""
        return bool(stats.binom.sf(found - 1, rows, self.among(others)) > DOUBT)


def count_unexplained(
    rows: RowHashes, tables: Sequence[RowHashes], learned: LearnedRows | None
) -> int:
    """Count rows that equal those of earlier tables; 0 if chance explains them.

    Each table is asked, and all together: a file may have a few rows of each. How often rows repeat
    by nature is told by the rows of the fit, or else by the twins within each table.
    """
    tables = [one for one in tables if len(one)]
    for kinds in {min(one.kinds, rows.kinds) for one in tables}:
        known = [one.first(kinds) for one in tables if min(one.kinds, rows.kinds) == kinds]
        if learned is None:
            twins = NaturalTwins.within([rows.first(kinds), *known])
        else:
            twins = NaturalTwins.across(learned, kinds)
        for one in (*known, RowHashes.together(known)):
            found = int(rows.repeat(one).sum())
            if not twins.explain(found, len(rows), len(one)):
                return count_again(rows, tables)
    return 0


def count_copies(
    rows: RowHashes, learned: LearnedRows | None, of_fit: tuple[int, int] | None = None
) -> int:
    """Count rows that equal one before them in their table; 0 if chance explains them.

    The rows of the fit tell how often rows repeat by nature, or else the numbers `of_fit` of twins
    among so many rows. Where neither is known, only a table that has each row equally often, as if
    it were given several times, is more than chance.
    """
    if learned is not None:
        fit = RowHashes.together([learned.hashes, learned.aside])
        rows, of_fit = rows.first(fit.kinds), (_copies(fit), len(fit))
    elif of_fit is not None:
        rows = rows.first(1)  # as the numbers were found
    else:
        return _copies(rows) if _is_given_several_times(rows.counts()) else 0
    found, twins = _copies(rows), NaturalTwins.seen(*of_fit, [of_fit[1]])
    return 0 if twins.explain(found, len(rows), len(rows)) else found


def _copies(rows: RowHashes) -> int:
    return len(rows) - len(rows.counts())


def _is_given_several_times(counts: NDArray[np.intp]) -> bool:
    """Return True if all counts share a divisor above 1, and chance does not explain it."""
    times = int(np.gcd.reduce(counts)) if len(counts) else 1
    return times > 1 and float(times) ** -len(counts) <= DOUBT


def tell_copies(rows: RowHashes, run: CertifiedRun) -> str | None:
    """Return a sentence if more rows equal one before them in their table than chance explains."""
    data = run.content["data"]
    of_fit = (data[TWINS], data["rows"]) if TWINS in data else None
    copies = count_copies(rows, learned_rows(run), of_fit) if len(rows) else 0
    if not copies:
        return None
    return (
        f"{copies} of the {len(rows)} rows of {run.data} equal a row before them, which chance "
        "does not explain: a row that counts twice proves what is not so. Give each once."
    )
