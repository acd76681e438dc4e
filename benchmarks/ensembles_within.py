"""Ensembles within limits that no threshold moves, by ways to choose, beside the best pipeline.

Each set is searched once a split and limit: for AUC within a gap of AUC between two halves of a
column, or a calibration error; for R² within a gap of the mean absolute error, or a quantile of the
error. A bound is a share of what boosting with default settings has out of fold on the same
rows, and the halves are of the column of numbers with the largest gap there. All ways choose among
pipelines of the same search by the same out-of-fold predictions, and are measured on rows that the
run never saw:

- `loss`: by the metric alone, of the 20 best within the limit, as it was;
- `within`: within the limit, of the same candidates;
- `mixed`: half of the candidates are the best by the metric, within or not, as is built in.

Lines go to a file, and what is there is not made again.

    python benchmarks/ensembles_within.py --data ../shared/data --sets NAME… [--seeds 2]
"""

from __future__ import annotations

import argparse
import json
import pickle
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from statistics import mean
from typing import Any

import numpy as np
import pandas as pd
from paired import compare
from scipy.stats import wilcoxon
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.metrics import mean_absolute_error, r2_score, roc_auc_score
from sklearn.model_selection import cross_val_predict, train_test_split

from automl_admm.core.space import Array
from automl_admm.execution.evidence_files import read_told
from automl_admm.execution.inline_executor import InlineExecutor
from automl_admm.pipelines.ensembles.choice import Choice, choose
from automl_admm.pipelines.ensembles.greedy import Counts, Purse, blend
from automl_admm.pipelines.ensembles.rated import Rated
from automl_admm.pipelines.ensembles.task import evaluate_predictions
from automl_admm.pipelines.ensembles.within import Within
from automl_admm.pipelines.shipping import PICKLE
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

# Rows to search on, and at most to measure on.
MOST_ROWS, MOST_TEST_ROWS, SHARE = 1500, 6000, 0.5
# The share of what boosting has.
LIMITS = {
    "binary": {"auc_gap": 0.5, "calibration_error": 0.7},
    "regression": {"mae_gap": 0.5, "abs_error_quantile_90": 0.95},
}
WAYS = ("loss", "within", "mixed")


@dataclass(frozen=True)
class Line:
    """One way on one split: out of fold, and on rows that the run never saw."""

    data: str
    limit: str
    bound: float
    seed: int
    way: str
    members: int
    validated: float
    limited: float
    score: float
    value: float
    gain: float
    ships: bool
    seconds: float


@dataclass(frozen=True, eq=False)
class Task:
    """A set with a limit; `column` and `cut` divide its rows, if the limit is a gap."""

    name: str
    X: pd.DataFrame
    y: Any
    is_classes: bool
    kind: str
    bound: float = 0.0
    column: str | None = None
    cut: float = 0.0

    @property
    def limit(self) -> str:
        """The name of the limit as a run takes it."""
        return self.kind if self.column is None else f"{self.kind}[{self.column}:q2]"

    def value(self, places: Any, found: Array) -> float:
        """Return the value of the limit on some rows, given their predictions."""
        y = self.y[places]
        if self.kind == "calibration_error":
            bins = np.array_split(np.argsort(found, kind="stable"), 10)
            return float(np.mean([abs(found[one].mean() - y[one].mean()) for one in bins]))
        if self.column is None:
            return float(np.quantile(np.abs(y - found), 0.9))
        upper = self.X[self.column].to_numpy()[places] > self.cut
        measure = roc_auc_score if self.is_classes else mean_absolute_error
        sides = [float(measure(y[one], found[one])) for one in (upper, ~upper)]
        return abs(sides[0] - sides[1])

    def score(self, places: Any, found: Array) -> float:
        """Return the AUC or R² on some rows."""
        measure = roc_auc_score if self.is_classes else r2_score
        return float(measure(self.y[places], found))


def tasks(folder: Path, names: Sequence[str]) -> Iterator[Task]:
    """Yield each set with each kind of limit, without a bound."""
    for name in names:
        facts = json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))
        types = dict.fromkeys(facts["categorical"], "category")
        frame = pd.read_csv(folder / f"{name}.csv", dtype=types)
        y, is_classes = frame.pop(facts["target"]), facts["task"] == "binary"
        if is_classes:
            y = y.astype(str) == str(facts["positive"])
        for kind in LIMITS[facts["task"]]:
            yield Task(name, frame, y.to_numpy().astype(float), is_classes, kind)


def bounded(task: Task, train: Any) -> Task:
    """Return the task with its bound, and the halves with the largest gap, by boosting."""
    X, y = task.X.iloc[train].select_dtypes("number"), task.y[train]
    if task.is_classes:
        model, method = HistGradientBoostingClassifier(random_state=0), "predict_proba"
    else:
        model, method = HistGradientBoostingRegressor(random_state=0), "predict"
    found = cross_val_predict(model, X, y, cv=5, method=method)
    found = found[:, 1] if task.is_classes else found
    gaps = [replace(task, column=one, cut=float(X[one].median())) for one in _divisible(X)]
    several = gaps if task.kind.endswith("_gap") else [task]
    widest = max(several, key=lambda one: one.value(train, found))
    share = LIMITS["binary" if task.is_classes else "regression"][task.kind]
    return replace(widest, bound=float(f"{share * widest.value(train, found):.4g}"))


def _divisible(X: pd.DataFrame) -> list[str]:
    return [one for one in X.columns if X[one].nunique() > 9 and X[one].notna().all()]


@dataclass(frozen=True, eq=False)
class Found:
    """Pipelines of one search, by number: predictions out of fold, and of rows it never saw."""

    work: PipelineWork
    best: int
    pools: dict[str, list[int]]
    validated: dict[int, Array] = field(default_factory=dict)
    unseen: dict[int, Array] = field(default_factory=dict)


def search(task: Task, train: Any, test: Any, seed: int, evaluations: int, folder: Path) -> Found:
    """Search on some rows, and predict the others by all pipelines that may be members."""
    labels = np.where(task.y == 1.0, "yes", "no") if task.is_classes else task.y
    config = RunConfig(
        grammar="default",
        task="classification" if task.is_classes else "regression",
        positive="yes" if task.is_classes else None,
        scoring="roc_auc" if task.is_classes else "r2",
        constraints=(f"{task.limit} <= {task.bound}",),
        max_evaluations=evaluations,
        random_state=seed,
        work_dir=folder / "run",
        executor="inline",
        ensemble=False,
    )
    X = task.X.iloc[train].reset_index(drop=True)
    prepared = prepare(config, X, pd.Series(labels[train]))
    known = run_pipelines(prepared).result.evaluations
    place = folder / "run" / "predictions"
    kept = {
        outside: KeptPredictions(
            place, known, prepared.aims, together=prepared.aims if outside else ()
        )
        for outside in (False, True)
    }
    read = {outside: read_pool(prepared, one) for outside, one in kept.items()}
    numbers = {key: [one.number for one in pool.evaluations] for key, pool in read.items()}
    pools = {way: numbers[way == "mixed"] for way in WAYS}
    found = Found(prepared.work, numbers[False][0], pools)
    executor = InlineExecutor(prepared.work, ExecutorSetting(scratch=folder))
    press = Press(prepared.problem, Dispatcher(executor), Closing(None))
    rows = task.X.iloc[test].reset_index(drop=True)[prepared.work.table.names]
    for pool in read.values():
        for evaluation, predicted in zip(pool.evaluations, pool.predictions, strict=True):
            if evaluation.number not in found.validated:
                content = read_told(press.fit(evaluation, ships=False), PICKLE) or b""
                model = pickle.loads(content)  # noqa: S301
                found.validated[evaluation.number] = predicted
                found.unseen[evaluation.number] = _answers(model, rows, task)
    return found


def _answers(model: Any, rows: pd.DataFrame, task: Task) -> Array:
    if not task.is_classes:
        return np.asarray(model.predict(rows), dtype=float)
    yes: Array = model.predict_proba(rows)[:, list(model.classes_).index("yes")]
    return yes


def compare_ways(task: Task, seed: int, evaluations: int, folder: Path) -> Iterator[Line]:
    """Measure the best pipeline, and what each way would ship."""
    train, test = train_test_split(
        np.arange(len(task.y)),
        train_size=min(MOST_ROWS, int(SHARE * len(task.y))),
        stratify=task.y if task.is_classes else None,
        random_state=seed,
    )
    task, test = bounded(task, train), test[:MOST_TEST_ROWS]
    found = search(task, train, test, seed, evaluations, folder)
    work = found.work
    rated = Rated.of(work.metric, work.table, work.splits)
    single = _line(task, seed, "single", found, test, [found.best], Choice(np.array([1])))
    yield single
    for way, numbers in found.pools.items():
        begun = time.process_time()
        given = np.stack([found.validated[one] for one in numbers])
        within = None if way == "loss" else Within.of(work)
        choice = choose(given, rated, Purse.unlimited(len(given)), None, within)
        seconds = time.process_time() - begun
        line = _line(task, seed, way, found, test, numbers, choice)
        yield Line(**asdict(line) | {"seconds": seconds, "ships": _ships(line, single, choice)})


def _ships(line: Line, single: Line, choice: Choice) -> bool:
    """Return True where the package would ship the ensemble."""
    if not choice.is_better or line.limited > line.bound:
        return False
    return single.limited > single.bound or line.validated > single.validated


def _line(
    task: Task, seed: int, way: str, found: Found, test: Any, numbers: list[int], choice: Choice
) -> Line:
    counts: Counts = choice.counts if choice.counts.any() else np.eye(len(numbers), dtype=int)[0]
    mean_of = {
        key: blend(np.stack([known[one] for one in numbers]), counts)
        for key, known in (("validated", found.validated), ("unseen", found.unseen))
    }
    judged = evaluate_predictions(found.work, mean_of["validated"])
    return Line(
        data=task.name,
        limit=task.limit,
        bound=task.bound,
        seed=seed,
        way=way,
        members=int((counts > 0).sum()),
        validated=found.work.metric.score(judged.loss),
        limited=judged.constraints[0],
        score=task.score(test, mean_of["unseen"]),
        value=task.value(test, mean_of["unseen"]),
        gain=choice.gain,
        ships=False,
        seconds=0.0,
    )


HEADS = [
    *("way", "ensembles", "better", "worse", "level", "sign test p", "mean gain", "Wilcoxon p"),
    *("within the limit", "the pipeline within", "it alone", "the pipeline alone", "p", "seconds"),
]


BETWEEN = [
    *("ships", "in place of", "better", "worse", "level", "sign test p", "mean gain"),
    *("Wilcoxon p", "it alone within", "the other alone", "p"),
]
PAIRS = (("within", "loss"), ("mixed", "loss"), ("mixed", "within"))


def report(found: Sequence[Line]) -> dict[str, Any]:
    """Return the tables of ensembles.json: each way against the best pipeline, and each set."""
    runs: dict[tuple[str, str, int], dict[str, Line]] = {}
    for line in found:
        runs.setdefault((line.data, line.limit, line.seed), {})[line.way] = line
    whole = [lines for lines in runs.values() if len(lines) == 1 + len(WAYS)]
    sets = sorted({lines["single"].data for lines in whole})
    kinds = sorted({(lines["single"].data, _kind(lines["single"])) for lines in whole})
    rows = [
        _row([one for one in whole if (one["single"].data, _kind(one["single"])) == key], *key)
        for key in kinds
    ]
    return {
        "within": {
            "title": f"{len(whole)} splits of {len(sets)} sets",
            "columns": HEADS,
            "rows": [_against(whole, way) for way in WAYS],
        },
        "within_between": {
            "title": "one way in place of another, the same splits",
            "columns": BETWEEN,
            "rows": [_between(whole, *pair) for pair in PAIRS],
        },
        "within_sets": {
            "columns": ["set", "limit", "splits", "best pipeline", *WAYS],
            "rows": rows,
        },
    }


def _kind(line: Line) -> str:
    return line.limit.partition("[")[0]


def _shipped(lines: dict[str, Line], way: str) -> Line:
    return lines[way] if lines[way].ships else lines["single"]


def _row(runs: Sequence[dict[str, Line]], name: str, kind: str) -> list[Any]:
    cells = []
    for way in ("single", *WAYS):
        some = [lines["single"] if way == "single" else _shipped(lines, way) for lines in runs]
        share = mean(one.value / one.bound for one in some)
        cells.append(f"{mean(one.score for one in some):.4f} ({share:.2f})")
    return [name, kind, len(runs), *cells]


def _against(runs: Sequence[dict[str, Line]], way: str) -> list[Any]:
    ours, single = [_shipped(one, way) for one in runs], [one["single"] for one in runs]
    within = [sum(one.value <= one.bound for one in some) for some in (ours, single)]
    scores, kept = _compared(ours, single)
    seconds = f"{mean(one[way].seconds for one in runs):.2f}"
    return [way, sum(one.way != "single" for one in ours), *scores, *within, *kept, seconds]


def _between(runs: Sequence[dict[str, Line]], way: str, other: str) -> list[Any]:
    scores, kept = _compared(*([_shipped(one, name) for one in runs] for name in (way, other)))
    return [way, other, *scores, *kept]


def _compared(ours: Sequence[Line], theirs: Sequence[Line]) -> tuple[list[Any], list[Any]]:
    """Compare what two rules ship: in the metric, and in keeping the limit."""
    told = compare([-one.score for one in ours], [-one.score for one in theirs])
    gains = [one.score - other.score for one, other in zip(ours, theirs, strict=True)]
    p = float(wilcoxon(gains).pvalue) if any(gains) else 1.0
    kept = compare(*([float(one.value > one.bound) for one in some] for some in (ours, theirs)))
    numbers = [f"{told.p:.2g}", f"{mean(gains):+.4f}", f"{p:.2g}"]
    scores = [told.wins, told.losses, told.ties, *numbers]
    return scores, [kept.wins, kept.losses, f"{kept.p:.2g}"]


def main() -> None:
    """Measure what is not there yet, and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--sets", nargs="*", required=True)
    parser.add_argument("--evaluations", type=int, default=30)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--results", type=Path, default=Path("ensembles_within.jsonl"))
    given = parser.parse_args()
    lines = given.results.read_text().splitlines() if given.results.exists() else []
    found = [Line(**json.loads(line)) for line in lines]
    known = {(one.data, _kind(one), one.seed) for one in found}
    for seed in range(given.first, given.first + given.seeds):
        for task in tasks(given.data, given.sets):
            if (task.name, task.kind, seed) in known:
                continue
            with tempfile.TemporaryDirectory() as folder:
                made = list(compare_ways(task, seed, given.evaluations, Path(folder)))
            found += made
            with given.results.open("a", encoding="utf-8") as file:
                file.writelines(json.dumps(asdict(one)) + "\n" for one in made)
    print(json.dumps(report(found), indent=1))


if __name__ == "__main__":
    main()
