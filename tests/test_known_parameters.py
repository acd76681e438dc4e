"""What tests remember of classes is what scikit-learn finds without it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from known_parameters import by_class, copied
from scipy.sparse import csr_matrix
from sklearn.ensemble import RandomForestClassifier
from sklearn.preprocessing import StandardScaler
from sklearn.utils import get_tags

narwhals = pytest.importorskip("narwhals.stable.v2", reason="this scikit-learn does not ask it")
FRAME = pd.DataFrame({"a": [1.0]})
THINGS = (
    *(FRAME, FRAME["a"], FRAME.to_numpy(), pa.table({"a": [1.0]}), pa.chunked_array([[1.0]])),
    *(
        narwhals.from_native(FRAME),
        narwhals.from_native(FRAME["a"], series_only=True),
        csr_matrix(FRAME),
        [[1.0]],
    ),
)


@pytest.mark.parametrize("thing", THINGS, ids=lambda thing: type(thing).__qualname__)
@pytest.mark.parametrize("name", ["is_into_dataframe", "is_into_series"])
def test_a_frame_is_one_however_often_it_is_asked(name: str, thing: Any) -> None:
    remembered = by_class(getattr(narwhals.dependencies, name))
    plain = isinstance(thing, (pd.DataFrame, pa.Table, type(narwhals.from_native(FRAME))))
    if name == "is_into_series":
        plain = isinstance(thing, (pd.Series, pa.ChunkedArray, type(THINGS[6])))
    assert [remembered(one) for one in (thing, thing, np.ones(1))] == [plain, plain, False]


@pytest.mark.parametrize("kind", [RandomForestClassifier, StandardScaler])
def test_copied_tags_are_equal_and_share_nothing(kind: type) -> None:
    tags = get_tags(kind())
    again = copied(tags)
    assert again == tags
    again.input_tags.sparse = not tags.input_tags.sparse
    if tags.transformer_tags is not None:
        again.transformer_tags.preserves_dtype.append("int")
    assert tags == get_tags(kind())
