"""Names of what `fit` is given beside X: a file has one column of a name."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from automl_admm.core.errors import DataError
from automl_admm.data.given_names import (
    name_given,
    name_of_target,
    tell_other_orders,
    with_own_names,
)
from automl_admm.data.row_roles import columns_given

X = pd.DataFrame({"amount": [1.0, 2.0, 4.0], "town": ["a", "b", "c"]})
Y = pd.Series([0, 1, 1], name="ok")


def roles(weight: Any = None, group: Any = None) -> Any:
    return columns_given(Y, weight, group, None)


def test_a_weight_computed_from_a_feature_has_another_name() -> None:
    columns = with_own_names(roles(1 / X["amount"], X["town"]), Y, X, None)
    assert columns.names() == {"weight": "sample_weight", "group": "town"}
    assert list(columns.weight) == [1.0, 0.5, 0.25]


def test_what_has_the_values_of_its_column_keeps_the_name() -> None:
    columns = with_own_names(roles(X["amount"].astype(int)), Y, X, None)
    assert columns.names() == {"weight": "amount"}


def test_a_group_computed_from_the_target_or_a_sensitive_column_has_another_name() -> None:
    sex = pd.DataFrame({"sex": ["f", "m", "f"]})
    for given in (1 - Y, sex["sex"].map({"f": 1, "m": 0})):
        assert with_own_names(roles(group=given), Y, X, sex).names() == {"group": "groups"}


def test_a_name_that_is_taken_has_a_number() -> None:
    taken = X.rename(columns={"town": "sample_weight"})
    for weight in (1 / X["amount"], [1, 2, 3]):
        columns = with_own_names(roles(weight), Y, taken, None)
        assert columns.names() == {"weight": "sample_weight_2"}


def test_another_type_of_the_same_is_no_other_column() -> None:
    frame = pd.DataFrame({"day": ["2020-01-02", "2020-01-01", "2020-02-01"], "id": [5, 7, 5]})
    given = columns_given(Y, None, frame["id"].astype(str), pd.to_datetime(frame["day"]))
    assert with_own_names(given, Y, frame, None).names() == {"group": "id", "time": "day"}
    later = pd.to_datetime(frame["day"]) + pd.Timedelta("1D")
    others = with_own_names(columns_given(Y, None, frame["id"] // 6, later), Y, frame, None)
    assert others.names() == {"group": "groups", "time": "time"}


def test_a_weight_of_other_rows_is_left_to_those_who_count_them() -> None:
    columns = columns_given(Y, pd.Series([1.0, 2.0, 4.0], name="amount"), None, None)
    assert with_own_names(columns, Y, X.iloc[:2], None).names() == {"weight": "sample_weight"}


def test_a_sensitive_column_may_not_have_the_name_of_y() -> None:
    with pytest.raises(DataError, match="'ok' is the name of y, and of a column of sensitive"):
        with_own_names(roles(), Y, X, pd.DataFrame({"ok": ["f", "m", "f"]}))
    assert with_own_names(roles(), Y, X, Y.to_frame()).names() == {}


@pytest.mark.parametrize(
    ("y", "name"),
    [
        (Y, "ok"),
        (Y.rename(0), "0"),
        (Y.rename("amount"), "amount"),
        (Y.to_frame(), "ok"),
        (pd.DataFrame({"name": [0, 1, 1]}), "name"),
        (Y.to_numpy(), None),
        ([0, 1, 1], None),
    ],
    ids=["series", "number", "feature", "frame", "frame of names", "array", "list"],
)
def test_the_name_of_y(y: Any, name: str | None) -> None:
    assert name_given(y) == name
    is_taken = name in (None, "amount")
    assert name_of_target(y, X, None, roles()) == ("target" if is_taken else name)


def test_a_series_of_polars_without_a_name_has_none() -> None:
    pl = pytest.importorskip("polars")
    assert name_given(pl.Series([0, 1, 1])) is None
    assert name_given(pl.Series("ok", [0, 1, 1])) == "ok"


def test_there_is_no_name_if_target_is_one_of_another_column() -> None:
    taken = X.rename(columns={"town": "target"})
    assert name_of_target(Y.to_numpy(), taken, None, roles()) is None
    assert name_of_target(Y.rename("amount"), taken, None, roles()) is None
    sensitive = pd.DataFrame({"target": [1, 2, 3]})
    assert name_of_target(Y.to_numpy(), X, sensitive, roles()) is None


def test_an_index_in_another_order_is_told() -> None:
    shuffled = Y.sample(frac=1, random_state=1)
    assert list(shuffled.index) != list(X.index)
    (line,) = tell_other_orders(X, {"y": shuffled, "sample_weight": [1, 2, 3], "groups": None})
    assert line.startswith("y has the rows of X in another order, by its index")
    assert not [*tell_other_orders(X, {"y": shuffled.to_numpy(), "groups": shuffled.loc[X.index]})]
    assert not [*tell_other_orders(X, {"y": Y.set_axis([7, 8, 9]), "groups": Y.iloc[:2]})]
    assert not [*tell_other_orders(X.set_axis([0, 0, 1]), {"y": shuffled})]
    assert not [*tell_other_orders(np.zeros((3, 2)), {"y": shuffled})]
    levels = pd.MultiIndex.from_product([[0], [0, 1, 2]])
    assert not [*tell_other_orders(X, {"y": Y.set_axis(levels)})]
