"""Compare certified averages of pipelines with the best certified pipeline.

The tables are those that the portfolio is learned from, and on no other page of certificates:
twelve of two classes, of up to 1 200 rows, of which 60 % are for the run and the rest is what the
future brings. Each is run with and without ensembles, with few evaluations and folds and with more,
with the grammar of certified_rivals.py. Beside them stands its certified logistic regression,
tested on the same rows. The limits and the measure are those of that page.

    PYTHONPATH=benchmarks FOLDER/data/bin/python -m portfolio.tables TABLES
    python benchmarks/certified_ensembles.py --data TABLES --out build/ensembles.jsonl
    python benchmarks/certified_ensembles.py --report build/ensembles.jsonl
"""

from __future__ import annotations

import argparse
import json
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import certified_rival_methods as methods
import numpy as np
import pandas as pd
from certified_tasks import NO_ANSWER, RISK, Asked, Task, balanced
from threadpoolctl import threadpool_limits

MEASURED = Path(__file__).parent / "measured" / "certified_ensembles.json"
TABLES = (
    *("mlc_churn", "wa_churn", "credit_data", "lending_club", "oj", "pima", "mammographic"),
    *("crx", "contraceptive", "marketing", "magic", "hpc_data"),
)
LIMITS = ("fpr <= 0.1", "fnr <= 0.2")
SPLITS = (0, 1)
EFFORTS = ((6, 2), (12, 5))  # evaluations and folds
SHARE, SALT, LEVEL = 0.6, 77, 0.001
WALKS = {"a logistic regression at 5 %": RISK, "a logistic regression at 2.5 %": RISK / 2}
Record = dict[str, Any]


def task_of(folder: Path, table: str, limit: str, split: int) -> Task:
    """Return the rows of a run; of several classes the most frequent minority is positive."""
    target = json.loads((folder / f"{table}.json").read_text())["target"]
    frame = pd.read_csv(folder / f"{table}.csv", low_memory=False).dropna(subset=[target])
    labels = frame[target].astype(str)
    counts = labels.value_counts()
    first = len(counts) > 2 and counts.iloc[0] < len(labels) / 2
    positive = str(counts.index[0 if first else 1])
    X, truth = frame.drop(columns=target), (labels == positive).to_numpy()
    order = np.random.default_rng([split, SALT]).permutation(len(X))
    mine, rest = np.split(order, [int(SHARE * len(X))])
    split_in_two = X.iloc[mine], truth[mine], X.iloc[rest], truth[rest]
    return Task(table, Asked(limit), split, *split_in_two, positive)


def records(folder: Path) -> Iterator[Record]:
    """Yield what each method reaches in each run, and whether its limit is broken."""
    for split in SPLITS:
        for table in TABLES:
            for limit in LIMITS:
                task = task_of(folder, table, limit, split)
                rows, safe = methods.parted(task)
                decided = {
                    name: methods.threshold_walk(task, rows, safe, risk=risk)
                    for name, risk in WALKS.items()
                }
                for effort in EFFORTS:
                    for with_ensemble in (False, True):
                        decided[_name(effort, with_ensemble)] = _run(task, effort, with_ensemble)
                for name, decide in decided.items():
                    yield _judged(task, name, decide)


def _run(task: Task, effort: tuple[int, int], with_ensemble: bool) -> Any:  # noqa: FBT001
    methods.EVALUATIONS, methods.FOLDS = effort
    return methods.ours(task, ensemble=with_ensemble)


def _name(effort: tuple[int, int], with_ensemble: bool) -> str:  # noqa: FBT001
    kind = "an average" if with_ensemble else "the best"
    return f"{kind}; {effort[0]} evaluations, {effort[1]} folds"


def _judged(task: Task, method: str, decide: Any) -> Record:
    place = {"table": task.table, "limit": task.asked.text, "split": task.split, "method": method}
    if decide is None:
        return place | {"balanced": NO_ANSWER, "broken": None}
    called, truth = decide(task.future), task.future_truth
    value = task.asked.value(called, truth, task.future)
    broken = bool(value > task.asked.bound)
    return place | {"balanced": round(balanced(called, truth), 5), "broken": broken}


def write(found: Sequence[Record], commit: str) -> None:
    """Put the table into the file of measured numbers."""
    frame = pd.DataFrame(found)
    means = frame.pivot_table(index=["table", "limit"], columns="method", values="balanced")
    rows = []
    for name in dict.fromkeys(frame["method"]):
        mine = frame[frame["method"] == name]
        answers = mine["broken"].notna()
        pairs = [beside(means[name] - means[walk]) for walk in WALKS]
        broken = f"{int(mine['broken'].fillna(0).sum())}/{int(answers.sum())}"
        rows.append([name, f"{means[name].mean():.3f}", *pairs, broken])
    columns = ["", "mean balanced accuracy", *(f"beside {name}" for name in WALKS), "broken"]
    title = "better / worse / level by settings, means over splits"
    table = {"title": title, "columns": columns, "rows": rows}
    whole = {
        "commit": commit,
        "settings": len(means),
        "splits": int(frame["split"].nunique()),
        "tables": {"ensembles": table},
    }
    MEASURED.write_text(json.dumps(whole, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def beside(lead: Any) -> str:
    """Return at how many settings one is better, worse and level."""
    better, worse = int((lead > LEVEL).sum()), int((lead < -LEVEL).sum())
    return f"{better}/{worse}/{len(lead) - better - worse}"


def arguments(about: str) -> argparse.Namespace:
    """Return what the command line of a comparison with records was given."""
    parser = argparse.ArgumentParser(description=about.splitlines()[0])
    parser.add_argument("--data", type=Path, help="the folder of the tables")
    parser.add_argument("--out", type=Path, help="the file of the records")
    parser.add_argument("--report", type=Path, help="make the table of this file")
    parser.add_argument("--commit", default="", help="the commit that was measured")
    return parser.parse_args()


def main() -> None:
    """Run everything anew, or make the table."""
    given = arguments(__doc__)
    if given.report:
        lines = given.report.read_text(encoding="utf-8").splitlines()
        write([json.loads(line) for line in lines], given.commit)
        return
    with threadpool_limits(1), warnings.catch_warnings(), given.out.open("w") as stream:
        warnings.simplefilter("ignore")
        for record in records(given.data):
            stream.write(json.dumps(record) + "\n")
            stream.flush()


if __name__ == "__main__":
    main()
