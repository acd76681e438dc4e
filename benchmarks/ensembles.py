"""The ensemble of a run against its single best pipeline, on rows that the run never saw.

Each run searches once; both models are made of its evaluations. The ensemble is fitted even where
a run would not ship it, with the gain over single pipelines that was estimated beforehand: so the
rule that decides is measured, too. Lines go to a file, and a run that is there is not made again.

    python benchmarks/ensembles.py --data ../shared/data [--sets NAME…] [--evaluations 30]
"""

from __future__ import annotations

import argparse
import json
import math
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from statistics import mean, median
from typing import Any

import numpy as np
import pandas as pd
from paired import compare
from scipy.stats import wilcoxon

from automl_admm.core.protocols import Finished
from automl_admm.execution.evidence_files import read_told
from automl_admm.execution.inline_executor import InlineExecutor
from automl_admm.pipelines.ensembles import rated
from automl_admm.pipelines.fit_results import FinalFitResult
from automl_admm.pipelines.shipping import PICKLE
from automl_admm.plugins.records import ExecutorSetting
from automl_admm.runs.config import RunConfig
from automl_admm.runs.driving.dispatch import Dispatcher
from automl_admm.runs.finish.closing import Closing
from automl_admm.runs.finish.effort import effort_of, expected_seconds
from automl_admm.runs.finish.ensemble_fit import EnsembleFit, read_pool
from automl_admm.runs.finish.final_fit import Press, Refit
from automl_admm.runs.finish.model_file import load_fitted
from automl_admm.runs.kept_predictions import KeptPredictions
from automl_admm.runs.pipelines import run_pipelines
from automl_admm.runs.prepare.preparation import Preparation, prepare

METRICS = {"binary": "roc_auc", "multiclass": "neg_log_loss", "regression": "r2"}
# Larger sets are cut to so many rows to search on.
MOST_ROWS = 4000
SHARE = 0.7
REPEATS = 5


@dataclass(frozen=True)
class Measured:
    """The scores of both models on held-out rows, and what they cost.

    Seconds are the processor's after the search: choosing and saving count, and the ensemble comes
    after the single pipeline.
    """

    data: str
    seed: int
    evaluations: int
    single: float
    ensemble: float | None
    members: int
    gain: float
    error: float
    seconds_single: float
    seconds_ensemble: float
    us_single: float
    us_ensemble: float

    @property
    def difference(self) -> float:
        """The score of the ensemble less that of the single pipeline; 0 without an ensemble."""
        return 0.0 if self.ensemble is None else self.ensemble - self.single

    def ships(self, errors: float) -> bool:
        """Return True if a rule of so many standard errors ships the ensemble."""
        return self.ensemble is not None and self.gain > errors * self.error


def measure(path: Path, seed: int, evaluations: int, grammar: str) -> Measured:
    """Search on a part of the rows, and compare both models on the others."""
    facts = json.loads(path.with_suffix(".json").read_text())
    texts = [*(facts["categorical"] or ()), *_class_column(facts)]
    frame = pd.read_csv(path, dtype=dict.fromkeys(texts, str))
    order = np.random.default_rng(seed).permutation(len(frame))
    cut = round(SHARE * len(frame))
    train, test = frame.iloc[order[:cut][:MOST_ROWS]], frame.iloc[order[cut:]]
    with tempfile.TemporaryDirectory() as folder:
        config = RunConfig(
            grammar=grammar,
            task="regression" if facts["task"] == "regression" else "classification",
            scoring=METRICS[facts["task"]],
            max_evaluations=evaluations,
            random_state=seed,
            work_dir=Path(folder) / "run",
            executor="inline",
            ensemble=False,
        )
        target = facts["target"]
        prepared = prepare(config, train.drop(columns=target), train[target])
        found = run_pipelines(prepared).result.evaluations
        kept = KeptPredictions(Path(folder) / "run" / "predictions", found, prepared.aims)
        return _compared(prepared, kept, test, (path.stem, seed, len(found)), Path(folder))


def _class_column(facts: dict[str, Any]) -> list[str]:
    return [] if facts["task"] == "regression" else [facts["target"]]


def _compared(
    prepared: Preparation, kept: KeptPredictions, test: Any, run: tuple[str, int, int], folder: Path
) -> Measured:
    from automl_admm.pipelines.predictions.measured import Table, score_of

    executor = InlineExecutor(prepared.work, ExecutorSetting(scratch=folder))
    press = Press(prepared.problem, Dispatcher(executor), Closing(None))
    best, begun = kept.evaluations[0], time.process_time()
    single = press.fit(best)
    alone = time.process_time() - begun
    refit = Refit(best, FinalFitResult.from_json(single.result))
    expect = partial(expected_seconds, effort_of(prepared.work))
    fit = EnsembleFit(prepared, press, expect, refit, {best.key: single})
    begun = time.process_time()
    whole = fit.run(read_pool(prepared, kept))
    spent = time.process_time() - begun
    target = prepared.target
    rows, y = test.drop(columns=target), test[target].to_numpy()
    classes = prepared.work.table.classes
    numbers = y if classes is None else np.array([list(classes).index(label) for label in y])
    table = Table(rows, numbers, classes)

    def told(finished: Finished) -> tuple[float, float]:
        model = load_fitted(read_told(finished, PICKLE) or b"")
        return score_of(prepared.metric, model, table), _latency(model, rows)

    score, latency = told(single)
    if whole is None or whole[0].ensemble is None:
        nothing = (math.nan, math.nan, alone, alone + spent)
        return Measured(*run, score, None, 1, *nothing, latency, latency)
    ensemble = whole[0].ensemble
    other, slower = told(whole[1])
    return Measured(
        *(*run, score, other, len(ensemble.members), ensemble.gain, ensemble.error),
        *(alone, alone + spent, latency, slower),
    )


def _latency(model: Any, rows: Any) -> float:
    """Return the processor's microseconds for a row, the least of some repeats."""
    seconds = []
    for _ in range(REPEATS):
        begun = time.process_time()
        model.predict(rows)
        seconds.append(time.process_time() - begun)
    return 1e6 * min(seconds) / len(rows)


def report(found: Sequence[Measured]) -> None:
    """Print a line for each run, then what rules of several strengths would have shipped."""
    print("set            seed   single  ensemble  members    gain ± error   seconds   µs a row")
    for one in found:
        other = "     –" if one.ensemble is None else f"{one.ensemble:.4f}"
        seconds = f"{one.seconds_single:.1f}→{one.seconds_ensemble:.1f}"
        print(
            f"{one.data:14} {one.seed:4}   {one.single:.4f}   {other:>7}  {one.members:7}  "
            f"{one.gain:+.4f} ± {one.error:.4f}  {seconds}  "
            f"{one.us_single:.0f}→{one.us_ensemble:.0f}"
        )
    print("\nrule             ships  wins/losses/ties            mean gain  Wilcoxon p  worst")
    for name, errors in (
        ("always", -math.inf),
        ("gain > 0", 0.0),
        ("1 error", 1.0),
        ("2 errors", 2.0),
    ):
        shipped = [one.difference if one.ships(errors) else 0.0 for one in found]
        count = sum(one.ships(errors) for one in found)
        told = compare([-value for value in shipped], [0.0] * len(shipped))
        p = float(wilcoxon(shipped).pvalue) if any(shipped) else 1.0
        print(
            f"{name:16} {count:2}/{len(found):2}  {told!s:26} {mean(shipped):+.5f}  {p:10.2g}  "
            f"{min(shipped):+.4f}"
        )
    several = [one for one in found if one.ensemble is not None]
    if several:
        fits = median(one.seconds_ensemble / one.seconds_single for one in several)
        slower = median(one.us_ensemble / one.us_single for one in several)
        print(
            f"\nmedians of {len(several)} ensembles: {median(one.members for one in several):g} "
            f"members, {fits:.1f} times the processor's seconds of the "
            f"final fit, {slower:.1f} times the latency"
        )


def main() -> None:
    """Measure what is not there yet, and report it all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--sets", nargs="*")
    parser.add_argument("--grammar", default="default")
    parser.add_argument("--evaluations", type=int, default=30)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--results", type=Path, default=Path("ensembles.jsonl"))
    given = parser.parse_args()
    # Every ensemble is fitted: the report asks which of them a rule would have shipped.
    rated.ERRORS = -math.inf
    lines = given.results.read_text().splitlines() if given.results.exists() else []
    found = [Measured(**json.loads(line)) for line in lines]
    known = {(one.data, one.seed) for one in found}
    paths = sorted(given.data.glob("*.csv"))
    for seed in range(given.seeds):
        for path in paths:
            if (path.stem, seed) in known or (given.sets and path.stem not in given.sets):
                continue
            found.append(measure(path, seed, given.evaluations, given.grammar))
            with given.results.open("a") as file:
                file.write(json.dumps(asdict(found[-1])) + "\n")
    report(sorted(found, key=lambda one: (one.data, one.seed)))


if __name__ == "__main__":
    main()
