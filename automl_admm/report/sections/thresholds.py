"""Rates and limits as the decision threshold moves, with the model's own marked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from automl_admm.execution.shared_state import unheard_warnings
from automl_admm.pipelines.predictions.decisions import only_class, share_among
from automl_admm.pipelines.thresholds.by_group import LOWER
from automl_admm.pipelines.thresholds.single import DEFAULTS, Aimed, Fold, aimed_decisions
from automl_admm.report.document import numbers
from automl_admm.report.document.charts import Chart, Layer
from automl_admm.report.document.html import Markup, Part, name, tag, together
from automl_admm.report.document.tables import figure, table
from automl_admm.report.rows.given import GivenRows
from automl_admm.report.sections.section import Section
from automl_admm.report.view import RunView

PLACES = 40
# Of the rows so many may be decided otherwise: scores on the threshold differ in their last digit.
TOLERATED = 0.001
RATES = ("recall", "false_positive_rate", "precision", "selection_rate", "accuracy")


@dataclass(frozen=True, slots=True)
class AtThreshold:
    """The rates of decisions at a threshold, and the limits on decisions in their order.

    A rate among no rows is None, and so is a limit that these rows cannot tell.
    """

    threshold: float
    recall: float | None
    false_positive_rate: float | None
    precision: float | None
    selection_rate: float | None
    accuracy: float | None
    limits: tuple[float | None, ...]
    holds: bool


@dataclass(frozen=True, slots=True)
class MovingLimit:
    """A limit whose value moves with the threshold."""

    limit: str
    bound: float


@dataclass(frozen=True, slots=True)
class Thresholds:
    """The positive class by threshold; `shipped` is that of the model.

    It is None if the model does not decide by one threshold for all rows.
    """

    positive: str
    shipped: float | None
    limits: tuple[MovingLimit, ...]
    places: tuple[AtThreshold, ...]


def measure(view: RunView) -> Thresholds | None:
    """Move the threshold over the scores; None without scores of two classes."""
    rows = view.rows
    if rows is None or rows.positive_scores is None:
        return None
    shipped = _shipped(view, rows)
    aimed = aimed_decisions(rows.constraints, [one.limit for one in rows.constraints])
    with unheard_warnings():
        fold = Fold.of(rows.evaluated(), aimed)
        places = tuple(
            _at(rows, threshold, shipped, fold, aimed)
            for threshold in _places(rows.positive_scores, shipped)
        )
    limits = tuple(MovingLimit(str(one.limit), one.limit.bound) for one in aimed)
    return Thresholds(rows.classes[1], shipped, limits, places)


def _shipped(view: RunView, rows: GivenRows) -> float | None:
    """Return the threshold of the model if its decisions are those that it gives.

    A model that leaves rows undecided has two, and rates of its own.
    """
    said = (view.manifest or {}).get("threshold")
    default = DEFAULTS["predict_proba" if rows.are_probabilities else "decision_function"]
    threshold = default if said is None else said
    if isinstance(threshold, str) or (view.manifest or {}).get(LOWER) is not None:
        return None
    decided = np.asarray(rows.positive_scores >= threshold)
    differs = np.mean(decided != (rows.decisions == 1))
    return float(threshold) if differs <= TOLERATED else None


def _places(scores: Any, shipped: float | None) -> list[float]:
    """Return thresholds with as many rows between them, and the model's own."""
    found = np.unique(np.quantile(scores, np.linspace(0.0, 1.0, PLACES + 1)))
    return sorted({*map(float, found), *(() if shipped is None else (shipped,))})


def _at(
    rows: GivenRows, threshold: float, shipped: float | None, fold: Fold, aimed: Sequence[Aimed]
) -> AtThreshold:
    y, weights = rows.table.y == 1, rows.table.roles.weights
    called = np.asarray(rows.positive_scores >= threshold)
    share = partial(share_among, weights=weights)
    every = np.ones(len(y), dtype=bool)
    values = fold.values(threshold)
    pairs = zip(aimed, values, strict=True)
    # One class for all rows of the run is one at the model's own threshold, whatever these rows.
    is_vacuous = threshold == shipped and rows.one_class is not None
    tells_apart = not is_vacuous and only_class(rows.table, called.astype(int)) is None
    return AtThreshold(
        threshold=threshold,
        recall=share(y, called),
        false_positive_rate=share(~y, called),
        precision=share(called, y),
        selection_rate=share(every, called),
        accuracy=share(every, called == y),
        limits=tuple(map(numbers.finite, values)),
        holds=tells_apart and all(one.limit.holds(value) for one, value in pairs),
    )


def draw(found: Thresholds) -> Markup:
    """Draw the rates, and each limit with its bound, along the threshold."""
    return together(
        tag(
            "p",
            "A row is called ",
            name(found.positive),
            " if its score is at least the threshold. ",
            _said(found),
        ),
        tag("div", _rates(found), *_limits(found), class_="charts"),
    )


def _said(found: Thresholds) -> str:
    if found.shipped is None:
        said = "The model itself does not decide by one threshold for all rows, as is done here"
        return f"{said}: none is marked."
    return f"The dashed upright line is the model's own, {numbers.plain(found.shipped)}."


def _chart(found: Thresholds, title: str, y: str, layers: tuple[Layer, ...]) -> Markup:
    marks = () if found.shipped is None else (found.shipped,)
    chart = Chart(title, "threshold", y, layers, marks, "the model's own", shows_all=True)
    return chart.with_legend()


def _rates(found: Thresholds) -> Markup:
    layers = tuple(
        Layer("line", f"s{place}", _points(found, rate), rate.replace("_", " "))
        for place, rate in enumerate(RATES)
    )
    said = "Rates by threshold: move it right, and fewer rows are called so."
    return figure(_chart(found, "Rates by threshold", "rate", layers), said, _table(found))


def _points(found: Thresholds, rate: str) -> list[tuple[float, float]]:
    pairs = ((one.threshold, getattr(one, rate)) for one in found.places)
    return [(threshold, value) for threshold, value in pairs if value is not None]


def _limits(found: Thresholds) -> list[Markup]:
    ends = (found.places[0].threshold, found.places[-1].threshold)
    drawn = []
    for place, one in enumerate(found.limits):
        pairs = ((at.threshold, at.limits[place]) for at in found.places)
        points = [(threshold, value) for threshold, value in pairs if value is not None]
        layers = (
            Layer("line", "rule", [(end, one.bound) for end in ends], "its bound"),
            Layer("line", "s0", points, "value"),
        )
        chart = _chart(found, f"{one.limit} by threshold", one.limit, layers)
        drawn.append(figure(chart, together(name(one.limit), " by threshold, and its bound.")))
    return drawn


def _table(found: Thresholds) -> Markup:
    headings = ("Threshold", *(rate.replace("_", " ").capitalize() for rate in RATES))
    headings = (*headings, *(one.limit for one in found.limits))
    rows: list[tuple[Part, ...]] = [
        (
            _marked(one, found),
            *(numbers.plain(getattr(one, rate)) for rate in RATES),
            *(numbers.plain(value) for value in one.limits),
            *(("yes" if one.holds else "no",) if found.limits else ()),
        )
        for one in found.places
    ]
    if found.limits:
        headings = (*headings, "Within all of these")
    return table(headings, rows, text_columns=0)


def _marked(one: AtThreshold, found: Thresholds) -> Part:
    said = numbers.plain(one.threshold)
    return tag("strong", f"{said} (the model)") if one.threshold == found.shipped else said


SECTION = Section("thresholds", "Threshold", Thresholds | None, measure, draw)
