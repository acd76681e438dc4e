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
from automl_admm.runs.saved.monitor.look_evidence import draw_again, pool_looks

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


def test_a_row_that_was_out_never_counts_again() -> None:
    """A look of a limit on rates in front of one on values, drawn by larger and larger weights."""
    kept = {"fpr": Rate(200, 400), "mae": Mean(np.arange(100.0), 0.0, 100.0)}
    before: dict[str, Any] = dict(kept)
    for largest in np.geomspace(1.1, 50.0, 12):
        found: dict[str, Any] = draw_again(kept, 1.0 / largest, seed=3, look=2)
        again = draw_again(kept, 1.0 / largest, seed=3, look=2)
        assert found["fpr"].events <= before["fpr"].events
        assert found["fpr"].trials <= before["fpr"].trials
        assert set(found["mae"].values) <= set(before["mae"].values)
        assert numbers(found["mae"]) == numbers(again["mae"])
        before = found
    assert before["fpr"].trials < 40
