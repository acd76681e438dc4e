"""Later tables get the values and types of training, or a line says which cell has neither."""

from __future__ import annotations

import json
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

from automl_admm.core.errors import DataError, StoreError
from automl_admm.data.conforming import conform
from automl_admm.data.table_schema import read_schema, schema_of

TRAINED = pd.DataFrame({"a": [1.5, 2.25], "b": [0.5, 7.0]})


def conformed(columns, sign):
    schema = read_schema({"schema": schema_of(TRAINED).describe()} | sign)
    return conform(pd.DataFrame(columns), schema)


COMMAS = {"decimal": ","}


@pytest.mark.parametrize("kind", [object, "string", "category"])
def test_a_point_that_may_part_thousands_is_refused_after_decimal_commas(kind):
    columns = {"a": pd.Series(["7", " 1.234"], dtype=kind), "b": [1.0, 2.0]}
    with pytest.raises(DataError, match=r"row 1 .*'a' holds ' ?1\.234', and held .*decimal commas"):
        conformed(columns, COMMAS)
    assert conformed(columns, {})["a"].tolist() == [7, 1.234]


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        ({"a": ["1.234", "2"], "b": ["0.5", "1"]}, [1.234, 2]),
        ({"a": ["1234", None], "b": [1.0, 2.0]}, [1234, None]),
        ({"a": [1.234, 2.0], "b": [1.0, 2.0]}, [1.234, 2]),
    ],
    ids=["decimals elsewhere", "no points", "numbers"],
)
def test_points_that_are_sure_are_read(columns, expected):
    found = conformed(columns, COMMAS)["a"]
    assert [None if pd.isna(one) else one for one in found] == expected


@pytest.mark.parametrize(
    "later",
    [
        [str(2**53 + 1), f" {2**53} "],
        [Decimal(2**53 + 1), Decimal(2**53)],
        pd.Series([2**53 + 1, 2**53], dtype=object),
    ],
)
def test_large_whole_numbers_stay_apart_in_texts_and_decimals(later):
    schema = schema_of(pd.DataFrame({"w": [2**53, 2**53 + 1]}))
    found = conform(pd.DataFrame({"w": later}), schema)["w"]
    assert found.tolist() == [2**53 + 1, 2**53]


def test_numbers_beyond_all_floats_are_refused_and_infinite_texts_missing():
    schema = schema_of(pd.DataFrame({"w": [0.5, 1.0]}))
    with pytest.raises(DataError, match=r"row 1 \(from 0\): column 'w' holds 1000+…, and held"):
        conform(pd.DataFrame({"w": pd.Series([1, 10**400], dtype=object)}), schema)
    found = conform(pd.DataFrame({"w": ["1", "inf"]}), schema)["w"]
    np.testing.assert_array_equal(found, [1.0, np.nan])


@pytest.mark.parametrize("kind", ["str", "category"])
def test_half_of_a_character_is_named_by_its_row(kind) -> None:
    # JSON may hold one, and no file of the run could.
    if pd.Series(["a"]).dtype == object:
        pytest.skip("before pandas 3 texts are objects, which hold any")
    schema = schema_of(pd.DataFrame({"city": pd.Series(["Ulm", "Bonn"], dtype=kind)}))
    later = pd.DataFrame({"city": pd.Series(["Ulm", "\ud800"], dtype=object)})
    with pytest.raises(DataError, match=r"row 1 .*'city' holds .*half of a character"):
        conform(later, schema)


@pytest.mark.parametrize("kind", ["float16", "float32"])
def test_beside_a_number_beyond_its_type_the_others_keep_the_digits_of_training(kind: str) -> None:
    trained = pd.DataFrame({"a": np.array([0.1, -7.3, np.nan, 1000.3], dtype=kind)})
    wide = [*trained["a"].astype(float), 1e40, -1e300]
    found = conform(pd.DataFrame({"a": wide}), schema_of(trained))["a"]
    np.testing.assert_array_equal(found, wide)
    texts = [
        *trained["a"].astype(object).map(str).where(trained["a"].notna(), None),
        "1e40",
        "-1e300",
    ]
    np.testing.assert_array_equal(
        conform(pd.DataFrame({"a": texts}), schema_of(trained))["a"], found
    )


@pytest.mark.parametrize("trained", ["float32", "float64", "Float32"])
@pytest.mark.parametrize("later", ["float32", "float64", "Float32", "float[pyarrow]"])
@pytest.mark.parametrize("are_categories", [True, False])
def test_numbers_are_the_same_categories_in_floats_of_any_width(
    trained, later, *, are_categories: bool
):
    tenths = pd.Series([0.1, 0.7, None, 0.5])
    held = tenths.astype(trained)
    described = schema_of(pd.DataFrame({"r": held.astype("category")})).describe()
    schema = read_schema({"schema": json.loads(json.dumps(described))})
    given = tenths.astype(later)
    given = given.astype("category") if are_categories else given
    found = conform(pd.DataFrame({"r": given}), schema)["r"]
    np.testing.assert_array_equal(found.astype(float), held.astype(float))
    assert len(found.cat.categories) == 3


def test_categories_of_earlier_versions_stay_as_they_are():
    column = {"name": "r", "holds": "number", "dtype": "category", "categories": [0.5]}
    column["categories"].append(float(np.float32(0.1)))
    schema = read_schema({"schema": [column]})
    narrow = pd.Series([0.1, 0.5], dtype="float32").astype("category")
    assert list(conform(pd.DataFrame({"r": narrow}), schema)["r"].cat.codes) == [1, 0]
    with pytest.raises(StoreError, match="makes no sense"):
        read_schema({"schema": [column | {"float": "float7"}]})
