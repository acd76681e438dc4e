"""Ensembles for a metric of decisions: by several ways to select, beside the best pipeline.

Each set is searched once a split, for balanced accuracy within a limit on false positives. All
ways choose among the same pipelines by the same out-of-fold predictions: by the metric at the
default threshold, by log loss, or by the metric at a threshold chosen anew for each mean that is
considered. Then the threshold is chosen as for a pipeline, and all are measured on rows that the
run never saw. The nested gain that decides about shipping is there as well. Lines go to a file,
and what is there is not made again.

    python benchmarks/decided_ensembles.py --data ../shared/data [--sets NAME…] [--seeds 2]
"""

from __future__ import annotations

import argparse
import json
import pickle
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from importlib import import_module
from pathlib import Path
from statistics import mean
from typing import Any

import numpy as np
import pandas as pd
from paired import compare
from scipy.stats import wilcoxon
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.metrics import balanced_accuracy_score
from sklearn.model_selection import train_test_split

from automl_admm.core.results import EvaluationResult
from automl_admm.core.space import Array
from automl_admm.execution.evidence_files import read_told
from automl_admm.execution.inline_executor import InlineExecutor
from automl_admm.pipelines.calibration import Calibration
from automl_admm.pipelines.ensembles.choice import choose
from automl_admm.pipelines.ensembles.decided import ERRORS, WITHIN_LIMITS, DecidedRated
from automl_admm.pipelines.ensembles.greedy import Losses, Purse, blend, select
from automl_admm.pipelines.ensembles.rated import Part, Rated
from automl_admm.pipelines.ensembles.task import evaluate_predictions
from automl_admm.pipelines.shipping import PICKLE
from automl_admm.pipelines.thresholds.by_group import CALIBRATION
from automl_admm.pipelines.work import PipelineWork
from automl_admm.plugins.records import ExecutorSetting
from automl_admm.runs.config import RunConfig
from automl_admm.runs.driving.dispatch import Dispatcher
from automl_admm.runs.finish.closing import Closing
from automl_admm.runs.finish.ensemble_fit import read_pool
from automl_admm.runs.finish.final_fit import Press
from automl_admm.runs.kept_predictions import KeptPredictions
from automl_admm.runs.pipelines import run_pipelines
from automl_admm.runs.prepare.preparation import prepare

BOUND = 0.05
# Rows to search on, and at most to measure on.
MOST_ROWS, MOST_TEST_ROWS, SHARE = 1000, 6000, 0.65
# On these other studies compare systems: nothing is tuned on them.
KEPT_AWAY = {"compas", "pc4", "german_credit", "adult", "credit_default", "vehicle"}
WAYS = ("single", "default", "log_loss", "threshold")


@dataclass(frozen=True, eq=False)
class Pool:
    """Pipelines of one search, best first: chances out of fold, and on rows it never saw."""

    work: PipelineWork
    predictions: Array
    chances: Array
    truth: Any


@dataclass(frozen=True)
class Line:
    """One way on one split: the value out of fold, and on rows that the run never saw."""

    data: str
    seed: int
    way: str
    members: int
    validated: float
    score: float
    fpr: float
    gain: float
    error: float
    seconds: float


def tables(folder: Path, names: Sequence[str] | None) -> Iterator[tuple[str, Any, Any]]:
    """Yield the name, the columns and the target ("yes" or "no") of each set of two classes."""
    for name, X, y in (*_of_packages(), *_of_files(folder)):
        if name in names if names else name not in KEPT_AWAY:
            yield name, X, np.where(y, "yes", "no")


def _of_packages() -> Iterator[tuple[str, Any, Any]]:
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    yield "breast_cancer", X, y == 0
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    yield "diabetes_high", X, y > 150
    try:
        datasets = import_module("statsmodels.api").datasets
    except ImportError:
        return
    frame = datasets.anes96.load_pandas().data.drop(columns="logpopul", errors="ignore")
    yield "anes96", frame.drop(columns="vote"), frame["vote"] > 0
    frame = datasets.fair.load_pandas().data
    yield "fair", frame.drop(columns="affairs"), frame["affairs"] > 0


def _of_files(folder: Path) -> Iterator[tuple[str, Any, Any]]:
    for description in sorted(folder.glob("*.json")):
        facts = json.loads(description.read_text(encoding="utf-8"))
        if facts.get("task") != "binary":
            continue
        texts = [*facts["categorical"], facts["target"]]
        frame = pd.read_csv(description.with_suffix(".csv"), dtype=dict.fromkeys(texts, str))
        y = frame.pop(facts["target"])
        yield description.stem, frame, np.asarray(y == facts["positive"])


def pool_of(X: Any, y: Any, seed: int, evaluations: int, folder: Path) -> Pool:
    """Search on a part of the rows, and predict the others by all pipelines that may be members."""
    rows = min(MOST_ROWS, int(SHARE * len(y)))
    train, test = train_test_split(
        np.arange(len(y)), train_size=rows, stratify=y, random_state=seed
    )
    test = test[:MOST_TEST_ROWS]
    config = RunConfig(
        grammar="default",
        task="classification",
        positive="yes",
        scoring="balanced_accuracy",
        constraints=(f"fpr <= {BOUND}",),
        max_evaluations=evaluations,
        random_state=seed,
        work_dir=folder / "run",
        executor="inline",
        ensemble=False,
    )
    prepared = prepare(config, X.iloc[train].reset_index(drop=True), pd.Series(y[train]))
    found = run_pipelines(prepared).result.evaluations
    kept = KeptPredictions(folder / "run" / "predictions", found, prepared.aims)
    pool = read_pool(prepared, kept)
    executor = InlineExecutor(prepared.work, ExecutorSetting(scratch=folder))
    press = Press(prepared.problem, Dispatcher(executor), Closing(None))
    columns = X.iloc[test][prepared.work.table.names]
    chances = []
    for evaluation in pool.evaluations:
        content = read_told(press.fit(evaluation, ships=False), PICKLE) or b""
        model = pickle.loads(content)  # noqa: S301
        chances.append(model.predict_proba(columns)[:, list(model.classes_).index("yes")])
    return Pool(prepared.work, np.stack(pool.predictions), np.stack(chances), y[test] == "yes")


def balanced_at_best(parts: Sequence[Part], *, is_limited: bool) -> Losses:
    """Return 1 less the best balanced accuracy at any threshold, of all rows of the parts."""
    places = np.concatenate([part.places for part in parts])
    y = np.concatenate([part.rows.y for part in parts])

    def losses(predictions: Array) -> Array:
        return np.array([_loss_at_best(one, y, is_limited) for one in predictions[:, places, 1]])

    return losses


def _loss_at_best(chances: Array, y: Any, is_limited: bool) -> float:  # noqa: FBT001
    order = np.argsort(-chances, kind="stable")
    yes, no = np.cumsum(y[order] == 1) / (y == 1).sum(), np.cumsum(y[order] == 0) / (y == 0).sum()
    # Between equal chances there is no threshold.
    is_threshold = np.append(np.diff(chances[order]) != 0, True)
    allowed = is_threshold & (no <= BOUND) if is_limited else is_threshold
    return float(1.0 - (0.5 * (yes + 1 - no))[allowed].max(initial=0.5))


def compare_ways(name: str, seed: int, pool: Pool) -> Iterator[Line]:
    """Measure the best pipeline, and the ensemble of each way."""
    work, purse = pool.work, Purse.unlimited(len(pool.predictions))
    rated = Rated.of(work.metric, work.table, work.splits)
    decided = DecidedRated(work, rated)
    selections: dict[str, Callable[[], Losses]] = {
        "default": lambda: rated.losses(rated.parts),
        "log_loss": lambda: decided.losses(rated.parts),
        "threshold": lambda: balanced_at_best(rated.parts, is_limited=True),
    }
    alone = np.eye(len(pool.predictions), dtype=np.intp)[0]
    yield Line(name, seed, "single", 1, *_measured(pool, alone), 0.0, 0.0, 0.0)
    for way, losses in selections.items():
        begun = time.process_time()
        counts = select(pool.predictions, losses(), purse)
        seconds, gain, error = time.process_time() - begun, np.nan, np.nan
        if way != "threshold":
            judge = None if way == "default" else decided
            choice = choose(pool.predictions, rated, purse, judge)
            seconds, gain, error = time.process_time() - begun, choice.gain, choice.error
        members = int((counts > 0).sum())
        yield Line(name, seed, way, members, *_measured(pool, counts), gain, error, seconds)


def _measured(pool: Pool, counts: Any) -> tuple[float, float, float]:
    """Return the value out of fold, and balanced accuracy and false positives on unseen rows."""
    found = evaluate_predictions(pool.work, blend(pool.predictions, counts))
    decided = _decide(found, blend(pool.chances, counts))
    score = balanced_accuracy_score(pool.truth, decided)
    return pool.work.metric.score(found.loss), float(score), float(decided[~pool.truth].mean())


def _decide(found: EvaluationResult, chances: Array) -> Any:
    told = found.details.get(CALIBRATION)
    if told is not None:
        chances = Calibration.from_details(told).chances(chances)
    return chances >= found.details.get("threshold", 0.5)


def _gains(found: Line, single: Line, errors: float) -> bool:
    """Return True if an ensemble gains so many errors; a loss may be taken out of fold as well."""
    noise = errors * found.error
    is_better = found.members > 1 and found.gain > noise
    return is_better and found.validated > single.validated + min(noise, 0.0)


# When the ensemble by log loss ships; the third is what the package does within limits.
RULES: dict[str, Callable[[Line, Line], bool]] = {
    "always": lambda found, _: found.members > 1,
    "with a gain": lambda found, _: found.members > 1 and found.gain > 0.0,
    "unless worse": lambda found, single: _gains(found, single, WITHIN_LIMITS),
    "two errors": lambda found, single: _gains(found, single, ERRORS),
}


def report(found: Sequence[Line]) -> dict[str, Any]:
    """Return the tables of ensembles.json: each set by ways, and each way against the pipeline."""
    runs: dict[tuple[str, int], dict[str, Line]] = {}
    for line in found:
        runs.setdefault((line.data, line.seed), {})[line.way] = line
    whole = [lines for lines in runs.values() if len(lines) == len(WAYS)]
    by_set = {
        name: [lines for lines in whole if lines["single"].data == name]
        for name in sorted({lines["single"].data for lines in whole})
    }
    rows = [[name, len(of), *(_cell(of, way) for way in WAYS)] for name, of in by_set.items()]
    against = [_against(whole, way) for way in WAYS[1:]]
    return {
        "decided": {"columns": ["set", "splits", *WAYS], "rows": rows},
        "decided_against": {"columns": HEADS, "rows": against},
        "decided_rules": {
            "title": f"{len(whole)} splits of {len(by_set)} sets",
            "columns": RULE_HEADS,
            "rows": [_by_rule(whole, name) for name in RULES],
        },
    }


HEADS = [
    *("way", "ensembles", "better", "worse", "level", "sign test p", "mean gain", "Wilcoxon p"),
    *("within the limit", "the pipeline within"),
]


RULE_HEADS = [
    *("ships", "ensembles", "better", "worse", "level", "sign test p", "mean gain"),
    *("within the limit", "the pipeline within", "it alone", "the pipeline alone", "p"),
]


def _by_rule(runs: Sequence[dict[str, Line]], name: str) -> list[Any]:
    """Compare what a rule ships with the best pipeline: in the metric, and in keeping the limit."""
    pairs = [(lines["log_loss"], lines["single"]) for lines in runs]
    ours = [found if RULES[name](found, single) else single for found, single in pairs]
    single = [one for _, one in pairs]
    told = compare([-one.score for one in ours], [-one.score for one in single])
    gain = mean(one.score - other.score for one, other in zip(ours, single, strict=True))
    outside = [[float(one.fpr > BOUND) for one in some] for some in (ours, single)]
    kept = compare(*outside)
    within = [some.count(0.0) for some in outside]
    count = sum(one.way != "single" for one in ours)
    numbers = [told.wins, told.losses, told.ties, f"{told.p:.2g}", f"{gain:+.4f}"]
    return [name, count, *numbers, *within, kept.wins, kept.losses, f"{kept.p:.2g}"]


def _cell(runs: Sequence[dict[str, Line]], way: str) -> str:
    score, fpr = (mean(getattr(lines[way], name) for lines in runs) for name in ("score", "fpr"))
    return f"{score:.4f} ({fpr:.3f})"


def _against(runs: Sequence[dict[str, Line]], way: str) -> list[Any]:
    ours, single = [lines[way] for lines in runs], [lines["single"] for lines in runs]
    told = compare([-one.score for one in ours], [-one.score for one in single])
    gains = [one.score - other.score for one, other in zip(ours, single, strict=True)]
    p = float(wilcoxon(gains).pvalue) if any(gains) else 1.0
    within = [sum(one.fpr <= BOUND for one in some) for some in (ours, single)]
    counts = [sum(one.members > 1 for one in ours), told.wins, told.losses, told.ties]
    numbers = [f"{told.p:.2g}", f"{mean(gains):+.4f}", f"{p:.2g}"]
    return [way, *counts, *numbers, *within]


def main() -> None:
    """Measure what is not there yet, and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--sets", nargs="*")
    parser.add_argument("--evaluations", type=int, default=20)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--results", type=Path, default=Path("decided_ensembles.jsonl"))
    given = parser.parse_args()
    lines = given.results.read_text().splitlines() if given.results.exists() else []
    found = [Line(**json.loads(line)) for line in lines]
    known = {(one.data, one.seed) for one in found}
    for seed in range(given.first, given.first + given.seeds):
        for name, X, y in tables(given.data, given.sets):
            if (name, seed) in known:
                continue
            with tempfile.TemporaryDirectory() as folder:
                pool = pool_of(X, y, seed, given.evaluations, Path(folder))
                found += (measured := list(compare_ways(name, seed, pool)))
            with given.results.open("a", encoding="utf-8") as file:
                file.writelines(json.dumps(asdict(one)) + "\n" for one in measured)
    print(json.dumps(report(found), indent=1))


if __name__ == "__main__":
    main()
