"""Predictions of a quantity against the truth, and their errors, on labelled rows.

An error is the prediction less the truth, as in limits on the bias.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from automl_admm.core.explained_variance import explained_variance
from automl_admm.core.weighted_quantile import weighted_quantile
from automl_admm.report.document import numbers
from automl_admm.report.document.charts import Chart, Layer
from automl_admm.report.document.html import Markup, tag, together
from automl_admm.report.document.tables import facts, figure, table
from automl_admm.report.rows.bins import part_by
from automl_admm.report.sections.section import Section
from automl_admm.report.view import RunView

MOST_DRAWN = 1_000
LARGE = 1e100  # sums of the squares of smaller errors are numbers
QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)


@dataclass(frozen=True, slots=True)
class Band:
    """Rows of similar prediction: the means of it, and of the error, prediction less truth.

    Means and the `spread` of the errors are by the weights of the rows, whose sum is `weight`; it
    is the number of rows if they have none.
    """

    rows: int
    weight: float
    predicted: float
    error: float
    spread: float


@dataclass(frozen=True, slots=True)
class Residuals:
    """Errors of a quantity, each the prediction less the truth; `bias` is their mean.

    `points` are the truth and the prediction of a sample of the rows.
    """

    rows: int
    r2: float | None
    mean_absolute: float
    root_mean_square: float
    bias: float
    quantiles: dict[str, float]
    bands: tuple[Band, ...]
    points: tuple[tuple[float, float], ...]


def measure(view: RunView) -> Residuals | None:
    """Measure the errors; None without rows, and for classes."""
    rows = view.rows
    if rows is None or rows.classes:
        return None
    truth = np.asarray(rows.table.y, dtype=float)
    predicted = np.asarray(rows.decisions, dtype=float).ravel()
    with np.errstate(over="ignore", invalid="ignore"):  # what is beyond all numbers is not shown
        return _measured(truth, predicted, rows.table.roles.weights, int(view.settings["seed"]))


def _measured(truth: Any, predicted: Any, weights: Any, seed: int) -> Residuals:
    errors = predicted - truth
    explained = explained_variance(errors**2, truth, weights)
    return Residuals(
        rows=len(truth),
        r2=None if math.isnan(explained) else explained,
        mean_absolute=float(np.average(np.abs(errors), weights=weights)),
        root_mean_square=_root_mean_square(errors, weights),
        bias=float(np.average(errors, weights=weights)),
        quantiles={f"{q:g}": _quantile(errors, weights, q) for q in QUANTILES},
        bands=tuple(_bands(predicted, errors, weights)),
        points=_sample(truth, predicted, seed),
    )


def _root_mean_square(errors: Any, weights: Any) -> float:
    """Return √ mean(e²), of large errors without their squares."""
    largest = float(np.abs(errors).max())
    unit = largest if largest > LARGE else 1.0
    return unit * float(np.sqrt(np.average((errors / unit) ** 2, weights=weights)))


def _quantile(errors: Any, weights: Any, quantile: float) -> float:
    if weights is None:
        return float(np.quantile(errors, quantile))
    return weighted_quantile(errors, weights, quantile)


def _bands(predicted: Any, errors: Any, weights: Any) -> list[Band]:
    return [
        _band(predicted[inside], errors[inside], None if weights is None else weights[inside])
        for inside in part_by(predicted)
    ]


def _band(predicted: Any, errors: Any, weights: Any) -> Band:
    middle, error = (float(np.average(one, weights=weights)) for one in (predicted, errors))
    spread = _root_mean_square(errors - error, weights)
    weight = float(len(errors) if weights is None else weights.sum())
    return Band(len(errors), weight, middle, error, spread)


def _sample(truth: Any, predicted: Any, seed: int) -> tuple[tuple[float, float], ...]:
    drawn = np.random.default_rng(seed).permutation(len(truth))[:MOST_DRAWN]
    return tuple((float(f"{truth[p]:.6g}"), float(f"{predicted[p]:.6g}")) for p in np.sort(drawn))


def draw(found: Residuals) -> Markup:
    """Draw the predictions against the truth, and the errors along the prediction."""
    drawn = len(found.points)
    sample = "" if drawn == found.rows else f" Drawn are {drawn} of {found.rows} rows."
    return together(
        facts(
            [
                ("R²", numbers.score(found.r2)),
                ("Mean absolute error", numbers.plain(found.mean_absolute)),
                ("Root of the mean square error", numbers.plain(found.root_mean_square)),
                ("Mean error (prediction less truth)", numbers.plain(found.bias)),
            ]
        ),
        tag("div", _against(found, sample), _along(found, sample), class_="charts"),
    )


def _against(found: Residuals, sample: str) -> Markup:
    ends = [value for point in found.points for value in point]
    low, high = min(ends), max(ends)
    layers = (
        Layer("line", "partial", [(low, low), (high, high)], "right"),
        Layer("dots", "inside", [(predicted, truth) for truth, predicted in found.points], "row"),
    )
    chart = Chart("Actual against predicted", "predicted", "actual", layers, shows_all=True)
    rows = [(f"{100 * float(q):g} %", numbers.plain(value)) for q, value in found.quantiles.items()]
    behind = table(("Share of rows below", "Error"), rows, text_columns=0)
    said = f"Actual against predicted: on the line the model is right.{sample}"
    return figure(chart.with_legend(), said, behind)


def _along(found: Residuals, sample: str) -> Markup:
    dots = [(predicted, predicted - truth) for truth, predicted in found.points]
    ends = (min(x for x, _ in dots), max(x for x, _ in dots))
    means = [(band.predicted, band.error) for band in found.bands]
    layers = (
        Layer("line", "partial", [(end, 0.0) for end in ends], "no error"),
        Layer("dots", "inside", dots, "row"),
        Layer("line", "best", means, "mean of similar predictions"),
    )
    chart = Chart("Errors", "predicted", "predicted − actual", layers, shows_all=True)
    rows = [
        (b.rows, numbers.plain(b.predicted), numbers.plain(b.error), numbers.plain(b.spread))
        for b in found.bands
    ]
    headings = ("Rows", "Mean prediction", "Mean error", "Standard deviation")
    said = f"Errors: a line away from 0 is a part where the model errs to one side.{sample}"
    return figure(chart.with_legend(), said, table(headings, rows, text_columns=0))


SECTION = Section("residuals", "Errors of the predictions", Residuals | None, measure, draw)
