"""How often the bounds of a calibration error are wrong, and how wide they are.

Simulated, because the truth has to be known: probabilities of four kinds of models, many tables
each, at a risk of 5 % on either side. The truth is the error in the bins that the bound fixed, from
two million further rows. Beside it a percentile bootstrap of the measured value, as is common:
resampled rows look worse calibrated than they are, so its lower end is wrong where a model is good.

    python benchmarks/calibration_bounds.py
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from artificial_objective import commit_here

from automl_admm.certify.bounds.calibration import FOR_EDGES, ORDER_SEED, calibration_bounds
from automl_admm.core.equal_bins import bins_of, edges_of
from automl_admm.core.evidence import Calibration
from automl_admm.core.space import Array

MEASURED = Path(__file__).parent / "measured" / "calibration_bounds.json"
RISK, SIZES, MANY, DRAWS = 0.05, (200, 1000, 5000), 2_000_000, 200
# The chance of the positive class where a model says p.
CHANCES: dict[str, Callable[[Array], Array]] = {
    "right": lambda p: p,
    "too sure": lambda p: 0.5 + 0.6 * (p - 0.5),
    "too high by 0.1": lambda p: np.clip(p - 0.1, 0.0, 1.0),
    "wrong below one half alone": lambda p: np.where(p < 0.5, p + 0.1, p),
}
COLUMNS = [
    "model",
    "rows",
    "truth",
    "exact: upper wrong",
    "lower wrong",
    "width",
    "bootstrap: upper wrong",
    "lower wrong",
    "width",
]


def draw(rng: np.random.Generator, chance: Callable[[Array], Array], rows: int) -> Calibration:
    """Draw a table: probabilities spread as those of a fair model, and their truth."""
    probabilities = rng.beta(1.2, 2.0, rows)
    truth = (rng.random(rows) < chance(probabilities)).astype(float)
    return Calibration(probabilities, truth)


def fixed_edges(evidence: Calibration) -> Array:
    """Return the edges that the bound fixes by a fifth of the rows."""
    rows = len(evidence.truth)
    order = np.random.default_rng(ORDER_SEED).permutation(rows)
    return edges_of(evidence.probabilities[order][: rows // FOR_EDGES])


def true_error(edges: Array, many: Array, excess: Array) -> float:
    """Return E = Σ_b |E (p − y) 1_b| from very many rows, whose y is its chance."""
    return float(np.abs(np.bincount(bins_of(many, edges), weights=excess)).sum()) / len(many)


def bootstrap(rng: np.random.Generator, evidence: Calibration) -> tuple[float, float]:
    """Return the percentile bootstrap's ends, each at the risk."""
    rows = len(evidence.truth)
    places = rng.integers(rows, size=(DRAWS, rows))
    values = [Calibration(evidence.probabilities[one], evidence.truth[one]).value for one in places]
    low, high = np.quantile(values, [RISK, 1.0 - RISK])
    return float(low), float(high)


def row_of(name: str, rows: int, tables: int) -> list[Any]:
    """Return a row of the table: wrong ends in percent, and median widths."""
    rng = np.random.default_rng([rows, list(CHANCES).index(name)])
    chance, many = CHANCES[name], np.random.default_rng(1).beta(1.2, 2.0, MANY)
    excess = many - chance(many)
    truths, exact, common = [], [], []
    for _ in range(tables):
        evidence = draw(rng, chance, rows)
        truths.append(true_error(fixed_edges(evidence), many, excess))
        exact.append(calibration_bounds(evidence, RISK) or (0.0, 1.0))
        common.append(bootstrap(rng, evidence))
    told = [float(np.round(np.median(truths), 4))]
    for ends in (exact, common):
        told += _summary(np.array(truths), np.array(ends))
    return [name, rows, *told]


def _summary(truths: Array, ends: Array) -> Sequence[Any]:
    low, high = ends.T
    # The truth is of two million drawn probabilities, not of all.
    upper, lower = np.mean(truths > high + 1e-3), np.mean(truths < low - 1e-3)
    return f"{upper:.1%}", f"{lower:.1%}", float(np.round(np.median(high - low), 4))


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", type=int, default=400)
    parser.add_argument("--write", action="store_true", help="keep the table in measured/")
    arguments = parser.parse_args()
    rows = []
    for name in CHANCES:
        for size in SIZES:
            rows.append(row_of(name, size, arguments.tables))
            print(*rows[-1], sep=" | ", flush=True)
    title = f"{arguments.tables} tables each, risk {RISK:g} on either side"
    table = {"commit": commit_here(), "title": title, "columns": COLUMNS, "rows": rows}
    if arguments.write:
        text = json.dumps({"tables": {"bounds": table}}, ensure_ascii=False, indent=1)
        MEASURED.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
