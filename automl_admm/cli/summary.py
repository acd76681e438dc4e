"""The end of `fit`: the winner, its scores, its limits, and where it is."""

from __future__ import annotations

from collections import Counter
from typing import Any

import click

from automl_admm.runner.pipelines import PipelineResult

Summary = dict[str, Any]


def summarise(outcome: PipelineResult) -> Summary:
    """The result of a run as plain data."""
    prepared, refit, result = outcome.preparation, outcome.refit, outcome.result
    return {
        "feasible": result.feasible,
        "pipeline": outcome.best.text,
        "metric": prepared.metric.name,
        "validation_score": outcome.score,
        "held_out_score": refit.held_out_score,
        "held_out_rows": refit.held_out_rows,
        "held_out_problem": refit.held_out_problem,
        "trained_rows": len(prepared.work.table.y),
        "constraints": _constraints(outcome),
        "evaluations": dict(Counter(e.status.value for e in result.evaluations)),
        "stopped_by": result.stopped_by,
        "seconds": round(result.seconds, 2),
        "folder": None if prepared.config.folder is None else str(prepared.config.folder),
    }


def _constraints(outcome: PipelineResult) -> list[dict[str, Any]]:
    limits = [constraint.limit for constraint in outcome.preparation.constraints]
    held_out = outcome.refit.held_out_constraints or (None,) * len(limits)
    return [
        {"limit": str(limit), "validation": value, "held_out": other, "holds": limit.holds(value)}
        for limit, value, other in zip(limits, outcome.best.constraints, held_out, strict=True)
    ]


def print_summary(summary: Summary) -> None:
    """Print it for a person."""
    metric = summary["metric"]
    lines = [("best pipeline", summary["pipeline"])]
    if not summary["feasible"]:
        lines = [("NOT within the limits; the closest", summary["pipeline"])]
    lines.append(("validation", f"{metric} {summary['validation_score']:.4f}"))
    if summary["held_out_score"] is not None:
        rows = f"{summary['held_out_rows']} rows it never saw, trained on {summary['trained_rows']}"
        lines.append(("held out", f"{metric} {summary['held_out_score']:.4f} ({rows})"))
    elif summary["held_out_problem"]:
        lines.append(("held out", f"could not be measured: {summary['held_out_problem']}"))
    lines += [("limit", _limit_line(item)) for item in summary["constraints"]]
    counted = ", ".join(f"{number} {status}" for status, number in summary["evaluations"].items())
    lines.append(("evaluations", f"{counted}; ended by: {summary['stopped_by']}"))
    lines.append(("saved in", summary["folder"]))
    lines.append(("next", f"automl-admm predict {summary['folder']} NEW.csv -o predictions.csv"))
    width = max(len(name) for name, _ in lines)
    for name, text in lines:
        click.echo(f"{name:<{width}}  {text}")


def _limit_line(item: dict[str, Any]) -> str:
    held_out = "" if item["held_out"] is None else f", {item['held_out']:.4g} on held-out rows"
    verdict = "holds" if item["holds"] else "BROKEN"
    return f"{item['limit']}: {item['validation']:.4g} on validation rows{held_out}: {verdict}"
