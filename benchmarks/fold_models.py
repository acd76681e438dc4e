"""The fold models of the best pipeline, its fit on all rows, and a quicker pipeline in its place.

Each run makes a few evaluations; the three models are made of its evaluations afterwards, and
scored on rows that the run never saw. The quicker pipeline is the best one whose fits took at most
half as long as those of the best: it would ship where there is time for no more. Lines go to a
file, and a run that is there is not made again.

    python benchmarks/fold_models.py --data ../shared/data [--sets NAME…] [--evaluations 8]
"""

from __future__ import annotations

import argparse
import json
import pickle
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import pandas as pd
from ablation import METRICS
from ensembles import SHARE
from paired import compare

from automl_admm.core.evaluations import Evaluation
from automl_admm.core.protocols import Finished
from automl_admm.core.ranking import rank
from automl_admm.execution.evidence_files import hash_files, read_told
from automl_admm.execution.inline_executor import InlineExecutor
from automl_admm.pipelines.ensembles.fold_models import (
    MODELS,
    MOST_BYTES,
    FoldModels,
    Keeping,
    shipped_folds,
)
from automl_admm.pipelines.fit_results import FoldTimes
from automl_admm.pipelines.predictions.measured import Table, score_of
from automl_admm.pipelines.shipping import PICKLE
from automl_admm.plugins.records import ExecutorSetting
from automl_admm.runs.config import RunConfig
from automl_admm.runs.driving.dispatch import Dispatcher
from automl_admm.runs.finish.closing import Closing
from automl_admm.runs.finish.final_fit import Press
from automl_admm.runs.finish.model_file import load_fitted
from automl_admm.runs.pipelines import run_pipelines
from automl_admm.runs.prepare.preparation import Preparation, prepare

SETS = ("abalone", "compas", "german_credit", "ionosphere", "oil_spill", "pc4", "vehicle", "wind")
MOST_ROWS = 1000
# What ships in place of the best is quicker than this part of it.
PART = 0.5


@dataclass(frozen=True)
class Measured:
    """Held-out scores, and the processor's seconds to fit, save and measure each model.

    `quicker` is None where no evaluation was quicker. `kept_mb` is the size of the fold models,
    `keep_seconds` the time to write and hash them.
    """

    data: str
    seed: int
    evaluations: int
    models: int
    whole: float
    folds: float
    quicker: float | None
    whole_seconds: float
    folds_seconds: float
    quicker_seconds: float
    kept_mb: float
    keep_seconds: float


def measure(path: Path, seed: int, evaluations: int) -> Measured:
    """Search on a part of the rows, and compare the models on the others."""
    facts = json.loads(path.with_suffix(".json").read_text())
    is_number, target = facts["task"] == "regression", facts["target"]
    texts = [*(facts["categorical"] or ()), *([] if is_number else [target])]
    frame = pd.read_csv(path, dtype=dict.fromkeys(texts, str))
    order = np.random.default_rng(seed).permutation(len(frame))
    cut = round(SHARE * len(frame))
    train, test = frame.iloc[order[:cut][:MOST_ROWS]], frame.iloc[order[cut:]]
    with tempfile.TemporaryDirectory() as folder:
        config = RunConfig(
            task="regression" if is_number else "classification",
            scoring=METRICS[facts["task"]],
            max_evaluations=evaluations,
            executor="inline",
            random_state=seed,
            ensemble=False,
        )
        prepared = prepare(config, train.drop(columns=target), train[target])
        found = run_pipelines(prepared).result.evaluations
        return _compared(prepared, found, test, (path.stem, seed), Path(folder))


def _compared(
    prepared: Preparation,
    found: Sequence[Evaluation],
    test: Any,
    run: tuple[str, int],
    folder: Path,
) -> Measured:
    executor = InlineExecutor(prepared.work, ExecutorSetting(scratch=folder))
    press = Press(prepared.problem, Dispatcher(executor), Closing(None))
    ranked = rank(found, prepared.aims)
    best, target, classes = ranked[0], prepared.target, prepared.work.table.classes
    y = test[target].to_numpy()
    numbers = y if classes is None else np.array([list(classes).index(one) for one in y])
    table = Table(test[list(prepared.work.table.X.columns)], numbers, classes)

    def told(make: Callable[[], Finished]) -> tuple[float, float]:
        begun = time.process_time()
        finished = make()
        seconds = time.process_time() - begun
        model = load_fitted(read_told(finished, PICKLE) or b"")
        return score_of(prepared.metric, model, table), seconds

    seed = prepared.problem.seed_of(best.key)
    prepared.work.evaluate(best.candidate, seed, folder, keeping=Keeping())
    content = (folder / MODELS).read_bytes()
    kept: FoldModels = pickle.loads(content)  # noqa: S301 - this process wrote it
    begun = time.process_time()
    kept.write(folder / MODELS, MOST_BYTES)
    hash_files([folder / MODELS])
    keeping = time.process_time() - begun
    whole = told(lambda: press.fit(best))
    folds = told(lambda: press.fit_folds(best, content))
    next_best = next((one for one in ranked if _fit(one) <= PART * _fit(best)), None)
    quicker = (None, 0.0) if next_best is None else told(lambda: press.fit(next_best))
    models = len(shipped_folds(prepared.work.splits, prepared.work.table.roles))
    return Measured(
        *(*run, len(found), models, whole[0], folds[0], quicker[0]),
        *(whole[1], folds[1], quicker[1], len(content) / 1e6, keeping),
    )


def _fit(evaluation: Evaluation) -> float:
    times = FoldTimes.of(evaluation)
    return evaluation.seconds if times is None else times.fit_seconds


def report(found: Sequence[Measured]) -> None:
    """Print a line for each run, and the comparisons over all runs with a quicker pipeline."""
    print("set            seed  runs  models   whole    folds  quicker   seconds of each   kept MB")
    for one in found:
        other = "      –" if one.quicker is None else f"{one.quicker:7.4f}"
        times = f"{one.whole_seconds:.2f} {one.folds_seconds:.2f} {one.quicker_seconds:.2f}"
        print(
            f"{one.data:14} {one.seed:4}  {one.evaluations:4}  {one.models:6}  {one.whole:7.4f}  "
            f"{one.folds:7.4f}  {other}   {times}   {one.kept_mb:.2f}"
        )
    pairs = [one for one in found if one.quicker is not None]
    print("folds before whole:  ", compare([-o.folds for o in found], [-o.whole for o in found]))
    quicker = [-one.quicker for one in pairs if one.quicker is not None]
    print("folds before quicker:", compare([-o.folds for o in pairs], quicker))
    print("whole before quicker:", compare([-o.whole for o in pairs], quicker))
    print("median seconds to keep:", round(median(one.keep_seconds for one in found), 3))


def main() -> None:
    """Measure what is not there yet, and report it all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--sets", nargs="*", default=SETS)
    parser.add_argument("--evaluations", type=int, default=8)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--results", type=Path, default=Path("fold_models.jsonl"))
    given = parser.parse_args()
    lines = given.results.read_text().splitlines() if given.results.exists() else []
    found = [Measured(**json.loads(line)) for line in lines]
    known = {(one.data, one.seed) for one in found}
    for seed in range(given.seeds):
        for name in given.sets:
            if (name, seed) in known:
                continue
            found.append(measure(given.data / f"{name}.csv", seed, given.evaluations))
            with given.results.open("a") as file:
                file.write(json.dumps(asdict(found[-1])) + "\n")
    report(sorted(found, key=lambda one: (one.data, one.seed)))


if __name__ == "__main__":
    main()
