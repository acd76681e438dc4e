"""Quality by group on labelled rows, by the groups of the limits and those asked for."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from automl_admm.report.document import numbers
from automl_admm.report.document.html import Markup, Part, name, tag, together
from automl_admm.report.document.tables import table
from automl_admm.report.rows.curves import RISK, rate_interval
from automl_admm.report.rows.given import GivenRows
from automl_admm.report.sections.section import Section
from automl_admm.report.view import RunView


@dataclass(frozen=True, slots=True)
class GroupMeasure:
    """A measurement in a group, with the number of its rows and its interval at 95 %.

    The interval of a rate is exact, that of a mean approximate. It is missing if rows have weights
    or belong together, and for other measurements; without a row there is no value.
    """

    name: str
    value: float | None
    rows: int
    lower: float | None
    upper: float | None


@dataclass(frozen=True, slots=True)
class GroupQuality:
    """One group of rows and its measurements."""

    group: str
    rows: int
    measures: tuple[GroupMeasure, ...]


@dataclass(frozen=True, slots=True)
class Grouped:
    """The groups by some columns; `all_rows` is measured alike."""

    by: str
    all_rows: GroupQuality
    groups: tuple[GroupQuality, ...]


@dataclass(frozen=True, slots=True)
class Groups:
    """All groupings of the rows."""

    groupings: tuple[Grouped, ...]
    has_weights: bool
    has_classes: bool
    belong_together: bool


def measure(view: RunView) -> Groups | None:
    """Measure each group; None without rows or without columns to group by."""
    rows = view.rows
    if rows is None or not rows.groups:
        return None
    every = np.ones(len(rows.table.y), dtype=bool)
    whole = _quality(rows, "all rows", every)
    groupings = tuple(
        Grouped(
            by,
            whole,
            tuple(_quality(rows, group, found.names == group) for group in found.order),
        )
        for by, found in rows.groups.items()
    )
    has_weights = rows.table.roles.weights is not None
    return Groups(groupings, has_weights, bool(rows.classes), rows.belong_together)


def _quality(rows: GivenRows, group: str, inside: Any) -> GroupQuality:
    measured = _of_classes(rows, inside) if rows.classes else _of_quantity(rows, inside)
    return GroupQuality(group, int(inside.sum()), tuple(measured))


def _of_classes(rows: GivenRows, inside: Any) -> Iterator[GroupMeasure]:
    y, called, rate = rows.table.y, rows.decisions, partial(_rate, rows)
    decided = inside & rows.is_decided
    if not rows.is_decided.all():
        yield rate("left undecided", ~rows.is_decided, inside)
    yield rate("accuracy", called == y, decided)
    if len(rows.classes) != 2:
        return
    positive, yes = y == 1, called == 1
    yield rate("base rate", positive, inside)
    yield rate("called positive", yes, decided)
    yield rate("true positive rate", yes, decided & positive)
    yield rate("false positive rate", yes, decided & ~positive)
    yield rate("precision", positive, inside & yes)
    if rows.positive_scores is not None:
        yield _area(rows, inside)


def _rate(given: GivenRows, title: str, events: Any, among: Any) -> GroupMeasure:
    rows, weights = int(among.sum()), given.table.roles.weights
    if not rows:
        return GroupMeasure(title, None, 0, None, None)
    more = None if weights is None else weights[among]
    value = float(np.average(events[among], weights=more))
    if not given.are_trials:
        return GroupMeasure(title, value, rows, None, None)
    return GroupMeasure(title, value, rows, *rate_interval(int(events[among].sum()), rows))


def _area(rows: GivenRows, inside: Any) -> GroupMeasure:
    from sklearn.metrics import roc_auc_score

    y, weights = rows.table.y[inside], rows.table.roles.weights
    if len(set(y.tolist())) < 2:
        return GroupMeasure("ROC AUC", None, len(y), None, None)
    more = None if weights is None else weights[inside]
    value = float(roc_auc_score(y, rows.positive_scores[inside], sample_weight=more))
    return GroupMeasure("ROC AUC", value, len(y), None, None)


def _of_quantity(rows: GivenRows, inside: Any) -> Iterator[GroupMeasure]:
    weights = rows.table.roles.weights
    truth = np.asarray(rows.table.y, dtype=float)[inside]
    errors = np.asarray(rows.decisions, dtype=float).ravel()[inside] - truth
    more, count = None if weights is None else weights[inside], len(errors)
    wanted = {
        "mean absolute error": np.abs(errors),
        "mean error": errors,
        "mean of the target": truth,
    }
    for title, values in wanted.items():
        value = float(np.average(values, weights=more)) if count else None
        bounds = _interval_of_mean(values) if rows.are_trials else (None, None)
        yield GroupMeasure(title, value, count, *bounds)


def _interval_of_mean(values: Any) -> tuple[float | None, float | None]:
    """Return Student's interval of a mean; there is none of a single value."""
    from scipy.stats import t

    if len(values) < 2:
        return None, None
    half = float(t.isf(RISK, len(values) - 1) * np.std(values, ddof=1) / math.sqrt(len(values)))
    mean = float(np.mean(values))
    return mean - half, mean + half


def draw(found: Groups) -> Markup:
    """Draw a table for each grouping, with the largest difference of each measurement."""
    parts = [_drawn(one) for one in found.groupings]
    return together(*parts, tag("p", _said(found)))


def _said(found: Groups) -> str:
    if found.has_weights or found.belong_together:
        return _said_of_dependent(found)
    below = "rate is its exact interval at 95 %, for itself"
    if not found.has_classes:
        below = "mean is its approximate interval at 95 % (Student's t), too short for a few rows"
    return (
        f"Below each {below}. Differences within overlapping intervals may be chance; many groups "
        "show some by chance alone."
    )


def _said_of_dependent(found: Groups) -> str:
    """Say why there are no intervals: they would take the rows to be independent and alike."""
    values = "rates have no exact interval" if found.has_classes else "means have no interval"
    reasons = []
    if found.has_weights:
        reasons.append("Rows have weights, and these numbers count them")
    if found.belong_together:
        reasons.append("Rows belong together, and tell less than as many independent ones")
    return f"{'. '.join(reasons)}: {values}."


def _drawn(found: Grouped) -> Markup:
    titles = [one.name for one in found.all_rows.measures]
    rows: list[tuple[Part, ...]] = [
        (name(one.group), one.rows, *map(_told, one.measures))
        for one in (*found.groups, found.all_rows)
    ]
    if len(found.groups) > 1:
        differences = (numbers.plain(largest_difference(one), 3) for one in by_measure(found))
        rows.append(("largest difference", "", *differences))
    headings = ("Group", "Rows", *(title.capitalize() for title in titles))
    return together(tag("h3", "By ", name(found.by)), table(headings, rows))


def _told(one: GroupMeasure) -> Part:
    if one.lower is None:
        return numbers.plain(one.value, 3)
    lower, upper = numbers.plain(one.lower, 3), numbers.plain(one.upper, 3)
    within = tag("span", f"{lower} to {upper}", class_="beside")
    return together(numbers.plain(one.value, 3), tag("br"), within)


def by_measure(found: Grouped) -> Iterator[list[float]]:
    """Yield the values of the groups of each measurement, none at all if a group has none.

    A comparison would leave that group out.
    """
    for column in zip(*(one.measures for one in found.groups), strict=True):
        known = [one.value for one in column if one.value is not None]
        yield known if len(known) == len(column) else []


def largest_difference(values: Sequence[float]) -> float | None:
    """Return the largest value minus the smallest; None without a value."""
    return max(values) - min(values) if values else None


SECTION = Section("groups", "Quality by group", Groups | None, measure, draw)
