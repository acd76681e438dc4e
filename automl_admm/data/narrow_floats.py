"""Floats of fewer than eight bytes, and the numbers that a file in text has for them."""

from __future__ import annotations

import numbers
from collections.abc import Iterable
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from automl_admm.data.plain_types import FIRST_INEXACT

NARROW = ("float16", "float32")
WIDE = "float64"
# Nobody writes so many digits of a number that four bytes hold: it was widened.
MANY_DIGITS = 14


def float_of(dtype: Any) -> str:
    """Return the name of a narrow float of numpy, pandas or Arrow, or of such categories.

    Any other type is as good as a wide float.
    """
    kind = getattr(getattr(dtype, "categories", None), "dtype", dtype)
    kind = getattr(kind, "numpy_dtype", getattr(kind, "subtype", kind))
    return str(kind) if str(kind) in NARROW else WIDE


def float_of_values(values: Any) -> str:
    """Return the narrow float that numbers or categories are in, or were in before.

    Numbers of pandas and Arrow beside gaps are widened to floats of numpy: their digits tell it.
    """
    kind = float_of(values.dtype)
    values = getattr(values.dtype, "categories", values)
    if kind != WIDE or str(values.dtype).lower() != WIDE:
        return kind
    return "float32" if _were_narrow(values.dropna().to_numpy(dtype=float)) else WIDE


def _were_narrow(numbers: NDArray[np.float64]) -> bool:
    with np.errstate(over="ignore", under="ignore"):
        is_held = bool((numbers.astype(np.float32) == numbers).all())
        is_half = bool((numbers.astype(np.float16) == numbers).all())
    if not is_held or is_half:
        return False
    fractions = set(numbers[np.trunc(numbers) != numbers].tolist())  # whole ones tell nothing
    return any(map(_has_many_digits, fractions))


def _has_many_digits(number: float) -> bool:
    return len(Decimal(repr(number)).as_tuple().digits) >= MANY_DIGITS


def as_written(value: Any, kinds: Iterable[str]) -> Any:
    """Return a number with the fewest digits that are the same number in these floats.

    So a file in text has it: a float of four bytes that is widened has more, as 0.10000000149.
    A number that they do not have stays as it is. So does a whole one below 2**53. From 2**24 on
    pandas writes too few of its digits: 1.2345679e+08 is read as the 123456792 before.
    """
    if isinstance(value, np.floating):
        value = float(value) if _is_exact(value) else float(str(value))
    if not isinstance(value, numbers.Real | Decimal):
        return value
    for kind in kinds:
        held = _held(value, kind)
        if held is None:
            continue
        written = float(str(held))
        if _is_exact(held):
            value = float(held) if written == value else value
        elif float(held) == value:
            value = written
    return value


def _is_exact(value: np.floating[Any]) -> bool:
    """Return True for a whole number that a wide float has with all its digits."""
    return value.is_integer() and abs(float(value)) < FIRST_INEXACT


def _held(value: Any, kind: str) -> Any:
    try:
        with np.errstate(over="ignore"):
            return np.dtype(kind).type(value)
    except (OverflowError, ValueError):
        return None
