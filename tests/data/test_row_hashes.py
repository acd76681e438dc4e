"""A row is known by either of its hashes; files of earlier versions have one."""

from __future__ import annotations

import numpy as np
import pytest

from automl_admm.data.row_hashes import NONE, RowHashes


def hashes(exact: list[int], canonical: list[int] | None = None) -> RowHashes:
    second = NONE if canonical is None else np.array(canonical, dtype=np.uint64)
    return RowHashes(np.array(exact, dtype=np.uint64), second)


KNOWN = hashes([1, 2, 2**64 - 1], [11, 12, 13])


@pytest.mark.parametrize(
    ("rows", "known", "expected"),
    [
        (hashes([1, 5, 6], [20, 13, 21]), KNOWN, [True, True, False]),
        (hashes([1, 5, 6], [20, 13, 21]), hashes([1, 2]), [True, False, False]),
        (hashes([2**64 - 1, 5]), KNOWN, [True, False]),
        (hashes([1]), hashes([], []), [False]),
    ],
)
def test_either_hash_tells_a_row(rows: RowHashes, known: RowHashes, expected: list[bool]) -> None:
    assert rows.are_in(known).tolist() == expected
    assert rows.repeat(known).tolist() == expected


def test_a_row_repeats_one_row_alone() -> None:
    rows = hashes([1, 1, 2], [11, 11, 12])
    assert rows.repeat(KNOWN).tolist() == [True, False, True]
    assert rows.repeat(RowHashes.together([KNOWN, hashes([1])])).all()


def test_a_part_has_what_the_whole_has() -> None:
    part = KNOWN.part([2, 0])
    assert (part.exact.tolist(), part.canonical.tolist()) == ([2**64 - 1, 1], [13, 11])
    assert not len(hashes([1, 2]).part([1]).canonical)
