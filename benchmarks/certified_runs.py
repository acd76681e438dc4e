"""Do certificates keep what they promise? Small runs on real data, judged on rows that nobody had.

Of each data set a part is drawn for the run, and the rest is what the future brings. One run asks
for a certificate at 95 %, the other ships what is best within the limits on its validation rows.
Printed side by side: how many of the models break a limit on the rest, which share of the runs was
certified, and what the certificate costs: in AUROC, and in recall and balanced accuracy, because a
model that is certified says yes more seldom, which AUROC does not see. The rest is finite: a model
just inside may seem to break a limit on it, so the share printed is, if anything, too high.

    python benchmarks/certified_runs.py --data ../shared/data --runs 60
"""

from __future__ import annotations

import argparse
import json
import tempfile
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from measured_tables import share
from sklearn.metrics import roc_auc_score
from threadpoolctl import threadpool_limits

from automl_admm.core.errors import NoSuccessError
from automl_admm.runs.config import RunConfig
from automl_admm.runs.pipelines import run_pipelines
from automl_admm.runs.prepare.preparation import prepare

GROUPS = {"adult": "sex", "compas": "sex", "credit_default": "SEX", "german_credit": "sex"}
FPR, GAP = 0.10, 0.10
MOST_ROWS = 3000
SHARE = 0.6
EVALUATIONS = 8
SCORES = ("auroc", "recall", "balanced", "fpr")
TITLES = {
    "auroc": "AUROC",
    "recall": "recall",
    "balanced": "balanced accuracy",
    "fpr": "false positive rate",
}


@dataclass(frozen=True)
class Outcome:
    """One run: was it certified, and what the rest of the data says of its limits and scores."""

    certified: bool | None
    feasible: bool
    fpr: float
    gap: float
    auroc: float
    recall: float
    balanced: float

    @property
    def breaks(self) -> bool:
        """Whether a limit does not hold on the rest."""
        return self.fpr > FPR or self.gap > GAP


def run(job: tuple[Path, int]) -> tuple[str, Outcome, Outcome]:
    """A data set, a seed: the run with a certificate and the one without, on the same rows."""
    path, seed = job
    facts = json.loads(path.with_suffix(".json").read_text())
    frame = pd.read_csv(path, dtype=dict.fromkeys([*facts["categorical"], facts["target"]], str))
    rows = np.random.default_rng([seed, 17]).permutation(len(frame))
    count = min(MOST_ROWS, int(SHARE * len(frame)))
    known, rest = frame.iloc[rows[:count]], frame.iloc[rows[count:]]
    limits = (f"fpr <= {FPR}", f"fpr_gap[{GROUPS[path.stem]}] <= {GAP}")
    config = RunConfig(
        grammar="tiny",
        task="classification",
        scoring="roc_auc",
        constraints=limits,
        max_evaluations=EVALUATIONS,
        executor="inline",
        random_state=seed,
    )
    with threadpool_limits(1), warnings.catch_warnings(), tempfile.TemporaryDirectory() as folder:
        warnings.simplefilter("ignore")
        certifying = replace(config, certify=0.95, looks=Path(folder) / "looks.json")
        mine, theirs = (
            judge(one, known, rest, facts["target"], GROUPS[path.stem])
            for one in (certifying, config)
        )
    return path.stem, mine, theirs


def judge(config: RunConfig, known: Any, rest: Any, target: str, group: str) -> Outcome:
    """Run on what is known, and look at the rest."""
    try:
        outcome = run_pipelines(prepare(config, known.drop(columns=target), known[target]))
    except NoSuccessError:
        return Outcome(False, False, *[np.nan] * 5)  # noqa: FBT003 - the fields' order is above
    X, y = rest.drop(columns=target), rest[target].to_numpy()
    positive = np.sort(np.unique(y))[-1]
    called, negative = outcome.model.predict(X) == positive, y != positive
    rates = [
        float(np.mean(called[negative & (X[group] == name).to_numpy()]))
        for name in X[group].unique()
    ]
    fpr, recall = float(np.mean(called[negative])), float(np.mean(called[~negative]))
    return Outcome(
        outcome.is_certified,
        outcome.result.feasible,
        fpr,
        max(rates) - min(rates),
        float(roc_auc_score(~negative, outcome.model.predict_proba(X)[:, -1])),
        recall,
        (recall + 1.0 - fpr) / 2.0,
    )


def print_row(name: str, pairs: Sequence[tuple[Outcome, Outcome]]) -> None:
    """One data set: how many are certified, and how many break a limit, either way."""
    certified = [mine for mine, _ in pairs if mine.certified]
    shipped = [theirs for _, theirs in pairs if theirs.feasible]
    wrong, broken = (sum(one.breaks for one in group) for group in (certified, shipped))
    print(
        f"{name:<16}{share(len(certified), len(pairs)):>28}{share(wrong, len(certified)):>28}"
        f"{share(broken, len(shipped)):>28}",
        flush=True,
    )


def print_price(name: str, pairs: Sequence[tuple[Outcome, Outcome]]) -> None:
    """One data set: medians of the certified models, of the best on validation, what is lost.

    Runs of which both ship. The loss is the median of the paired differences, not the difference
    of the medians; behind it in how many runs the certified model is worse.
    """
    both = [(mine, theirs) for mine, theirs in pairs if mine.certified and theirs.feasible]
    cells = [_price(both, score) for score in SCORES] if both else ["-"] * len(SCORES)
    print(f"{name:<16}{len(both):>5}" + "".join(f"{cell:>38}" for cell in cells), flush=True)


def _price(pairs: Sequence[tuple[Outcome, Outcome]], score: str) -> str:
    mine, theirs = (
        np.array([getattr(one, score) for one in side]) for side in zip(*pairs, strict=True)
    )
    lost = theirs - mine
    worse = f"worse in {(lost > 0).sum()}"
    return f"{np.median(mine):.3f} {np.median(theirs):.3f} {np.median(lost):+.4f} {worse:>12}"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="the folder of the data sets")
    parser.add_argument("--runs", type=int, default=60, help="of each data set")
    parser.add_argument("--processes", type=int, default=2)
    arguments = parser.parse_args()
    jobs = [
        (arguments.data / f"{name}.csv", seed) for seed in range(arguments.runs) for name in GROUPS
    ]
    with get_context("spawn").Pool(arguments.processes) as pool:
        results = pool.map(run, jobs, chunksize=1)
    print(f"limits: fpr <= {FPR}, fpr_gap[sex] <= {GAP}; per cent (exact 95 % interval)")
    heads = ("certified", "certified, yet broken", "best on validation, broken")
    print(f"{'':<16}" + "".join(f"{head:>28}" for head in heads))
    rows = {n: [(mine, theirs) for which, mine, theirs in results if which == n] for n in GROUPS}
    rows["all"] = [(mine, theirs) for _, mine, theirs in results]
    for name, pairs in rows.items():
        print_row(name, pairs)
    print("\nprice of the certificate, medians: certified, best on validation, lost in pairs")
    print(f"{'':<16}{'runs':>5}" + "".join(f"{TITLES[score]:>38}" for score in SCORES))
    for name, pairs in rows.items():
        print_price(name, pairs)


if __name__ == "__main__":
    main()
