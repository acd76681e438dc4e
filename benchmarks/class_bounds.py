"""How often the lower bounds of limits on several classes are above the truth, and how far below.

Simulated, because the truth has to be known: rows of each class, as many in every draw as a
stratified split has, are called by a known confusion matrix. A bound above the true value is
missed: a limit at the truth would then be certified although nothing is to spare. At a risk of 5 %
that may be in at most 5 % of the draws.

    python benchmarks/class_bounds.py [--runs 1000]
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping

import numpy as np

from automl_admm.certify.bounds.averages import lower_average
from automl_admm.certify.bounds.bounds import exact_bounds
from automl_admm.certify.bounds.rates import Count
from automl_admm.core.evidence import F1, Average, Evidence, Rate, Smallest
from automl_admm.core.space import Array

RISK, SEED = 0.05, 0
# Rows of each class, and the shares in which they are called each class.
WORLDS: Mapping[str, tuple[tuple[int, ...], Array]] = {
    "four classes of 85": (
        (85,) * 4,
        np.array(
            [
                [0.95, 0.02, 0.02, 0.01],
                [0.03, 0.6, 0.35, 0.02],
                [0.05, 0.3, 0.6, 0.05],
                [0, 0, 0.03, 0.97],
            ]
        ),
    ),
    "three classes, one of 10 rows": (
        (10, 400, 300),
        np.array([[0.7, 0.2, 0.1], [0.02, 0.9, 0.08], [0.01, 0.09, 0.9]]),
    ),
}


def measures(table: Array) -> dict[str, Evidence]:
    """Return the evidence of limits in a table of counts: a row a class, a column a decision."""
    rows, called, hits = table.sum(axis=1), table.sum(axis=0), np.diag(table)
    recalls = {str(k): Rate(int(hits[k]), int(rows[k])) for k in range(len(rows))}
    f1s = {str(k): F1(int(hits[k]), int(rows[k] + called[k] - hits[k])) for k in range(len(rows))}
    return {
        'recall{class="0"}': recalls["0"],
        'f1{class="1"}': f1s["1"],
        "min_recall{class}": Smallest(recalls),
        "macro_recall, by single bounds": Average(recalls),
        "macro_f1": Average(f1s),
    }


def main() -> None:
    """Print a table for each world."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=1000)
    runs = parser.parse_args().runs
    for name, (rows, shares) in WORLDS.items():
        missed, below = simulate(rows, shares, runs)
        print(f"\n{name}, {runs} draws, risk {RISK:.0%}")
        for measure, often in missed.items():
            print(f"{measure:32} missed {often:6.1%}   {below[measure]:.3f} below the truth")


def simulate(
    rows: tuple[int, ...], shares: Array, runs: int
) -> tuple[dict[str, float], dict[str, float]]:
    """Return the share of draws with a bound above the truth, and the mean distance to it."""
    rng = np.random.default_rng(SEED)
    # So many rows that their values are the true ones, in the proportions of the classes.
    exact = np.round(shares * np.array(rows)[:, None] * 1_000_000)
    truth = {measure: one.value for measure, one in measures(exact).items()}
    truth["macro_recall"] = truth["macro_recall, by single bounds"]
    seen: dict[str, list[float]] = {measure: [] for measure in truth}
    for _ in range(runs):
        table = np.array([rng.multinomial(n, p) for n, p in zip(rows, shares, strict=True)])
        for measure, evidence in measures(table).items():
            bounds = exact_bounds(evidence, RISK)
            seen[measure].append(0.0 if bounds is None else bounds.lower)
        counts = [Count(float(hit), float(n)) for hit, n in zip(np.diag(table), rows, strict=True)]
        seen["macro_recall"].append(lower_average(counts, RISK))
    missed = {one: float(np.mean(np.array(found) > truth[one])) for one, found in seen.items()}
    return missed, {one: float(truth[one] - np.mean(found)) for one, found in seen.items()}


if __name__ == "__main__":
    main()
