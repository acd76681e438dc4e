"""Groups that hang on the rows to learn from: quantiles, a least size, and what later rows have."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from automl_admm.constraints.fitted_groups import (
    fit_groups,
    meet_fitted,
    quantile_cuts,
    say_fitted,
    say_other_groups,
    strata_of,
)
from automl_admm.constraints.group_comparison import Grouped
from automl_admm.constraints.parse import read_text
from automl_admm.constraints.resolve import constraint_of
from automl_admm.core.errors import ConfigurationError, DataError
from automl_admm.plugins.loading import load_plugins
from automl_admm.plugins.records import Constraint

NONE = float("nan")


def limit(text: str) -> Constraint:
    return constraint_of(read_text(text), load_plugins(quietly=True).constraints)


def function_of(constraint: Constraint) -> Grouped:
    assert isinstance(constraint.function, Grouped)
    return constraint.function


@pytest.mark.parametrize(
    ("values", "parts", "cuts"),
    [
        (range(1, 9), 4, (3, 5, 7)),
        ([NONE, *range(1, 9), NONE, np.inf], 2, (5,)),
        ([0] * 90 + list(range(1, 11)), 4, (1,)),  # most values are equal: one part with the rest
        ([0] * 50 + [1] * 50, 4, (1,)),
        ([1.5] * 10 + [2.5] * 10 + [1234567.125] * 10, 3, (2.5, 1234567.125)),
    ],
)
def test_each_cut_is_a_value_that_begins_its_part(
    values: list[float], parts: int, cuts: tuple[float, ...]
) -> None:
    assert quantile_cuts(pd.Series(list(values), name="x"), parts, "limit") == cuts
    kept = pd.Series(list(values), name="x", dtype="Float64")
    assert quantile_cuts(kept.where(kept < np.inf), parts, "limit") == cuts


@pytest.mark.parametrize(("values", "said"), [([3, 3, 3], "one value"), ([NONE] * 3, "none")])
def test_a_column_without_two_values_is_not_cut(values: list[float], said: str) -> None:
    with pytest.raises(DataError, match=f"column 'x' has {said} in the rows to learn from"):
        quantile_cuts(pd.Series(values, name="x", dtype=float), 4, "fpr_gap[x:q4]")


def test_only_the_rows_to_learn_from_have_a_say() -> None:
    whole = pd.DataFrame({"age": [*range(20, 60), *[500] * 40, NONE]})
    fitted = meet_fitted(limit("fpr_gap[age:q2] <= 0.1"), whole.iloc[:40], whole)
    assert function_of(fitted).names == ("40 <= age", "age < 40", "age missing")
    assert fitted.limit.name == "fpr_gap[age:q2]"
    assert list(say_fitted(fitted)) == ["age:q2 is cut at 40"]
    # Where the cut points are, the first rows and the last ones part alike.
    assert fitted.groups is not None
    assert list(fitted.groups(whole.iloc[[0, 39, 80]])) == ["age < 40", "40 <= age", "age missing"]


def test_equal_values_make_fewer_parts_and_that_is_told() -> None:
    rows = pd.DataFrame({"age": [0] * 90 + list(range(1, 11))})
    (said,) = say_fitted(fit_groups(limit("fpr_gap[age:q4] <= 0.1"), rows))
    assert said == "age:q4 is cut at 1, into 2 parts, as many values are equal"


def test_small_groups_are_left_out_by_name() -> None:
    sex = ["f"] * 50 + ["m"] * 60 + ["x"] * 3 + [None] * 2 + ["late"]
    whole = pd.DataFrame({"sex": sex})
    fitted = meet_fitted(limit("fpr_gap[sex,least=40] <= 0.1"), whole.iloc[:-1], whole)
    assert function_of(fitted).names == ("f", "m")
    # A group with no row to learn from is no exception.
    assert function_of(fitted).left_out == ("late", "sex missing", "x")
    (said,) = say_fitted(fitted)
    assert "does not compare 'late', 'sex missing', 'x': fewer than 40 rows" in said
    with pytest.raises(DataError, match="1 of them has so many rows"):
        meet_fitted(limit("fpr_gap[sex,least=55] <= 0.1"), whole, whole)


def test_groups_of_later_rows_are_told() -> None:
    fitted = fit_groups(
        limit("fpr_gap[sex,least=2] <= 0.1"), pd.DataFrame({"sex": ["f", "f", "m", "m", "x"]})
    )
    rows = pd.DataFrame({"sex": ["f", "new", "new", "x", None]})
    assert list(say_other_groups(fitted, rows, ("f", "m"))) == [
        "fpr_gap[sex,least=2]: 2 rows are of the group 'new', which the run had none of",
        "fpr_gap[sex,least=2]: 1 row is of the group 'sex missing', which the run had none of",
        "fpr_gap[sex,least=2]: no row is of the group 'm', which the run compared",
    ]
    rows = pd.DataFrame({"sex": ["f", "M "]})
    assert next(say_other_groups(fitted, rows, ("f", "m"))) == (
        "fpr_gap[sex,least=2]: 1 row is of the group 'M ', which the run had none of: only blanks "
        "or case part it from 'm'"
    )


def test_rows_are_parted_before_quantiles_are_known() -> None:
    rows = pd.DataFrame({"sex": ["f", "m"], "age": [1, 2]})
    both, alone = limit("fpr_gap[sex,age:q4] <= 0.1"), limit("fpr_gap[age:q4] <= 0.1")
    by = strata_of(both)
    assert by is not None
    assert list(by(rows)) == ["f", "m"]
    assert strata_of(alone) is None


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ("age:q1", "'q1' cuts no column"),
        ("age:q99", "There may be 2 to 20 parts"),
        ("age:quarters", "'quarters' cuts no column"),
        ("age:q4,5", "a number stands where a column is due"),
        ("least=5", "'least=5' is no least size"),
        ("sex,most=5", "'most=5' is no least size"),
        ("sex,least=0.5", "'least=0.5' is no least size"),
        ("least=5,sex", "It comes once, after the columns"),
        ("sex,least=5,least=6", "It comes once"),
    ],
)
def test_what_is_no_cut_and_no_least_size_is_shown(columns: str, said: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        read_text(f"fpr_gap[{columns}] <= 0.1")
    assert said in str(caught.value)


@pytest.mark.parametrize("name", ["fpr_gap[sex,age:q4,least=50]", 'fpr_gap["a b":q3]', "f[least]"])
def test_the_name_reads_back(name: str) -> None:
    assert read_text(f"{name} <= 0.1").name == name


def test_cut_points_keep_all_their_digits() -> None:
    written = read_text("fpr_gap[x:1234567,1234567.25,1e22] <= 0.1")
    assert read_text(f"{written.name} <= 0.1").columns == written.columns
    rows = pd.DataFrame({"x": [1234566.0, 1234567.0, 1234567.25, 1e22]})
    made = limit(f"{written.name} <= 0.1").groups
    assert made is not None
    assert len(set(made(rows))) == 4
