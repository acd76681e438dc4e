"""Quality of the model: folds, threshold, decisions, groups; and what takes the data to know."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from automl_admm.core.evaluations import Evaluation
from automl_admm.core.messages import as_argument
from automl_admm.pipelines.fit_results import say_interval
from automl_admm.report.document import numbers
from automl_admm.report.document.html import Markup, block_of_code, name, tag, together
from automl_admm.report.document.tables import facts, table
from automl_admm.report.rows.curves import rate_interval
from automl_admm.report.sections.section import Section
from automl_admm.report.shipped import Shipped, shipped_of
from automl_admm.report.view import RunView
from automl_admm.runs.finish.decision_summary import say_undecided

EVENTS = "events among "


@dataclass(frozen=True, slots=True)
class GroupRate:
    """A rate that a certificate counted in one group, with its exact interval at 95 %."""

    limit: str
    counted: str
    rows: int
    events: int
    rate: float | None
    lower: float
    upper: float


@dataclass(frozen=True, slots=True)
class Quality:
    """The stored quality of the model; an ensemble has no folds of its own in the log."""

    metric: str
    task: str | None
    validation_score: float | None
    held_out_score: float | None
    held_out_interval: tuple[float, float] | None
    held_out_rows: int | None
    fold_scores: tuple[float, ...]
    default_score: float | None
    threshold: float | str | None
    group_thresholds: dict[str, float | str]
    undecided: str | None
    positive: str | None
    recall: float | None
    selection_rate: float | None
    decisions_measured_on: str
    groups: tuple[GroupRate, ...]
    missing: tuple[str, ...]
    folder: str


def measure(view: RunView) -> Quality:
    """Gather the stored quality of the model."""
    model = shipped_of(view)
    own = next((one for one in view.evaluations if model and one.number == model.number), None)
    details: Mapping[str, Any] = {} if own is None else own.details
    manifest = view.manifest or {}
    held_out = manifest.get("held_out_decisions")
    decisions = held_out or details.get("decisions") or {}
    return Quality(
        metric=view.metric,
        task=view.settings.get("task"),
        validation_score=None if model is None else model.validation_score,
        held_out_score=None if model is None else model.held_out_score,
        held_out_interval=None if model is None else model.held_out_interval,
        held_out_rows=None if model is None else model.held_out_rows,
        fold_scores=tuple(float(score) for score in details.get("scores", ())),
        default_score=details.get("default_score"),
        threshold=_threshold(manifest.get("threshold", details.get("threshold"))),
        group_thresholds=_thresholds(own, manifest),
        undecided=say_undecided(manifest or details),
        positive=view.settings.get("positive") or manifest.get("positive"),
        recall=decisions.get("recall"),
        selection_rate=decisions.get("selection_rate"),
        decisions_measured_on="rows held out" if held_out else "validation rows",
        groups=tuple(_groups(view)),
        missing=tuple(_missing(view, model)),
        folder=str(view.folder.path),
    )


def _threshold(value: Any) -> float | str | None:
    return value if isinstance(value, str | int | float) else None


def _thresholds(own: Evaluation | None, manifest: Mapping[str, Any]) -> dict[str, float | str]:
    found = manifest.get("group_thresholds") or {}
    if not found and own is not None:
        found = own.details.get("group_thresholds", {})
    known = {str(group): _threshold(value) for group, value in found.items()}
    return {group: value for group, value in known.items() if value is not None}


def _groups(view: RunView) -> Iterator[GroupRate]:
    """Yield the rates of the certificate that have a count of events."""
    findings = () if view.certificate is None else view.certificate.findings
    for finding in findings:
        for cell, events in finding.counts.items():
            counted = cell.removeprefix(EVENTS)
            rows = finding.counts.get(counted)
            if counted == cell or rows is None or events > rows:
                continue
            rate = events / rows if rows else None
            bounds = rate_interval(events, rows)
            yield GroupRate(finding.limit, counted, rows, events, rate, *bounds)


def _missing(view: RunView, model: Shipped | None) -> Iterator[str]:
    """Name what the folder does not hold, and no rows were given for."""
    if view.rows is not None or model is None or not model.is_shipped:
        return
    if view.settings.get("task") != "regression":
        yield "ROC and precision-recall curves, calibration, the score by threshold"
    else:
        yield "residuals"
    if view.settings["sensitive"]:
        yield "quality by group on rows of your choice"
    yield "permutation importance of columns"


def draw(found: Quality) -> Markup:
    """Draw the scores, the decisions, the groups, and the way to the rest."""
    held_out = None
    if found.held_out_score is not None:
        held_out = f"{numbers.score(found.held_out_score)} on {found.held_out_rows} rows"
        known = say_interval(found.held_out_interval)
        held_out += "" if known is None else f", {known}"
    return together(
        facts(
            [
                (f"{found.metric}, rows never seen", held_out),
                (f"{found.metric}, validation rows", numbers.score(found.validation_score)),
                ("By fold", ", ".join(map(numbers.score, found.fold_scores)) or None),
                ("At the default threshold", _score(found.default_score)),
                ("Positive class", None if found.positive is None else name(found.positive)),
                ("Threshold", _said(found.threshold)),
                ("Left undecided", found.undecided),
                (f"Recall, {found.decisions_measured_on}", _score(found.recall)),
                (f"Called positive, {found.decisions_measured_on}", _score(found.selection_rate)),
            ]
        ),
        _thresholds_table(found),
        _groups_table(found),
        _way_to_the_rest(found),
    )


def _score(value: float | None) -> str | None:
    return None if value is None else numbers.score(value)


def _said(threshold: float | str | None) -> str | None:
    if threshold is None or isinstance(threshold, str):
        return threshold
    return numbers.plain(threshold)


def _thresholds_table(found: Quality) -> Markup | None:
    if not found.group_thresholds:
        return None
    rows = ((name(group), _said(value)) for group, value in found.group_thresholds.items())
    title = tag("h3", "Decision thresholds by group")
    return together(title, table(("Group", "Threshold"), rows))


def _groups_table(found: Quality) -> Markup | None:
    if not found.groups:
        return None
    rows = (
        (
            name(one.limit),
            name(one.counted),
            one.rows,
            one.events,
            numbers.plain(one.rate),
            f"{numbers.plain(one.lower, 3)} to {numbers.plain(one.upper, 3)}",
        )
        for one in found.groups
    )
    headings = ("Limit", "Counted on rows set aside", "Rows", "Events", "Rate", "95 % interval")
    return together(
        tag("h3", "Rates by group, as the certificate counted them"),
        table(headings, rows, text_columns=2),
        tag("p", "The intervals are exact, and each is for itself: the proof is under Limits."),
    )


def _way_to_the_rest(found: Quality) -> Markup | None:
    if not found.missing:
        return None
    command = f"automl-admm report {as_argument(found.folder)} --data LABELLED.csv"
    return together(
        tag("h3", "What takes the data"),
        tag("p", "The folder of a run holds no data. Not here, therefore:"),
        tag("ul", *(tag("li", one) for one in found.missing)),
        tag("p", "A report on labelled rows has them; best are rows that the run never saw:"),
        block_of_code(command),
    )


SECTION = Section("quality", "Quality", Quality, measure, draw)
