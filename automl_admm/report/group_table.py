"""The rates of a model by group as a table, with the columns of fairlearn's `MetricFrame`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from automl_admm.core.errors import ConfigurationError
from automl_admm.report.sections.groups import (
    Grouped,
    GroupQuality,
    by_measure,
    largest_difference,
    measure,
)
from automl_admm.report.view import RunView
from automl_admm.store.export import csv_line

FIXED = ("by", "row", "group", "count")
# The names of fairlearn and scikit-learn; all others are those of the page.
NAMES = {
    "base rate": "base_rate",
    "called positive": "selection_rate",
    "true positive rate": "true_positive_rate",
    "false positive rate": "false_positive_rate",
    "ROC AUC": "roc_auc",
    "mean absolute error": "mean_absolute_error",
}
Cells = Sequence[float | str]


def group_table(view: RunView) -> Iterator[str]:
    """Yield the lines of a CSV file: for each grouping all rows, each group, and comparisons.

    `row` says what a line is: overall, group, difference (the largest value of a group minus the
    smallest) or ratio (the smallest divided by the largest). A cell without a value is empty.
    """
    found = measure(view)
    if found is None:
        raise ConfigurationError(
            "there are no groups to compare.", hint="Name columns with --group."
        )
    titles = [one.name for one in found.groupings[0].all_rows.measures]
    yield csv_line((*FIXED, *(NAMES.get(title, title.replace(" ", "_")) for title in titles)))
    for one in found.groupings:
        yield from map(csv_line, _lines(one))


def _lines(found: Grouped) -> Iterator[Cells]:
    yield (found.by, "overall", "", found.all_rows.rows, *_values(found.all_rows))
    for one in found.groups:
        yield (found.by, "group", one.group, one.rows, *_values(one))
    columns = list(by_measure(found))
    yield (found.by, "difference", "", "", *map(_cell, map(largest_difference, columns)))
    yield (found.by, "ratio", "", "", *map(_cell, map(_ratio, columns)))


def _values(one: GroupQuality) -> Iterator[float | str]:
    return (_cell(measured.value) for measured in one.measures)


def _cell(value: float | None) -> float | str:
    return "" if value is None else value


def _ratio(values: Sequence[float]) -> float | None:
    """Return the smallest value divided by the largest; of 0 and 0 there is none."""
    is_positive = bool(values) and min(values) >= 0 < max(values)
    return min(values) / max(values) if is_positive else None
