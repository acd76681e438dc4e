"""The same searches with the portfolio and without, on sets that it never saw.

Both have the same rows, splits and seeds, and as many evaluations, one worker, in this process. The
best validation loss is read after so many evaluations, and after so many processor seconds, those
of the solvers included; the score on held-out rows is that of the model that ships. Lines go to a
file, and a run that is there is not made again.

    python -m benchmarks.portfolio.compare FOLDER… --results compare.jsonl [--sets NAME…]
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import mean
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import wilcoxon
from threadpoolctl import threadpool_limits

from automl_admm.core.evaluations import Evaluation
from automl_admm.runs.config import RunConfig
from automl_admm.runs.pipelines import run_pipelines
from automl_admm.runs.prepare.preparation import Preparation, prepare

from .runs import METRICS

MOST_ROWS = 1500
TEST_SHARE = 0.3
AFTER = (2, 4, 8, 16, 24)
SECONDS = (2.0, 5.0, 10.0)


@dataclass
class Watch:
    """Notes the best loss and the processor's seconds after each evaluation."""

    begun: float = field(default_factory=time.process_time)
    best: float = math.inf
    losses: list[float] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)

    def evaluation_finished(self, evaluation: Evaluation) -> None:
        """Note an evaluation."""
        if evaluation.is_ranked:
            self.best = min(self.best, evaluation.loss)
        self.losses.append(self.best)
        self.seconds.append(round(time.process_time() - self.begun, 2))


@dataclass(frozen=True)
class Searched:
    """One search: its losses and seconds, evaluation by evaluation, and the score that ships."""

    data: str
    seed: int
    portfolio: bool
    losses: list[float]
    seconds: list[float]
    held_out: float

    def after(self, count: int) -> float:
        """The best loss after so many evaluations."""
        return self.losses[min(count, len(self.losses)) - 1]

    def at(self, seconds: float) -> float:
        """The best loss after so many seconds; that of the first evaluation before it ended."""
        return self.losses[max(int(np.searchsorted(self.seconds, seconds, "right")) - 1, 0)]


def search_on(
    path: Path, seed: int, most_rows: int = MOST_ROWS, **settings: Any
) -> tuple[Watch, float]:
    """Search once; return what was noted, and the score of the model on held-out rows."""
    watch = Watch()
    outcome = run_pipelines(prepare_on(path, seed, most_rows, callbacks=(watch,), **settings))
    score = outcome.refit.measured.held_out_score
    return watch, math.nan if score is None else score


def prepare_on(path: Path, seed: int, most_rows: int = MOST_ROWS, **settings: Any) -> Preparation:
    """Prepare a search on rows of a set, with a third of them to validate unless settings say."""
    facts = json.loads(path.with_suffix(".json").read_text("utf-8"))
    is_class, target = facts["task"] != "regression", facts["target"]
    texts = [*(facts["categorical"] or ()), *([target] if is_class else [])]
    frame = pd.read_csv(path, dtype=dict.fromkeys(texts, str))
    frame = frame.sample(min(most_rows, len(frame)), random_state=seed)
    usual: dict[str, Any] = {
        "task": "classification" if is_class else "regression",
        "scoring": METRICS[facts["task"]],
        "positive": facts.get("positive"),
        "cv": 0.33,
    }
    config = RunConfig(
        random_state=seed, test_size=TEST_SHARE, executor="inline", **usual | settings
    )
    y = frame.pop(target)
    return prepare(config, frame, y)


def search(path: Path, seed: int, evaluations: int, *, portfolio: bool) -> Searched:
    """Search once, with the portfolio or without."""
    watch, held_out = search_on(path, seed, max_evaluations=evaluations, portfolio=portfolio)
    return Searched(path.stem, seed, portfolio, watch.losses, watch.seconds, held_out)


def differences(found: Sequence[Searched]) -> Iterator[tuple[str, list[float], list[float]]]:
    """Yield the losses without and with a portfolio, by the point where they are read."""
    pairs = {(one.data, one.seed, one.portfolio): one for one in found}
    both = [
        (pairs[data, seed, False], pairs[data, seed, True])
        for data, seed, has in sorted(pairs)
        if has and (data, seed, False) in pairs
    ]
    for count in AFTER:
        named = f"after {count} evaluations"
        yield named, [a.after(count) for a, _ in both], [b.after(count) for _, b in both]
    for limit in SECONDS:
        yield f"after {limit:g} s", [a.at(limit) for a, _ in both], [b.at(limit) for _, b in both]
    yield "held out", [-a.held_out for a, _ in both], [-b.held_out for _, b in both]


def report(found: Sequence[Searched]) -> None:
    """Print a line for each search, then how often which was better."""
    out = sys.stdout.write
    out(f"{'set':16} seed portfolio{''.join(f'{n:>8}' for n in AFTER)}  seconds  held out\n")
    for one in sorted(found, key=lambda one: (one.data, one.seed, one.portfolio)):
        losses = "".join(f"{one.after(count):8.4f}" for count in AFTER)
        has = "yes" if one.portfolio else "no"
        ended = f"{one.seconds[-1]:9.1f}{one.held_out:10.4f}"
        out(f"{one.data:16} {one.seed:4} {has:>9}{losses}{ended}\n")
    out("\nwith the portfolio          wins/losses/ties mean of the ratio  Wilcoxon p\n")
    for name, without, having in differences(found):
        pairs = list(zip(having, without, strict=True))
        wins, lost = sum(a < b for a, b in pairs), sum(a > b for a, b in pairs)
        told = f"{wins}/{lost}/{len(pairs) - wins - lost}"
        changes = [b - a for a, b in zip(without, having, strict=True)]
        p = float(wilcoxon(changes).pvalue) if any(changes) else 1.0
        # A score, other than a loss, has no zero to divide by.
        is_loss = min(without) > 0.0
        ratio = f"{mean(b / a for b, a in pairs):.3f}" if is_loss else "–"
        out(f"{name:26}  {told:16} {ratio:>17}  {p:10.3f}\n")


def main() -> None:
    """Search what is not there yet, and report it all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", type=Path, nargs="+")
    parser.add_argument("--sets", nargs="*")
    parser.add_argument("--evaluations", type=int, default=24)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--results", type=Path, default=Path("compare.jsonl"))
    given = parser.parse_args()
    lines = given.results.read_text("utf-8").splitlines() if given.results.exists() else []
    found = [Searched(**json.loads(line)) for line in lines]
    known = {(one.data, one.seed, one.portfolio) for one in found}
    paths = [path for folder in given.folders for path in sorted(folder.glob("*.csv"))]
    with threadpool_limits(limits=1):
        for seed in range(given.seeds):
            for path in paths:
                for has in (False, True):
                    is_there = (path.stem, seed, has) in known
                    if is_there or (given.sets and path.stem not in given.sets):
                        continue
                    found.append(search(path, seed, given.evaluations, portfolio=has))
                    with given.results.open("a", encoding="utf-8") as file:
                        file.write(json.dumps(asdict(found[-1])) + "\n")
    report(found)


if __name__ == "__main__":
    main()
