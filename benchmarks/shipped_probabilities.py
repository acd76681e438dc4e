"""Log loss on unseen rows of models that were chosen by AUROC: as they are, and calibrated.

    python benchmarks/shipped_probabilities.py --data ../shared/data --splits 3 --core 1
    python benchmarks/shipped_probabilities.py --data ../shared/data --report

Each split is a fit of the default on three rows of four. Its model ships with calibrated
probabilities if the out-of-fold rows say so. Beside it stand the same model without them, and what
the former rule ships: calibrated if the gain on these rows is above two standard errors. All three
have the same AUROC, so the search is one.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from peers.tasks import find_sets, read_set, split_set
from scipy.stats import binomtest
from sklearn.metrics import log_loss, roc_auc_score

from automl_admm import AutoMLClassifier
from automl_admm.core.space import Array
from automl_admm.pipelines.as_code import undecided
from automl_admm.pipelines.calibration import FITTED, Calibration
from automl_admm.pipelines.predictions.kept_answers import SCORES

PLAIN, FORMER, SHIPPED = "as they are", "two standard errors", "as shipped"
WAYS = (PLAIN, FORMER, SHIPPED)
ERRORS = 2.0
# Losses that differ by less are called level.
LEVEL = 1e-12
Record = dict[str, Any]


def measure(path: Path, seed: int, seconds: float) -> Record:
    """Fit the default on a split, and return the log losses of its model on the other rows."""
    data = read_set(path)
    split = split_set(data, seed)
    X, y = data.X.iloc[split.train], data.y.iloc[split.train]
    unseen = data.X.iloc[split.test]
    with tempfile.TemporaryDirectory() as folder:
        search = AutoMLClassifier(
            time_budget=seconds,
            scoring="roc_auc",
            n_jobs=1,
            random_state=seed,
            work_dir=f"{folder}/run",
        )
        search.fit(X, y)
        model = json.loads(Path(folder, "run", "model.json").read_text(encoding="utf-8"))
        gain = _gain_in_errors(Path(folder, "run"), model, y == search.classes_[1])
    truth = data.y.iloc[split.test] == search.classes_[1]
    shipped = search.predict_proba(unseen)[:, 1]
    plain = undecided(search.best_pipeline_)
    has_chances = hasattr(plain, "predict_proba")
    rows = search.pipeline_rows(unseen)
    before = plain.predict_proba(rows)[:, 1] if has_chances else shipped
    former = shipped if gain is None or gain > ERRORS else before
    return {
        "auc": float(roc_auc_score(truth, shipped)),
        "is_calibrated": model.get("calibration") is not None,
        "had_none": not has_chances,
        "gain_in_errors": gain,
        "is_mean": model["ensemble"] is not None,
        "loss": {
            way: float(log_loss(truth, chances))
            for way, chances in zip(WAYS, (before, former, shipped), strict=True)
        },
    }


def _gain_in_errors(run: Path, model: Mapping[str, Any], positive: Any) -> float | None:
    """Return the gain of a calibration on out-of-fold rows over its standard error.

    Return None without a calibration, or without probabilities before it.
    """
    if model.get("calibration") is None:
        return None
    calibration = Calibration.from_details(model["calibration"])
    members = (model["ensemble"] or {}).get("members") or [
        {"evaluation": model["evaluation"], "weight": 1}
    ]
    kept = [np.load(run / "predictions" / f"{one['evaluation']}.npz") for one in members]
    chances = np.average(
        [one["predictions"] for one in kept], axis=0, weights=[one["weight"] for one in members]
    )
    if chances.ndim != 2:
        return None
    rows = kept[0]["rows"]
    truth = np.asarray(positive)[rows]
    scores = kept[0][SCORES] if calibration.response == SCORES else chances[:, 1]
    gain = _losses(truth, chances[:, 1]) - _losses(truth, calibration.chances(scores))
    single = len(set(rows.tolist()))
    error = float(np.std(gain)) / math.sqrt(single)
    return (float(np.mean(gain)) - FITTED / single) / error


def _losses(truth: Array, chances: Array) -> Array:
    own = np.where(truth, chances, 1.0 - chances)
    found: Array = -np.log(np.clip(own, np.finfo(float).eps, 1.0))
    return found


def report(records: Sequence[Record]) -> Mapping[str, Any]:
    """Return the tables of all runs."""
    pairs = [(one["loss"][SHIPPED], one["loss"]) for one in records]
    title = (
        f"{len({one['set'] for one in records})} sets, {len(records)} runs of"
        f" {records[0]['seconds']:g} s; {sum(one['is_calibrated'] for one in records)} models are"
        f" calibrated, {sum(one['had_none'] for one in records)} of them for want of probabilities"
    )
    rows = [[way, *_beside([(own, losses[way]) for own, losses in pairs])] for way in WAYS[:2]]
    columns = ["beside", "log loss of the shipped over it", "better", "worse", "level", "p"]
    commit = ", ".join(sorted({one["commit"] for one in records}))
    beside = {"title": title, "columns": columns, "rows": rows, "commit": commit}
    sets = {"columns": ["set", *WAYS], "rows": _by_set(records)}
    return {"tables": {"beside": beside, "sets": sets}}


def _beside(pairs: Sequence[tuple[float, float]]) -> list[Any]:
    better = sum(own < other - LEVEL for own, other in pairs)
    worse = sum(own > other + LEVEL for own, other in pairs)
    ratio = math.exp(float(np.mean([math.log(own / other) for own, other in pairs])))
    p = binomtest(better, better + worse).pvalue if better + worse else 1.0
    return [round(ratio, 4), better, worse, len(pairs) - better - worse, f"{p:.2g}"]


def _by_set(records: Sequence[Record]) -> list[list[Any]]:
    found = []
    for name in sorted({one["set"] for one in records}):
        own = [one["loss"] for one in records if one["set"] == name]
        found.append([name, *(f"{np.mean([one[way] for one in own]):.4f}" for way in WAYS)])
    return found


def _asked() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--more", type=Path, help="a folder of further sets")
    parser.add_argument("--sets", nargs="*", help="[default: all of two classes]")
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--splits", type=int, default=3)
    parser.add_argument("--first", type=int, default=0, help="the first split")
    parser.add_argument("--core", type=int)
    parser.add_argument("--results", type=Path, default=Path("build/shipped_probabilities.jsonl"))
    parser.add_argument("--report", action="store_true", help="print the tables, run nothing")
    return parser.parse_args()


def main() -> None:
    """Make the runs that are not there yet, split by split, and print the tables."""
    asked = _asked()
    if asked.core is not None:
        os.sched_setaffinity(0, {asked.core})
    asked.results.parent.mkdir(parents=True, exist_ok=True)
    asked.results.touch()
    records = [json.loads(line) for line in asked.results.read_text(encoding="utf-8").splitlines()]
    commit = subprocess.run(
        ["git", "rev-parse", "--short=8", "HEAD"],  # noqa: S607
        capture_output=True,
        text=True,
        check=True,
    ).stdout.strip()
    known = {(one["set"], one["seed"]) for one in records}
    folders = [asked.data, *([asked.more] if asked.more else [])]
    sets = {name: path for name, path in find_sets(folders, asked.sets).items() if _is_binary(path)}
    for seed in [] if asked.report else range(asked.first, asked.first + asked.splits):
        for name in [one for one in sets if (one, seed) not in known]:
            found = measure(sets[name], seed, asked.seconds)
            run = {"set": name, "seed": seed, "seconds": asked.seconds, "commit": commit}
            records.append({**run, **found})
            with asked.results.open("a", encoding="utf-8") as file:
                file.write(json.dumps(records[-1]) + "\n")
            sys.stderr.write(f"{json.dumps(records[-1])}\n")
    sys.stdout.write(json.dumps(report(records), indent=1) + "\n")


def _is_binary(path: Path) -> bool:
    return (
        str(json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))["task"]) == "binary"
    )


if __name__ == "__main__":
    main()
