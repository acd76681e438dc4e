"""Fingerprints of rows: the same data are recognised in any order and under any names.

A hash of a table in its own order changes with every shuffle. Looks at the same data must be
counted for every split of them, and rows of a run must be recognised in another file.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from automl_admm.data.distinct_values import find_distinct

Hashes = NDArray[np.uint64]
MISSING = np.uint64(2**64 - 1)  # the hash of a missing text
# Rows that are hashed at once: their hashes stay in the processor's cache.
PART_ROWS = 1 << 15
# So much of a number counts, in bits: one file format writes the last digit otherwise than another.
EXACT_BITS = 40


def hash_rows(columns: Iterable[Any], rows: int) -> Hashes:
    """Return a hash for each row, equal for equal cells in any order.

    The number 1 equals 1.0, and text is text. A missing cell adds nothing.
    """
    total = np.zeros(rows, dtype=np.uint64)
    for column in columns:
        # A sum, because it does not depend on the order of the columns.
        total += _hash_cells(column)  # wraps around
    return total


def hash_in_order(table: Any) -> Hashes:
    """Return a hash for each row of a frame or an array, of its cells in the order of columns.

    It is the hash of `pandas.util.hash_pandas_object`, as runs of all versions wrote it.
    """
    import pandas as pd

    frame = pd.DataFrame(table)
    if not are_hashed_alone(frame):
        return np.asarray(pd.util.hash_pandas_object(frame, index=False), dtype=np.uint64)
    columns = [_Cells.of(frame.iloc[:, place]) for place in range(frame.shape[1])]
    found = np.empty(len(frame), dtype=np.uint64)
    for begin in range(0, len(frame), PART_ROWS):
        part = slice(begin, min(begin + PART_ROWS, len(frame)))
        found[part] = _together([column.hashes(part) for column in columns])
    return found


def are_hashed_alone(table: Any) -> bool:
    """Return True if rows have the same hashes in a part of the table as in the whole.

    pandas hashes an object by what else its column holds.
    """
    import pandas as pd

    types = pd.DataFrame(table).dtypes
    return all(isinstance(dtype, pd.StringDtype) or dtype.kind in "fiub" for dtype in types)


@dataclass(frozen=True, eq=False)
class _Cells:
    """The cells of a column to hash; texts are codes of `distinct` ones, whose hashes are known."""

    values: Any
    distinct: Hashes | None = None

    @classmethod
    def of(cls, column: Any) -> _Cells:
        """Hash every distinct text once."""
        import pandas as pd

        if not isinstance(column.dtype, pd.StringDtype):
            is_plain = isinstance(column.dtype, np.dtype)
            return cls(column.to_numpy() if is_plain else column.array)
        codes, texts = pd.factorize(column.array)
        hashes = pd.util.hash_array(np.asarray(texts, dtype=object), categorize=False)
        return cls(codes, np.append(hashes, MISSING))  # the code of a missing one is -1

    def hashes(self, part: slice) -> Hashes:
        """Return the hashes of some rows."""
        import pandas as pd

        values = self.values[part]
        found = self.distinct[values] if self.distinct is not None else pd.util.hash_array(values)
        return np.asarray(found, dtype=np.uint64)


def _together(columns: Sequence[Hashes]) -> Hashes:
    """Join the hashes of cells to those of rows, as pandas and the tuples of Python do."""
    factor, left = np.uint64(1000003), len(columns)
    found = np.full(len(columns[0]), 0x345678, dtype=np.uint64)
    for column in columns:
        found ^= column
        found *= factor
        factor += np.uint64(82520 + 2 * left)
        left -= 1
    found += np.uint64(97531)
    return found


def mix(first: Hashes, second: Hashes) -> Hashes:
    """Join two hashes of each row to one, by the steps of SplitMix64.

    A plain sum would not tell that two rows have exchanged their targets.
    """
    found = first + second * np.uint64(0x9E3779B97F4A7C15)  # wraps around
    found = (found ^ (found >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    found = (found ^ (found >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(found ^ (found >> np.uint64(31)), dtype=np.uint64)


def fingerprint_rows(hashes: Hashes) -> str:
    """Return the hash of a set of rows, in any order."""
    return hashlib.sha256(np.sort(hashes).tobytes()).hexdigest()


def _hash_cells(column: Any) -> Hashes:
    import pandas as pd

    values = pd.Series(column).reset_index(drop=True)
    missing = values.isna().to_numpy(dtype=bool)
    numbers = _as_numbers(values)
    if numbers is None:
        found = _hash_words(values.astype(object).where(~missing, ""))
    else:
        # NaN has many bit patterns: it is taken out before hashing.
        found = pd.util.hash_array(rounded(np.where(missing, 0.0, numbers)))
    return np.where(missing, np.uint64(0), found)


def _as_numbers(values: Any) -> NDArray[np.float64] | None:
    """Return numbers as floats, also whole ones that are objects; None for other values."""
    from pandas.api.types import infer_dtype, is_numeric_dtype, is_object_dtype

    is_number = is_numeric_dtype(values.dtype) and values.dtype.kind != "c"
    if is_object_dtype(values.dtype):  # whole numbers beside gaps: a later table has floats
        is_number = infer_dtype(values, skipna=True) in ("integer", "mixed-integer-float")
    if not is_number:
        return None
    try:
        return np.asarray(values.to_numpy(dtype=float, na_value=np.nan))
    except OverflowError:  # whole numbers beyond all floats are known by their digits
        return None


def _hash_words(values: Any) -> Hashes:
    """Hash every distinct word once."""
    import pandas as pd

    try:
        places, distinct = find_distinct(values)
    except TypeError:  # lists, for example, are known by their texts
        places, distinct = find_distinct(values.map(str))
    words = np.array([str(word) for word in distinct], dtype=object)
    return np.asarray(pd.util.hash_array(words, categorize=False)[places], dtype=np.uint64)


def rounded(numbers: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return them without their last bits; −0 is 0."""
    with np.errstate(invalid="ignore", over="ignore"):
        mantissa, exponent = np.frexp(numbers)
        rounded = np.ldexp(np.round(np.ldexp(mantissa, EXACT_BITS)), exponent - EXACT_BITS)
    return np.where(np.isfinite(numbers), rounded, numbers) + 0.0
