"""Columns of new rows against those of a reference: shares of cells, compared by a test.

Only counts are kept of the reference, no rows. Cells must not be chosen by the counts of one of the
tables compared: the most frequent levels of 800 rows are less frequent among the next 800. So
levels get cells by their counts in both tables together.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from hashlib import blake2b
from typing import Any

import numpy as np
import pandas as pd

from automl_admm.data.narrow_floats import WIDE, as_written, float_of, float_of_values
from automl_admm.data.plain_columns import has_numbers

# Tenths of the reference; a number with no more values is compared by its values.
BINS = 10
# Levels beyond these, by frequency, are counted together.
LEVELS = 30
# Expected counts below this make the test inexact: such cells are put together.
FEWEST = 5.0
# A population stability index from here on is called a moderate shift in credit scoring.
SHIFT = 0.1
MISSING = "missing"
# Bytes of the hash of a level. Two levels of a column seldom share one, and a column of texts, all
# of them different, has 65,536 at most.
HASH = 2
# Numbers as far apart, for their size, may be one: 0.1 of four bytes, or computed elsewhere.
SAME = 1e-6
LARGEST = np.finfo(float).max


@dataclass(frozen=True, slots=True)
class Tables:
    """The counts of cells in two tables, a line of the reference and one of new rows in each.

    All levels but the most frequent ones are together in the last cell. `rest` parts it, and has
    only half of the reference. A number has no `rest`.
    """

    cells: Any
    rest: Any = None


@dataclass(frozen=True, slots=True)
class Numbers:
    """Counts of a number of the reference: of missing ones, and between `edges`."""

    counts: Mapping[str, int]
    edges: tuple[float, ...]

    def as_json(self) -> dict[str, Any]:
        """Return what `read_summary` reads."""
        return {"counts": dict(self.counts), "edges": list(self.edges)}

    def beside(self, column: Any) -> Tables:
        """Return the counts beside those of a column of new rows."""
        counts = _count_numbers(_figures(column), self.edges)
        cells = np.array([[one.get(cell, 0) for cell in counts] for one in (self.counts, counts)])
        return Tables(cells)


@dataclass(frozen=True, slots=True)
class Levels:
    """Counts of the levels of the reference by their hashes, in two halves of its rows."""

    halves: tuple[Mapping[str, int], Mapping[str, int]]

    def as_json(self) -> dict[str, Any]:
        """Return what `read_summary` reads."""
        return {"halves": [dict(half) for half in self.halves]}

    def beside(self, column: Any) -> Tables:
        """Return the counts beside those of a column of new rows.

        Rare levels are one cell, in two parts: those of the first half, and others. So many new
        rare levels are found. The second half tells how many of each to expect.
        """
        first, second = map(Counter, self.halves)
        known, counts = first + second, Counter(_count_levels(_names(column)))
        own = [MISSING, *_frequent(known, counts)]
        rest = [_parted(_left(one, own), first) for one in (second, counts)]
        return Tables(_cells(own, known, counts), np.array(rest))


Summary = Numbers | Levels


@dataclass(frozen=True, slots=True)
class Shift:
    """The comparison of a column: p of the test, and the population stability index.

    With shares p_i of the reference and q_i of the new rows in cell i the index is
    Σ (q_i − p_i) ln(q_i / p_i). Without a shift it is `by_chance` on average.
    """

    column: str
    p: float
    index: float
    by_chance: float = 0.0

    @property
    def is_small(self) -> bool:
        """True if the shift is too small to matter, even if it is not by chance."""
        return self.index - self.by_chance < SHIFT

    def is_alarm(self, risk: float) -> bool:
        """Return True if the shift is neither chance nor small."""
        return self.p <= risk and not self.is_small


def summarize(column: Any) -> Summary:
    """Count a column of the reference, a number by tenths of it and all else by levels."""
    column = pd.Series(column)
    if has_numbers(column) and column.nunique() > BINS:
        values = _figures(column)
        known = values[np.isfinite(values)]
        shares = np.arange(1, BINS) / BINS
        tenths = np.quantile(known, shares, method="inverted_cdf") if len(known) else known
        edges = _edges_at(tenths, np.unique(known))
        return Numbers(_count_numbers(values, edges), edges)
    names = _names(column)
    is_first = np.random.default_rng(0).permutation(len(names)) < len(names) // 2
    return Levels((_count_levels(names[is_first]), _count_levels(names[~is_first])))


def _figures(column: Any) -> Any:
    """Return numbers as wide floats, those of two bytes as a file in text has them.

    Widened they differ from these by more than `SAME`.
    """
    found = pd.to_numeric(column, errors="coerce").to_numpy(dtype=float, na_value=np.nan)
    if (kind := float_of(column.dtype)) != "float16":
        return found
    distinct, places = np.unique(found, return_inverse=True)
    return np.array([as_written(one, [kind]) for one in distinct], dtype=float)[places]


def _edges_at(tenths: Any, known: Any) -> tuple[float, ...]:
    """Return the edges of cells; a value at two tenths or more, such as 0, is a cell itself.

    An edge stands a little beside a tenth, and no nearer to another of the sorted `known` values:
    of large numbers in a narrow range a little would be beyond them.
    """
    places, times = np.unique(tenths, return_counts=True)
    ends = np.concatenate([[-np.inf], known, [np.inf]])
    below = ends[np.searchsorted(ends, places) - 1]
    above = ends[np.searchsorted(ends, places, side="right")]
    with np.errstate(over="ignore"):
        slack = SAME * np.abs(places)
        lower = places - np.minimum(slack, places / 2 - below / 2)
        upper = np.nextafter(places + np.minimum(slack, above / 2 - places / 2), np.inf)
        edges = np.union1d(lower, upper[times > 1])
    return tuple(map(float, np.clip(edges, -LARGEST, LARGEST)))


def read_summary(content: Mapping[str, Any], rows: int | None = None) -> Summary:
    """Read the summary of a column; raise ValueError if it is damaged or not of so many rows."""
    if "halves" in content:
        first, second = map(_read_counts, content["halves"])
        found: Summary = Levels((first, second))
        total = sum(first.values()) + sum(second.values())
    else:
        counts, edges = _read_counts(content["counts"]), tuple(map(float, content["edges"]))
        found, total = Numbers(counts, edges), sum(counts.values())
        if not np.isfinite(edges).all() or list(edges) != sorted(set(edges)):
            raise ValueError("its edges are not in order")
        if counts.keys() != _count_numbers(np.array([]), edges).keys():
            raise ValueError("its counts are not those between its edges")
    if rows is not None and total != rows:
        raise ValueError(f"a column counts {total} rows of {rows}")
    return found


def compare(name: str, reference: Summary, column: Any) -> Shift:
    """Compare a column of new rows with the reference, by the test that finds most.

    Its p is multiplied by the number of tests (Bonferroni), and the index is of its cells. A small
    but certain shift does not hide a larger one.
    """
    tests = list(_tests(reference.beside(pd.Series(column))))
    found = (
        Shift(name, min(1.0, len(tests) * p), _index_of(table), _by_chance(table))
        for p, table in tests
    )
    return min(found, key=lambda one: (one.is_small, one.p))


def _tests(tables: Tables) -> Iterator[tuple[float, Any]]:
    """Yield p and the cells of each test that has enough rows."""
    cells, rest = tables.cells, tables.rest
    whole = _without_rare(cells)
    yield _p_of(whole), whole
    if rest is not None and len(_without_rare(rest).T) > 1:
        own = cells[:, :-1].sum(axis=1, keepdims=True)
        yield _p_of(rest), np.hstack([own, cells[:, -1:] * rest / rest.sum(axis=1, keepdims=True)])
    if len(whole.T) < (cells.sum(axis=0) > 0).sum():
        yield _test_exactly(cells)


def _test_exactly(table: Any) -> tuple[float, Any]:
    """Return p of the exact test of the cell that differs most, and it beside all others.

    Given the counts of both lines together, the count N of the shorter line is hypergeometric. With
    n rows seen there in one of k cells p is 2 k min(P(N ≥ n), P(N ≤ n)), or 1 if n is below
    `FEWEST`: one row of a new level is no shift.
    """
    from scipy.stats import hypergeom

    rows = table.sum(axis=1)
    shorter = int(np.argmin(rows))
    seen = hypergeom(rows.sum(), table.sum(axis=0), rows[shorter])
    counts = table[shorter]
    p = 2.0 * len(counts) * np.minimum(seen.sf(counts - 1), seen.cdf(counts))
    p = np.where(counts >= FEWEST, np.minimum(1.0, p), 1.0)
    cell = table[:, [np.argmin(p)]]
    return float(p.min()), np.hstack([cell, rows[:, np.newaxis] - cell])


def alarms(shifts: Sequence[Shift], risk: float) -> list[Shift]:
    """Return the columns with an alarm; the risk of any false one is shared among all (Holm)."""
    found = []
    for place, shift in enumerate(sorted(shifts, key=lambda one: one.p)):
        if shift.p > risk / (len(shifts) - place):
            break
        if shift.is_alarm(risk):
            found.append(shift)
    return found


def _names(column: Any) -> Any:
    """Return the values as texts: a whole number is the same text with and without a fraction."""
    name = partial(_name_number, kind=float_of_values(column)) if has_numbers(column) else _name
    texts = column.astype(object).map(name, na_action="ignore")
    return texts.where(column.notna(), MISSING)


def _name(value: Any) -> str:
    is_whole = isinstance(value, float) and value.is_integer()
    return f"={int(value) if is_whole else value}"


def _name_number(value: Any, kind: str) -> str:
    """Return the name of a number in floats of a kind, as a file in text has it.

    It is without the last digits of a wide one, as another machine may compute them otherwise.
    """
    if float(value).is_integer():
        return _name(value)
    return _name(float(f"{value:.9g}") if kind == WIDE else as_written(float(value), [kind]))


def _count_numbers(values: Any, edges: Sequence[float]) -> dict[str, int]:
    places = np.searchsorted(np.array(edges), values[~np.isnan(values)], side="right")
    counts = np.bincount(places, minlength=len(edges) + 1)
    missing = {MISSING: int(np.isnan(values).sum())}
    return {f"bin {place}": int(count) for place, count in enumerate(counts)} | missing


def _count_levels(names: Any) -> dict[str, int]:
    return _hashed(_read_counts(names.value_counts()))


def _read_counts(counts: Any) -> dict[str, int]:
    found = {str(name): int(count) for name, count in counts.items()}
    if any(count < 0 for count in found.values()):
        raise ValueError("it counts fewer than no rows")
    return found


def _hashed(counts: Mapping[str, int]) -> dict[str, int]:
    """Return the counts by hashes of names."""
    found = Counter[str]()
    for name, count in counts.items():
        text = name.encode("utf-8", "surrogatepass")
        found[MISSING if name == MISSING else blake2b(text, digest_size=HASH).hexdigest()] += count
    return dict(found)


def _frequent(known: Counter[str], counts: Counter[str]) -> list[str]:
    """Return the most frequent levels of both together."""
    both = known + counts
    del both[MISSING]
    # As frequent ones by their hashes: the order of a table would prefer levels of its own.
    return sorted(both, key=lambda level: (-both[level], level))[:LEVELS]


def _cells(levels: Sequence[str], *lines: Counter[str]) -> Any:
    """Return the counts of these levels in each line, and that of all others in a last cell."""
    return np.array(
        [[*(line[level] for level in levels), _left(line, levels).total()] for line in lines]
    )


def _left(counts: Counter[str], own: Iterable[str]) -> Counter[str]:
    return Counter({level: counts[level] for level in counts.keys() - set(own)})


def _parted(counts: Counter[str], levels: Container[str]) -> tuple[int, int]:
    """Count rows of these levels, and of others."""
    of_them = sum(count for level, count in counts.items() if level in levels)
    return of_them, counts.total() - of_them


def _without_rare(table: Any) -> Any:
    """Put cells together with those after them until each may be tested; the last ones with more.

    The counts of both lines together decide: chance is the same in each.
    """
    rows = table.sum(axis=1)
    expected = table.sum(axis=0) * rows.min() / max(1.0, rows.sum())
    starts, held = [0], 0.0
    for place, count in enumerate(expected):
        if held >= FEWEST and expected[place:].sum() >= FEWEST:
            starts.append(place)
            held = 0.0
        held += count
    return np.add.reduceat(table, starts, axis=1)


def _p_of(table: Any) -> float:
    """Return p of the likelihood-ratio test of two samples; 1 where there is one cell alone.

    Far out its p are truer than those of Pearson's χ². Williams' divisor allows for small counts.
    """
    from scipy.special import xlogy
    from scipy.stats import chi2

    rows, columns = table.sum(axis=1), table.sum(axis=0)
    freedom, total = len(columns) - 1, rows.sum()
    if freedom < 1 or not rows.all():
        return 1.0
    expected = np.outer(rows, columns) / total
    statistic = 2.0 * float(xlogy(table, table / expected).sum())
    spread = (total * (1.0 / rows).sum() - 1.0) * (total * (1.0 / columns).sum() - 1.0)
    return float(chi2.sf(statistic / (1.0 + spread / (6.0 * total * freedom)), freedom))


def _index_of(table: Any) -> float:
    # Half a row in each cell: a level that is new has no share in the reference.
    shares = (table + 0.5) / (table + 0.5).sum(axis=1, keepdims=True)
    return float(np.sum((shares[1] - shares[0]) * np.log(shares[1] / shares[0])))


def _by_chance(table: Any) -> float:
    """Return what the index is on average if nothing has shifted."""
    rows = table.sum(axis=1)
    return float((len(table.T) - 1) * (1.0 / rows).sum()) if rows.all() else 0.0
