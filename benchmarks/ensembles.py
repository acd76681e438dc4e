"""The ensemble of a run against its single best pipeline, on rows that the run never saw.

Each run searches once; both models are made of its evaluations. The ensemble is fitted even where
a run would not ship it, with the gain over single pipelines that was estimated beforehand: so the
rules that decide are measured, too. Lines go to a file, and a run that is there is not made again.
The tables come after the runs, and with `--report` alone.

    python benchmarks/ensembles.py --data ../shared/data [--sets NAME…] [--evaluations 40]
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from statistics import mean, median
from typing import Any

import numpy as np
from ablation import METRICS, SHIPPED, read
from paired import compare
from peers.tasks import DataSet, find_sets
from scipy.stats import wilcoxon

from automl_admm.core.protocols import Finished
from automl_admm.data.ingest.applying import take_in
from automl_admm.execution.evidence_files import read_told
from automl_admm.execution.inline_executor import InlineExecutor
from automl_admm.pipelines.ensembles import decided, rated
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

# Larger sets are cut to so many rows to search on, and to measure on.
MOST_ROWS, MOST_TEST_ROWS = 1000, 6000
SHARE = 0.7
REPEATS = 5


@dataclass(frozen=True)
class Measured:
    """The scores of both models out of fold (`validated_…`) and on held-out rows, and their costs.

    Seconds are the processor's after the search: choosing and saving count, and the ensemble comes
    after the single pipeline.
    """

    data: str
    metric: str
    seed: int
    evaluations: int
    candidates: int
    validated_single: float
    validated_ensemble: float
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

    def ships(self, errors: float, fewest: int = 0) -> bool:
        """Return True if a rule of so many standard errors and candidates ships the ensemble.

        A loss may be taken out of fold as far as in the estimate.
        """
        if self.ensemble is None or self.candidates < fewest:
            return False
        if math.isinf(errors):
            return True
        noise = errors * self.error
        is_better = self.validated_ensemble > self.validated_single + min(noise, 0.0)
        return is_better and self.gain > noise

    def shipped(self, rule: str) -> float:
        """The score of what a rule ships less that of the single pipeline."""
        return self.difference if self.ships(*RULES[rule]) else 0.0


def measure(found: DataSet, seed: int, evaluations: int, metric: str) -> Measured:
    """Search on a part of the rows, and compare both models on the others."""
    order = np.random.default_rng(seed).permutation(len(found.X))
    cut = round(SHARE * len(found.X))
    train, test = order[:cut][:MOST_ROWS], order[cut:][:MOST_TEST_ROWS]
    with tempfile.TemporaryDirectory() as folder:
        config = RunConfig(
            grammar="default",
            task="regression" if found.kind == "regression" else "classification",
            positive=found.positive if found.kind == "binary" else None,
            scoring=metric,
            max_evaluations=evaluations,
            random_state=seed,
            work_dir=Path(folder) / "run",
            executor="inline",
            ensemble=False,
        )
        prepared = prepare(config, found.X.iloc[train], found.y.iloc[train])
        known = run_pipelines(prepared).result.evaluations
        kept = KeptPredictions(Path(folder) / "run" / "predictions", known, prepared.aims)
        rows = found.X.iloc[test], found.y.iloc[test].to_numpy()
        run = found.name, metric, seed, len(known)
        return _compared(prepared, kept, rows, run, Path(folder))


def _compared(
    prepared: Preparation,
    kept: KeptPredictions,
    test: tuple[Any, Any],
    run: tuple[str, str, int, int],
    folder: Path,
) -> Measured:
    from automl_admm.pipelines.predictions.measured import Table, score_of

    executor = InlineExecutor(prepared.work, ExecutorSetting(scratch=folder))
    press = Press(prepared.problem, Dispatcher(executor), Closing(None))
    best, begun = kept.evaluations[0], time.process_time()
    single = press.fit(best)
    alone = time.process_time() - begun
    refit = Refit(best, FinalFitResult.from_json(single.result))
    expect = partial(expected_seconds, effort_of(prepared.work))
    fit = EnsembleFit(prepared, press, expect, refit, {best.key: single}, fewest=2)
    begun = time.process_time()
    pool = read_pool(prepared, kept)
    whole = fit.run(pool)
    spent = time.process_time() - begun
    rows, y = take_in(test[0], prepared.ingest).made, test[1]
    classes = prepared.work.table.classes
    numbers = y if classes is None else np.array([list(classes).index(label) for label in y])
    table = Table(rows, numbers, classes)

    def told(finished: Finished) -> tuple[float, float]:
        model = load_fitted(read_told(finished, PICKLE) or b"")
        return score_of(prepared.metric, model, table), _latency(model, rows)

    score, latency = told(single)
    validated = prepared.metric.score(best.loss)
    first = (*run, len(pool.evaluations), validated)
    if whole is None or whole[0].ensemble is None:
        nothing = (math.nan, math.nan, alone, alone + spent)
        return Measured(*first, validated, score, None, 1, *nothing, latency, latency)
    ensemble = whole[0].ensemble
    other, slower = told(whole[1])
    return Measured(
        *(*first, prepared.metric.score(whole[0].evaluation.loss)),
        *(score, other, len(ensemble.members), ensemble.gain, ensemble.error),
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


# When an ensemble ships: from so many standard errors on, with so many candidates.
RULES = {
    "always": (-math.inf, 0),
    "always, of 8": (-math.inf, 8),
    "unless worse": (-1.0, 0),
    "unless worse, of 8": (-1.0, 8),
    "with a gain": (0.0, 0),
    "with a gain, of 8": (0.0, 8),
    "1 error": (1.0, 0),
    "1 error, of 8": (1.0, 8),
    "2 errors, of 8": (2.0, 8),
}
HEADS = ["ships", "ensembles", "better", "worse", "level", "sign test p", "gain in spreads"]
HEADS += ["Wilcoxon p", "worst"]


def report(found: Sequence[Measured]) -> dict[str, Any]:
    """Return what each rule ships against the best pipeline, in all and by metric, and the costs.

    Metrics have units of their own: a gain is in spreads of the score of a set over its splits, and
    a set without a spread counts in the other columns alone.
    """
    units = {name: _unit([one for one in found if one.data == name]) for name in _names(found)}
    kinds = {"all": found} | {
        metric: [one for one in found if one.metric == metric]
        for metric in sorted({one.metric for one in found})
    }
    tables = {
        f"rules-{name}": {
            "title": f"{len(some)} splits of {len(_names(some))} sets",
            "columns": HEADS,
            "rows": [_row(some, units, rule) for rule in RULES],
        }
        for name, some in kinds.items()
        if some
    }
    sets = [_of_set([one for one in found if one.data == name]) for name in units]
    return {
        **tables,
        "between": {
            "title": f"{len(found)} splits of {len(units)} sets",
            "columns": BETWEEN_HEADS,
            "rows": [_between(found, units, *pair) for pair in BETWEEN],
        },
        "sets": {"columns": SET_HEADS, "rows": sets},
        "costs": {"columns": COSTS, "rows": [_costs(found)]},
    }


# A rule, and the one that it is compared with.
BETWEEN = (
    ("with a gain, of 8", "1 error, of 8"),
    ("unless worse, of 8", "with a gain, of 8"),
    ("always, of 8", "with a gain, of 8"),
)
BETWEEN_HEADS = ["ships", "in place of", *HEADS[2:]]


def _between(
    found: Sequence[Measured], units: Mapping[str, float], rule: str, other: str
) -> list[Any]:
    """Return what one rule ships against what another one ships."""
    gains = [one.shipped(rule) - one.shipped(other) for one in found]
    return [rule, other, *_told(found, units, gains)]


SET_HEADS = ["set", "metric", "splits", "best pipeline", "ensemble", "better", "worse", "level"]


def _of_set(found: Sequence[Measured]) -> list[Any]:
    """Return the mean scores of a set; without several members the pipeline stands for both."""
    told = compare([-round(one.difference, 6) for one in found], [0.0] * len(found))
    single = mean(one.single for one in found)
    other = mean(one.single + one.difference for one in found)
    numbers = [f"{single:.4f}", f"{other:.4f}", told.wins, told.losses, told.ties]
    return [found[0].data, found[0].metric, len(found), *numbers]


def _names(found: Sequence[Measured]) -> list[str]:
    return sorted({one.data for one in found})


def _unit(found: Sequence[Measured]) -> float:
    """Return the spread of the single pipeline's score; of one split nobody knows it."""
    return float(np.std([one.single for one in found], ddof=1)) if len(found) > 1 else math.nan


def _row(found: Sequence[Measured], units: Mapping[str, float], rule: str) -> list[Any]:
    """Return what a rule ships against the best pipeline."""
    several = sum(one.ships(*RULES[rule]) for one in found)
    return [rule, several, *_told(found, units, [one.shipped(rule) for one in found])]


def _told(
    found: Sequence[Measured], units: Mapping[str, float], gains: Sequence[float]
) -> list[Any]:
    """Return how often a gain is above, below and at 0, and its size in spreads, with tests."""
    rounded = [round(gain, 6) for gain in gains]
    told = compare([-gain for gain in rounded], [0.0] * len(rounded))
    pairs = [(units[one.data], gain) for one, gain in zip(found, gains, strict=True)]
    scaled = [gain / unit for unit, gain in pairs if unit > 0]
    p = float(wilcoxon(scaled).pvalue) if any(scaled) else 1.0
    sizes = (f"{mean(scaled):+.3f}", f"{p:.2g}", f"{min(scaled):+.2f}") if scaled else ("none",) * 3
    return [told.wins, told.losses, told.ties, f"{told.p:.2g}", *sizes]


COSTS = ["ensembles", "members", "processor seconds of the final fit", "latency"]


def _costs(found: Sequence[Measured]) -> list[Any]:
    """Return medians over the ensembles; costs are ratios to the single pipeline."""
    several = [one for one in found if one.ensemble is not None]
    if not several:
        return [0, 0, "none", "none"]
    fits = median(one.seconds_ensemble / one.seconds_single for one in several)
    slower = median(one.us_ensemble / one.us_single for one in several)
    return [
        *(len(several), f"{median(one.members for one in several):g}"),
        *(f"{fits:.1f} times", f"{slower:.1f} times"),
    ]


def main() -> None:
    """Measure what is not there yet, and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--sets", nargs="*", help="[default: those of the folder and SHIPPED]")
    parser.add_argument("--metric", help="of classes, in place of the one of the kind of task")
    parser.add_argument("--evaluations", type=int, default=40)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--results", type=Path, default=Path("build/ensembles.jsonl"))
    parser.add_argument("--report", action="store_true", help="print the tables, run nothing")
    given = parser.parse_args()
    # Every ensemble is fitted: the report asks which of them a rule would have shipped.
    rated.ERRORS = decided.ERRORS = -math.inf
    lines = given.results.read_text().splitlines() if given.results.exists() else []
    found = [Measured(**json.loads(line)) for line in lines]
    known = {(one.data, one.seed) for one in found}
    sets = given.sets or [*SHIPPED, *find_sets([given.data])]
    given.results.parent.mkdir(parents=True, exist_ok=True)
    for seed in [] if given.report else range(given.first, given.first + given.seeds):
        for name in sets:
            if (name, seed) in known:
                continue
            one = read(name, given.data)
            is_usual = given.metric is None or one.kind == "regression"
            metric = METRICS[one.kind] if is_usual else given.metric
            found.append(measure(one, seed, given.evaluations, metric))
            with given.results.open("a") as file:
                file.write(json.dumps(asdict(found[-1])) + "\n")
            sys.stderr.write(f"{name} {seed}\n")
    sys.stdout.write(json.dumps(report(found), indent=1) + "\n")


if __name__ == "__main__":
    main()
