"""The model of a run: the one that shipped, or the best so far while nothing has."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from automl_admm.core.evaluations import Evaluation
from automl_admm.core.limits import Limit
from automl_admm.pipelines.fit_results import as_interval
from automl_admm.pipelines.thresholds.by_group import (
    CALIBRATION,
    name_thresholds,
    name_undecided,
    name_weights,
    thresholds_in,
)
from automl_admm.pipelines.thresholds.path import DecisionPath, place_of
from automl_admm.pipelines.thresholds.single import say_threshold
from automl_admm.report.document.numbers import finite
from automl_admm.report.view import RunView
from automl_admm.runs.finish.noted_thresholds import read_thresholds
from automl_admm.store.file_schemas import AS_SHIPPED


@dataclass(frozen=True, slots=True)
class Share:
    """A pipeline in an ensemble, and its part of the vote."""

    number: int
    share: float
    text: str
    validation_score: float | None


@dataclass(frozen=True, slots=True)
class Shipped:
    """The model of a run; `values` are those of the limits, in their order, on validation rows.

    Those of the limits named `as_shipped` were measured on the model that ships. Without a `number`
    it is no evaluation of the log: an ensemble of several, or a `fallback`. `is_shipped` is False
    for the best evaluation of a run that has saved no model yet.
    """

    text: str
    number: int | None
    is_shipped: bool
    is_feasible: bool
    validation_score: float | None
    held_out_score: float | None = None
    held_out_interval: tuple[float, float] | None = None
    held_out_rows: int | None = None
    trained_rows: int | None = None
    values: tuple[float | None, ...] = ()
    as_shipped: frozenset[str] = frozenset()
    held_out_values: tuple[float | None, ...] = ()
    members: tuple[Share, ...] = ()
    fallback: str | None = None
    one_class: str | None = None
    held_out_one_class: str | None = None

    def holds(self, limit: Limit, value: float | None) -> bool | None:
        """Return True if it is within a limit at this value; None without a value.

        A model with one class for all rows is within none.
        """
        return None if value is None else self.one_class is None and limit.holds(value)

    @property
    def numbers(self) -> frozenset[int]:
        """The evaluations that it is made of."""
        own = () if self.number is None else (self.number,)
        return frozenset((*own, *(one.number for one in self.members)))


def named(has_model: bool) -> str:  # noqa: FBT001 - it is a fact
    """Return the name of what a page shows as the model: before there is one, it says so."""
    return "the model" if has_model else "the best evaluation"


def shipped_of(view: RunView) -> Shipped | None:
    """Return the model of the run, None before anything succeeded."""
    if view.manifest is not None:
        return _of_manifest(view, view.manifest)
    best = next((one for one in view.standings if one.rank == 1), None)
    return None if best is None else _of_evaluation(view, best.evaluation)


def _of_evaluation(view: RunView, best: Evaluation) -> Shipped:
    return Shipped(
        text=best.text,
        number=best.number,
        is_shipped=False,
        is_feasible=best.number in view.feasible,
        validation_score=finite(view.score(best)),
        values=tuple(map(finite, best.constraints)),
        one_class=best.one_class,
    )


def _of_manifest(view: RunView, manifest: Mapping[str, Any]) -> Shipped:
    only, values = manifest["one_class"], manifest["constraints"]
    held_out = manifest["held_out_constraints"]
    return Shipped(
        text=manifest["pipeline"],
        number=manifest.get("evaluation"),
        is_shipped=True,
        is_feasible=manifest["feasible"],
        validation_score=finite(manifest["validation_score"]),
        held_out_score=finite(manifest.get("held_out_score")),
        held_out_interval=as_interval(manifest.get("held_out_interval")),
        held_out_rows=manifest.get("held_out_rows"),
        trained_rows=manifest.get("rows"),
        values=tuple(finite(values.get(str(limit))) for limit in view.limits),
        as_shipped=frozenset(manifest.get(AS_SHIPPED, ())),
        held_out_values=tuple(finite(held_out.get(str(limit))) for limit in view.limits),
        members=_members(manifest.get("ensemble")),
        fallback=manifest.get("fallback"),
        one_class=None if only is None else str(only),
        held_out_one_class=manifest.get("held_out_one_class"),
    )


def _members(ensemble: Mapping[str, Any] | None) -> tuple[Share, ...]:
    told = [] if ensemble is None else ensemble["members"]
    whole = sum(one["weight"] for one in told)
    return tuple(
        Share(
            one["evaluation"],
            one["weight"] / whole,
            one["pipeline"],
            finite(one["validation_score"]),
        )
        for one in told
    )


def tell_shipped_thresholds(manifest: Mapping[str, Any], evaluation: Evaluation) -> str | None:
    """Say where the model decides, and the reason, if its evaluation in the log did elsewhere."""
    shipped = read_thresholds(manifest)
    if not shipped or manifest.get("evaluation") != evaluation.number:
        return None
    logged = {name: one for name, one in thresholds_in(evaluation.details).items() if one}
    logged.pop(CALIBRATION, None)
    if {name: one for name, one in shipped.items() if one} == logged:
        return None
    why = ", chosen for the certificate" if manifest.get("certificate_sha256") else ""
    if undecided := name_undecided(shipped):
        return f"shipped with these left undecided: {undecided}{why}"
    words = name_thresholds(shipped) or name_weights(shipped)
    words = words or say_threshold(shipped["threshold"]).removeprefix("at ")
    return f"shipped at threshold {words}{why}"


def tell_pooled_values(manifest: Mapping[str, Any], evaluation: Evaluation) -> str | None:
    """Say the values of limits that the model has on the rows of all folds together.

    The stops of a path are measured so, as a certificate measures rows, and the log has means over
    folds. None of a model that decides elsewhere than its evaluation in the log, and if the values
    are shown alike.
    """
    is_its_own = manifest.get("evaluation") == evaluation.number
    if not is_its_own or not manifest.get("certificate_sha256"):
        return None
    path = DecisionPath.from_details(evaluation.details)
    place = place_of(evaluation, read_thresholds(manifest))
    decides_elsewhere = tell_shipped_thresholds(manifest, evaluation) is not None
    if path is None or place is None or decides_elsewhere:
        return None
    pooled = path.stops[place].measured
    pairs = zip(manifest["constraints"].items(), evaluation.constraints, strict=True)
    told = [
        f"{limit}: {value:.4g}"
        for (limit, value), mean in pairs
        if value in pooled and f"{value:.4g}" != f"{mean:.4g}"
    ]
    if not told:
        return None
    return f"shipped with {'; '.join(told)}, on the validation rows of all folds together"
