"""The facts of one run that a comparison shows: settings, data, versions, results."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from automl_admm.core.errors import StoreError
from automl_admm.core.messages import resume_command
from automl_admm.pipelines.thresholds.by_group import NAMES
from automl_admm.report.sections import verdict
from automl_admm.report.shipped import Shipped, shipped_of
from automl_admm.report.view import RunView, read_view
from automl_admm.runs.metric_code import UNKNOWN

# Options that stand in the resolved settings under another name, and facts that are no settings.
ELSEWHERE = frozenset(
    {"scoring", "cv", "time_budget", "constraints", "n_jobs", "random_state", "default_workers"}
    | {"title", "source", "looks", "share", "portion", "searched_rows", "only_python"}
    | {"found_encoding"}
)
# They stand in a comparison in a form of their own, or say nothing to a reader.
APART = frozenset({"grammar_text", "limits", "metric_best", "split", "target", "task"})


@dataclass(frozen=True, slots=True)
class LimitResult:
    """A limit and the model's values of it, on validation rows and on rows held out."""

    limit: str
    value: float | None
    holds: bool | None
    held_out: float | None
    holds_held_out: bool | None
    verdict: str | None


@dataclass(frozen=True, slots=True)
class Outcome:
    """The results of a run; `kind` is that of the verdict in its report.

    `confidence` is that of the proof asked for, None without one. `decisions` has the thresholds of
    the model, or the weights of its classes; it is empty at the default of its pipeline.
    """

    kind: str
    metric: str
    validation_score: float | None
    held_out_score: float | None
    held_out_interval: tuple[float, float] | None
    held_out_rows: int | None
    limits: tuple[LimitResult, ...]
    is_certified: bool | None
    confidence: float | None
    seconds: float | None
    evaluations: dict[str, int]
    ended_by: str | None
    pipelines: tuple[str, ...]
    decisions: dict[str, Any]


@dataclass(frozen=True, slots=True)
class RunFacts:
    """One run: its folder as it was named, and the facts by name."""

    run: str
    title: str
    written: str
    settings: dict[str, Any]
    data: dict[str, Any]
    versions: dict[str, str]
    result: Outcome


def read_facts(path: Path) -> RunFacts:
    """Read a run that has ended; raise a StoreError in one line for any other folder."""
    view = read_view(path)
    if view.content.get("state") == "running":
        raise _no_end_yet(path, is_alive=view.is_alive)
    if view.swapped is not None:
        raise StoreError(f"'{path}': {view.swapped}")
    return RunFacts(
        run=str(path),
        title=view.title,
        written=str(view.content.get("written", "")),
        settings=_settings(view),
        data=_data(view),
        versions=_versions(view.content),
        result=_outcome(view, shipped_of(view)),
    )


def _no_end_yet(path: Path, *, is_alive: bool) -> StoreError:
    """Return the error of a run without a result; only one that was killed can be resumed."""
    told = "has not ended: it was killed, or runs elsewhere"
    hint = f"If it was killed, end it with `{resume_command(path)}`; else wait for it."
    if is_alive:
        told = "is still running"
        hint = "Wait for it, or end it with Ctrl-C where it runs: the best so far is then fitted."
    said = f"the run in '{path}' {told}, so that there is nothing to compare yet."
    return StoreError(said, hint=hint)


def _settings(view: RunView) -> dict[str, Any]:
    request = view.content["request"]
    asked = {name: value for name, value in request.items() if name not in ELSEWHERE}
    known = {name: value for name, value in view.settings.items() if name not in APART}
    limits = ", ".join(map(str, view.limits)) or "none"
    return {**asked, **known, "limits": limits, **_own_metric(view.content)}


def _own_metric(content: Mapping[str, Any]) -> dict[str, str]:
    """Return the digest of a metric given as an object."""
    request = content["request"]
    objects = (*request.get("only_python", ()), *(content.get("given_objects") or {}))
    if "scoring" not in objects:
        return {}
    return {"metric_code": str(content.get("metric_code") or UNKNOWN)}


def _data(view: RunView) -> dict[str, Any]:
    data, settings = view.content["data"], view.settings
    request = view.content["request"]
    return {
        "source": request.get("source"),
        "target": settings["target"],
        "task": settings.get("task"),
        "rows": data["rows"],
        "searched rows": view.searched_rows,
        "columns": data["columns"],
        "fingerprint": data["sha256"],
        "held_out_fingerprint": data["held_out_sha256"],
        "validated_on": settings.get("split") or settings.get("folds"),
    }


def _versions(content: Mapping[str, Any]) -> dict[str, str]:
    """Return the versions of the libraries, and of each distribution that brought a plugin."""
    providers = (content.get("plugins") or {}).values()
    brought = dict(one.rpartition(" ")[::2] for one in providers)
    return {**brought, **(content.get("versions") or {})}


def _outcome(view: RunView, model: Shipped | None) -> Outcome:
    measured = verdict.measure(view)
    return Outcome(
        kind=measured.kind,
        metric=view.metric,
        validation_score=measured.validation_score,
        held_out_score=measured.held_out_score,
        held_out_interval=measured.held_out_interval,
        held_out_rows=measured.held_out_rows,
        limits=_limits(view, model),
        is_certified=view.is_certified,
        confidence=_confidence(view),
        seconds=measured.seconds,
        evaluations=dict(Counter(one.ending for one in view.evaluations)),
        ended_by=view.result.get("stopped_by"),
        pipelines=_pipelines(model),
        decisions=_decisions(view.manifest or {}),
    )


def _confidence(view: RunView) -> float | None:
    """Return the confidence of the proof, or that asked for where nothing was proven."""
    if view.certificate is not None:
        return 1.0 - view.certificate.whole_risk
    return None if view.is_certified is None else float(view.settings["certify"])


def _pipelines(model: Shipped | None) -> tuple[str, ...]:
    if model is None:
        return ()
    return tuple(one.text for one in model.members) or (model.text,)


def _decisions(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """Return where a model decides, by the names in `model.json`: one value a name."""
    found: dict[str, Any] = {}
    for name in NAMES:
        held = manifest.get(name)
        if isinstance(held, Mapping):
            found |= {f"{name}[{key}]": one for key, one in held.items()}
        elif held is not None:
            found[name] = held
    positive = manifest.get("positive")
    return found if positive is None else {"positive": positive, **found}


def _limits(view: RunView, model: Shipped | None) -> tuple[LimitResult, ...]:
    nothing = (None,) * len(view.limits)
    values = nothing if model is None else model.values or nothing
    held_out = nothing if model is None else model.held_out_values or nothing
    findings = () if view.certificate is None else view.certificate.findings
    proofs = {one.limit: str(one.verdict) for one in findings}
    return tuple(
        LimitResult(
            limit=str(limit),
            value=value,
            holds=None if model is None else model.holds(limit, value),
            held_out=other,
            holds_held_out=None if model is None else model.holds(limit, other),
            verdict=proofs.get(str(limit)),
        )
        for limit, value, other in zip(view.limits, values, held_out, strict=True)
    )
