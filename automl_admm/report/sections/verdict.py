"""The verdict of a run in one sentence, and the facts behind it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from automl_admm.core.messages import say_count
from automl_admm.core.run import FallbackKind
from automl_admm.pipelines.fit_results import say_interval
from automl_admm.report.document import numbers
from automl_admm.report.document.html import Markup, name, tag, together
from automl_admm.report.document.tables import facts
from automl_admm.report.pipeline_text import shape_of
from automl_admm.report.sections.section import Section
from automl_admm.report.shipped import Shipped, shipped_of
from automl_admm.report.view import RunView
from automl_admm.runs.finish.decision_summary import say_held_out_class
from automl_admm.runs.finish.of_folds import read_of_folds
from automl_admm.runs.finish.passed_over import (
    WENT_WRONG,
    has_better,
    more_time_helps,
    read_passed_over,
    say_unsound,
)
from automl_admm.runs.saved.row_origin import warn_of
from automl_admm.runs.session.model_run import say_earlier

GOOD, FAIR, BAD = "good", "fair", "bad"


@dataclass(frozen=True, slots=True)
class Verdict:
    """The outcome of a run in words, and its facts.

    `kind` is certified; within the limits on all rows known; broken on held-out rows, though within
    on validation rows; outside; makeshift; unfinished; or nothing.
    """

    kind: str
    sentence: str
    warnings: tuple[str, ...]
    state: str
    data: str
    task: str | None
    target: str | None
    metric: str
    validation_score: float | None
    held_out_score: float | None
    held_out_interval: tuple[float, float] | None
    held_out_rows: int | None
    searched_rows: int
    learned_rows: int
    evaluations: int
    statuses: dict[str, int]
    seconds: float | None
    written: str
    made: str


def measure(view: RunView) -> Verdict:
    """Judge the run by its model, its certificate and its state."""
    model = shipped_of(view)
    kind = _kind(view, model)
    return Verdict(
        kind=kind,
        sentence=_sentence(view, model, kind),
        warnings=tuple(_warnings(view, model)),
        state=say_state(view),
        data=view.title,
        task=view.settings.get("task"),
        target=view.settings["target"],
        metric=view.metric,
        validation_score=None if model is None else model.validation_score,
        held_out_score=None if model is None else model.held_out_score,
        held_out_interval=None if model is None else model.held_out_interval,
        held_out_rows=None if model is None else model.held_out_rows,
        searched_rows=view.searched_rows,
        learned_rows=view.learned_rows,
        evaluations=len(view.evaluations),
        statuses=dict(Counter(one.ending for one in view.evaluations)),
        seconds=_seconds(view),
        written=str(view.content.get("written", "")),
        made=view.made,
    )


def _kind(view: RunView, model: Shipped | None) -> str:
    if model is None or model.fallback == FallbackKind.CONSTANT:
        return "nothing"
    if model.fallback is not None:
        return "makeshift"
    if not model.is_shipped:
        return "unfinished"
    if view.certificate is not None and view.certificate.is_certified:
        return "certified"
    if not model.is_feasible:
        return "outside"
    return "broken" if _broken(view, model) else "within"


def _broken(view: RunView, model: Shipped) -> list[str]:
    """List the limits that do not hold on held-out rows."""
    pairs = zip(view.limits, model.held_out_values, strict=False)
    return [
        f"{limit} is {numbers.plain(value)} there"
        for limit, value in pairs
        if value is not None and not limit.holds(value)
    ]


def _sentence(view: RunView, model: Shipped | None, kind: str) -> str:
    if model is None:
        return f"No evaluation has succeeded so far: there is no pipeline{_of(view)}."
    told = _told(view, model)
    if kind == "outside":
        return _failure(view, model, told)
    proof = "" if view.settings.get("certify") is None else ", but not certified"
    within = _within(view) if model.is_feasible else f"not {_within(view)}, but the closest"
    so_far = f"{within}: " if view.limits else ""
    sentences = {
        "nothing": "No pipeline was evaluated in time: the model is a constant, which tells no "
        "rows apart.",
        "makeshift": f"No pipeline was finished in time: the model is a makeshift one, fitted on "
        f"{model.trained_rows} rows.",
        "unfinished": f"No model has been saved so far; the best evaluation is {so_far}{told}.",
        "certified": f"Certified: {_proof(view)}; the model is {told}.",
        "broken": f"The model is {_within(view)} on validation rows, by which it was chosen, and "
        f"BROKEN on rows it never saw ({'; '.join(_broken(view, model))}): {told}.",
        "within": f"The model is {_within(view)} on validation rows{proof}: {told}.",
    }
    if kind == "within" and not view.limits:
        best = "The model" if has_better(view.manifest) else "The best pipeline"
        return f"{best}, without limits, is {told}."
    return sentences[kind]


def _failure(view: RunView, model: Shipped, told: str) -> str:
    if model.one_class is not None:
        return f"The model calls every row '{model.one_class}', so it tells nothing apart: {told}."
    values = zip(view.limits, model.values, strict=False)
    broken = [
        f"{limit} is {numbers.plain(value)}"
        for limit, value in values
        if value is None or not limit.holds(value)
    ]
    return (
        f"No pipeline within the limits was found ({'; '.join(broken) or 'see below'}); the "
        f"closest one was saved: {told}."
    )


def _of(view: RunView) -> str:
    count = len(view.evaluations)
    return f" ({say_count(count, 'evaluation')} ended otherwise)" if count else ""


def _within(view: RunView) -> str:
    count = len(view.limits)
    if not count:
        return "without limits"
    return "within its limit" if count == 1 else f"within its {count} limits"


def _proof(view: RunView) -> str:
    found = view.certificate
    if found is None:  # asked for certified models alone
        return ""
    count = len(found.findings)
    limits = "the limit holds" if count == 1 else f"all {count} limits hold"
    approximate = ", by a bound that is approximate," if found.is_approximate else ""
    rows = found.rows if found.tested is None else found.tested
    confidence = numbers.confidence(1.0 - found.whole_risk)
    seen = "nothing had seen"
    if found.look > 1:
        seen = (
            f"no model had learned from, in look {found.look} at them: each has a part of the risk"
        )
    return (
        f"{limits} on new rows like these{approximate} at {confidence} confidence, "
        f"tested on {rows} rows that {seen}"
    )


def _told(view: RunView, model: Shipped) -> str:
    made = f"an ensemble of {len(model.members)}" if model.members else shape_of(model.text)
    of_folds = read_of_folds(view.manifest)
    made = made if of_folds is None else f"{made}, {of_folds.made}"
    scored = f"{view.metric} {numbers.score(model.validation_score)} on validation rows"
    if model.held_out_score is not None:
        known = say_interval(model.held_out_interval)
        interval = "" if known is None else f"{known}; "
        scored = (
            f"{view.metric} {numbers.score(model.held_out_score)} on {model.held_out_rows} rows "
            f"it never saw ({interval}{numbers.score(model.validation_score)} on validation rows)"
        )
    return f"{made}, with {scored}"


def _warnings(view: RunView, model: Shipped | None) -> Iterator[str]:
    yield from _of_the_folder(view)
    of_rows = None if view.rows is None else warn_of(view.rows.origin)
    if of_rows is not None:
        yield of_rows
    if model is None:
        return
    if model.one_class is not None:
        yield f"The model calls every row '{model.one_class}'."
    elif model.held_out_one_class is not None:
        said = say_held_out_class(model.held_out_one_class, model.held_out_rows or 0)
        yield f"{said[0].upper()}{said[1:]}"
    yield from _of_the_manifest(view)
    if view.untested is not None:
        yield f"Nothing was certified: {view.untested}."
    yield from _of_folds(view)
    if model.held_out_score is None:
        yield (
            "The score is of validation rows, by which the pipeline was chosen: expect less on new "
            "rows."
        )
    if model.is_shipped and not view.is_over:
        yield "The run goes on, or was killed before its end: the model is the last that it wrote."


def _of_the_folder(view: RunView) -> Iterator[str]:
    """Yield the reasons to doubt that the files of the folder belong together."""
    if view.is_foreign:
        yield (
            "The certificate in the folder is not of this model, or was changed: it proves nothing "
            "here."
        )
    if view.earlier_model:
        said = say_earlier(view.earlier_model)
        yield f"{said[0].upper()}{said[1:]}. `automl-admm resume` goes on to one of its own."
    if view.swapped is not None:
        yield view.swapped
    if view.other_script is not None:
        yield f"{view.other_script}, and is not shown."


def _of_the_manifest(view: RunView) -> Iterator[str]:
    known = view.manifest or {}
    for said in (known.get("few_found"), say_unsound(known.get(WENT_WRONG))):
        if said is not None:
            yield f"{said[0].upper()}{said[1:]}"
    worse = read_passed_over(view.manifest)
    if worse is not None:
        cure = " Give more time: resume the run." if more_time_helps(view.manifest) else ""
        yield f"{worse}{cure}"


def _of_folds(view: RunView) -> Iterator[str]:
    found = read_of_folds(view.manifest)
    if found is not None and not found.is_asked:
        yield f"What shipped is {found}. Give more time: resume the run."


def say_state(view: RunView) -> str:
    """Say how the run ended, that it goes on, or that nobody writes it any more."""
    if not view.is_over:
        return "running" if view.is_alive else "no longer written: killed, or run on another host"
    ended = view.result.get("stopped_by")
    return str(view.content.get("state", "done")) + (f", ended by: {ended}" if ended else "")


def _seconds(view: RunView) -> float | None:
    spent = [one["seconds"] for one in view.content.get("sessions", ())]
    known = [float(one) for one in spent if one is not None]
    return sum(known) if known else None


def draw(found: Verdict) -> Markup:
    """Draw the sentence in its box, the warnings, and the facts."""
    looks = {"certified": GOOD, "within": GOOD, "unfinished": FAIR, "makeshift": FAIR}  # else bad
    box = tag("p", found.sentence, class_=f"verdict {looks.get(found.kind, BAD)}")
    counted = ", ".join(f"{count} {status}" for status, count in found.statuses.items())
    rows = f"{numbers.searched(found.searched_rows, found.learned_rows)} searched on"
    if found.held_out_rows:
        rows += f", {found.held_out_rows} held out"
    target = None if found.target is None else name(found.target)
    return together(
        box,
        *(tag("p", tag("strong", "Mind: "), one) for one in found.warnings),
        facts(
            [
                ("Data", name(found.data)),
                ("Rows", rows),
                ("Task", found.task),
                ("Target", target),
                ("Score", name(found.metric)),
                ("State", found.state),
                ("Evaluations", f"{found.evaluations} ({counted})" if counted else "none"),
                ("Time", numbers.duration(found.seconds)),
                ("Run written", numbers.moment(found.written) or None),
                ("Report made", numbers.moment(found.made)),
            ]
        ),
    )


SECTION = Section("verdict", "Verdict", Verdict, measure, draw)
