"""Measure weights of rows where a search follows the decisions, without a certificate.

The tables and groups are those of certified_gaps.py, on other splits. Every run of `default` has
the same number of evaluations, of which weights are a part or not: what they take is taken from the
rest. The search maximises balanced accuracy within one limit on its 2 000 rows (60 % of a smaller
table); the rest says what is left of both. Thresholds are one for all, or one for each group. A
control maximises AUROC, the default metric, which does not see decisions.
Beside it stand fairlearn's two methods on the same rows, around a logistic regression; for them
the environment needs fairlearn.

    python benchmarks/decided_gaps.py --data ../shared/data --out build/decided.jsonl
    python benchmarks/decided_gaps.py --report build/decided.jsonl
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import certified_rival_methods as methods
import numpy as np
from certified_ensembles import beside
from certified_gaps import BOUND, main, run_missing
from certified_rival_methods import Decide, Rows
from certified_tasks import NO_ANSWER, Task, balanced
from scipy.stats import wilcoxon

from automl_admm.core.errors import NoSuccessError
from automl_admm.grammar.given_text import GrammarText
from automl_admm.runs.config import RunConfig
from automl_admm.runs.pipelines import run_pipelines
from automl_admm.runs.prepare.preparation import prepare

GRAMMAR = Path(__file__).parents[1] / "grammars" / "default.lark"
MEASURED = Path(__file__).parent / "measured" / "decided_gaps.json"
EVALUATIONS, FOLDS, SPLITS = 30, 5, (11,)
Record = dict[str, Any]


def run_all(folder: Path, out: Path) -> None:
    """Run what is missing."""
    runs = {
        name: lambda task, decide=decide: _judged(task, decide(task))
        for name, decide in METHODS.items()
    }
    run_missing(folder, out, SPLITS, runs)


def searched(
    task: Task,
    *,
    by_group: bool = False,
    weighs: bool = True,
    metric: str = "balanced_accuracy",
) -> Decide | None:
    """Return the decisions of the best pipeline within the limit."""
    config = RunConfig(
        grammar="default" if weighs else _without_weights(),
        task="classification",
        scoring=metric,
        positive=1,
        constraints=(task.asked.text,),
        max_evaluations=EVALUATIONS,
        cv=FOLDS,
        executor="inline",
        random_state=task.seed,
        group_thresholds=by_group,
    )
    try:
        outcome = run_pipelines(prepare(config, task.X, task.truth.astype(int)))
    except NoSuccessError:
        return None
    model = outcome.model
    return lambda X: np.asarray(model.predict(X) == 1)


def _without_weights() -> GrammarText:
    """Return the grammar of pipelines that take rows as they are."""
    text = GRAMMAR.read_text(encoding="utf-8")
    text = text.replace("%import components (reweigh)\n", "")
    return GrammarText(text.replace("none\n       | reweigh", "none"))


def reductions(task: Task) -> Decide:
    """Fit fairlearn's ExponentiatedGradient on all rows, at half of the limit.

    Its bound is on the distance of a group to all rows: a gap is at most twice that.
    """
    return methods.fit_reductions(task, Rows(task.X, task.truth), BOUND / 2.0)


def threshold_optimizer(task: Task) -> Decide:
    """Fit fairlearn's ThresholdOptimizer on all rows."""
    return methods.fit_threshold_optimizer(task, Rows(task.X, task.truth))


def _judged(task: Task, decide: Decide | None) -> Record:
    """Return what the rest of the table says; without a model all rows are called the same."""
    if decide is None:
        return {"balanced": NO_ANSWER, "value": 0.0}
    called = np.asarray(decide(task.future))
    value = float(task.asked.value(called, task.future_truth, task.future))
    utility = balanced(called, task.future_truth)
    return {"balanced": round(utility, 5), "value": round(value, 5)}


WEIGHED, PLAIN = "rows weighed", "rows not weighed"
WEIGHED_GROUPS = "thresholds by group, rows weighed"
PLAIN_GROUPS = "thresholds by group, rows not weighed"
BY_ORDER = "chosen by AUROC, rows weighed"
GRADIENT, OPTIMIZER = "fairlearn ExponentiatedGradient", "fairlearn ThresholdOptimizer"
METHODS: Mapping[str, Callable[[Task], Decide | None]] = {
    WEIGHED: searched,
    PLAIN: partial(searched, weighs=False),
    WEIGHED_GROUPS: partial(searched, by_group=True),
    PLAIN_GROUPS: partial(searched, by_group=True, weighs=False),
    BY_ORDER: partial(searched, metric="roc_auc"),
    GRADIENT: reductions,
    OPTIMIZER: threshold_optimizer,
}
PAIRS = (
    (WEIGHED, PLAIN),
    (WEIGHED_GROUPS, PLAIN_GROUPS),
    (WEIGHED, PLAIN_GROUPS),
    (WEIGHED, BY_ORDER),
    (WEIGHED, GRADIENT),
    (WEIGHED_GROUPS, OPTIMIZER),
)


def write(found: Sequence[Record], commit: str) -> None:
    """Put the tables into the file of measured numbers.

    The first is of the settings that all methods but the control were run on; two methods are
    compared on all that both have.
    """
    by_method: dict[str, dict[Any, Record]] = {method: {} for method in METHODS}
    for one in found:
        *setting, method = one["place"]
        by_method[method][tuple(setting)] = one
    told = {name: known for name, known in by_method.items() if name != BY_ORDER}
    whole = _shared(*told.values())
    methods_table = {
        "title": "by settings; outside of its limit an answer is worth 0.5",
        "columns": ["", "within the limit on the rest", "mean gap", "mean utility", "its worth"],
        "rows": [_row(name, [known[one] for one in whole]) for name, known in told.items()],
    }
    columns = ["", "beside", "settings", "mean lead in utility", "better / worse / level", "p"]
    columns += ["worth: better / worse / level", "p"]
    rows = [[*pair, *_lead(*(by_method[one] for one in pair))] for pair in PAIRS]
    pairs = {"title": "in utility, and in what it is worth; Wilcoxon", "columns": columns}
    tables = {"methods": methods_table, "pairs": pairs | {"rows": rows}}
    content = {"commit": commit, "settings": len(whole), "tables": tables}
    MEASURED.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def _shared(*known: Mapping[Any, Record]) -> list[Any]:
    """Return the settings that all have."""
    return [one for one in known[0] if all(one in other for other in known)]


def _row(name: str, records: Sequence[Record]) -> list[str]:
    inside = sum(one["value"] <= BOUND for one in records)
    means = [np.mean([measure(one) for one in records]) for measure in (_gap, _utility, _worth)]
    return [name, f"{inside}/{len(records)}", *(f"{mean:.3f}" for mean in means)]


def _gap(one: Record) -> float:
    return float(one["value"])


def _utility(one: Record) -> float:
    return float(one["balanced"])


def _worth(one: Record) -> float:
    """Return the utility of an answer within its limit; outside of it, that of a constant."""
    return _utility(one) if _gap(one) <= BOUND else NO_ANSWER


def _lead(mine: Mapping[Any, Record], theirs: Mapping[Any, Record]) -> list[str]:
    """Return how often one method is better than another, in utility and in worth."""
    settings = _shared(mine, theirs)
    leads = [
        np.array([measure(mine[one]) - measure(theirs[one]) for one in settings])
        for measure in (_utility, _worth)
    ]
    told = [text for lead in leads for text in (beside(lead), f"{wilcoxon(lead).pvalue:.2g}")]
    return [str(len(settings)), f"{leads[0].mean():+.3f}", *told]


if __name__ == "__main__":
    main(__doc__, run_all, write)
