"""Rows that are given again are told from new ones that equal earlier rows by chance."""

from __future__ import annotations

import numpy as np
import pytest

from automl_admm.data.row_hashes import RowHashes
from automl_admm.runs.saved.rows_again import (
    are_again,
    count_again,
    hash_of_order,
    share_of_twins,
)


def drawn(seed: int, rows: int, distinct: int) -> RowHashes:
    hashes = np.random.default_rng(seed).integers(0, distinct, rows).astype(np.uint64)
    return RowHashes(hashes, hashes, hashes, hashes)


def with_alike(seed: int, rows: int) -> RowHashes:
    """Rows whose cells are those of many others, in other columns."""
    alike, placed = drawn(seed, rows, FEW).exact, drawn(seed, rows, MANY).exact
    return RowHashes(alike, alike, placed, placed)


def joined(*parts: RowHashes) -> RowHashes:
    return RowHashes.together(parts)


def is_again(rows: RowHashes, look: RowHashes) -> bool:
    return are_again(rows, look, hash_of_order(look), share_of_twins([look, rows]))


MANY, FEW = 10**12, 8
SIZES = [(200, 20), (200, 200), (20, 60), (200, 1)]


@pytest.mark.parametrize("distinct", [1, 2, FEW, 30, 1000, MANY])
@pytest.mark.parametrize(("before", "now"), SIZES)
def test_new_rows_are_no_rows_given_again(distinct: int, before: int, now: int) -> None:
    pairs = ((drawn(seed, now, distinct), drawn(seed + 1, before, distinct)) for seed in range(40))
    assert sum(is_again(rows, look) for rows, look in pairs) <= 1


@pytest.mark.parametrize("distinct", [FEW, 30, 1000, MANY])
def test_a_look_given_again_is_known_in_any_order(distinct: int) -> None:
    look = drawn(0, 200, distinct)
    turned = look.part(np.random.default_rng(1).permutation(200))
    assert is_again(look, look)
    assert is_again(turned, look)
    assert is_again(joined(look, drawn(2, 300, distinct)), look)


def test_few_rows_of_many_values_are_known_again() -> None:
    look = drawn(0, 5, MANY)
    assert is_again(look.part([3, 1, 0, 4, 2]), look)
    assert is_again(joined(drawn(1, 50, MANY), look), look)
    assert is_again(drawn(0, 400, MANY).part([7]), drawn(0, 400, MANY))


def test_no_rows_are_no_rows_given_again() -> None:
    nothing = drawn(0, 0, FEW)
    assert not is_again(nothing, drawn(0, 5, FEW))
    assert not is_again(drawn(0, 5, FEW), nothing)


def test_rows_with_cells_in_other_columns_are_others_and_hide_no_row_given_again() -> None:
    look, new = with_alike(0, 300), with_alike(1, 300)
    assert not is_again(new, look)
    others = RowHashes(look.exact, look.canonical, new.placed, new.written)
    assert not is_again(look.part(slice(9)), others)
    assert is_again(look.part(slice(9, 0, -1)), look)
    assert count_again(new, [look]) == 0
    assert count_again(joined(look, with_alike(4, 10)), [look]) == 300
