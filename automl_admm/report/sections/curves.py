"""ROC, precision-recall and calibration curves on labelled rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from automl_admm.report.document import numbers
from automl_admm.report.document.charts import Chart, Layer
from automl_admm.report.document.html import Markup, Part, name, tag, together
from automl_admm.report.document.tables import figure, table
from automl_admm.report.rows.curves import Bin, ClassCurves, curves_of
from automl_admm.report.rows.given import GivenRows
from automl_admm.report.sections.section import Section
from automl_admm.report.view import RunView

# More lines cannot be told apart by their looks.
MOST_LINES = 6
DIAGONAL = ((0.0, 0.0), (1.0, 1.0))


@dataclass(frozen=True, slots=True)
class Curves:
    """The curves of the positive class of two, or of each class against all others.

    Without `classes` the model has decisions alone. `only_class` is the one of all rows, if there
    is but one.
    """

    classes: tuple[ClassCurves, ...]
    are_probabilities: bool
    share: float | None
    only_class: str | None


def measure(view: RunView) -> Curves | None:
    """Measure the curves; None without rows, and for a quantity."""
    rows = view.rows
    if rows is None or not rows.classes:
        return None
    share = None
    if len(rows.classes) == 2:
        share = float(np.average(rows.table.y == 1, weights=rows.table.roles.weights))
    return Curves(_classes(rows), rows.are_probabilities, share, rows.only_class)


def _classes(rows: GivenRows) -> tuple[ClassCurves, ...]:
    y, weights, scores = rows.table.y, rows.table.roles.weights, rows.scores
    if scores is None:
        return ()
    places = range(len(rows.classes)) if rows.positive_scores is None else (1,)
    return tuple(
        curves_of(
            rows.classes[place],
            y == place,
            scores[:, place] if rows.positive_scores is None else rows.positive_scores,
            weights,
            are_probabilities=rows.are_probabilities,
            are_trials=rows.are_trials,
        )
        for place in places
    )


def draw(found: Curves) -> Markup:
    """Draw the three figures, with a table of all classes."""
    if not found.classes:
        return tag("p", "The model has decisions alone, and no scores: there are no curves of it.")
    shown = sorted(found.classes, key=lambda one: -one.rows)[:MOST_LINES]
    more = None
    if len(shown) < len(found.classes):
        more = tag("p", f"Drawn are the {len(shown)} most frequent classes; all are in the table.")
    figures = []
    if found.only_class is None:
        figures += [_roc(shown), _precision(found, shown)]
    else:
        lack = "so there is no ROC curve, and none of precision and recall."
        said = f"Only class '{found.only_class}' is among these rows, {lack}"
        more = together(tag("p", said), more)
    if found.are_probabilities:
        figures.append(_calibration(shown))
    else:
        more = together(more, tag("p", "Scores are no probabilities: they have no calibration."))
    return together(tag("div", *figures, class_="charts"), more, _areas(found))


def _chart(title: str, x: str, y: str, layers: Sequence[Layer]) -> Markup:
    return Chart(title, x, y, tuple(layers), shows_all=True).with_legend()


def _lines(shown: Sequence[ClassCurves], key: str) -> list[Layer]:
    return [
        Layer("line", f"s{place}", getattr(one, key), one.name) for place, one in enumerate(shown)
    ]


def _roc(shown: Sequence[ClassCurves]) -> Markup:
    chance = Layer("line", "partial", DIAGONAL, "chance")
    drawn = _chart(
        "ROC curve", "false positive rate", "true positive rate", [chance, *_lines(shown, "roc")]
    )
    said = "ROC curve: of the rows of the class, the share found, against the false alarms for it."
    return figure(drawn, said, _points_table(shown, "roc", "False positive rate", "True"))


def _precision(found: Curves, shown: Sequence[ClassCurves]) -> Markup:
    layers = _lines(shown, "precision")
    if found.share is not None:
        chance = ((0.0, found.share), (1.0, found.share))
        layers.insert(0, Layer("line", "partial", chance, "chance"))
    drawn = _chart("Precision and recall", "recall", "precision", layers)
    said = "Precision and recall: of the rows called so, the share that are, against those found."
    return figure(drawn, said, _points_table(shown, "precision", "Recall", "Precision"))


def _calibration(shown: Sequence[ClassCurves]) -> Markup:
    layers = [Layer("line", "partial", DIAGONAL, "right on average")]
    for place, one in enumerate(shown):
        points = [(b.predicted, b.observed) for b in one.calibration]
        layers += [
            Layer("line", f"s{place}", points, one.name),
            Layer("dots", f"s{place}", points),
        ]
    drawn = _chart("Calibration", "predicted probability", "share observed", layers)
    rows = [
        (name(one.name), b.rows, numbers.plain(b.predicted), numbers.plain(b.observed), _within(b))
        for one in shown
        for b in one.calibration
    ]
    headings = ("Class", "Rows", "Predicted", "Observed", "95 % interval")
    within = "rows with weights, and such that belong together, have no interval"
    if any(b.lower is not None for one in shown for b in one.calibration):
        within = "the table has the exact interval of each"
    said = (
        "Calibration: above the diagonal the model says too little, below it too much. Ten bins of "
        f"as many rows; {within}."
    )
    return figure(drawn, said, table(headings, rows))


def _within(one: Bin) -> str:
    if one.lower is None:
        return numbers.NONE
    return f"{numbers.plain(one.lower, 3)} to {numbers.plain(one.upper, 3)}"


def _points_table(shown: Sequence[ClassCurves], key: str, x: str, y: str) -> Markup:
    """Return every tenth point: all of them are in report.json."""
    rows: list[tuple[Part, ...]] = [
        (name(one.name), numbers.plain(across), numbers.plain(up))
        for one in shown
        for across, up in getattr(one, key)[::10]
    ]
    said = "Every tenth point; all of them are in report.json."
    return together(table(("Class", x, y), rows), tag("p", said))


def _areas(found: Curves) -> Markup:
    rows = [
        (
            name(one.name),
            one.rows,
            numbers.score(one.area),
            numbers.score(one.average_precision),
            numbers.score(one.calibration_error),
            numbers.score(one.brier),
        )
        for one in found.classes
    ]
    headings = (
        *("Class", "Rows of it", "ROC AUC", "Average precision"),
        *("Mean calibration error", "Brier score"),
    )
    return table(headings, rows)


SECTION = Section("curves", "Curves", Curves | None, measure, draw)
