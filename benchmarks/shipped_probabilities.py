"""Log loss on unseen rows of models that were chosen by AUROC: as they are, and calibrated.

    python benchmarks/shipped_probabilities.py --data ../shared/data --splits 3 --core 1
    python benchmarks/shipped_probabilities.py --data ../shared/data --report

Each split is a fit of the default on three rows of four. Its model ships with calibrated
probabilities if the out-of-fold rows say so. Beside it stand the same model without them, what the
former rule ships (calibrated if the gain on these rows is above two standard errors), and the model
calibrated always. All four have the same AUROC, so the search is one.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from peers.tasks import find_sets, read_set, split_set
from scipy.stats import binomtest
from sklearn.metrics import log_loss, roc_auc_score
from ways_files import commit, keep, records

from automl_admm import AutoMLClassifier
from automl_admm.core.space import Array
from automl_admm.pipelines.as_code import undecided
from automl_admm.pipelines.calibration import FITTED, fit_sigmoid, sigmoid
from automl_admm.pipelines.predictions.kept_answers import SCORES

PLAIN, FORMER, ALWAYS, SHIPPED = "as they are", "two standard errors", "always", "as shipped"
ERRORS = 2.0
# Losses that differ by less are called level.
LEVEL = 1e-12
Record = dict[str, Any]


@dataclass(frozen=True)
class Answers:
    """What a model says of rows: scores to calibrate, and probabilities if it has any."""

    scores: Array
    chances: Array | None


def measure(path: Path, seed: int, seconds: float) -> Record:
    """Fit the default on a split, and return the log losses of its model on the other rows."""
    data = read_set(path)
    split = split_set(data, seed)
    X, y = data.X.iloc[split.train], data.y.iloc[split.train]
    unseen = data.X.iloc[split.test]
    with tempfile.TemporaryDirectory() as folder:
        run = Path(folder, "run")
        search = AutoMLClassifier(
            time_budget=seconds, scoring="roc_auc", n_jobs=1, random_state=seed, work_dir=run
        )
        search.fit(X, y)
        model = json.loads((run / "model.json").read_text(encoding="utf-8"))
        rows, known = _out_of_fold(run, model)
    positive = search.classes_[1]
    truth = (data.y.iloc[split.test] == positive).to_numpy()
    shipped = search.predict_proba(unseen)[:, 1]
    new = _answers(undecided(search.best_pipeline_), search.pipeline_rows(unseen), known)
    always, gain = _calibrated(known, (y == positive).to_numpy()[rows], rows, new)
    is_calibrated = model.get("calibration") is not None
    before = shipped if new.chances is None else new.chances
    former = shipped if is_calibrated and (gain is None or gain > ERRORS) else before
    ways = {PLAIN: before, FORMER: former, ALWAYS: always, SHIPPED: shipped}
    return {
        "auc": float(roc_auc_score(truth, shipped)),
        "is_calibrated": is_calibrated,
        "had_none": new.chances is None,
        "gain_in_errors": gain,
        "is_mean": model["ensemble"] is not None,
        "loss": {way: float(log_loss(truth, chances)) for way, chances in ways.items()},
    }


def _out_of_fold(run: Path, model: Mapping[str, Any]) -> tuple[Array, Answers]:
    """Return the numbers of the rows that the folds validated, and what they were told."""
    alone = [{"evaluation": model["evaluation"], "weight": 1}]
    members = (model["ensemble"] or {}).get("members") or alone
    kept = [np.load(run / "predictions" / f"{one['evaluation']}.npz") for one in members]
    told, weights = [one["predictions"] for one in kept], [one["weight"] for one in members]
    mean = np.average(told, axis=0, weights=weights)
    if mean.ndim == 1:
        return kept[0]["rows"], Answers(mean, None)
    chances = mean[:, 1]
    has_scores = len(kept) == 1 and SCORES in kept[0] and len(kept[0][SCORES])
    return kept[0]["rows"], Answers(kept[0][SCORES] if has_scores else chances, chances)


def _answers(plain: Any, rows: Any, known: Answers) -> Answers:
    """Return what a model says of other rows, by the methods that were asked out of fold."""
    if known.chances is None:
        return Answers(plain.decision_function(rows), None)
    chances = plain.predict_proba(rows)[:, 1]
    is_chance = known.scores is known.chances
    return Answers(chances if is_chance else plain.decision_function(rows), chances)


def _calibrated(
    known: Answers, truth: Array, rows: Array, new: Answers
) -> tuple[Array, float | None]:
    """Return calibrated probabilities of new rows, and the gain out of fold in standard errors.

    The gain is less what two fitted numbers gain by chance; None without probabilities before.
    """
    numbers = fit_sigmoid(known.scores, truth.astype(float))
    if numbers is None:
        raise ValueError("nothing to calibrate: the scores tell nothing")
    slope, offset = numbers
    always = sigmoid(slope * new.scores + offset)
    if known.chances is None:
        return always, None
    after = sigmoid(slope * known.scores + offset)
    gain = _losses(truth, known.chances) - _losses(truth, after)
    single = len(np.unique(rows))
    error = float(np.std(gain)) / math.sqrt(single)
    return always, (float(np.mean(gain)) - FITTED / single) / error


def _losses(truth: Array, chances: Array) -> Array:
    own = np.where(truth, chances, 1.0 - chances)
    found: Array = -np.log(np.clip(own, np.finfo(float).eps, 1.0))
    return found


def report(found: Sequence[Record]) -> Mapping[str, Any]:
    """Return the tables of all runs."""
    ways = [*found[0]["loss"]]
    pairs = [(one["loss"][SHIPPED], one["loss"]) for one in found]
    title = (
        f"{len({one['set'] for one in found})} sets, {len(found)} runs of"
        f" {found[0]['seconds']:g} s; {sum(one['is_calibrated'] for one in found)} models are"
        f" calibrated, {sum(one['had_none'] for one in found)} of them for want of probabilities"
    )
    rows = [[way, *_beside([(own, losses[way]) for own, losses in pairs])] for way in ways[:-1]]
    columns = ["beside", "log loss of the shipped over it", "better", "worse", "level", "p"]
    commits = ", ".join(sorted({one["commit"] for one in found}))
    beside = {"title": title, "columns": columns, "rows": rows, "commit": commits}
    sets = {"columns": ["set", *ways], "rows": _by_set(found, ways)}
    return {"tables": {"beside": beside, "sets": sets}}


def _beside(pairs: Sequence[tuple[float, float]]) -> list[Any]:
    better = sum(own < other - LEVEL for own, other in pairs)
    worse = sum(own > other + LEVEL for own, other in pairs)
    ratio = math.exp(float(np.mean([math.log(own / other) for own, other in pairs])))
    p = binomtest(better, better + worse).pvalue if better + worse else 1.0
    return [round(ratio, 4), better, worse, len(pairs) - better - worse, f"{p:.2g}"]


def _by_set(found: Sequence[Record], ways: Sequence[str]) -> list[list[Any]]:
    rows = []
    for name in sorted({one["set"] for one in found}):
        own = [one["loss"] for one in found if one["set"] == name]
        rows.append([name, *(f"{np.mean([one[way] for one in own]):.4f}" for way in ways)])
    return rows


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
    done = list(records(asked.results))
    known = {(one["set"], one["seed"]) for one in done}
    folders = [asked.data, *([asked.more] if asked.more else [])]
    sets = {name: path for name, path in find_sets(folders, asked.sets).items() if _is_binary(path)}
    for seed in [] if asked.report else range(asked.first, asked.first + asked.splits):
        for name in [one for one in sets if (one, seed) not in known]:
            found = measure(sets[name], seed, asked.seconds)
            run = {"set": name, "seed": seed, "seconds": asked.seconds, "commit": commit()}
            done.append({**run, **found})
            keep(asked.results, done[-1])
            sys.stderr.write(f"{json.dumps(done[-1])}\n")
    sys.stdout.write(json.dumps(report(done), indent=1) + "\n")


def _is_binary(path: Path) -> bool:
    return (
        str(json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))["task"]) == "binary"
    )


if __name__ == "__main__":
    main()
