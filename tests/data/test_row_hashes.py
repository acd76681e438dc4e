"""A row is known by its placed hash, or by its written one."""

from __future__ import annotations

import numpy as np
import pytest

from automl_admm.data.distinct_hashes import DistinctHashes
from automl_admm.data.row_hashes import RowHashes


def hashes(placed: list[int], written: list[int] | None = None) -> RowHashes:
    """Return rows that are alike but for the hashes that tell columns."""
    alike = [1] * len(placed)
    kinds = (alike, alike, placed, placed if written is None else written)
    return RowHashes(*(np.array(kind, dtype=np.uint64) for kind in kinds))


KNOWN = hashes([21, 22, 2**64 - 1], [31, 32, 33])


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        (hashes([21, 5, 6], [30, 32, 31]), [True, True, True]),
        (hashes([22, 5, 6], [30, 34, 36]), [True, False, False]),
        (hashes([2**64 - 1, 31], [5, 5]), [True, False]),
        (hashes([]), []),
    ],
)
def test_either_hash_tells_a_row(rows: RowHashes, expected: list[bool]) -> None:
    assert rows.are_in(KNOWN).tolist() == rows.repeat(KNOWN).tolist() == expected
    assert not rows.are_in(hashes([])).any()


def test_tables_together_have_the_hashes_of_all_of_them() -> None:
    both = RowHashes.together([hashes([21], [31]), hashes([]), hashes([22], [32])])
    assert (both.placed.tolist(), both.written.tolist()) == ([21, 22], [31, 32])
    assert len(RowHashes.together([])) == len(RowHashes.together([]).written) == 0


def test_a_row_repeats_one_row_alone() -> None:
    rows = hashes([21, 21, 22], [31, 31, 32])
    assert rows.repeat(KNOWN).tolist() == [True, False, True]
    assert rows.repeat(RowHashes.together([KNOWN, hashes([21], [31])])).all()


def test_the_rows_of_a_table_are_sorted_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    of = DistinctHashes.of
    monkeypatch.setattr(DistinctHashes, "of", lambda kind: asked.append(len(kind)) or of(kind))
    table = hashes([21, 21, 22], [31, 31, 32])
    for number in range(20, 25):
        look = hashes([number], [number + 10])
        assert look.count_of(table) == table.part([0, 2]).count_of(look) == (20 < number < 23)
        assert look.count_singles_of(table) == (number == 22)
    assert asked.count(3) == 2


def test_a_part_has_what_the_whole_has() -> None:
    part = KNOWN.part([2, 0])
    assert (part.placed.tolist(), part.written.tolist()) == ([2**64 - 1, 21], [33, 31])
    assert part.exact.tolist() == part.canonical.tolist() == [1, 1]
