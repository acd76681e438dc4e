"""Rows that are copied at their first use are the rows copied at once."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest

from automl_admm.data.fingerprints import hash_in_order
from automl_admm.data.row_roles import Roles
from automl_admm.pipelines.predictions.measured import Table
from automl_admm.pipelines.predictions.table_part import TablePart

ROWS = 6
PLACES = np.array([4, 1, 1, 5])
TEXTS = pd.Series(["u", None, "v", "u", "w", None], dtype="str")
FEATURES = {
    "texts": pd.DataFrame({"a": np.arange(6.0), "t": TEXTS}, index=[7, 7, 1, 2, 3, 4]),
    # pandas hashes these texts otherwise where the number is beside them.
    "mixed": pd.DataFrame({"a": pd.Series([3, "u", "v", "u", "w", "v"], dtype=object)}),
    "array": np.arange(12.0).reshape(6, 2),
}


def whole(X: Any) -> Table:
    sensitive = pd.DataFrame({"s": list("xyzxyz")})
    roles = Roles(weights=np.linspace(0.5, 1.5, ROWS))
    return Table(X, np.arange(ROWS) % 2, np.array(["no", "yes"]), sensitive, roles)


@pytest.mark.parametrize("kind", FEATURES)
def test_a_part_is_the_same_at_once_and_later(kind: str) -> None:
    table = whole(FEATURES[kind])
    at_once, later = table.part(PLACES), TablePart(table, PLACES)
    assert (later.shape, later.names) == (at_once.shape, at_once.names)
    assert np.array_equal(later.row_hashes, hash_in_order(at_once.X))
    again = pickle.loads(pickle.dumps(later))
    assert type(again) is Table
    for one in (later, again):
        pd.testing.assert_frame_equal(pd.DataFrame(one.X), pd.DataFrame(at_once.X))
        pd.testing.assert_frame_equal(one.sensitive, at_once.sensitive)
        assert list(one.labels()) == list(at_once.labels())
        assert np.array_equal(one.roles.weights, at_once.roles.weights)
    part = later.part(np.array([3, 0])).X
    pd.testing.assert_frame_equal(pd.DataFrame(part), pd.DataFrame(at_once.part([3, 0]).X))
