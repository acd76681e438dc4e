"""The chance of rows to equal others by nature, and counts of rows beyond it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from automl_admm.data.row_hashes import EXACT, RowHashes
from automl_admm.runs.saved.certified_run import CertifiedRun
from automl_admm.runs.saved.equal_by_chance import (
    DOUBT,
    are_by_chance_at_each_count,
    is_likely,
)
from automl_admm.runs.saved.learned_rows import LearnedRows
from automl_admm.runs.saved.row_origin import learned_rows
from automl_admm.runs.saved.rows_again import count_again
from automl_admm.store.file_schemas import REPEATED


@dataclass(frozen=True, eq=False)
class NaturalTwins:
    """Counts of the values that stand several times in a table of so many `rows`.

    `values[i]` of them stand `times[i]` times. Each counts once, however frequent it is.
    """

    times: NDArray[np.intp]
    values: NDArray[np.intp]
    rows: int

    @classmethod
    def within(cls, table: RowHashes) -> NaturalTwins:
        """Return the values that stand several times in a table."""
        counts = table.counts()
        times, values = np.unique(counts[counts > 1], return_counts=True)
        return cls(times, values, len(table))

    @classmethod
    def noted(cls, repeated: Iterable[Mapping[str, int]], rows: int) -> NaturalTwins:
        """Return those that a run noted of its rows."""
        pairs = [(one["times"], one["values"]) for one in repeated]
        times, values = np.array(pairs, dtype=np.intp).reshape(-1, 2).T
        return cls(times, values, rows)

    @property
    def repeated(self) -> int:
        """The number of values that stand several times."""
        return int(self.values.sum())

    @property
    def distinct(self) -> int:
        """The number of values, those that stand once among them; at least 1."""
        return max(self.rows - int(self.times @ self.values) + self.repeated, 1)

    def explain(self, found: int, rows: RowHashes, others: RowHashes) -> bool:
        """Return True if chance explains that rows have so many values of the others.

        Halves of the rows here tell how many to expect, larger tables at most more in proportion.
        So have tables of more values if most values stand several times here: there may be more
        objects by now.
        """
        half = max(self.rows, 1) / 2.0
        share = min(len(rows), len(others)) / half
        fewer, more = sorted(len(table.counts()) for table in (rows, others))
        larger = max(1.0, share) * max(1.0, more / half)
        grown = fewer / self.distinct if 2 * self.repeated >= self.distinct else 1.0
        expected = self._expected_of(min(1.0, share)) * max(larger, grown)
        return is_likely(found, self.repeated, expected)

    def _expected_of(self, share: float) -> float:
        """Return the part of the repeated values to expect in such a share of a half.

        A value that stands c times has c / 2 of its rows in a half. Without repeated values take
        c = 2.
        """
        if not self.repeated:
            return share
        return float(np.average(np.minimum(1.0, share * self.times / 2.0), weights=self.values))


def count_unexplained(
    rows: RowHashes,
    tables: Sequence[RowHashes],
    learned: LearnedRows | None,
    noted: NaturalTwins | None = None,
    *,
    is_timed: bool = False,
) -> int:
    """Count rows equal to those of earlier tables; 0 if chance explains them.

    Each table is asked, and all together: a file may have a few rows of each. The rows of the fit
    tell how often rows repeat by nature, or else what is `noted` of them, and each table does;
    the new rows do not, as they may be given twice. With a time, where a run `is_timed`, rows meet
    within a moment alone, and only a table knows how many rows there are of it.
    """
    tables = [one for one in tables if len(one)]
    twins = noted if learned is None else NaturalTwins.within(learned.all)
    for one in (*tables, RowHashes.together(tables)):
        if not _is_explained(rows, one, twins, is_timed=is_timed):
            return count_again(rows, tables)
    return 0


def _is_explained(
    rows: RowHashes, table: RowHashes, twins: NaturalTwins | None, *, is_timed: bool
) -> bool:
    """Ask the rows of the fit; ask the table, too, if it repeats more often than they do."""
    if twins is not None:
        if twins.explain(rows.count_of(table), rows, table):
            return True
        repeated = int((table.counts() > 1).sum())
        if not is_timed and twins.explain(repeated, table, table):
            return False
    return are_by_chance_at_each_count(rows, table)


def count_copies(
    rows: RowHashes, learned: LearnedRows | None, noted: NaturalTwins | None = None
) -> int:
    """Count rows equal to one before them in their table; 0 if chance explains them.

    The rows of the fit tell how many values repeat by nature, or else what is `noted` of them; each
    value counts once. If neither is known, only a table with each row equally often, as if it were
    given several times, is more than chance.
    """
    counts = rows.counts()
    if _is_given_several_times(counts):
        return _copies(counts)
    if learned is not None:
        noted = NaturalTwins.within(learned.all)
    elif noted is not None:
        counts = rows.distinct(EXACT).counts  # as the numbers were found
    else:
        return 0
    expected = max(1.0, (len(rows) / max(noted.rows, 1)) ** 2)
    repeated = int((counts > 1).sum())
    return 0 if is_likely(repeated, noted.repeated, expected) else _copies(counts)


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
    return count_copies(rows, learned_rows(run), repeats_noted(run))


def repeats_noted(run: CertifiedRun) -> NaturalTwins:
    """Return what the run noted of values that stand several times in its rows."""
    data = run.content["data"]
    return NaturalTwins.noted(data[REPEATED], data["rows"])
