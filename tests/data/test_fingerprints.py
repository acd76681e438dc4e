"""Rows are known again in another order, under other names and from another file format."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from automl_admm.data.fingerprints import fingerprint_rows, hash_rows


def hashes(frame: pd.DataFrame) -> np.ndarray:
    return hash_rows([frame.iloc[:, place] for place in range(frame.shape[1])], len(frame))


def table() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.normal(size=50), "n": rng.integers(0, 9, 50)})
    frame["city"] = rng.choice(["Ulm", "Bonn"], 50)
    frame["flag"] = rng.random(50) < 0.5
    frame.loc[3, "a"] = np.nan
    frame.loc[7, "city"] = None
    return frame


def test_orders_names_and_formats_make_no_difference(tmp_path: Path) -> None:
    frame = table()
    known = fingerprint_rows(hashes(frame))
    turned = frame.sample(frac=1.0, random_state=0)[["city", "flag", "n", "a"]]
    assert fingerprint_rows(hashes(turned)) == known
    assert fingerprint_rows(hashes(frame.set_axis(list("wxyz"), axis=1))) == known
    frame.to_csv(tmp_path / "x.csv", index=False)
    assert np.array_equal(hashes(pd.read_csv(tmp_path / "x.csv")), hashes(frame))
    other = frame.astype({"city": "category", "n": float})
    assert np.array_equal(hashes(other), hashes(frame))


def test_the_last_bits_and_the_sign_of_zero_make_no_difference() -> None:
    values = np.array([0.1 + 0.2, -0.0, 1e300, np.inf, 5e-324])
    other = np.array([0.3, 0.0, 1e300, np.inf, 5e-324])
    assert np.array_equal(hash_rows([values], 5), hash_rows([other], 5))
    assert len(set(hash_rows([values], 5).tolist())) == 5


def test_another_cell_is_another_row_and_rows_are_counted() -> None:
    frame = table()
    changed = frame.copy()
    changed.loc[5, "n"] += 1
    assert list(np.flatnonzero(hashes(frame) != hashes(changed))) == [5]
    twice = pd.concat([frame, frame.head(1)])
    assert fingerprint_rows(hashes(twice)) != fingerprint_rows(hashes(frame))


@pytest.mark.parametrize(
    ("column", "expected"),
    [
        (pd.Series([True, False]), [3035652100526550566, 0]),
        (pd.Series([True, None], dtype="boolean"), [3035652100526550566, 0]),
        (pd.Series([1, 2]).astype("category"), [15289156711003816966, 15865429583590377110]),
        (pd.Series([Decimal("1.5"), Decimal(2)]), [11123337222389435084, 15865429583590377110]),
        (pd.Series([1, 2]), [3035652100526550566, 1360429390938723525]),
        (pd.Series([1, None, 2], dtype=object), [3035652100526550566, 0, 1360429390938723525]),
        (pd.Series([1.5, np.nan]), [16657480027015623784, 0]),
        (pd.Series(["a", None], dtype=object), [13950350942979735504, 0]),
        (pd.Series([True, None], dtype=object), [2410982421905495808, 0]),
    ],
)
def test_certificates_of_earlier_versions_find_their_rows(column, expected):
    """A certificate and the ledger of looks keep these numbers: another hash makes rows new."""
    assert hash_rows([column], len(column)).tolist() == expected
