"""The evidence of looks, put together through the files that keep it."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pandas as pd
import pytest

from automl_admm.core.evidence import Evidence, Explained, Gap, Mean, Quantile, Rate, RootMeanSquare
from automl_admm.core.returned_evidence import as_evidence
from automl_admm.execution.evidence_files import decode_evidence, encode_evidence
from automl_admm.runs.saved.look_evidence import pool_looks

RNG = np.random.default_rng(0)
VALUES = RNG.uniform(1, 5, size=(3, 40))
# As an author writes them: ends without a point, a sum of booleans as numbers, a column of a table.
NATURAL = {
    "count": lambda v: Rate((v > 3).astype(float).sum(), len(v)),
    "equal counts": lambda v: Rate(12.0, len(v)),  # type: ignore[arg-type]
    "one row": lambda v: Rate(bool(v[0] > 0), len(v)),
    "mean": lambda v: Mean(v, lowest=1, highest=5),
    "mean of a column": lambda v: Mean(pd.Series(v), lowest=1, highest=5),
    "bare list": lambda v: Mean(v.tolist(), lowest=np.int64(1), highest=np.float32(5)),
    "from zero": lambda v: Mean(v / 5, lowest=False, highest=True),
    "root": lambda v: RootMeanSquare(v, largest=3),
    "explained": lambda v: Explained(v - 3, v, largest=3),
    "quantile": lambda v: Quantile(v, 0.5, lowest=1),
    "groups": lambda v: Gap({"f": Rate((v > 3).astype(float).sum(), len(v)), "m": Rate(0, len(v))}),
}

ADDED = {"equal counts": Rate(36, 120), "one row": Rate(3, 120)}


def numbers(evidence: Any) -> Any:
    """Return all numbers of a record as the files have them, the values in one list."""
    return json.loads(encode_evidence([evidence]))


@pytest.mark.parametrize("name", NATURAL)
@pytest.mark.parametrize("is_checked", [True, False], ids=["now", "written before"])
def test_looks_add_up_whatever_numbers_a_plugin_gives(name: str, *, is_checked: bool) -> None:
    """Earlier versions wrote what the plugin gave; its last look comes from the plugin itself."""
    lots: list[Any] = [NATURAL[name](one) for one in VALUES]
    kept: list[Evidence] = [as_evidence(lot) if is_checked else lot for lot in lots[:2]]
    earlier = [{"x": one} for one in decode_evidence(encode_evidence(kept))]
    pooled = pool_looks(earlier, {"x": as_evidence(lots[2])})
    assert not pooled.alone
    whole = ADDED.get(name) or as_evidence(NATURAL[name](VALUES.ravel()))
    assert numbers(pooled.by_limit["x"]) == numbers(whole)
