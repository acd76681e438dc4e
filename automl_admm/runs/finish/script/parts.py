"""The parts of `pipeline.py` around its model; it carries their imports of this package, too."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from automl_admm.pipelines.predictions.constant_truth import constant_score, has_no_spread


def make_columns(table: Any, readings: list[Any], readers: dict[str, Any], place: Any) -> Any:
    """Return the columns that the pipeline takes, made of those of the table.

    A reading has the name of a column, the names of those made of it and, unless they are the
    same, the facts found on it in training. `place` names the place of a row.
    """
    rows = table.reset_index(drop=True)
    made: dict[str, Any] = {}
    for name, names, facts in readings:
        found = {"": rows[name]}
        if facts is not None:
            found = readers[facts["form"]](rows[name], facts, lambda row: place(table.index[row]))
        made |= dict(zip(names, found.values(), strict=True))
    return pd.DataFrame(made).set_axis(table.index)


def is_for_training(y: Any, *, by_class: bool, share: float, seed: int) -> Any:
    """Tell for each row if the run trained on it: it held a share of each class out."""
    classes = pd.factorize(y)[0] if by_class else np.zeros(len(y), dtype=int)
    mixed = np.random.default_rng(seed).permutation(len(y))
    order = mixed[np.argsort(classes[mixed], kind="stable")]
    starts = np.flatnonzero(np.diff(classes[order], prepend=-1))
    is_kept = np.ones(len(y), dtype=bool)
    for rows in np.split(order, starts[1:]):
        is_kept[rows[: min(max(round(share * len(rows)), 1), len(rows) - 1)]] = False
    return is_kept


def unpack_rows(packed: str, rows: int) -> Any:
    """Tell for each row if the run trained on it, from a text with a bit a row."""
    import base64
    import zlib

    bits = np.frombuffer(zlib.decompress(base64.b85decode(packed)), dtype=np.uint8)
    return np.unpackbits(bits, count=rows).astype(bool)


def fit_folds(
    model: Any,
    X: Any,
    y: Any,
    folds: list[Any],
    weights: Any = None,
    fit_last: Any = None,
    labels: Any = None,
) -> Any:
    """Fit each pipeline of a vote on the rows of its fold; one alone on those of its fold.

    Where these lack one of the `labels`, by default of y, the pipeline has it all the same.
    """
    from automl_admm.core.errors import DataError

    def fit(one: Any, rows: Any) -> Any:
        if weights is None:
            return one.fit(X[rows], y[rows])
        return fit_weighted(one, X[rows], y[rows], weights[rows], fit_last)

    def fit_whole(one: Any, rows: Any) -> Any:
        if not hasattr(one, "estimator"):
            return fit(one, rows)
        one.estimator_ = fit(one.estimator, rows)
        one.classes_ = np.unique(y if labels is None else labels)
        return one

    if len(folds[0]) != len(y):
        told = f"the folds are of {len(folds[0])} rows to fit on, and here are {len(y)}."
        raise DataError(told, hint="Give the training file of the run.")
    if not hasattr(model, "estimators"):
        return fit_whole(model, folds[0])
    from sklearn.frozen import FrozenEstimator

    fitted = [
        (name, FrozenEstimator(fit_whole(one, rows)))
        for (name, one), rows in zip(model.estimators, folds, strict=True)
    ]
    voting = model.set_params(estimators=fitted)
    # The members are fitted: a classifier takes no more than the labels.
    return voting.fit(X, y) if labels is None else voting.fit(np.reshape(labels, (-1, 1)), labels)


def kept_weights(weights: Any, is_kept: Any) -> Any:
    """Return the weights of some rows; None if all of the file are the same."""
    return None if weights is None else weights[is_kept]


def fit_weighted(model: Any, X: Any, y: Any, weights: Any, fit_last: Any) -> Any:
    """Fit a pipeline, its last step with the weights of the rows; of an ensemble each pipeline."""
    if hasattr(model, "estimators"):
        from sklearn.frozen import FrozenEstimator

        fitted = [
            (name, FrozenEstimator(fit_weighted(one, X, y, weights, fit_last)))
            for name, one in model.estimators
        ]
        return model.set_params(estimators=fitted).fit(X, y)
    before, arrived = model.steps[:-1], X
    for _, step in before:
        arrived = step.fit_transform(arrived, y)
    fit_last(model.steps[-1][1], arrived, y, weights)
    return model


def predictions_of(model: Any, rows: Any) -> Any:
    """Return a column with the predictions, and one with the probabilities of each class."""
    labels = model.predict(rows)
    if getattr(model, "leaves_undecided", False):
        # Whole numbers beside empty cells would become floats, and large ones other labels.
        nullable = {"i": "Int64", "u": "UInt64", "f": "Float64", "b": "boolean"}
        kind = pd.api.types.pandas_dtype(model.classes_.dtype).kind
        labels = pd.array(labels, dtype=nullable.get(kind, "object"))
    columns = {"prediction": labels}
    if hasattr(model, "predict_proba"):
        for label, column in zip(model.classes_, model.predict_proba(rows).T, strict=True):
            columns[f"probability_{label}"] = column
    return pd.DataFrame(columns)


class OfDecided:
    """A classifier that leaves rows undecided, seen on the rows that it decides."""

    def __init__(self, model: Any, labels: Any) -> None:
        self.model = model
        self.labels = labels

    def predict(self, X: Any) -> Any:
        """Return the labels of these rows."""
        del X
        return self.labels

    def __getattr__(self, name: str) -> Any:
        return getattr(self.__dict__["model"], name)


def score_of(
    model: Any, X: Any, y: Any, metric: str | None, weights: Any = None
) -> tuple[str, float]:
    """Return the name of a score with its value: that of the metric where these rows have one.

    One that looks at decisions is of the rows that the model decides.
    """
    from sklearn.metrics import get_scorer

    is_regressor, name = not hasattr(model, "classes_"), metric or "r2"
    if is_regressor and has_no_spread(name, y, weights):
        return name, constant_score(name, model.predict(X), y, weights)
    by_weight = {} if weights is None else {"sample_weight": weights}
    if metric is not None:
        scorer = get_scorer(metric)
        leaves_any = getattr(model, "leaves_undecided", False)
        try:
            if leaves_any and scorer._response_method == "predict":  # noqa: SLF001
                told = model.predict(X)
                decided = pd.notna(told)
                y, labels = y[decided], told[decided].astype(y.dtype)
                by_weight = {name: one[decided] for name, one in by_weight.items()}
                return metric, scorer(OfDecided(model, labels), X[decided], y, **by_weight)
            return metric, scorer(model, X, y, **by_weight)
        except ValueError:
            pass  # of one class alone some metrics have no value
    return "r2" if is_regressor else "accuracy", model.score(X, y, **by_weight)


def hand_out(predictions: Any, output: str | None) -> None:
    """Write predictions to a file, or print them."""
    if output is not None and Path(output).suffix.lower() in (".parquet", ".pq"):
        predictions.to_parquet(output, index=False)
    else:
        predictions.to_csv(output or sys.stdout, index=False)
