"""Values of the same rows, asked for in another order: they are the same unless some are kept."""

from __future__ import annotations

from collections.abc import Sequence
from unittest import SkipTest

import numpy as np

from automl_admm.testing.fresh_process import in_another_process

# Of rows in another order a sum differs in its last digits, as in the promise on the order.
SAME = 0.01
# Orders that no other promise has, so that nothing is known of these rows yet.
TURNS = (101, 102)


def demand_same_elsewhere(
    values: Sequence[float], contract: type, from_the_end: str, unless: str
) -> None:
    """Compare values with those of another process, which asks for the last of them first.

    A contract that cannot be made elsewhere is skipped, with the reason `unless`.
    """
    try:
        there = in_another_process(contract, from_the_end)[::-1]
    # A class of a module that is not imported by its name has no file.
    except (AssertionError, TypeError, OSError):
        raise SkipTest(unless) from None
    for value, other in zip(values, there, strict=True):
        assert np.isclose(value, other, equal_nan=True), (
            f"{value:g} here, and {other:g} on the same rows in another process: "
            "it keeps the value of the first rows"
        )


def demand_same_backward(values: Sequence[float], from_the_end: Sequence[float]) -> None:
    """Compare values of several answers with those asked for from the last answers on."""
    for value, other in zip(values, reversed(from_the_end), strict=True):
        assert np.isclose(value, other, rtol=SAME, equal_nan=True), (
            f"{value:g}, and {other:g} where other answers for the same rows were measured "
            "before: it keeps their value"
        )
