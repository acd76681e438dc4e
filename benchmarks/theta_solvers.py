"""θ-solvers side by side on functions with a known minimum.

Prints the median regret after 16, 32 and 64 evaluations, the median rank over the seeds at each of
them, and the CPU milliseconds a proposal; draws the regret as it falls. `ctpe` is left out: with
no constraint it is `tpe`. Optuna's GP is faster where the package greenlet is installed.

    python benchmarks/theta_solvers.py --seeds 10
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from scipy.stats import rankdata
from theta_runs import Case, Method, Trace, collect, optuna_methods, ours

from automl_admm.core.space import Array
from automl_admm.testing.objectives import (
    ACKLEY,
    BOWL,
    HARTMANN,
    LEVY,
    ROSENBROCK,
    BoxFunction,
)

SHOWN = (16, 32, 64)
NAMES = ("gp", "trust-region", "rbf", "tpe", "random")
RIVAL = "optuna GP"
PLOT = Path(__file__).parent / "plots" / "theta_solvers.png"
Runs = dict[tuple[str, str], list[Trace]]


def case_of(function: BoxFunction, noise: float = 0.0) -> Case:
    """A function as a case; its values are regrets."""
    name = f"{function.name} {function.dimension}"
    return Case(
        f"{name} noisy" if noise else name,
        function.dimension,
        lambda point: function(point) - function.minimum,
        noise=noise,
    )


CASES = (
    *(case_of(function) for function in (HARTMANN, ROSENBROCK, LEVY, ACKLEY, BOWL)),
    case_of(BOWL, noise=0.01),
)


def table_of_regrets(runs: Runs, methods: list[str]) -> None:
    """Median regrets, one row a method."""
    print("median regret after 16 / 32 / 64 evaluations")
    print(f"{'':<14}" + "".join(f"{case.name:>24}" for case in CASES))
    for name in methods:
        row = ""
        for case in CASES:
            middle = np.median([trace.regrets(SHOWN) for trace in runs[name, case.name]], axis=0)
            row += f"{' / '.join(f'{value:.2g}' for value in middle):>24}"
        print(f"{name:<14}{row}")


def ranks_of(runs: Runs, methods: list[str]) -> Array:
    """The rank of each method at each case, budget and seed: an array in this order."""
    regrets = [[[t.regrets(SHOWN) for t in runs[m, c.name]] for c in CASES] for m in methods]
    ranks = rankdata(np.array(regrets), axis=0)
    return np.asarray(ranks.transpose(0, 1, 3, 2), dtype=float)


def table_of_ranks(ranks: Array, methods: list[str], costs: dict[str, float]) -> None:
    """Median ranks over the seeds, their mean over everything, and the cost."""
    print(
        "\nmedian rank over the seeds after 16 / 32 / 64 evaluations; mean rank; CPU ms a proposal"
    )
    print(f"{'':<14}" + "".join(f"{case.name:>20}" for case in CASES) + "    mean       ms")
    for name, place in zip(methods, ranks, strict=True):
        middles = np.median(place, axis=2)
        row = "".join(f"{' / '.join(f'{rank:.1f}' for rank in middle):>20}" for middle in middles)
        print(f"{name:<14}{row}  {place.mean():6.2f}  {costs[name]:7.1f}")


def verdict(ranks: Array, methods: list[str], costs: dict[str, float]) -> None:
    """`gp` against Optuna's GP: rank, duels and cost."""
    if RIVAL not in methods:
        return
    mine, theirs = (ranks[methods.index(name)] for name in ("gp", RIVAL))
    worse = np.median(mine, axis=2) > 1.1 * np.median(theirs, axis=2)
    wins, losses = int((mine < theirs).sum()), int((mine > theirs).sum())
    print(
        f"\ngp / {RIVAL}: median rank {np.median(mine):.1f} / {np.median(theirs):.1f}, "
        f"worse by more than 10 % in {int(worse.sum())} of {worse.size} cases; "
        f"single runs {wins} better, {losses} worse of {mine.size}; "
        f"cost {costs['gp'] / costs[RIVAL]:.2f} of its"
    )


def draw(runs: Runs, methods: list[str], picture: Path) -> None:
    """The median regret after each evaluation, one panel a case."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(2, 3, figsize=(13, 7), layout="constrained")
    counts = range(1, SHOWN[-1] + 1)
    for axis, case in zip(axes.flat, CASES, strict=True):
        for name in methods:
            middle = np.median([trace.regrets(counts) for trace in runs[name, case.name]], axis=0)
            axis.plot(counts, np.maximum(middle, 1e-4), label=name)
        axis.set(title=case.name, yscale="log", xlabel="evaluations", ylabel="median regret")
    axes.flat[0].legend(fontsize="small")
    picture.parent.mkdir(exist_ok=True)
    figure.savefig(picture, dpi=80)


def main() -> None:
    """Run everything, print the tables, draw the plot."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--methods", nargs="+", help="only these; no plot is drawn then")
    parser.add_argument("--keep", type=Path, help="a JSON file of runs: those are not repeated")
    parser.add_argument("--plot", type=Path, default=PLOT, help="the picture")
    arguments = parser.parse_args()
    every: dict[str, Method] = {name: ours(name) for name in NAMES} | optuna_methods()
    methods = {name: every[name] for name in arguments.methods or every}
    seeds = range(arguments.first, arguments.first + arguments.seeds)
    runs = collect(methods, CASES, seeds, SHOWN[-1], arguments.keep)
    names = list(methods)
    costs = {
        name: float(np.median([t.milliseconds for c in CASES for t in runs[name, c.name]]))
        for name in names
    }
    ranks = ranks_of(runs, names)
    table_of_regrets(runs, names)
    table_of_ranks(ranks, names, costs)
    verdict(ranks, names, costs)
    if names == list(every):
        draw(runs, names, arguments.plot)


if __name__ == "__main__":
    main()
