"""Parameters, metrics and tags: a run and its evaluations in MLflow's terms."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

from automl_admm.plugin_api import Evaluation, RunInfo

# MLflow takes no other characters in names, and no longer texts.
STRANGE = re.compile(r"[^\w\-. ]+")
LONGEST_NAME, LONGEST = 250, 5000


def legal(name: str) -> str:
    """Return a name in the characters of MLflow: `gap[sex]` becomes `gap_sex`."""
    return STRANGE.sub("_", name).strip("_. ")[:LONGEST_NAME] or "unnamed"


def short(text: str, longest: int = LONGEST) -> str:
    """Return a text short enough for MLflow."""
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def settings_of(info: RunInfo) -> dict[str, str]:
    """Return the parameters of a whole run."""
    said: Mapping[str, Any] = {
        "metric": info.loss_name,
        "limits": "; ".join(map(str, info.limits)) or "none",
        "seed": info.seed,
    }
    return {name: short(str(value)) for name, value in said.items()}


def params_of(evaluation: Evaluation, info: RunInfo) -> dict[str, str]:
    """Return the decisions and parameters of an evaluation; of an order its items in a row."""
    found = info.space.values(evaluation.candidate)
    return {
        legal(name): short(" → ".join(value) if isinstance(value, tuple) else str(value))
        for name, value in found.items()
    }


def metrics_of(evaluation: Evaluation, info: RunInfo) -> dict[str, float]:
    """Return the score, the value of each limit and the seconds, without NaN and infinity."""
    found = {"seconds": evaluation.seconds}
    if evaluation.ok:
        # A forecast on fewer folds or rows must not stand in the line of true scores.
        whole = legal(info.loss_name)
        name = whole if evaluation.is_ranked else f"{whole}_forecast"
        found[name] = info.score_of(evaluation.loss)
        found |= {
            legal(limit.name): value
            for limit, value in zip(info.limits, evaluation.constraints, strict=True)
        }
    return {name: float(value) for name, value in found.items() if math.isfinite(value)}


def tags_of(evaluation: Evaluation, info: RunInfo) -> dict[str, str]:
    """Return the status, the pipeline and the limits of an evaluation."""
    said = {
        "status": evaluation.ending,
        "pipeline": evaluation.text,
        "outside": _outside(evaluation, info),
        "rows": f"{evaluation.candidate.fidelity:g}",
        "message": evaluation.message,
    }
    return {name: short(value) for name, value in said.items() if value}


def winner_tags(best: Evaluation | None, info: RunInfo, *, feasible: bool) -> dict[str, str]:
    """Return the tags of the best evaluation of a run."""
    if best is None:
        return {"feasible": "False"}
    said = tags_of(best, info)
    return {"feasible": str(feasible), **{f"best_{name}": value for name, value in said.items()}}


def _outside(evaluation: Evaluation, info: RunInfo) -> str:
    """Return the limits that do not hold, and one class for all rows."""
    if not evaluation.ok:
        return ""
    pairs = zip(info.limits, evaluation.constraints, strict=True)
    found = [str(limit) for limit, value in pairs if not limit.holds(value)]
    if evaluation.one_class is not None:
        found.append("one class for all rows")
    return "; ".join(found) or "no limit"
