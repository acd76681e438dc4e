"""The default beside itself with one step switched off each, and beside plain searches.

Every variant has the same rows, seconds and core. A run is a process of its own, and is added to
the file of results as it ends; what is there is not made again. The tables come after the runs, and
with `--report` alone: they are the content of measured/ablation.json.

    python benchmarks/ablation.py --data ../shared/data --seconds 20 --splits 2 --core 1

The parts that work is shared in (ingest and folds once a run, a fork server that has imported all)
have no switch, and are not here. Growing goes with the fidelities: `no-growing` fits each pipeline
on all of its rows and at its whole size.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import pandas as pd
from paired import compare, corrected
from peers.ranking import Block, rank_all
from peers.running import commit
from peers.tasks import DataSet, find_sets, read_set, split_set
from sklearn import datasets
from sklearn.metrics import get_scorer

DEFAULT, BOOSTERS = "default", "automl_admm_boost"
METRICS = {"binary": "roc_auc", "multiclass": "neg_log_loss", "regression": "r2"}
SHIPPED = {
    "breast_cancer": "binary",
    "digits": "multiclass",
    "wine": "multiclass",
    "diabetes": "regression",
}
# A fit may be so many seconds over its budget before it is stopped.
GRACE = 60.0


@dataclass(frozen=True)
class Variant:
    """Options of an estimator, and variables of its environment, that differ from the default."""

    options: Mapping[str, Any] = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=dict)


VARIANTS = {
    DEFAULT: Variant(),
    "no-boosters": Variant(environment={"AUTOML_ADMM_PLUGINS": ""}),
    "no-racing": Variant({"racing": False}),
    "no-growing": Variant({"min_fidelity": 1.0}),
    "no-portfolio": Variant({"portfolio": False}),
    "no-ensemble": Variant({"ensemble": False}),
    "joint-tpe": Variant({"strategy": "joint", "theta_solver": "tpe"}),
    "joint-random": Variant({"strategy": "joint", "theta_solver": "random"}),
}


@dataclass(frozen=True)
class Run:
    """One fit: a set by its name, a split, a variant and the seconds that it is given."""

    data: str
    seed: int
    variant: str
    seconds: float

    def is_of(self, record: Mapping[str, Any]) -> bool:
        """Return True if a record is of this run."""
        return all(record[name] == value for name, value in vars(self).items())


def read(name: str, folder: Path) -> DataSet:
    """Return a set of the folder, or one that scikit-learn ships."""
    if name not in SHIPPED:
        return read_set(find_sets([folder], [name])[name])
    X, y = getattr(datasets, f"load_{name}")(return_X_y=True, as_frame=True)
    y = y if SHIPPED[name] == "regression" else y.astype(str)
    return DataSet(name, X, y, SHIPPED[name], "0" if SHIPPED[name] == "binary" else None, name)


def fit(run: Run, folder: Path) -> dict[str, Any]:
    """Fit a variant on three quarters of the rows, and score it on the others."""
    from automl_admm import AutoMLClassifier, AutoMLRegressor

    found, options = read(run.data, folder), dict(VARIANTS[run.variant].options)
    kind = AutoMLRegressor if found.kind == "regression" else AutoMLClassifier
    if found.kind == "binary":
        options["positive"] = found.positive
    split, metric = split_set(found, run.seed), METRICS[found.kind]
    search = kind(
        time_budget=run.seconds, scoring=metric, n_jobs=1, random_state=run.seed, **options
    )
    begun = time.monotonic()
    search.fit(found.X.iloc[split.train], found.y.iloc[split.train])
    seconds, rows = time.monotonic() - begun, found.X.iloc[split.test]
    truth = _truth(found, found.y.iloc[split.test])
    return {
        "metric": metric,
        "score": float(get_scorer(metric)(_Numbered(search, found), rows, truth)),
        "evaluations": int(search.n_evaluations_),
        "fit_seconds": seconds,
        "is_ensemble": getattr(search, "ensemble_", None) is not None,
    }


def _truth(found: DataSet, y: pd.Series) -> Any:
    """Return class numbers, the positive class of two as 1."""
    if found.kind == "regression":
        return y.to_numpy()
    return np.array([_order(found).index(label) for label in y])


def _order(found: DataSet) -> list[str]:
    return sorted(found.classes, key=lambda label: label == found.positive)


class _Numbered:
    """A fitted search whose classes are numbers, as scikit-learn's metrics have them."""

    def __init__(self, search: Any, found: DataSet) -> None:
        self._search = search
        self._found = found
        self._estimator_type = "regressor" if found.kind == "regression" else "classifier"
        self.classes_ = np.arange(len(found.classes))

    def __sklearn_tags__(self) -> Any:
        return self._search.__sklearn_tags__()

    def fit(self) -> None:
        """Do nothing: scorers ask for this method."""

    def predict(self, X: Any) -> Any:
        """Return the quantities."""
        return self._search.predict(X)

    def predict_proba(self, X: Any) -> Any:
        """Return the probabilities in the order of the numbers."""
        known = [str(one) for one in self._search.classes_]
        places = [known.index(label) for label in _order(self._found)]
        return self._search.predict_proba(X)[:, places]


def start(run: Run, folder: Path) -> dict[str, Any]:
    """Make a run in a process of its own; a failure is a record, too."""
    words = [sys.executable, __file__, "--data", str(folder), "--fit", json.dumps(vars(run))]
    environment = os.environ | VARIANTS[run.variant].environment
    begun = time.monotonic()
    try:
        done = subprocess.run(
            words,
            env=environment,
            capture_output=True,
            text=True,
            timeout=run.seconds + GRACE,
            check=False,
        )
        found = json.loads(done.stdout.splitlines()[-1]) if done.returncode == 0 else {}
        error = done.stderr.strip().splitlines()[-1:] if done.returncode else []
    except subprocess.TimeoutExpired:
        found, error = {}, [f"no end {GRACE:g} s after its time"]
    told = found or {"error": error[0] if error else "it died"}
    shared = {"commit": commit(), "wall_seconds": time.monotonic() - begun}
    return {**vars(run), **shared, "load": os.getloadavg()[0], **told}


def report(records: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the tables of measured/ablation.json: ranks and pairs, and the score of each set."""
    runs: dict[tuple[str, int], dict[str, Mapping[str, Any]]] = {}
    for one in records:
        runs.setdefault((one["data"], one["seed"]), {})[one["variant"]] = one
    names = [name for name in VARIANTS if any(one["variant"] == name for one in records)]
    whole = {key: found for key, found in runs.items() if len(found) == len(names)}
    if not whole or DEFAULT not in names:
        return {"tables": {}}
    blocks = [
        Block(data, {name: one.get("score") for name, one in found.items()})
        for (data, _), found in whole.items()
    ]
    return {"tables": {"ablation": _ranks(blocks, whole, names), "scores": _scores(whole, names)}}


def _ranks(blocks: Sequence[Block], whole: Mapping[Any, Any], names: Sequence[str]) -> Any:
    ranks = rank_all(blocks, names)
    pairs = {
        name: compare(
            [-_value(block, DEFAULT) for block in blocks],
            [-_value(block, name) for block in blocks],
        )
        for name in names
        if name != DEFAULT
    }
    p = corrected({name: pair.p for name, pair in pairs.items()})
    rows = []
    for name in names:
        rank, of = ranks[name], [found[name] for found in whole.values()]
        told: list[Any] = ["", "", "", ""]
        if name in pairs:
            told = [pairs[name].wins, pairs[name].losses, pairs[name].ties, f"{p[name]:.3f}"]
        place = f"{rank.mean:.2f} [{rank.low:.2f}, {rank.high:.2f}]"
        failed = sum("error" in one for one in of)
        rows.append([name, place, *told, _ratio(whole, name), failed, _commits(of)])
    heads = ["variant", "mean rank [95 %]", "the default wins", "loses", "ties", "p (Holm)"]
    heads += ["evaluations", "failed", "commit"]
    sets = len({block.data_set for block in blocks})
    seconds = next(iter(whole.values()))[DEFAULT]["seconds"]
    title = f"{sets} sets, {len(blocks)} splits, {seconds:g} s each"
    return {"title": title, "columns": heads, "rows": rows}


def _value(block: Block, name: str) -> float:
    found = block.scores[name]
    return -np.inf if found is None else round(found, 4)


def _ratio(whole: Mapping[Any, Any], name: str) -> str:
    """Return the median ratio of the evaluations to those of the default."""
    pairs = [(found[name], found[DEFAULT]) for found in whole.values()]
    known = [
        one["evaluations"] / other["evaluations"]
        for one, other in pairs
        if "error" not in one and other.get("evaluations")
    ]
    return f"{median(known):.2f}" if known else "none"


def _commits(records: Sequence[Mapping[str, Any]]) -> str:
    return ", ".join(sorted({one["commit"] for one in records}))


def _scores(whole: Mapping[Any, Any], names: Sequence[str]) -> Any:
    rows = [
        [data, seed, found[DEFAULT].get("metric", ""), *(_score(found[name]) for name in names)]
        for (data, seed), found in sorted(whole.items())
    ]
    return {"columns": ["set", "split", "metric", *names], "rows": rows}


def _score(record: Mapping[str, Any]) -> str:
    return f"{record['score']:.4f}" if "score" in record else "failed"


def _asked() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--sets", nargs="*", help="[default: those of the folder and SHIPPED]")
    parser.add_argument("--variants", nargs="*", choices=list(VARIANTS), default=list(VARIANTS))
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--splits", type=int, default=2)
    parser.add_argument("--first", type=int, default=0, help="the first split")
    parser.add_argument("--core", type=int)
    parser.add_argument("--results", type=Path, default=Path("build/ablation.jsonl"))
    parser.add_argument("--report", action="store_true", help="print the tables, run nothing")
    parser.add_argument("--fit", help=argparse.SUPPRESS)
    return parser.parse_args()


def main() -> None:
    """Make the runs that are not there yet, split by split, and print the tables."""
    asked = _asked()
    if asked.fit:
        sys.stdout.write(json.dumps(fit(Run(**json.loads(asked.fit)), asked.data)) + "\n")
        return
    if find_spec(BOOSTERS) is None:
        raise SystemExit("without automl-admm-boost there are no boosters to leave out: install it")
    if asked.core is not None:
        os.sched_setaffinity(0, {asked.core})
    asked.results.parent.mkdir(parents=True, exist_ok=True)
    lines = asked.results.read_text(encoding="utf-8") if asked.results.exists() else ""
    # A last line that was cut off is no run.
    records = [json.loads(line) for line in lines.rpartition("\n")[0].splitlines()]
    asked.results.write_text(lines.rpartition("\n")[0] + "\n" * bool(records), encoding="utf-8")
    sets = asked.sets or [*SHIPPED, *find_sets([asked.data])]
    runs = [
        Run(name, seed, variant, asked.seconds)
        for seed in range(asked.first, asked.first + asked.splits)
        for name in sets
        for variant in asked.variants
    ]
    for run in [] if asked.report else runs:
        if any(run.is_of(one) for one in records):
            continue
        records.append(start(run, asked.data))
        with asked.results.open("a", encoding="utf-8") as file:
            file.write(json.dumps(records[-1]) + "\n")
        sys.stderr.write(f"{json.dumps(records[-1])}\n")
    chosen = [one for one in records if one["seconds"] == asked.seconds]
    sys.stdout.write(json.dumps(report(chosen), indent=1) + "\n")


if __name__ == "__main__":
    main()
