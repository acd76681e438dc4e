"""What it brings to train models for a limit that compares groups, on other groups.

The tables are those of certified_rivals.py, the groups others: ten of two parts each, such as
people from 38 years on. On them it was decided how models are trained for a gap, and how the
thresholds of its certificate are ordered. Each run has up to 2 000 rows (60 % of a smaller table),
one limit, and a certificate at 95 % in a last look; the rest is what the future brings.

    python benchmarks/certified_gaps.py --data ../shared/data --out build/gaps.jsonl
    python benchmarks/certified_gaps.py --report build/gaps.jsonl
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import certified_rival_methods as methods
import numpy as np
from certified_ensembles import arguments, beside
from certified_rivals import read as read_records
from certified_tasks import MOST_ROWS, NO_ANSWER, SHARE, Asked, Task, balanced, read
from scipy.stats import wilcoxon
from threadpoolctl import threadpool_limits

MEASURED = Path(__file__).parent / "measured" / "certified_gaps.json"
RATES, BOUND, GROUP = ("selection_rate", "fpr", "recall"), 0.1, "group"
SPLITS, SALT = (10,), 5
GROUPS: Mapping[str, tuple[str, Callable[[Any], Any]]] = {
    "adult, married": ("adult", lambda rows: rows["marital_status"] == "Married-civ-spouse"),
    "adult, from 38": ("adult", lambda rows: rows["age"] >= 38),
    "adult, white": ("adult", lambda rows: rows["race"] == "White"),
    "compas, race": ("compas", lambda rows: rows["race"] == "African-American"),
    "compas, young": ("compas", lambda rows: rows["age_cat"] == "Less than 25"),
    "compas, charge": ("compas", lambda rows: rows["c_charge_degree"] == "F"),
    "credit, married": ("credit_default", lambda rows: rows["MARRIAGE"].astype(int) == 1),
    "credit, graduates": ("credit_default", lambda rows: rows["EDUCATION"].astype(int) == 1),
    "credit, from 35": ("credit_default", lambda rows: rows["AGE"] >= 35),
    "german, from 33": ("german_credit", lambda rows: rows["age"] >= 33),
}
FORMS: Mapping[str, Mapping[str, bool]] = {
    "rows weighed": {"last_look": True},
    "rows not weighed": {"last_look": True, "weighs": False},
}
Record = dict[str, Any]


def task_of(folder: Path, name: str, rate: str, split: int) -> Task:
    """Return the rows of a run, with a column of their groups."""
    table, member = GROUPS[name]
    X, truth, positive = read(folder, table)
    X = X.assign(**{GROUP: np.where(member(X), "a", "b")})
    order = np.random.default_rng([split, SALT]).permutation(len(X))
    mine, rest = np.split(order, [min(MOST_ROWS, int(SHARE * len(X)))])
    limit = Asked(f"{rate}_gap[{GROUP}] <= {BOUND}")
    parts = X.iloc[mine], truth[mine], X.iloc[rest], truth[rest]
    return Task(table, limit, split, *parts, positive)


def run_all(folder: Path, out: Path) -> None:
    """Run what is missing."""
    forms = {
        form: lambda task, given=given: _judged(task, methods.ours(task, **given))
        for form, given in FORMS.items()
    }
    run_missing(folder, out, SPLITS, forms)


def run_missing(
    folder: Path, out: Path, splits: Sequence[int], runs: Mapping[str, Callable[[Task], Record]]
) -> None:
    """Run each method on all settings; an interrupted file is gone on with."""
    known = {tuple(one["place"]) for one in read_records(out)}
    for split in splits:
        for name in GROUPS:
            for rate in RATES:
                task = task_of(folder, name, rate, split)
                for method, run in runs.items():
                    place = (name, rate, split, method)
                    if place not in known:
                        record = {"place": place} | run(task)
                        with out.open("a", encoding="utf-8") as stream:
                            stream.write(json.dumps(record) + "\n")


def _judged(task: Task, decide: Any) -> Record:
    """Return what the future says; no answer is worth what a constant is."""
    if decide is None:
        return {"balanced": NO_ANSWER, "broken": None}
    called, truth = np.asarray(decide(task.future)), task.future_truth
    broken = bool(task.asked.value(called, truth, task.future) > BOUND)
    return {"balanced": round(balanced(called, truth), 5), "broken": broken}


def write(found: Sequence[Record], commit: str) -> None:
    """Put the table into the file of measured numbers."""
    by_form: dict[str, dict[Any, Record]] = {form: {} for form in FORMS}
    for one in found:
        *setting, form = one["place"]
        by_form[form][tuple(setting)] = one
    whole = [setting for setting in by_form["rows weighed"] if _is_whole(by_form, setting)]
    mine, theirs = (by_form[form] for form in FORMS)
    lead = np.array([mine[one]["balanced"] - theirs[one]["balanced"] for one in whole])
    told = {"rows weighed": [beside(lead), f"{wilcoxon(lead).pvalue:.2g}"]}
    rows = []
    for form in FORMS:
        reached = [by_form[form][setting] for setting in whole]
        given = [one for one in reached if one["broken"] is not None]
        broken = f"{sum(one['broken'] for one in given)}/{len(given)}"
        mean = f"{np.mean([one['balanced'] for one in reached]):.3f}"
        answers = f"{len(given)}/{len(reached)}"
        rows.append([form, answers, broken, mean, *told.get(form, ["", ""])])
    columns = ["", "answers", "broken on the rest", "mean utility"]
    columns += ["better / worse / level than without weights", "p (Wilcoxon)"]
    title = "no answer is worth 0.5; by settings"
    table = {"title": title, "columns": columns, "rows": rows}
    content = {"commit": commit, "settings": len(whole), "tables": {"gaps": table}}
    MEASURED.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def _is_whole(by_form: Mapping[str, Mapping[Any, Record]], setting: Any) -> bool:
    return all(setting in known for known in by_form.values())


def main(
    about: str,
    run_all: Callable[[Path, Path], None],
    write: Callable[[Sequence[Record], str], None],
) -> None:
    """Run what is missing, or make the table."""
    given = arguments(about)
    if given.report:
        write(read_records(given.report), given.commit)
    else:
        with threadpool_limits(1), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            run_all(given.data, given.out)


if __name__ == "__main__":
    main(__doc__, run_all, write)
