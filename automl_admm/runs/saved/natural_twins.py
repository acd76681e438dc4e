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
from automl_admm.runs.saved.equal_by_chance import (
    DOUBT,
    are_by_chance_at_each_count,
    is_likely,
)
from automl_admm.runs.saved.learned_rows import LearnedRows
from automl_admm.runs.saved.row_origin import learned_rows
from automl_admm.runs.saved.rows_again import count_again
from automl_admm.store.file_schemas import TWINS


@dataclass(frozen=True)
class NaturalTwins:
    """An upper bound, at the risk `DOUBT`, on the share of rows equal to one of so many others."""

    share: float
    others: int

    @classmethod
    def within(cls, table: RowHashes) -> NaturalTwins:
        """Bound it by rows equal to another one of their table; they come two at a time."""
        counts = table.counts()
        twins = int(counts[counts > 1].sum())
        return cls._seen((twins + 1) // 2, len(table))

    @classmethod
    def noted(cls, copies: int, rows: int) -> NaturalTwins:
        """Bound it by the number of rows equal to one before them: each has at most one twin."""
        return cls._seen(copies, rows)

    @classmethod
    def _seen(cls, pairs: int, rows: int) -> NaturalTwins:
        half = (rows + 1) // 2
        bounds = exact_bounds(Rate(min(pairs, half), half), DOUBT)
        return cls(1.0 if bounds is None else bounds.upper, rows)

    def among(self, rows: int) -> float:
        """Return the chance of a row to equal one of so many others, at most.

        It grows with their number, and less than in proportion: each may equal one before it.
        """
        return min(1.0, self.share * max(1.0, rows / max(self.others, 1)))

    def explain(self, found: int, rows: int, others: int) -> bool:
        """Return True if chance explains that so many of the rows equal one of the others."""
        return bool(stats.binom.sf(found - 1, rows, self.among(others)) > DOUBT)


def count_unexplained(
    rows: RowHashes,
    tables: Sequence[RowHashes],
    learned: LearnedRows | None,
    of_fit: tuple[int, int] | None = None,
    *,
    is_timed: bool = False,
) -> int:
    """Count rows equal to those of earlier tables; 0 if chance explains them.

    Each table is asked, and all together: a file may have a few rows of each. How often rows repeat
    by nature is told by the rows of the fit, or else the numbers `of_fit` of twins among so many
    rows, and by each table, never by the new ones: they may be given twice. With a time, where a
    run `is_timed`, rows meet within a moment alone, and only a table knows how many rows there are
    of it.
    """
    tables = [one for one in tables if len(one)]
    for kinds in {min(one.kinds, rows.kinds) for one in tables}:
        known = [one.first(kinds) for one in tables if min(one.kinds, rows.kinds) == kinds]
        twins = _twins_of_fit(learned, of_fit, kinds)
        for one in (*known, RowHashes.together(known)):
            if not _is_explained(rows, one, twins, is_timed=is_timed):
                return count_again(rows, tables)
    return 0


def _twins_of_fit(
    learned: LearnedRows | None, of_fit: tuple[int, int] | None, kinds: int
) -> NaturalTwins | None:
    if learned is not None:
        return NaturalTwins.within(learned.all.first(kinds))
    return None if of_fit is None else NaturalTwins.noted(*of_fit)


def _is_explained(
    rows: RowHashes, table: RowHashes, twins: NaturalTwins | None, *, is_timed: bool
) -> bool:
    """Ask the rows of the fit; ask the table, too, if it repeats more often than they do."""
    if twins is not None:
        if twins.explain(rows.count_of(table), len(rows), len(table)):
            return True
        counts = table.counts()
        repeated = int(counts[counts > 1].sum())
        if not is_timed and twins.explain(repeated, len(table), len(table)):
            return False
    return are_by_chance_at_each_count(rows, table)


def count_copies(
    rows: RowHashes, learned: LearnedRows | None, of_fit: tuple[int, int] | None = None
) -> int:
    """Count rows equal to one before them in their table; 0 if chance explains them.

    The rows of the fit tell how many values repeat by nature, each counted once however frequent
    it became; or else the numbers `of_fit` of twins among so many rows. Where neither is known,
    only a table with each row equally often, as if it were given several times, is more than
    chance.
    """
    counts = rows.counts()
    if _is_given_several_times(counts):
        return _copies(counts)
    if learned is not None:
        fit = learned.all
        counts, of_fit = rows.first(fit.kinds).counts(), (_repeated(fit.counts()), len(fit))
    elif of_fit is not None:
        counts = rows.first(1).counts()  # as the numbers were found
    else:
        return 0
    known, size = of_fit
    expected = max(1.0, (len(rows) / max(size, 1)) ** 2)
    return 0 if is_likely(_repeated(counts), known, expected) else _copies(counts)


def _repeated(counts: NDArray[np.intp]) -> int:
    """Return the number of values that stand several times."""
    return int((counts > 1).sum())


def _copies(counts: NDArray[np.intp]) -> int:
    return int(counts.sum()) - len(counts)


def _is_given_several_times(counts: NDArray[np.intp]) -> bool:
    """Return True if all counts share a divisor above 1, and chance does not explain it."""
    times = int(np.gcd.reduce(counts)) if len(counts) else 1
    return times > 1 and float(times) ** -len(counts) <= DOUBT


def tell_copies(rows: RowHashes, run: CertifiedRun) -> str | None:
    """Return a sentence if more rows equal one before them in their table than chance explains.

    The fit does not know how many rows a moment may have.
    """
    copies = _count_in_file(rows, run) if len(rows) else 0
    if not copies:
        return None
    return (
        f"{copies} of the {len(rows)} rows of {run.data} equal a row before them, which chance "
        "does not explain: they may be given twice. If they are, give each once, as a row that "
        "counts twice proves what is not so; rows that are alike by nature stay."
    )


def _count_in_file(rows: RowHashes, run: CertifiedRun) -> int:
    if "time" in run.roles:
        return count_copies(rows, None)
    return count_copies(rows, learned_rows(run), twins_noted(run))


def twins_noted(run: CertifiedRun) -> tuple[int, int] | None:
    """Return how many rows of the fit equal one before them, and of how many; None: unknown."""
    data = run.content["data"]
    return (data[TWINS], data["rows"]) if TWINS in data else None
