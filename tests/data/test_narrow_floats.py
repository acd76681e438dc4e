"""A number is the same in narrow floats, in wide ones and in the text that a file has for it."""

from __future__ import annotations

import io
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

from automl_admm.data.conforming import row_of
from automl_admm.data.ingest.forms.chosen import read_levels, recognise_levels
from automl_admm.data.narrow_floats import as_written


@pytest.mark.parametrize(
    ("value", "kind", "expected"),
    [
        (np.float32(0.1), "float32", 0.1),
        (float(np.float32(0.1)), "float32", 0.1),
        (0.1, "float32", 0.1),
        (float(np.float32(0.1)), "float64", float(np.float32(0.1))),
        (np.float32(123456792), "float32", 123456792),
        (123456792, "float32", 123456792),
        (1.2345679e08, "float32", 123456792),
        (123456791, "float32", 123456791),
        (np.float16(65504), "float16", 65504),
        (65500.0, "float16", 65504),
        (Decimal(33554436), "float32", 33554436),
        (2**80 + 1, "float16", 2**80 + 1),
    ],
)
def test_whole_numbers_keep_their_digits_and_others_have_the_fewest(
    value: object, kind: str, expected: float
) -> None:
    assert as_written(value, [kind]) == expected
    assert as_written(value, ["float64", kind]) == expected


def test_levels_of_large_whole_numbers_are_found_in_every_file() -> None:
    trained = pd.Series([123456792, 123456800, 33554436], dtype="float32", name="z")
    facts = recognise_levels(trained)
    assert facts is not None
    expected = ["123456792", "123456800", "33554436"]
    assert list(read_levels(trained, facts, row_of)[""]) == expected
    text = io.StringIO(trained.to_frame().to_csv(index=False))
    whole = trained.astype("int64")
    for later in (pd.read_csv(text)["z"], whole, whole.astype(str), trained.astype(float)):
        assert list(read_levels(later, facts, row_of)[""]) == expected
