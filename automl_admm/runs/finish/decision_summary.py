"""Decisions of the shipped model: its positive class, its threshold, its rates."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from automl_admm.core.limits import Limit
from automl_admm.core.run import FallbackKind
from automl_admm.pipelines.labels import positive_of
from automl_admm.pipelines.thresholds.by_group import CLASS_WEIGHTS, LOWER, name_undecided
from automl_admm.pipelines.thresholds.path import moves
from automl_admm.pipelines.thresholds.single import say_threshold

if TYPE_CHECKING:
    from automl_admm.runs.finish.outcome import PipelineResult

# A model that finds fewer of the positive rows is of little use, whatever limits it keeps.
FEW = 0.1
# With less room than this share of its bound a limit counts as one that binds.
NEAR = 0.5


@dataclass(frozen=True, slots=True)
class Decided:
    """The decisions of a model of two classes, on rows `measured_on`: "held out" or "validation".

    Without a `threshold` it decides as scikit-learn does. If it decides `by_group`, the threshold
    is only for rows of no known group. `recall` is the share of positive rows called positive,
    `selection_rate` that of all rows; None without such rows. If the model leaves a share of the
    rows `undecided`, from scores of `lower_threshold` on, both are of the decided rows.
    """

    positive: Any
    threshold: float | None
    recall: float | None
    selection_rate: float | None
    measured_on: str
    lower_threshold: float | None = None
    undecided: float | None = None
    undecided_positives: float | None = None
    by_group: bool = False

    def __str__(self) -> str:
        """Describe the decisions as the end of a run does."""
        parts = [f"'{self.positive}' {self._at}"]
        if self.lower_threshold is not None:
            parts.append(f"undecided from {self.lower_threshold:.4g}")
        known = {
            "recall": self.recall,
            "selection rate": self.selection_rate,
            "undecided": self.undecided,
            "undecided of the positive rows": self.undecided_positives,
        }
        parts += [f"{name} {value:.4f}" for name, value in known.items() if value is not None]
        return f"{', '.join(parts)} (on {self.measured_on} rows)"

    @property
    def _at(self) -> str:
        if self.by_group:
            return "at thresholds by group"
        if self.threshold is None:
            return "at the default threshold"
        return say_threshold(self.threshold)


def decisions_of_outcome(outcome: PipelineResult) -> Decided | None:
    """Return the shipped model's decisions, on held-out rows if any; None without two classes."""
    positive = positive_of(outcome.preparation.work.table.classes)
    if positive is None:
        return None
    held_out, details = outcome.refit.measured.held_out_decisions, outcome.best.details
    rates = held_out or details.get("decisions", {})
    return Decided(
        positive=positive,
        threshold=details.get("threshold"),
        recall=rates.get("recall"),
        selection_rate=rates.get("selection_rate"),
        measured_on="held out" if held_out else "validation",
        lower_threshold=details.get(LOWER),
        undecided=rates.get("undecided"),
        undecided_positives=rates.get("undecided_positives"),
        by_group=bool(details.get("group_thresholds")),
    )


def say_class_costs(outcome: PipelineResult) -> str | None:
    """Say if the cost decides between several classes; None without a cost, and of two classes."""
    work, details = outcome.preparation.work, outcome.best.details
    if work.cost is None or len(work.cost.table) == 2:
        return None
    if CLASS_WEIGHTS in details:
        return "every row at the smallest expected cost"
    return "without the cost: this model has no probabilities of all classes to expect one by"


def say_undecided(details: Mapping[str, Any]) -> str | None:
    """Say which rows a model leaves undecided; None if it decides all."""
    named = name_undecided(details)
    return f"{named}; measures of decisions are of the other rows" if named else None


def explain_held_out_class(outcome: PipelineResult) -> str | None:
    """Warn of a model with one class for all held-out rows, though with several in the search."""
    measured = outcome.refit.measured
    only, is_told = measured.held_out_one_class, outcome.refit.one_class is not None
    if only is None or is_told or outcome.fallback is FallbackKind.CONSTANT:
        return None
    return say_held_out_class(only, measured.held_out_rows)


def say_held_out_class(only: str, rows: int) -> str:
    """Say that a model gives all held-out rows one class."""
    return (
        f"the model gives every one of the {rows} held-out rows the class '{only}', though they "
        "have several: it may tell nothing apart."
    )


def explain_one_class(outcome: PipelineResult) -> str | None:
    """Warn of a shipped model with one class for all rows; a constant is told elsewhere."""
    only = None if outcome.fallback is FallbackKind.CONSTANT else outcome.refit.one_class
    if only is None:
        return None
    return f"the model calls every row '{only}' (of those of the search): it tells nothing apart."


def explain_few_found(outcome: PipelineResult) -> str | None:
    """Warn of limits on decisions that leave hardly any positive row found.

    The rows held out alone may have too few positive ones, so those of the search count, too.
    """
    prepared = outcome.preparation
    recalls = _recalls(outcome)
    if not recalls or outcome.refit.one_class is not None:
        return None
    pairs = zip(prepared.constraints, outcome.best.constraints, strict=True)
    # What asks for a recall has not lowered it.
    seen = [
        (one.limit, value)
        for one, value in pairs
        if moves(one) and not (one.limit.name == "recall" and one.limit.at_least)
    ]
    named = list(map(str, binding(seen)))
    is_proven = prepared.config.certify is not None
    rows = sum(rows for _, rows in recalls.values())
    mean = sum(recall * rows for recall, rows in recalls.values()) / rows
    return say_few_found(mean, " and ".join(recalls), named, is_proven=is_proven)


def binding(seen: Sequence[tuple[Limit, float]]) -> list[Limit]:
    """Return the limits that are likely to hold a threshold back; each comes with its value.

    A limit with more room than half its bound is left out, unless it has the least of all.

    >>> fpr, share = Limit("fpr", 0.01), Limit("selection_rate", 0.5)
    >>> [str(one) for one in binding([(fpr, 0.009), (share, 0.02)])]
    ['fpr <= 0.01']
    """
    rooms = [_room(limit, value) for limit, value in seen]
    most = max(NEAR, min(rooms, default=NEAR))
    return [limit for (limit, _), room in zip(seen, rooms, strict=True) if room <= most]


def _room(limit: Limit, value: float) -> float:
    """Return the room between a value and its bound as a share of the bound; none if unknown."""
    room = limit.turned(limit.bound) - limit.turned(value)
    return room / abs(limit.bound) if limit.bound and math.isfinite(room) else 0.0


def _recalls(outcome: PipelineResult) -> dict[str, tuple[float, int]]:
    """Return the recalls on rows that the model did not learn from, each with the number of rows.

    Rows are dealt by class, so that positive ones are about the same share of each part.
    """
    measured, work = outcome.refit.measured, outcome.preparation.work
    if positive_of(work.table.classes) is None:
        return {}
    validated = sum(len(valid) for _, valid in work.splits)
    parts = {
        "validation": (outcome.best.details.get("decisions", {}), validated),
        "held out": (measured.held_out_decisions or {}, measured.held_out_rows or 0),
    }
    return {
        name: (rates["recall"], rows)
        for name, (rates, rows) in parts.items()
        if rows and rates.get("recall") is not None
    }


def say_few_found(
    recall: float, measured_on: str, limits: Sequence[str], *, is_proven: bool
) -> str | None:
    """Say which limits left a small recall, and what to do; None if it is not small.

    >>> say_few_found(0.09, "held out", ["fpr <= 0.03"], is_proven=False)
    'the limit fpr <= 0.03 left a recall of 0.09 (on held out rows): loosen it.'
    """
    if recall >= FEW or not limits:
        return None
    *others, last = limits
    which = f"the limits {', '.join(others)} and {last}" if others else f"the limit {last}"
    cures = [f"loosen {'one of them' if others else 'it'}"]
    cures += ["give more rows to prove it on", "ask for less confidence"] if is_proven else []
    left = f"{which} left a recall of {recall:.2g} (on {measured_on} rows)"
    return f"{left}: {', or '.join(cures)}."
