"""Fingerprints of rows: the same data are recognised in any order and under any names.

A hash of a table in its own order changes with every shuffle. Looks at the same data must be
counted for every split of them, and rows of a run must be recognised in another file.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Hashes = NDArray[np.uint64]
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


def fingerprint_rows(hashes: Hashes) -> str:
    """Return the hash of a set of rows, in any order."""
    return hashlib.sha256(np.sort(hashes).tobytes()).hexdigest()


def _hash_cells(column: Any) -> Hashes:
    import pandas as pd
    from pandas.api.types import is_numeric_dtype

    values = pd.Series(column).reset_index(drop=True)
    missing = values.isna().to_numpy(dtype=bool)
    if is_numeric_dtype(values.dtype) and values.dtype.kind != "c":
        numbers = values.to_numpy(dtype=float, na_value=np.nan)
        # NaN has many bit patterns: it is taken out before hashing.
        found = pd.util.hash_array(_rounded(np.where(missing, 0.0, numbers)))
    else:
        found = _hash_words(values.astype(object).where(~missing, ""))
    return np.where(missing, np.uint64(0), found)


def _hash_words(values: Any) -> Hashes:
    """Hash every distinct word once."""
    import pandas as pd

    try:
        places, distinct = pd.factorize(values)
    except TypeError:  # lists, for example, are known by their texts
        places, distinct = pd.factorize(values.map(str))
    words = np.array([str(word) for word in distinct], dtype=object)
    return np.asarray(pd.util.hash_array(words, categorize=False)[places], dtype=np.uint64)


def _rounded(numbers: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return them without their last bits; −0 is 0."""
    with np.errstate(invalid="ignore", over="ignore"):
        mantissa, exponent = np.frexp(numbers)
        rounded = np.ldexp(np.round(np.ldexp(mantissa, EXACT_BITS)), exponent - EXACT_BITS)
    return np.where(np.isfinite(numbers), rounded, numbers) + 0.0
