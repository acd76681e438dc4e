"""How soon z-solvers find a planted order: six modules in any order, three alternatives each.

The search space is compiled from a grammar. The loss is noise-free, hangs on which module stands
before which other and how far each stands from its planted place, and on the alternatives;
parameters do not matter. Printed is the share of the seeds in which the best selection so far has
the planted order of all modules, and in which it is the best selection there is, after 50, 100
and 200 evaluations. A selection proposed again counts as one, too, though in a run it would cost no
training.

    python benchmarks/planted_order.py --seeds 20 --plot benchmarks/plots
"""

from __future__ import annotations

import argparse
import time
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

from automl_admm.core.space import Array, Choice, Order, SearchSpace, Selection
from automl_admm.core.subproblems import Observation, SelectionSubproblem
from automl_admm.grammar import compile_text
from automl_admm.plugins.loading import load_plugins
from automl_admm.runs.prepare.assembly import build_solver

SHOWN = (50, 100, 200)
SOLVERS = ("cmab", "mcts", "genetic", "bo", "random")
GRAMMAR = """\
%import components (standard_scaler, min_max_scaler, robust_scaler, normalizer, binarizer)
%import components (quantile_transformer, pca, truncated_svd, factor_analysis, rbf_sampler)
%import components (gaussian_random_projection, sparse_random_projection, polynomial_features)
%import components (select_percentile, select_fpr, select_fdr, select_fwe, variance_threshold)
%import components (ridge)

start: any_order{scaler, shaper, reducer, widener, selector, sieve} ridge
scaler:   standard_scaler | min_max_scaler | robust_scaler
shaper:   normalizer | binarizer | quantile_transformer
reducer:  pca | truncated_svd | factor_analysis
widener:  polynomial_features | rbf_sampler | sparse_random_projection
selector: select_percentile | select_fpr | gaussian_random_projection
sieve:    select_fdr | select_fwe | variance_threshold
"""


@dataclass(frozen=True, slots=True, eq=False)
class PlantedOrder:
    """A loss with a single best selection, drawn by a seed.

    loss = Σ_{a before b in o*} w_ab [b before a in o] / Σ w
         + ½ Σ_i v_i |place of i in o − place of i in o*| / (Σ v · (T − 1))
         + ½ Σ_i c_i [z_i ≠ z*_i] / Σ c,      w, v, c ~ U(½, 3⁄2)

    The planted o* and z* are uniform; its minimum is 0, at these alone.
    """

    best: Selection
    before: Array
    places: Array
    picks: Array

    @classmethod
    def of(cls, space: SearchSpace, seed: int) -> PlantedOrder:
        """Draw the planted selection and all weights."""
        rng = np.random.default_rng([seed, 31])
        best = space.sample(rng)
        order = next(d for d in space.decisions if isinstance(d, Order))
        count = len(order.items)
        choices = sum(isinstance(d, Choice) for d in space.decisions)
        weights = (rng.uniform(0.5, 1.5, size) for size in ((count, count), count, choices))
        return cls(best, *weights)

    def __call__(self, selection: Selection) -> float:
        """The loss of a selection."""
        planted, order = order_of(self.best), order_of(selection)
        where = np.array([order.index(item) for item in planted])
        pairs = list(combinations(range(len(planted)), 2))
        wrong = sum(float(self.before[a, b]) for a, b in pairs if where[b] < where[a])
        away = float(self.places @ np.abs(where - np.arange(len(planted))))
        picks = zip(picks_of(self.best), picks_of(selection), strict=True)
        missed = np.array([one != other for one, other in picks], dtype=float)
        return (
            wrong / sum(float(self.before[a, b]) for a, b in pairs)
            + 0.5 * away / float(self.places.sum() * (len(planted) - 1))
            + 0.5 * float(self.picks @ missed) / float(self.picks.sum())
        )


def order_of(selection: Selection) -> tuple[str, ...]:
    """The pick of the one order."""
    return next(pick for _, pick in selection if isinstance(pick, tuple))


def picks_of(selection: Selection) -> list[str]:
    """The picks of the choices."""
    return [pick for _, pick in selection if isinstance(pick, str)]


@dataclass(frozen=True, slots=True)
class Trace:
    """One run: from which evaluation on the best selection has the order, and is the best."""

    order_at: float
    best_at: float
    milliseconds: float


def search(solver: str, space: SearchSpace, seed: int, evaluations: int) -> Trace:
    """One z-solver on one planted order; it starts at a random selection."""
    loss = PlantedOrder.of(space, seed)
    built = build_solver(load_plugins().z_solvers, solver)
    start = space.sample(np.random.default_rng([seed, 7]))
    built.begin(SelectionSubproblem(space, start, evaluations=evaluations, seed=seed))
    incumbent, lowest = start, np.inf
    order_at = best_at = np.inf
    begun = time.process_time()
    for number in range(1, evaluations + 1):
        point = built.ask(1, [])[0]
        value = loss(point)
        built.tell([Observation(point, value, value)])
        if value < lowest:
            incumbent, lowest = point, value
            has_order = order_of(incumbent) == order_of(loss.best)
            order_at = min(order_at, number) if has_order else np.inf
            best_at = number if incumbent == loss.best else np.inf
    spent = time.process_time() - begun
    return Trace(order_at, best_at, 1000.0 * spent / evaluations)


def share(times: list[float], evaluations: int) -> float:
    """In which share of the runs it had happened by then, in per cent."""
    return 100.0 * float(np.mean(np.array(times) <= evaluations))


def print_table(runs: dict[str, list[Trace]]) -> None:
    """A row for each solver."""
    heads = "".join(f"{f'{what} {n}':>12}" for what in ("order", "best") for n in SHOWN)
    print(f"{'per cent of seeds by':<24}{heads}{'ms an evaluation':>20}")
    for solver, traces in runs.items():
        cells = "".join(
            f"{share(times, n):>12.0f}"
            for times in ([t.order_at for t in traces], [t.best_at for t in traces])
            for n in SHOWN
        )
        print(f"{solver:<24}{cells}{np.median([t.milliseconds for t in traces]):>20.2f}")


def draw(runs: dict[str, list[Trace]], folder: Path) -> None:
    """The share of the seeds with the order and with the best selection, by evaluation."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(11, 4), layout="constrained", sharey=True)
    counts = range(1, SHOWN[-1] + 1)
    for axis, field in zip(axes, ("order_at", "best_at"), strict=True):
        for solver, traces in runs.items():
            times = [getattr(trace, field) for trace in traces]
            axis.plot(counts, [share(times, n) for n in counts], label=solver)
        axis.set(xlabel="evaluations", ylabel="% of seeds")
    axes[0].set_title("the best so far has the planted order")
    axes[1].set_title("the best so far is the best there is")
    axes[0].legend(fontsize="small")
    folder.mkdir(parents=True, exist_ok=True)
    figure.savefig(folder / "planted_order.png", dpi=80)


def main() -> None:
    """Print the table, draw the plot."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--solvers", nargs="+", default=SOLVERS)
    parser.add_argument("--plot", type=Path, help="a folder for the plot")
    arguments = parser.parse_args()
    plugins = load_plugins()
    grammar = compile_text(GRAMMAR, "planted", plugins.components["regression"])
    space = SearchSpace(grammar.pipelines.space.decisions)
    runs: dict[str, list[Trace]] = {}
    with threadpool_limits(1):
        for solver in arguments.solvers:
            runs[solver] = [
                search(solver, space, seed, SHOWN[-1]) for seed in range(arguments.seeds)
            ]
    print_table(runs)
    if arguments.plot:
        draw(runs, arguments.plot)


if __name__ == "__main__":
    main()
