"""How often a certificate of a regression is false, and how often there is one.

Simulated, because the truth has to be known: errors of four kinds, 1 000 sets of rows each. The
limit is first a little below the truth, so that every certificate is false, and then 20 % inside
of it. Real runs are in certified_findings.py.

    python benchmarks/regression_certificates.py
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from automl_admm.certify.bounds.bounds import approximate_bounds, exact_bounds
from automl_admm.core.evidence import Evidence, Explained, Mean, Quantile, Rate, RootMeanSquare
from automl_admm.core.limits import Limit
from automl_admm.core.space import Array

MEASURED = Path(__file__).parent / "measured" / "regression_certificates.json"
RISK, RUNS, SIZES, LARGEST = 0.05, 1000, (100, 800), 5.0
MANY = 4_000_000
Draw = Callable[[np.random.Generator, int], Array]
Measure = Callable[[Array, Array], Evidence]
KINDS: dict[str, Draw] = {
    "Laplace": lambda rng, rows: rng.laplace(size=rows),
    "lognormal": lambda rng, rows: rng.lognormal(-0.5, 1.0, rows) * rng.choice([-1.0, 1.0], rows),
    "Student's t, 3 degrees": lambda rng, rows: rng.standard_t(3, rows),
    "1 in 200 is 50 times as large": lambda rng, rows: (
        rng.normal(size=rows) * np.where(rng.random(rows) < 0.005, 50.0, 1.0)
    ),
}
LIMITS: dict[str, Measure] = {
    "errors_above_2": lambda e, _: Rate(int(np.sum(np.abs(e) > 2)), len(e)),
    "abs_error_quantile_90": lambda e, _: Quantile(np.abs(e), 0.9, 0.0),
    "mae_to_5": lambda e, _: Mean(np.minimum(np.abs(e), LARGEST), 0.0, LARGEST),
    "rmse_to_5": lambda e, _: RootMeanSquare(e, LARGEST),
    "r2_to_5": lambda e, y: Explained(e, y, LARGEST),
    "mae, approximate": lambda e, _: Mean(np.abs(e), 0.0, math.inf),
    "rmse, approximate": lambda e, _: RootMeanSquare(e),
    "r2, approximate": Explained,
}


def simulate() -> list[dict[str, Any]]:
    """Return a row for each limit: shares of certificates by kind of errors and number of rows."""
    found = []
    for name, measure in LIMITS.items():
        for kind, draw in KINDS.items():
            for rows in SIZES:
                found.append(_simulated(name, measure, kind, draw, rows))
                print(found[-1], flush=True)
    return found


def _simulated(name: str, measure: Measure, kind: str, draw: Draw, rows: int) -> dict[str, Any]:
    is_share = name.startswith("r2")
    truth = _truth(measure, draw)
    edge = Limit(name, truth + 1e-6 if is_share else truth * (1 - 1e-6), at_least=is_share)
    inside = Limit(name, truth - 0.2 * (1 - truth) if is_share else truth / 0.8, at_least=is_share)
    rng, false, certified = np.random.default_rng(rows), 0, 0
    is_exact = "approximate" not in name
    for _ in range(RUNS):
        seen = measure(draw(rng, rows), 3 * rng.normal(size=rows))
        bounds = (exact_bounds if is_exact else approximate_bounds)(seen, RISK)
        if bounds is not None:
            near = bounds.lower if is_share else bounds.upper
            false += edge.holds(near)
            certified += inside.holds(near)
    return {
        "limit": name,
        "errors": kind,
        "rows": rows,
        "false": false,
        "certified": certified,
        "runs": RUNS,
    }


def _truth(measure: Measure, draw: Draw) -> float:
    rng = np.random.default_rng(7)
    return measure(draw(rng, MANY), 3 * rng.normal(size=MANY)).value


def simulated_table(found: list[dict[str, Any]]) -> dict[str, Any]:
    """Return per cent of false certificates, and of those 20 % inside, by the kind of errors."""
    rows = []
    for name in LIMITS:
        for size in SIZES:
            ones = {
                row["errors"]: row for row in found if (row["limit"], row["rows"]) == (name, size)
            }
            rows.append([name, size, *(_two_shares(ones[kind]) for kind in KINDS)])
    title = f"per cent certified at {RISK:.0%} of risk, of {RUNS} sets of rows each: broken / kept"
    return {"title": title, "columns": ["limit", "rows", *KINDS], "rows": rows}


def _two_shares(one: dict[str, Any]) -> str:
    return f"{100 * one['false'] / one['runs']:.1f} / {100 * one['certified'] / one['runs']:.0f}"


def main() -> None:
    """Measure, and put the table into the file."""
    tables = {"simulated": simulated_table(simulate())}
    MEASURED.write_text(json.dumps({"tables": tables}, indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
