"""How often a certificate of a regression is false, how often there is one, and what it costs.

Simulated, because the truth has to be known: errors of four kinds, 1 000 sets of rows each. The
limit is first a little below the truth, so that every certificate is false, and then 20 % inside
of it. Then real runs: a model of some rows of abalone, judged on the rows that it never had.

    python benchmarks/regression_certificates.py simulate
    python benchmarks/regression_certificates.py runs ../shared/data/abalone.csv --runs 20
"""

from __future__ import annotations

import argparse
import json
import math
import os
import tempfile
import warnings
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


def run_on(path: str, runs: int, limit: str, rows: int) -> list[dict[str, Any]]:
    """Return what runs with and without a certificate came to on the rows that they never had."""
    import pandas as pd

    frame = pd.read_csv(path)
    X, y = frame.iloc[:, :-1], frame.iloc[:, -1].astype(float)
    found = []
    for seed in range(runs):
        order = np.random.default_rng(seed).permutation(len(frame))
        mine, fresh = order[:rows], order[rows:]
        one: dict[str, Any] = {"seed": seed}
        for certify in (0.95, None):
            model = _searched(X.iloc[mine], y.iloc[mine], limit, certify, seed)
            errors = np.abs(model.predict(X.iloc[fresh]) - y.iloc[fresh])
            spread = float(np.var(y.iloc[fresh]))
            way = "certified" if certify else "plain"
            if certify:
                one["is_certified"] = model.certificate_.is_certified
            one[f"{way}_mae_to_10"] = float(np.minimum(errors, 10).mean())
            one[f"{way}_above_5"] = float((errors > 5).mean())
            one[f"{way}_q90"] = float(np.quantile(errors, 0.9))
            one[f"{way}_r2"] = 1.0 - float((errors**2).mean()) / spread
        found.append(one)
        print(json.dumps(one), flush=True)
    return found


def _searched(X: Any, y: Any, limit: str, certify: float | None, seed: int) -> Any:
    from automl_admm import AutoMLRegressor

    model = AutoMLRegressor(
        grammar="tiny",
        constraints=[limit],
        certify=certify,
        max_evaluations=6,
        time_budget=None,
        cv=3,
        scoring="r2",
        executor="inline",
        on_infeasible="closest",
        random_state=seed,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(X, y)


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


def runs_table(found: list[dict[str, Any]], limit: str) -> dict[str, Any]:
    """Return how many broke the limit on rows that no run had, and what was given up."""
    bound = float(limit.split("<=")[1])
    certified = [one for one in found if one["is_certified"]]
    rows = []
    for said, way, ones in (("with", "certified", certified), ("without", "plain", found)):
        shares = [one[f"{way}_above_5"] for one in ones]
        scores = [one[f"{way}_r2"] for one in ones]
        broken = sum(share > bound for share in shares)
        medians = [f"{np.median(values):.4f}" if ones else "-" for values in (shares, scores)]
        rows.append([f"{said} a certificate", f"{len(ones)}/{len(found)}", broken, *medians])
    columns = ["", "runs", "broken on fresh rows", "errors above 5", "R²"]
    return {"title": f"limit {limit}; medians on fresh rows", "columns": columns, "rows": rows}


def main() -> None:
    """Measure, and put a table into the file."""
    parser = argparse.ArgumentParser()
    parser.add_argument("what", choices=("simulate", "runs"))
    parser.add_argument("data", nargs="?")
    parser.add_argument("--runs", type=int, default=16)
    parser.add_argument("--limit", default="errors_above_5 <= 0.055")
    parser.add_argument("--rows", type=int, default=2000)
    given = parser.parse_args()
    found = json.loads(MEASURED.read_text()) if MEASURED.exists() else {"tables": {}}
    if given.what == "simulate":
        found["tables"]["simulated"] = simulated_table(simulate())
    else:
        runs = run_on(given.data, given.runs, given.limit, given.rows)
        found["tables"]["runs"] = runs_table(runs, given.limit)
    MEASURED.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as state:
        os.environ["XDG_STATE_HOME"] = state
        main()
