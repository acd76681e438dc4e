"""The Python interface across types and processes: fitted in one, asked in another."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from program import run_python

from automl_admm import AutoMLClassifier
from automl_admm.core.errors import DataError

QUICK = {
    "grammar": "tiny",
    "cv": 2,
    "max_evaluations": 2,
    "theta_solver": "random",
    "executor": "inline",
    "random_state": 0,
}
ASK = """
import pickle
import numpy as np

search, X, expected = pickle.load(open("search.pickle", "rb"))
arrow = X.convert_dtypes(dtype_backend="pyarrow")
given = {
    "other order": X[[2, 0, 3, 1]],
    "names as text": X[[3, 2, 1, 0]].rename(columns=str),
    "arrow": arrow,
    "arrow, other order": arrow[[1, 3, 0, 2]],
    "objects": X.to_numpy(dtype=object),
    "lists": X.to_numpy(dtype=object).tolist(),
    "text": X.astype(str),
    "array of text": X.to_numpy(dtype=object).astype(str),
}
for title, rows in given.items():
    assert np.allclose(search.predict_proba(rows), expected), title
print(len(given), "tables, all as they were")
"""


@pytest.mark.fault(
    "F59",
    injected="columns named by numbers in another order, lists with text, other types, in a new "
    "process",
    expected="the model's own predictions, or a DataError",
)
def test_a_fitted_search_is_asked_in_another_process(
    tmp_path: Path, seen: Callable[[str], None]
) -> None:
    rng = np.random.default_rng(1)
    X = pd.DataFrame({0: rng.normal(size=300), 1: 5 + rng.normal(size=300)})
    X[2] = rng.choice(["u", "v"], 300)
    X[3] = rng.random(300) < 0.5
    search = AutoMLClassifier(**QUICK).fit(X, X[0] + (X[2] == "u") + X[3] > 1)
    kept = pickle.dumps((search, X, search.predict_proba(X)))
    (tmp_path / "search.pickle").write_bytes(kept)
    done = run_python("-c", ASK, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "all as they were" in done.stdout
    seen(done.stdout.strip())


@pytest.fixture(scope="module")
def table() -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.normal(size=200), "t": rng.choice(["x", "y"], 200)})
    X["b"] = rng.random(200) < 0.5
    return X, np.where(X["a"] + (X["t"] == "x") * 2 > 1, "yes", "no")


@pytest.mark.fault(
    "F60",
    injected="a frame and a target of Arrow's types, a column of text that became numbers, gaps",
    expected="the predictions of plain types, or a DataError that names the cell",
)
def test_types_of_arrow_and_of_others(
    table: tuple[pd.DataFrame, np.ndarray], seen: Callable[[str], None]
) -> None:
    X, y = table
    arrow = X.convert_dtypes(dtype_backend="pyarrow")
    search = AutoMLClassifier(**QUICK).fit(arrow, pd.Series(y, dtype="string[pyarrow]"))
    expected = AutoMLClassifier(**QUICK).fit(X, y).predict_proba(X)
    for rows in (arrow, X):
        assert search.predict_proba(rows) == pytest.approx(expected)
    assert set(search.predict(X.head(1).assign(t=None))) <= {"yes", "no"}
    assert set(search.predict(X.head(1).assign(t=np.nan))) <= {"yes", "no"}
    with pytest.raises(
        DataError, match=r"row 0 .*column 't' holds 1.0 .*held text in training"
    ) as e:
        search.predict(X.assign(t=1.0))
    seen(f"as with plain types; {e.value}")


def test_lists_with_text_are_learned_from_as_frames_are(
    table: tuple[pd.DataFrame, np.ndarray],
) -> None:
    X, y = table
    lists = X.to_numpy(dtype=object).tolist()
    search = AutoMLClassifier(**QUICK).fit(lists, y)
    framed = AutoMLClassifier(**QUICK).fit(X, y)
    assert search.predict_proba(lists) == pytest.approx(framed.predict_proba(X))
    assert search.predict_proba(X.rename(columns={"a": 0, "t": 1, "b": 2})) == pytest.approx(
        framed.predict_proba(X)
    )
    with pytest.raises(DataError, match="numbers written as text"):
        AutoMLClassifier(**QUICK).fit(np.array(lists), y)


def test_targets_of_objects(table: tuple[pd.DataFrame, np.ndarray]) -> None:
    X, y = table
    yes = (y == "yes").astype(object)
    assert AutoMLClassifier(**QUICK).fit(X, yes).score(X, y == "yes") > 0.9
    gap = y.astype(object)
    gap[3] = None
    with pytest.raises(DataError, match="target is missing in 1 of 200 rows, first in row"):
        AutoMLClassifier(**QUICK).fit(X, gap)
