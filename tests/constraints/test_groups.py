from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from automl_admm.constraints.groups import Grouping, check_columns, group_names, order_groups
from automl_admm.constraints.syntax import GroupColumn
from automl_admm.core.errors import DataError

FRAME = pd.DataFrame(
    {
        "sex": ["f", "m", None, "f"],
        "age": [29.9, 30.0, 45.0, np.nan],
        "race": pd.Categorical(["x", "y", "x", "x"]),
        "level": [1, 2, 1, 2],
        "share": [1.0, 2.0, 0.5, np.nan],
    }
)


@pytest.mark.parametrize(
    ("columns", "names"),
    [
        ([GroupColumn("sex")], ["f", "m", "sex missing", "f"]),
        ([GroupColumn("level")], ["1", "2", "1", "2"]),
        ([GroupColumn("share")], ["1", "2", "0.5", "share missing"]),
        (
            [GroupColumn("age", (30.0, 40.0))],
            ["age < 30", "30 <= age < 40", "40 <= age", "age missing"],
        ),
        ([GroupColumn("age", (35.0,))], ["age < 35", "age < 35", "35 <= age", "age missing"]),
        (
            [GroupColumn("sex"), GroupColumn("race")],
            ["f, x", "m, y", "sex missing, x", "f, x"],
        ),
    ],
)
def test_rows_are_named_by_their_group(columns: list[GroupColumn], names: list[str]) -> None:
    assert list(Grouping(tuple(columns))(FRAME)) == names


SITES = [48.137154, 48.137158, 11.5, 1 / 3, 1e16, 2e16, 0.1 + 0.2, 0.3]


@pytest.mark.parametrize("kind", ["float64", "Float64", "object", "category"])
def test_different_numbers_are_different_groups(kind: str) -> None:
    names = Grouping((GroupColumn("site"),))(pd.DataFrame({"site": pd.Series(SITES, dtype=kind)}))
    assert len(set(names)) == len(SITES)
    assert [float(name) for name in names] == SITES
    assert names[2] == "11.5"


@pytest.mark.parametrize("kind", ["float32", "Float32", "category"])
def test_short_floats_have_their_own_digits(kind: str) -> None:
    values = pd.Series([0.1, 48.137154], dtype="float32").astype(kind)
    names = Grouping((GroupColumn("site"),))(pd.DataFrame({"site": values}))
    assert list(names) == ["0.1", "48.137154"]


def test_nan_that_is_no_na_is_missing() -> None:
    values = pd.arrays.FloatingArray(np.array([0.1, np.nan], dtype="f4"), np.zeros(2, dtype=bool))
    frame = pd.DataFrame({"share": values})
    assert list(Grouping((GroupColumn("share"),))(frame)) == ["0.1", "share missing"]
    cut = Grouping((GroupColumn("share", (0.5,)),))
    assert list(cut(frame)) == ["share < 0.5", "share missing"]


TEXTS = st.sampled_from(["x", "x, y", "y, z", "z", '"x, y"', "a missing", '"a missing"', None])


@given(st.lists(st.tuples(TEXTS, TEXTS), min_size=1))
def test_different_cells_are_different_groups(rows: list[tuple[str | None, str | None]]) -> None:
    frame = pd.DataFrame(rows, columns=["a", "b"], dtype=object)
    for columns in (["a"], ["a", "b"]):
        names = Grouping(tuple(map(GroupColumn, columns)))(frame)
        pairs = set(zip(frame[columns].itertuples(index=False, name=None), names, strict=True))
        assert len(pairs) == len(set(names)) == len({cells for cells, _ in pairs})


def test_text_is_not_cut() -> None:
    with pytest.raises(DataError, match=r"column 'sex' holds no numbers.*Write \[sex\]"):
        check_columns((GroupColumn("sex", (1.0,)),), FRAME, "fpr_gap[sex:1]")
    check_columns((GroupColumn("age", (1.0,)), GroupColumn("sex")), FRAME, "fpr_gap")


def test_one_group_and_very_many_are_refused() -> None:
    with pytest.raises(DataError, match="all 3 rows are in the group 'f'"):
        group_names(np.array(["f"] * 3, dtype=object), "fpr_gap[sex]")
    with pytest.raises(DataError, match=r"500 groups.*\[age:30,40,50\]"):
        group_names(np.array([str(i) for i in range(500)], dtype=object), "fpr_gap[sex]")
    assert group_names(np.array(["m", "f", "m"], dtype=object), "") == ("f", "m")


@pytest.mark.parametrize("name", ["m\0", "\ud800m"], ids=["zero", "half"])
def test_a_group_whose_name_no_file_keeps_is_refused(name: str) -> None:
    with pytest.raises(DataError, match=r"'fpr_gap\[sex\]' .* name of one, .* Remove it"):
        group_names(np.array(["f", name], dtype=object), "fpr_gap[sex]")


def test_groups_are_ordered_by_their_numbers() -> None:
    age = GroupColumn("age", (5.0, 30.0, 50.0))
    parts = ["age < 5", "5 <= age < 30", "30 <= age < 50", "50 <= age", "age missing"]
    assert order_groups([*reversed(parts), "age < 5"], [age]) == tuple(parts)
    pairs = [f"{sex}, {part}" for sex in ("f", "m") for part in parts]
    assert order_groups(sorted(pairs), [GroupColumn("sex"), age]) == tuple(pairs)
    assert order_groups(["10", "9", "-1", "nan", "b"], [GroupColumn("n")]) == (
        *("-1", "9", "10", "b", "nan"),
    )
