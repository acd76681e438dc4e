"""A row is known by its placed hash; files of earlier versions have one or two others."""

from __future__ import annotations

import numpy as np
import pytest

from automl_admm.data.distinct_hashes import DistinctHashes
from automl_admm.data.row_hashes import NONE, RowHashes


def hashes(exact: list[int], *more: list[int]) -> RowHashes:
    return RowHashes(*(np.array(kind, dtype=np.uint64) for kind in (exact, *(more or ([],)))))


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


def test_the_placed_hash_decides_where_both_have_it() -> None:
    known, rows = hashes([1, 1], [11, 11], [21, 22]), hashes([1, 9, 1], [11, 9, 11], [23, 22, 21])
    assert rows.are_in(known).tolist() == rows.repeat(known).tolist() == [False, True, True]
    assert rows.are_in(known.first(2)).tolist() == [True, False, True]
    assert rows.first(1).repeat(known).tolist() == [True, False, True]
    assert (known.tell_columns, known.first(2).tell_columns) == (True, False)


def test_tables_together_have_the_hashes_that_all_of_them_have() -> None:
    new, older = hashes([1], [11], [21]), hashes([2], [12])
    assert RowHashes.together([new, RowHashes(NONE, NONE), new]).placed.tolist() == [21, 21]
    both = RowHashes.together([new, older])
    assert (both.kinds, both.canonical.tolist(), both.best.tolist()) == (2, [11, 12], [11, 12])
    assert RowHashes.together([]).kinds == RowHashes.together([new, older.first(1)]).kinds == 1


def test_a_row_repeats_one_row_alone() -> None:
    rows = hashes([1, 1, 2], [11, 11, 12])
    assert rows.repeat(KNOWN).tolist() == [True, False, True]
    assert rows.repeat(RowHashes.together([KNOWN, hashes([1], [11])])).all()


def test_the_rows_of_a_table_are_sorted_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    of = DistinctHashes.of
    monkeypatch.setattr(DistinctHashes, "of", lambda kind: asked.append(len(kind)) or of(kind))
    table = hashes([1, 1, 2], [11, 11, 12], [21, 21, 22])
    for number in range(5):
        look = hashes([number], [number + 10], [number + 20]).first(2)
        assert (
            look.count_of(table) == table.first(2).part([0, 2]).count_of(look) == (0 < number < 3)
        )
        assert look.count_singles_of(table) == (number == 2)
    assert asked.count(3) == 2


def test_a_reading_has_distinct_hashes_of_its_own() -> None:
    rows = RowHashes(*np.arange(8, dtype=np.uint64).reshape(4, 2))
    assert rows.first(3).distinct(2).values.tolist() == rows.distinct(2).values.tolist() == [4, 5]
    assert [one.distinct(2).values.tolist() for one in rows.readings(3)] == [[4, 5], [6, 7]]


def test_a_part_has_what_the_whole_has() -> None:
    part = KNOWN.part([2, 0])
    assert (part.exact.tolist(), part.canonical.tolist()) == ([2**64 - 1, 1], [13, 11])
    assert hashes([1, 2], [1, 2], [5, 6]).part([1]).placed.tolist() == [6]
    assert not len(hashes([1, 2]).part([1]).canonical)


def test_the_written_hash_tells_a_row_too_also_one_of_an_earlier_version() -> None:
    known = hashes([1, 1, 1], [11, 11, 11], [21, 22, 23], [31, 32, 22])
    rows = hashes([1, 1, 1], [11, 11, 11], [21, 24, 25], [33, 32, 23])
    assert rows.are_in(known).tolist() == rows.repeat(known).tolist() == [True, True, False]
    assert rows.are_in(known.first(3)).tolist() == [True, False, True]
    assert rows.first(3).are_in(known).tolist() == [True, False, False]
    assert [one.best.tolist() for one in rows.readings(3)] == [[21, 24, 25], [33, 32, 23]]
    assert [one.kinds for one in rows.readings(4)] == [4]
    assert RowHashes.together([rows, known]).best.tolist() == [33, 32, 23, 31, 32, 22]
