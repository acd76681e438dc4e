"""θ-solvers with one constraint: who finds the feasible region, and how good they are in it.

An objective with its minimum outside the limit, in 6 dimensions; the limit is set by Monte Carlo
so that 14, 2.3 and 0.6 % of the box are feasible. 64 evaluations.

    python benchmarks/theta_constrained.py --seeds 10
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from paired import compare, corrected
from scipy.optimize import minimize
from theta_runs import Case, Method, Trace, collect, optuna_methods, ours

from automl_admm.core.space import Array

DIMENSION = 6
BUDGET = 64
VOLUMES = (0.14, 0.023, 0.006)
SAMPLE = 400_000
METHODS: dict[str, Method] = {
    "gp": ours("gp"),
    "gp priced": ours("gp:limits=priced", priced=True),
    "admmbo": ours("admmbo"),
    "ctpe": ours("ctpe"),
    "tpe": ours("tpe", priced=True),
    "trust-region": ours("trust-region", priced=True),
    "random": ours("random"),
}
PLOT = Path(__file__).parent / "plots" / "theta_constrained.png"
Runs = dict[tuple[str, str], list[Trace]]

BEST = np.array([0.63] * 3 + [0.31] * 3)
WEIGHTS = np.array([3.0] * 3 + [0.1] * 3)
INSIDE = np.array([0.18, 0.99, 0.36, 0.7, 0.2, 0.5])
INSIDE_WEIGHTS = np.array([1.0] * 3 + [0.5] * 3)


def objective(points: Array) -> Array:
    """A bowl that saturates, with three strong and three weak dimensions and a ripple."""
    away = points - BEST
    ripple = 0.01 * (1.0 - np.cos(9.0 * away)).mean(axis=-1)
    return np.asarray(1.0 - np.exp(-(WEIGHTS * away**2).sum(axis=-1)) + ripple)


def constraint(points: Array) -> Array:
    """The distance from a place away from the bowl's, bent a little."""
    away = points - INSIDE
    bend = 0.05 * np.sin(7.0 * points[..., 0] + 5.0 * points[..., 3])
    return np.asarray(np.sqrt((INSIDE_WEIGHTS * away**2).sum(axis=-1)) + bend)


def make_cases() -> dict[str, tuple[Case, float]]:
    """The cases with the best feasible value of each."""
    points = np.random.default_rng(0).random((SAMPLE, DIMENSION))
    values, gaps = objective(points), constraint(points)
    found = {}
    for volume in VOLUMES:
        limit, name = float(np.quantile(gaps, volume)), f"{100 * volume:g} %"
        inside = np.flatnonzero(gaps <= limit)
        starts = points[inside[np.argsort(values[inside])[:5]]]
        case = Case(
            name,
            DIMENSION,
            lambda point: float(objective(point)),
            lambda point: float(constraint(point)),
            limit,
        )
        found[name] = (case, min(_polish(start, limit) for start in starts))
    return found


def _polish(start: Array, limit: float) -> float:
    """The best feasible value near a feasible point."""
    within = {"type": "ineq", "fun": lambda x: limit - float(constraint(x))}
    found = minimize(
        lambda x: float(objective(x)),
        start,
        bounds=[(0.0, 1.0)] * DIMENSION,
        constraints=within,
        method="SLSQP",
    )
    holds = float(constraint(found.x)) <= limit + 1e-6
    return float(found.fun if holds else objective(start))


def shown(value: float) -> str:
    """A number, or that there is none."""
    return f"{value:.3f}" if np.isfinite(value) else "none"


def table(runs: Runs, name: str, best: float, methods: list[str]) -> None:
    """One case: medians over the seeds."""
    print(f"\n{name} feasible, best feasible value {best:.3f}; medians over the seeds")
    print(f"{'':<14}  feasible  best (upper quartile)  first feasible at (worst)  found      ms")
    for method in methods:
        traces = runs[method, name]
        values = [trace.best_feasible() for trace in traces]
        first = [trace.first_feasible() for trace in traces]
        count = np.median([trace.feasible() for trace in traces])
        quartile = float(np.quantile(values, 0.75, method="higher"))
        middle, worst = f"{np.median(first):g}", f"({max(first):g})"
        print(
            f"{method:<14}  {count:>8.1f}  {shown(_median(values)):>9} {f'({shown(quartile)})':>11}"
            f"  {middle:>17} {worst:>7}  {sum(np.isfinite(values)):>5}"
            f"  {np.median([trace.milliseconds for trace in traces]):>6.1f}"
        )


def _median(values: list[float]) -> float:
    return float(np.quantile(values, 0.5, method="higher"))


def verdict(runs: Runs, cases: list[str], methods: list[str]) -> None:
    """`gp` against the best of its two rivals, case by case."""
    rivals = [name for name in ("optuna GP", "ctpe") if name in methods]
    for case in cases:
        rows = [(name, runs[name, case]) for name in ("gp", *rivals)]
        text = "; ".join(
            f"{name} {np.median([t.first_feasible() for t in traces]):g} and "
            f"{shown(_median([t.best_feasible() for t in traces]))}"
            for name, traces in rows
        )
        print(f"{case}: first feasible and best feasible: {text}")


def pairs(runs: Runs, cases: list[str], methods: list[str]) -> None:
    """`admmbo` against the others in the best feasible value: exact sign tests, Holm-corrected."""
    if "admmbo" not in methods:
        return
    ends = {key: [trace.best_feasible() for trace in traces] for key, traces in runs.items()}
    found = {
        f"{case}: admmbo / {other}": compare(ends["admmbo", case], ends[other, case])
        for case in cases
        for other in methods
        if other != "admmbo"
    }
    holm = corrected({name: pair.p for name, pair in found.items()})
    for name, pair in found.items():
        print(f"{name}: {pair.wins}/{pair.losses}/{pair.ties}, p {holm[name]:.2g}")


def draw(runs: Runs, cases: dict[str, tuple[Case, float]], methods: list[str], path: Path) -> None:
    """The median best feasible value after each evaluation, one panel a case."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(1, len(cases), figsize=(14, 4.5), layout="constrained")
    for axis, (name, (_, best)) in zip(axes, cases.items(), strict=True):
        for method in methods:
            curves = [_curve(trace) for trace in runs[method, name]]
            middle = np.quantile(curves, 0.5, axis=0, method="higher") - best
            axis.plot(range(1, BUDGET + 1), np.maximum(middle, 1e-4), label=method)
        axis.set(title=f"{name} feasible", yscale="log", xlabel="evaluations")
    axes[0].set_ylabel("median of best feasible − optimum")
    axes[-1].legend(fontsize="small")
    path.parent.mkdir(exist_ok=True)
    figure.savefig(path, dpi=80)


def _curve(trace: Trace) -> Array:
    inside = np.array(trace.excess) <= 0.0
    return np.asarray(np.minimum.accumulate(np.where(inside, trace.seen, np.inf)))


def main() -> None:
    """Run everything, print the tables, draw the plot."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--methods", nargs="+", help="only these; no plot is drawn then")
    parser.add_argument("--keep", type=Path, help="a JSON file of runs: those are not repeated")
    parser.add_argument("--plot", type=Path, default=PLOT, help="the picture")
    arguments = parser.parse_args()
    cases, every = make_cases(), METHODS if arguments.methods else METHODS | optuna_methods()
    methods = {name: every[name] for name in arguments.methods or every}
    functions = [case for case, _ in cases.values()]
    seeds = range(arguments.first, arguments.first + arguments.seeds)
    runs = collect(methods, functions, seeds, BUDGET, arguments.keep)
    for name, (_, best) in cases.items():
        table(runs, name, best, list(methods))
    print()
    verdict(runs, list(cases), list(methods))
    pairs(runs, list(cases), list(methods))
    if not arguments.methods:
        draw(runs, cases, list(methods), arguments.plot)


if __name__ == "__main__":
    main()
