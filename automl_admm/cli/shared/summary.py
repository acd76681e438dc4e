"""The end of `fit`: the winner, its scores, its limits, and its folder."""

from __future__ import annotations

import math
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from shutil import get_terminal_size
from textwrap import fill
from typing import Any

from automl_admm.certify.walk.findings import Finding, name_outcome
from automl_admm.cli.shared.conflict_lines import conflict_lines, conflict_of
from automl_admm.cli.shared.screen import say
from automl_admm.core.messages import as_argument, resume_command, say_count
from automl_admm.core.percentages import percent
from automl_admm.core.run import Account, StopReason
from automl_admm.data.reading.shares import read_share
from automl_admm.pipelines.fit_results import say_interval
from automl_admm.pipelines.thresholds.by_group import name_thresholds, name_weights
from automl_admm.pipelines.thresholds.single import say_threshold
from automl_admm.progress.visible_text import in_a_line
from automl_admm.runs.finish import decision_summary
from automl_admm.runs.finish.limit_prices import binding, price_limits
from automl_admm.runs.finish.no_success import LONGER
from automl_admm.runs.finish.of_folds import ASKED
from automl_admm.runs.finish.outcome import PipelineResult
from automl_admm.runs.finish.passed_over import as_content, say_unsound
from automl_admm.runs.finish.run_files import untrusted_types
from automl_admm.runs.options import FLAGS

Summary = dict[str, Any]
# The accounts of the ledger while it searches, and what they are called here; then the others.
SEARCHING = {
    Account.WAIT: "waiting",
    Account.SOLVER: "solver",
    Account.STORE: "store",
    Account.SEARCH: "other",
}
# A command or a path is copied: it stays in one piece.
TO_COPY = frozenset({"saved in", "go on with", "next", "explain"})
LEAST_ROOM = 30
AFTERWARDS = (Account.FINAL_FIT, Account.CERTIFY, Account.SAVING)


def summarise(outcome: PipelineResult) -> Summary:
    """The result of a run as plain data."""
    prepared, refit, result = outcome.preparation, outcome.refit, outcome.result
    share = prepared.config.share
    return {
        "feasible": result.feasible,
        "fallback": result.fallback,
        "pipeline": outcome.best.text,
        "ensemble": _ensemble(outcome),
        "alone": outcome.refit.alone,
        "passed_over": as_content(refit.passed_over),
        "went_wrong": outcome.went_wrong,
        "untested": refit.untested,
        "of_folds": None if refit.of_folds is None else refit.of_folds.as_content(),
        "thresholds": name_thresholds(outcome.best.details),
        "class_weights": name_weights(outcome.best.details),
        "undecided": decision_summary.say_undecided(outcome.best.details),
        "decisions": _decisions(outcome),
        "few_found": decision_summary.explain_few_found(outcome),
        "class_costs": decision_summary.say_class_costs(outcome),
        "one_class": refit.one_class,
        "metric": prepared.metric.name,
        "validation_score": outcome.score,
        "default_score": outcome.best.details.get("default_score"),
        "held_out_score": refit.measured.held_out_score,
        "held_out_interval": refit.measured.held_out_interval,
        "held_out_rows": refit.measured.held_out_rows,
        "held_out_problem": refit.measured.held_out_problem,
        # All scores are of rows from this part of the data.
        "share_read": 1.0 if share is None else read_share(share).part,
        "rows_taken": prepared.config.portion,
        "rows_searched": prepared.config.searched_rows,
        "trained_rows": refit.learned_rows or len(prepared.work.table.y),
        "constraints": _constraints(outcome),
        "price": _price(outcome),
        "conflict": conflict_of(result.evaluations, prepared.constraints),
        "certified": outcome.is_certified,
        "certificate_price": _certificate_price(outcome),
        "look": None if outcome.certificate is None else outcome.certificate.look,
        "evaluations": dict(Counter(e.ending for e in result.evaluations)),
        "stopped_by": result.stopped_by,
        "seconds": round(result.seconds, 3),
        "time": {account: round(spent, 3) for account, spent in result.ledger.items()},
        "work": {account: round(spent, 3) for account, spent in result.work.items()},
        "untrusted_types": list(untrusted_types(outcome)),
        "folder": None if prepared.config.work_dir is None else str(prepared.config.work_dir),
    }


def _certificate_price(outcome: PipelineResult) -> dict[str, Any] | None:
    """Return what the certificate takes from the decisions, for JSON."""
    certificate = outcome.certificate
    if certificate is None or certificate.price is None:
        return None
    return asdict(certificate.price) | {"said": str(certificate.price)}


def _ensemble(outcome: PipelineResult) -> dict[str, Any] | None:
    """Return the members of a shipped ensemble and the single pipeline that it beat, for JSON."""
    found = outcome.refit.ensemble
    if found is None:
        return None
    said = {"lines": found.lines(), "compared": found.compared(outcome.preparation.metric)}
    return found.as_content(outcome.preparation.metric) | said


def _decisions(outcome: PipelineResult) -> dict[str, Any] | None:
    """Return the positive class, the threshold and the rates of the shipped model for JSON."""
    found = decision_summary.decisions_of_outcome(outcome)
    if found is None:
        return None
    known = asdict(found) | {"said": str(found)}
    if not isinstance(found.positive, str | int | float):
        known["positive"] = str(found.positive)
    if found.threshold is not None and math.isinf(found.threshold):
        known["threshold"] = say_threshold(found.threshold)
    return known


def _constraints(outcome: PipelineResult) -> list[dict[str, Any]]:
    """Return a row for each limit: its value on validation and held-out rows, and the verdict.

    A model with one class for all rows is within none, whatever the values.
    """
    prepared, certificate = outcome.preparation, outcome.certificate
    constraints = prepared.constraints
    nothing: tuple[None, ...] = (None,) * len(constraints)
    is_useful = outcome.refit.one_class is None
    held_out = outcome.refit.measured.held_out_constraints or nothing
    findings = nothing if certificate is None else certificate.findings
    values = outcome.best.constraints
    rows = zip(
        constraints, prepared.aims, values, held_out, findings, outcome.as_shipped, strict=True
    )
    return [
        {
            "limit": str(limit),
            "kind": constraint.kind,
            "is_of_whole": constraint.kind != "checked" and is_shipped,
            "aim": aim.bound,
            "validation": value if math.isfinite(value) else None,
            "held_out": other,
            "holds": is_useful and limit.holds(value),
            "holds_held_out": None if other is None else is_useful and limit.holds(other),
            **({} if finding is None else _finding(finding)),
        }
        for constraint, aim, value, other, finding, is_shipped in rows
        for limit in [constraint.limit]
    ]


def _finding(finding: Finding) -> dict[str, Any]:
    return {
        "bound": finding.bound if math.isfinite(finding.bound) else None,
        "verdict": str(finding.verdict),
        "approximate": finding.is_approximate,
        "method": finding.method,
        "rows_needed": finding.rows_needed,
        "reason": finding.reason,
    }


def _price(outcome: PipelineResult) -> str | None:
    """Say in a sentence the most expensive limit, and the gain by one step more room."""
    prepared, result = outcome.preparation, outcome.result
    limits = [constraint.limit for constraint in prepared.constraints]
    price = binding(price_limits(result.evaluations, limits))
    if price is None:
        return None
    said = f"{price.limit} binds: {price.broken} of {price.measured} evaluations are outside"
    if price.gain is None:
        return said
    metric = prepared.metric.name
    bought = f"{price.gain:.4f} {metric} more" if price.gain > 0 else "nothing"
    return f"{said}; {price.relaxed} would have bought {bought}"


def print_summary(summary: Summary) -> None:
    """Print it for a person."""
    metric = summary["metric"]
    lines = [*_model_lines(summary), *_deciding_lines(summary)]
    lines.append(("validation", f"{metric} {summary['validation_score']:.4f}{_default(summary)}"))
    lines += _held_out(summary)
    if summary["share_read"] < 1.0:
        lines.append(("read", f"{percent(summary['share_read'])} of the file, in the time given"))
    if summary["rows_taken"] is not None:
        taken, _, rows = summary["rows_taken"].partition("/")
        lines.append(("rows", f"{taken} of {rows}, in the time given"))
    lines += [("limit", _limit_line(item, summary["one_class"])) for item in summary["constraints"]]
    lines += conflict_lines(summary["conflict"], summary["folder"])
    if summary["price"]:
        lines.append(("price", summary["price"]))
    if summary["certified"] is not None:
        lines.append(("certificate", _certificate_line(summary)))
    if summary["certificate_price"] is not None:
        lines.append(("its price", f"{summary['certificate_price']['said']}, on validation rows"))
    counted = ", ".join(f"{number} {status}" for status, number in summary["evaluations"].items())
    lines.append(("evaluations", f"{counted or 'none'}; ended by: {summary['stopped_by']}"))
    lines.append(("time", _time_line(summary)))
    lines.append(("workers", _work_line(summary["work"])))
    lines.append(("saved in", summary["folder"]))
    if summary["stopped_by"] in (StopReason.INTERRUPT, StopReason.TERMINATION):
        lines.append(("go on with", resume_command(summary["folder"])))
    lines.append(("next", _next_line(summary)))
    width = max(len(name) for name, _ in lines)
    room = get_terminal_size().columns if sys.stdout.isatty() else None
    for name, text in lines:
        say(lay_out(name, in_a_line(text), width, None if name in TO_COPY else room))


def lay_out(name: str, text: str, width: int, room: int | None) -> str:
    """Return a line of the summary; with `room` it breaks between words, under its own text."""
    line = f"{name:<{width}}  {text}"
    if room is None or room <= LEAST_ROOM + width:
        return line
    under = " " * (width + 2)
    return fill(line, room, subsequent_indent=under, break_long_words=False, break_on_hyphens=False)


def _model_lines(summary: Summary) -> Iterator[tuple[str, str]]:
    """Say the shipped pipeline, or each member of an ensemble, with a mark if it is a bad one."""
    ensemble = summary["ensemble"]
    passed = summary["passed_over"]
    is_best = passed is None or not passed["is_better"]
    single = "best pipeline" if is_best else "pipeline that ships"
    title = single if ensemble is None else "ensemble"
    if summary["fallback"]:
        title = f"FALLBACK ({summary['fallback']})"
    elif not summary["feasible"]:
        title = "NOT within the limits; the closest"
    if ensemble is None:
        yield title, summary["pipeline"]
        if summary["alone"] is not None:
            yield "no ensemble", summary["alone"]
    else:
        yield title, ensemble["compared"]
        yield from (("member", line) for line in ensemble["lines"])
    if (of_folds := summary["of_folds"]) is not None:
        is_late = of_folds["reason"] != ASKED
        more = f". {_more_time(summary['folder'])}" if is_late else ""
        yield "what ships", f"{of_folds['said']}{more}"
    if passed is not None:
        cure = f" {_more_time(summary['folder'])}" if passed["needs_time"] else ""
        yield "not tested" if is_best else "NOT the best", f"{passed['said']}{cure}"


def _more_time(folder: str | None) -> str:
    """Say the ways to let a better evaluation ship."""
    longer = LONGER.on_command_line(FLAGS)
    return longer if folder is None else f"{longer[:-1]}, or go on: {resume_command(folder)}"


def _default(summary: Summary) -> str:
    """Say the score at the default threshold, if the model has another one."""
    score = summary["default_score"]
    return "" if score is None else f" ({score:.4f} at the default threshold)"


def _next_line(summary: Summary) -> str:
    """Return the command to predict with; for a model that it would refuse, the cure."""
    if summary["untrusted_types"]:
        named = ", ".join(summary["untrusted_types"])
        return f"name {named} in the trusted_types of their component: predict refuses them so far"
    return f"automl-admm predict {as_argument(summary['folder'])} NEW.csv -o predictions.csv"


def _certificate_line(summary: Summary) -> str:
    look = "" if summary["look"] is None else f" (look {summary['look']} at these data)"
    why = "" if summary["untested"] is None else f": {summary['untested']}"
    if not summary["certified"]:
        return f"NOT CERTIFIED{look}{why}"
    approximate = [bool(one.get("approximate")) for one in summary["constraints"]]
    return f"{name_outcome(approximate)}{look}{why}"


def _held_out(summary: Summary) -> Iterator[tuple[str, str]]:
    """The score on rows held out, or why there is none."""
    if summary["held_out_score"] is not None:
        count = say_count(summary["held_out_rows"], "row")
        rows = f"{count} it never saw, trained on {summary['trained_rows']}"
        known = say_interval(summary["held_out_interval"])
        rows += "" if known is None else f"; {known}"
        yield "held out", f"{summary['metric']} {summary['held_out_score']:.4f} ({rows})"
    elif summary["held_out_problem"]:
        yield "held out", f"could not be measured: {summary['held_out_problem']}"


def _deciding_lines(summary: Summary) -> Iterator[tuple[str, str]]:
    """Say the decisions of the model: positive class, threshold, rates."""
    if summary["one_class"] is not None:
        yield "WARNING", f"it calls every row '{summary['one_class']}' (of those of the search)"
    if (said := say_unsound(summary["went_wrong"])) is not None:
        yield "WARNING", said
    if summary["decisions"] is not None:
        yield "positive", summary["decisions"]["said"]
    if summary["few_found"] is not None:
        yield "WARNING", summary["few_found"]
    if summary["thresholds"]:
        yield "decides by group", summary["thresholds"]
    if summary["class_costs"] is not None:
        yield "decides", summary["class_costs"]
    if summary["class_weights"]:
        yield "weighs classes", summary["class_weights"]
    if summary["undecided"] is not None:
        yield "undecided", summary["undecided"]


def _time_line(summary: Summary) -> str:
    """Return the seconds of the phases of a run, those of the search in brackets."""
    spent = summary["time"]
    inner = [f"{word} {spent.get(name, 0.0):.1f}" for name, word in SEARCHING.items()]
    search = sum(spent.get(name, 0.0) for name in SEARCHING)
    after = [f"{name} {spent[name]:.1f}" for name in AFTERWARDS if name in spent]
    parts = [f"start {spent['start']:.1f}", f"search {search:.1f} ({', '.join(inner)})", *after]
    return f"{summary['seconds']:.1f} s: {', '.join(parts)}"


def _work_line(spent: Mapping[str, float]) -> str:
    """Return the shares of the workers' time during the search."""
    whole = sum(spent.values()) or 1.0
    return ", ".join(f"{account} {100 * part / whole:.0f} %" for account, part in spent.items())


def _limit_line(item: dict[str, Any], only: str | None = None) -> str:
    held_out = "" if item["held_out"] is None else f", {item['held_out']:.4g} on held-out rows"
    verdict = "holds" if item["holds"] else "BROKEN"
    if item["holds"] and item["holds_held_out"] is False:
        verdict = (
            "BROKEN on rows that it was not chosen by; --certify searches for one that is proven"
        )
    if "verdict" in item:
        approximate = " (approximate)" if item["approximate"] else ""
        verdict = f"{item['verdict']}{approximate}, {item['reason']}"
    if only is not None:
        verdict = f"does not count, as it calls every row '{only}'"
    value = "no value" if item["validation"] is None else f"{item['validation']:.4g}"
    if item["kind"] == "checked":
        return f"{item['limit']}: {value} in the model that ships: {verdict}"
    where = "of the model that ships" if item["is_of_whole"] else "on validation rows"
    return f"{item['limit']}: {value} {where}{held_out}: {verdict}"
