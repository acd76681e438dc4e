from __future__ import annotations

from collections.abc import Mapping

import pandas as pd
import pytest

from automl_admm.core.errors import ConfigurationError
from automl_admm.core.limits import Limit
from automl_admm.data.ingest.deciding import decide
from automl_admm.runs.config import RunConfig
from automl_admm.runs.prepare.ingesting import check_column_costs

INGEST = decide(pd.DataFrame({"age": [1.0, 2.0], "test": [3.0, 4.0]}))
LIMITS = (Limit("column_cost", 20.0),)


def check(costs: Mapping[str, float] | None, limits: tuple[Limit, ...] = LIMITS) -> None:
    check_column_costs(costs, limits, INGEST, {"sex": "sensitive"})


def test_costs_of_columns_that_are_there_are_taken() -> None:
    check(None, ())
    check({"age": 1.0, "test": 40.0})


@pytest.mark.parametrize(
    ("costs", "limits", "said"),
    [
        ({"agee": 1.0}, LIMITS, "name 'agee', and the data have no such column"),
        ({"sex": 1.0}, LIMITS, "column 'sex' is sensitive: only features have a cost"),
        ({"age": 1.0}, (), "costs of columns are given, and no limit on them"),
    ],
)
def test_others_are_refused(
    costs: Mapping[str, float], limits: tuple[Limit, ...], said: str
) -> None:
    with pytest.raises(ConfigurationError, match=said):
        check(costs, limits)


@pytest.mark.parametrize(
    ("costs", "said"),
    [
        ({"age": -1}, "the cost of column 'age' must be a number of 0 or more, not -1"),
        ({"age": float("nan")}, "not nan"),
        ({"age": "1"}, "the cost of column 'age' must be a number, not '1'"),
        (["age"], "must be a dict such as"),
    ],
)
def test_costs_that_make_no_sense_are_refused(costs: object, said: str) -> None:
    with pytest.raises(ConfigurationError, match=said):
        RunConfig(column_cost=costs)  # type: ignore[arg-type]


def test_names_and_numbers_are_plain() -> None:
    assert RunConfig(column_cost={3: 1}).column_cost == {"3": 1.0}
    assert RunConfig(column_cost={}).column_cost is None
