"""Parameters, metrics and tags: a run and its evaluations in MLflow's terms."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from typing import Any

from automl_admm.plugin_api import Evaluation, RunInfo

# MLflow takes no other characters in names, and no longer texts.
STRANGE = re.compile(r"[^\w\-. ]+")
LONGEST_NAME, LONGEST = 250, 5000
LONGEST_PLAIN = 220  # room for a digest and for what is put before and behind names
SECONDS = "seconds"
TAGS = ("status", "pipeline", "outside", "rows", "message")
FORMS = ("{}", "{}_forecast", "best_{}", "best_{}_forecast")
# Classes often differ in these alone: `<=50K` and `>50K`.
SIGNS = {"<=": "[le]", ">=": "[ge]", "<": "[lt]", ">": "[gt]", "+": "[plus]"}


def legal(name: str) -> str:
    """Return a name in the characters of MLflow: `gap[sex]` becomes `gap_sex`."""
    return STRANGE.sub("_", name).strip("_. ")[:LONGEST_NAME] or "unnamed"


def distinct(
    names: Iterable[str], forms: Sequence[str] = ("{}",), taken: Sequence[str] = ()
) -> dict[str, str]:
    """Return each name in MLflow's characters, in more words where two would be one.

    `forms` are all that is made of a name; none of them may be that of another one, or `taken`.
    """
    found: dict[str, str] = {}
    left = list(dict.fromkeys(names))
    for spell in (legal, _with_signs):
        said = {name: spell(name) for name in left}
        every = (*found.values(), *said.values())
        counts = Counter([*taken, *(form.format(one) for one in every for form in forms)])
        found |= {name: it for name, it in said.items() if _is_once(it, forms, counts)}
        left = [name for name in left if name not in found]
    return found | {name: _with_digest(name) for name in left}


def _is_once(name: str, forms: Sequence[str], counts: Counter[str]) -> bool:
    made = [form.format(name) for form in forms]
    return all(counts[one] == 1 and len(one) <= LONGEST_NAME for one in made)


def _with_signs(name: str) -> str:
    for sign, word in SIGNS.items():
        name = name.replace(sign, word)
    return legal(name)


def _with_digest(name: str) -> str:
    return f"{legal(name)[:LONGEST_PLAIN]}_{sha256(name.encode()).hexdigest()[:8]}"


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
    names = distinct(one.name for one in (*info.space.decisions, *info.space.parameters))
    return {
        names[name]: short(" → ".join(value) if isinstance(value, tuple) else str(value))
        for name, value in info.space.values(evaluation.candidate).items()
    }


def metric_names(info: RunInfo) -> dict[str, str]:
    """Return the names in MLflow of a run's metric and limits."""
    names = (info.loss_name, *(limit.name for limit in info.limits))
    return distinct(names, FORMS, (SECONDS, f"best_{SECONDS}"))


def best_metrics(info: RunInfo) -> set[str]:
    """Return all names that a metric of the best evaluation may have; any other is the user's."""
    forms = [form for form in FORMS if form.startswith("best_")]
    names = metric_names(info).values()
    return {f"best_{SECONDS}", *(form.format(name) for name in names for form in forms)}


def metrics_of(evaluation: Evaluation, info: RunInfo) -> dict[str, float]:
    """Return the score, the value of each limit and the seconds, without NaN and infinity."""
    found = {SECONDS: evaluation.seconds}
    if evaluation.ok:
        names = metric_names(info)
        # A forecast on fewer folds or rows must not stand in the line of true values.
        ending = "" if evaluation.is_ranked else "_forecast"
        found[f"{names[info.loss_name]}{ending}"] = info.score_of(evaluation.loss)
        found |= {
            f"{names[limit.name]}{ending}": value
            for limit, value in zip(info.limits, evaluation.constraints, strict=True)
        }
    return {name: float(value) for name, value in found.items() if math.isfinite(value)}


def tags_of(evaluation: Evaluation, info: RunInfo) -> dict[str, str]:
    """Return the status, the pipeline and the limits of an evaluation."""
    said = (
        evaluation.ending,
        evaluation.text,
        _outside(evaluation, info),
        f"{evaluation.candidate.fidelity:g}",
        evaluation.message,
    )
    return {name: short(value) for name, value in zip(TAGS, said, strict=True) if value}


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
