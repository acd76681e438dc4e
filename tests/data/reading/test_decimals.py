"""The decimal sign of a column, told by all of its cells."""

from __future__ import annotations

from itertools import product

import pytest

from automl_admm.data.reading.decimals import judge

CELLS = (
    *("", "3", "-12", "+0", "1.5", "-.25", "2.5e3", "1.234", "1234.567", " 0.125 "),
    *("1,5", "1,234", "1,234,567", "1.234,5", "1e5", "1.5\n2.5", "x"),
)


@pytest.mark.parametrize("count", [1, 2, 3])
def test_columns_without_doubts_are_judged_as_those_asked_cell_by_cell(count: int) -> None:
    """A missing value says nothing of the sign, and a column with its text is not plain."""
    for cells in product(CELLS, repeat=count):
        assert judge(cells) == judge([*cells, "NA"]), cells


def test_a_plain_column_shows_its_first_point() -> None:
    assert judge(["3", "", "-0.5", "1.25"]) == ("point", "-0.5")
    assert judge(["3", ""]) == (None, "")
    assert judge(["1.234", "3"]) == ("grouped", "1.234")
