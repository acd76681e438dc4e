"""The fingerprint of a table is one number, however its rows are hashed."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
import pandas as pd
import pytest

from automl_admm.data import fingerprints
from automl_admm.data.row_roles import columns_given
from automl_admm.pipelines.predictions.measured import Table
from automl_admm.runs.provenance import fingerprint, row_hashes_of

ROWS = 50
NUMBERS = np.arange(ROWS)
TEXTS = [f"t{n % 7}" for n in NUMBERS]
COLUMNS: dict[str, Any] = {
    "float32": NUMBERS.astype("float32") / 7,
    "gaps": np.where(NUMBERS % 3 == 0, np.nan, NUMBERS),
    "truth": NUMBERS % 2 == 0,
    "text": pd.Series(TEXTS, dtype="string").mask(NUMBERS % 5 == 0),
    "objects": pd.Series(TEXTS, dtype=object).mask(NUMBERS % 5 == 0),
    # pandas hashes these texts otherwise beside numbers than alone.
    "mixed": pd.Series([*TEXTS[:-1], 3], dtype=object).mask(NUMBERS % 5 == 0),
    "category": pd.Categorical(TEXTS),
    "nullable": pd.Series(NUMBERS, dtype="Int64").mask(NUMBERS % 4 == 0),
    "time": pd.to_datetime(NUMBERS, unit="D"),
}


@pytest.mark.parametrize("kind", COLUMNS)
def test_rows_hashed_in_parts_have_the_fingerprint_of_all_at_once(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    frame = pd.DataFrame({"a": COLUMNS[kind], "b": NUMBERS})
    monkeypatch.setattr(fingerprints, "PART_ROWS", 12)
    digest = hashlib.sha256(repr(["a", "b"]).encode())
    digest.update(pd.util.hash_pandas_object(frame, index=False).to_numpy().tobytes())
    digest.update(pd.util.hash_pandas_object(pd.Series(NUMBERS), index=False).to_numpy().tobytes())
    assert fingerprint(Table(frame, NUMBERS)) == digest.hexdigest()


def test_a_cell_of_the_last_part_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    frame = pd.DataFrame({"a": NUMBERS})
    before = fingerprint(Table(frame, NUMBERS))
    monkeypatch.setattr(fingerprints, "PART_ROWS", 12)
    frame.loc[ROWS - 1, "a"] = -1
    assert fingerprint(Table(frame, NUMBERS)) != before


def hashes_of(x: int, seen: int, y: int, group: int, weight: int) -> tuple[int, int, int]:
    roles = columns_given([y], [weight], [group], None).read()
    apart = pd.DataFrame({"seen": [seen]})
    table = Table(pd.DataFrame({"x": [x]}), np.array([y]), sensitive=apart, roles=roles)
    found = row_hashes_of(table)
    return int(found.exact[0]), int(found.canonical[0]), int(found.placed[0])


def test_features_target_groups_and_weights_are_told_apart() -> None:
    turned = [np.roll([1, 2, 3, 4, 5], by) for by in range(5)]
    exact, canonical, placed = zip(*(hashes_of(*row) for row in turned), strict=True)
    assert (len({*exact}), len({*canonical}), len({*placed})) == (1, 1, 5)
