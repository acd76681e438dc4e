"""The promises of a component about rows in one batch."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
from pandas.api.types import is_numeric_dtype
from scipy import sparse

from automl_admm.core.errors import InvalidOutcome
from automl_admm.pipelines.build import predict_scores
from automl_admm.pipelines.predictions.decisions import predict_unseen
from automl_admm.pipelines.predictions.measured import Table
from automl_admm.testing.component_forms import FormPromises

SINGLE = 3
# Of the largest number in a column. Sums of other batches are rounded otherwise, at most so much
# in single precision.
CLOSE = 1e-5
# Of the largest number of all: a column so small is nothing but rounding.
NOISE = 1e-9


class BatchPromises(FormPromises):
    """The promises of a component to each row: others beside it, or before it, do not count."""

    def test_each_row_has_an_answer_of_its_own(self) -> None:
        """Answer a row alike alone, among others and in any order, and when asked again."""
        X, y = self.table()
        drawn = list(self.settings())[-1]
        for values in ({}, drawn) if drawn else ({},):
            self._check_batches(self.fitted(X, y, values), X, f"with {dict(values)}")

    def _check_batches(self, model: Any, X: Any, setting: str) -> None:
        whole = self._answers(model, X)
        for places, how in _batches(len(X)):
            found = self._answers(model, X.iloc[places])
            other = differing(whole.iloc[places], found)
            assert not other, f"{how} {other} of {len(places)} rows have other answers, {setting}"
        again = differing(whole, self._answers(model, X))
        assert not again, f"asked again, {again} of {len(X)} rows have other answers, {setting}"

    def _answers(self, model: Any, X: Any) -> pd.DataFrame:
        """Return the predictions of an estimator, or the columns of a transformer."""
        is_last = self.make().role == "estimator"
        return cells(predict_scores(model, X) if is_last else transformed(model, X))

    def demand_taken(self, model: Any, X: Any, y: Any, case: str) -> None:
        """Put the answers of a fitted model through the checks of an evaluation."""
        classes = None if self.make().tasks[0] == "regression" else np.unique(y)
        try:
            predict_unseen(model, Table(X, y, classes))
        except InvalidOutcome as problem:
            raise AssertionError(f"a run refuses its answers: {problem}, {case}") from None


def transformed(model: Any, X: Any) -> Any:
    """Return the rows as the estimator would see them.

    A slice of the pipeline would ask if they are fitted, which one without a state cannot say.
    """
    for _, step in model.steps[:-1]:
        X = step.transform(X)
    return X


def cells(made: Any) -> pd.DataFrame:
    """Return the answers of a component as a frame: its `equals` takes gaps and texts."""
    return pd.DataFrame(made.toarray() if sparse.issparse(made) else made)


def _batches(rows: int) -> Iterator[tuple[Any, str]]:
    """Yield the places of some rows, and how they are asked for."""
    yield np.random.default_rng(11).permutation(rows), "in another order"
    yield np.arange(0, rows, 2), "among half of the rows"
    for place in np.linspace(0, rows - 1, SINGLE).astype(int):
        yield np.array([place]), f"alone, row {place}:"


def differing(expected: pd.DataFrame, found: pd.DataFrame) -> int:
    """Count the rows with other cells; numbers may differ by rounding."""
    if expected.shape != found.shape:
        return len(expected)
    texts = [place for place, kind in enumerate(expected.dtypes) if not is_numeric_dtype(kind)]
    is_other = np.zeros(len(expected), dtype=bool)
    if texts:
        one, other = (made.iloc[:, texts].astype(object) for made in (expected, found))
        is_other |= ((one != other) & ~(one.isna() & other.isna())).to_numpy().any(axis=1)
    numbers = np.setdiff1d(np.arange(expected.shape[1]), texts)
    one, other = (made.iloc[:, numbers].to_numpy(dtype=float) for made in (expected, found))
    return int((is_other | ~_are_close(one, other).all(axis=1)).sum())


def _are_close(one: Any, other: Any) -> Any:
    largest = np.abs(np.where(np.isfinite(one), one, 0.0)).max(axis=0, initial=0.0)
    rounded = np.maximum(CLOSE * largest, NOISE * largest.max(initial=0.0))
    return np.isclose(other, one, rtol=CLOSE, atol=rounded, equal_nan=True)
