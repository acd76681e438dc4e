"""What weights of rows bring where a search follows the decisions, without a certificate.

The tables and groups are those of certified_gaps.py, on other splits. Every run of `default` has
the same number of evaluations, of which weights are a part or not: what they take is taken from the
rest. The search maximises balanced accuracy within one limit on its 2 000 rows (60 % of a smaller
table); the rest says what is left of both. Thresholds are one for all, or one for each group.

    python benchmarks/decided_gaps.py --data ../shared/data --out build/decided.jsonl
    python benchmarks/decided_gaps.py --report build/decided.jsonl
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from certified_ensembles import arguments, beside
from certified_gaps import BOUND, GROUPS, RATES, task_of
from certified_rivals import read as read_records
from certified_tasks import NO_ANSWER, Task, balanced
from scipy.stats import wilcoxon
from threadpoolctl import threadpool_limits

from automl_admm.core.errors import NoSuccessError
from automl_admm.grammar.given_text import GrammarText
from automl_admm.runs.config import RunConfig
from automl_admm.runs.pipelines import run_pipelines
from automl_admm.runs.prepare.preparation import prepare

GRAMMAR = Path(__file__).parents[1] / "grammars" / "default.lark"
MEASURED = Path(__file__).parent / "measured" / "decided_gaps.json"
EVALUATIONS, FOLDS, SPLITS = 30, 5, (11,)
FORMS: Mapping[str, Mapping[str, bool]] = {
    "rows weighed": {},
    "rows not weighed": {"weighs": False},
    "thresholds by group, rows weighed": {"by_group": True},
    "thresholds by group, rows not weighed": {"by_group": True, "weighs": False},
}
PAIRS = dict(zip(list(FORMS)[::2], list(FORMS)[1::2], strict=True))
Record = dict[str, Any]


def run_all(folder: Path, out: Path) -> None:
    """Run what is missing; an interrupted file is gone on with."""
    known = {tuple(one["place"]) for one in read_records(out)}
    for split in SPLITS:
        for name in GROUPS:
            for rate in RATES:
                task = task_of(folder, name, rate, split)
                for form, given in FORMS.items():
                    place = (name, rate, split, form)
                    if place not in known:
                        record = {"place": place} | searched(task, **given)
                        with out.open("a", encoding="utf-8") as stream:
                            stream.write(json.dumps(record) + "\n")


def searched(task: Task, *, by_group: bool = False, weighs: bool = True) -> Record:
    """Return what the best pipeline within the limit does on the rest of the table."""
    config = RunConfig(
        grammar="default" if weighs else _without_weights(),
        task="classification",
        scoring="balanced_accuracy",
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
        return {"balanced": NO_ANSWER, "value": 0.0}  # all rows the same
    called, truth = np.asarray(outcome.model.predict(task.future) == 1), task.future_truth
    value = float(task.asked.value(called, truth, task.future))
    return {"balanced": round(balanced(called, truth), 5), "value": round(value, 5)}


def _without_weights() -> GrammarText:
    """Return the grammar of pipelines that take rows as they are."""
    text = GRAMMAR.read_text(encoding="utf-8")
    text = text.replace("%import components (reweigh)\n", "")
    return GrammarText(text.replace("none\n       | reweigh", "none"))


def write(found: Sequence[Record], commit: str) -> None:
    """Put the table into the file of measured numbers; an answer outside of its limit is worth 0.5.

    Only settings count that every form was run on.
    """
    by_form: dict[str, dict[Any, Record]] = {form: {} for form in FORMS}
    for one in found:
        *setting, form = one["place"]
        by_form[form][tuple(setting)] = one
    whole = [
        one for one in by_form["rows weighed"] if all(one in known for known in by_form.values())
    ]
    rows = []
    for form, known in by_form.items():
        reached = [known[setting] for setting in whole]
        lead = [""] * 2
        if form in PAIRS:
            others = [by_form[PAIRS[form]][setting] for setting in whole]
            lead = [_lead(reached, others, _utility), _lead(reached, others, _worth)]
        inside = sum(one["value"] <= BOUND for one in reached)
        means = (np.mean([measure(one) for one in reached]) for measure in (_gap, _utility, _worth))
        rows.append([form, f"{inside}/{len(reached)}", *(f"{mean:.3f}" for mean in means), *lead])
    columns = [
        "",
        "within the limit on the rest",
        "mean gap",
        "mean utility",
        "the same within limits",
    ]
    columns += ["utility: better / worse / level than without weights", "the same within limits"]
    table = {"title": "by settings", "columns": columns, "rows": rows}
    content = {"commit": commit, "settings": len(whole), "tables": {"gaps": table}}
    MEASURED.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def _gap(one: Record) -> float:
    return float(one["value"])


def _utility(one: Record) -> float:
    return float(one["balanced"])


def _worth(one: Record) -> float:
    """Return the utility of an answer within its limit; outside of it, that of a constant."""
    return _utility(one) if _gap(one) <= BOUND else NO_ANSWER


def _lead(
    mine: Sequence[Record], theirs: Sequence[Record], measure: Callable[[Record], float]
) -> str:
    lead = np.array(
        [measure(one) - measure(other) for one, other in zip(mine, theirs, strict=True)]
    )
    return f"{beside(lead)}, p = {wilcoxon(lead).pvalue:.2g}"


def main() -> None:
    """Run what is missing, or make the table."""
    given = arguments(__doc__)
    if given.report:
        write(read_records(given.report), given.commit)
    else:
        with threadpool_limits(1), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            run_all(given.data, given.out)


if __name__ == "__main__":
    main()
