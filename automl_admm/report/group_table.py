"""The rates of a model by group as a table, with the columns of fairlearn's `MetricFrame`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from automl_admm.core.errors import ConfigurationError
from automl_admm.report.sections.groups import Grouped, GroupQuality, measure
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
    columns = list(zip(*(_values(one) for one in found.groups), strict=True))
    yield (found.by, "difference", "", "", *map(_difference, columns))
    yield (found.by, "ratio", "", "", *map(_ratio, columns))


def _values(one: GroupQuality) -> tuple[float | str, ...]:
    return tuple("" if measured.value is None else measured.value for measured in one.measures)


def _difference(values: Cells) -> float | str:
    """Return the largest value minus the smallest; nothing if a group has no value."""
    known = _numbers(values)
    return max(known) - min(known) if known else ""


def _ratio(values: Cells) -> float | str:
    """Return the smallest value divided by the largest; of 0 and 0 there is none."""
    known = _numbers(values)
    is_positive = bool(known) and min(known) >= 0 < max(known)
    return min(known) / max(known) if is_positive else ""


def _numbers(values: Cells) -> list[float]:
    """Return the values, none at all if one is missing: a comparison would leave its group out."""
    known = [value for value in values if not isinstance(value, str)]
    return known if len(known) == len(values) else []
