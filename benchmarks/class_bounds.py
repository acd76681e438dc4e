"""How often the lower bounds of limits on several classes are above the truth, and how far below.

Simulated, because the truth has to be known: rows of each class, as many in every draw as a
stratified split has, are called by a known confusion matrix. A bound above the true value is
missed: a limit at the truth would then be certified although nothing is to spare. At a risk of 5 %
that may be in at most 5 % of the draws.

    python benchmarks/class_bounds.py [--runs 2000] [--write]
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from artificial_objective import commit_here

from automl_admm.certify.bounds.averages import lower_average
from automl_admm.certify.bounds.bounds import exact_bounds
from automl_admm.certify.bounds.rates import Count
from automl_admm.core.evidence import F1, Average, Evidence, Rate, Smallest
from automl_admm.core.space import Array

MEASURED = Path(__file__).parent / "measured" / "class_bounds.json"
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
        "macro_recall by single bounds": Average(recalls),
        "macro_f1": Average(f1s),
    }


def main() -> None:
    """Print a table, and keep it if that is asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=2000)
    parser.add_argument("--write", action="store_true", help="keep the table in measured/")
    given = parser.parse_args()
    rows = []
    for name, (sizes, shares) in WORLDS.items():
        missed, below = simulate(sizes, shares, given.runs)
        for measure, often in missed.items():
            rows.append([f"`{measure}`", name, f"{often:.1%}", f"{below[measure]:.3f}"])
            print(*rows[-1], sep=" | ", flush=True)
    title = f"{given.runs} draws, risk {RISK:.0%}"
    columns = ["limit", "rows", "missed", "below the truth"]
    table = {"commit": commit_here(), "title": title, "columns": columns, "rows": rows}
    if given.write:
        text = json.dumps({"tables": {"bounds": table}}, ensure_ascii=False, indent=1)
        MEASURED.write_text(text + "\n", encoding="utf-8")


def simulate(
    rows: tuple[int, ...], shares: Array, runs: int
) -> tuple[dict[str, float], dict[str, float]]:
    """Return the share of draws with a bound above the truth, and the mean distance to it."""
    rng = np.random.default_rng(SEED)
    # So many rows that their values are the true ones, in the proportions of the classes.
    exact = np.round(shares * np.array(rows)[:, None] * 1_000_000)
    truth = {measure: one.value for measure, one in measures(exact).items()}
    truth["macro_recall"] = truth["macro_recall by single bounds"]
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
