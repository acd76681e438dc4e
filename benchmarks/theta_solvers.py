"""θ-solvers side by side on functions with a known minimum.

Prints the median regret after 16, 32 and 64 evaluations, and the CPU milliseconds a proposal.

    python benchmarks/theta_solvers.py --seeds 5
"""

from __future__ import annotations

import argparse
import time

import numpy as np
from threadpoolctl import threadpool_limits

from automl_admm.plugins import load_plugins
from automl_admm.problem import Observation, Quadratic, ThetaSubproblem
from automl_admm.protocols import ThetaSolver
from automl_admm.runner.assembly import build_solver
from automl_admm.testing.objectives import BOWL, HARTMANN, LEVY, ROSENBROCK, BoxFunction

SHOWN = (16, 32, 64)
FUNCTIONS = (HARTMANN, BOWL, ROSENBROCK, LEVY)


def regrets(solver: ThetaSolver, function: BoxFunction, seed: int) -> tuple[list[float], float]:
    """The best value so far at the shown numbers of evaluations, and the CPU time a proposal."""
    nothing = np.zeros(function.dimension)
    start = np.random.default_rng(seed + 1000).random(function.dimension)
    solver.begin(
        ThetaSubproblem(
            function.parameters(), start, Quadratic(nothing, nothing), evaluations=64, seed=seed
        )
    )
    values: list[float] = []
    spent = 0.0
    while len(values) < SHOWN[-1]:
        begun = time.process_time()
        (point,) = solver.ask(1, [])
        spent += time.process_time() - begun
        values.append(function(point))
        solver.tell([Observation(point, values[-1], values[-1])])
    return [min(values[:number]) for number in SHOWN], spent / len(values)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=5)
    seeds = range(parser.parse_args().seeds)
    solvers = load_plugins().theta_solvers
    print(f"{'solver':<14}" + "".join(f"{f.name:>26}" for f in FUNCTIONS) + "      ms")
    for record in solvers:
        row, costs = "", []
        for function in FUNCTIONS:
            with threadpool_limits(1):
                runs = [regrets(build_solver(solvers, record.name), function, s) for s in seeds]
            middle = np.median([found for found, _ in runs], axis=0)
            costs += [cost for _, cost in runs]
            row += f"{' / '.join(f'{value:.2g}' for value in middle):>26}"
        print(f"{record.name:<14}{row}  {1000 * np.mean(costs):6.1f}", flush=True)


if __name__ == "__main__":
    main()
