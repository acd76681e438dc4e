"""ADMM(gp, cmab) against random search on the papers' artificial objective (appendix B).

Four modules with Table A2's counts, 6 776 selections, the same number of evaluations for both.
Prints the best value of each by seed, and in how many seeds ADMM ends below.

    python benchmarks/artificial_objective.py --evaluations 512 --seeds 20
"""

from __future__ import annotations

import argparse
import time

import numpy as np

from automl_admm import minimize
from automl_admm.testing.objectives import ArtificialObjective


def best_of_run(seed: int, evaluations: int, **options: str) -> tuple[float, float]:
    """The best value that a search finds, and how long it took."""
    objective = ArtificialObjective(seed)
    begun = time.perf_counter()
    result = minimize(
        objective, objective.space, max_evaluations=evaluations, random_state=seed, **options
    )
    return result.loss, time.perf_counter() - begun


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--evaluations", type=int, default=512)
    parser.add_argument("--seeds", type=int, default=20)
    arguments = parser.parse_args()

    print(f"{'seed':>4}  {'ADMM(gp, cmab)':>14}  {'random':>8}  {'ratio':>6}  seconds")
    pairs = []
    for seed in range(arguments.seeds):
        ours, spent = best_of_run(seed, arguments.evaluations)
        random, random_spent = best_of_run(
            seed, arguments.evaluations, strategy="joint", theta_solver="random"
        )
        pairs.append((ours, random))
        print(
            f"{seed:>4}  {ours:>14.4f}  {random:>8.4f}  {ours / random:>6.3f}"
            f"  {spent:.1f} / {random_spent:.1f}",
            flush=True,
        )
    table = np.array(pairs)
    wins = int((table[:, 0] < table[:, 1]).sum())
    print(f"median  ADMM {np.median(table[:, 0]):.4f}  random {np.median(table[:, 1]):.4f}")
    print(f"median ratio {np.median(table[:, 0] / table[:, 1]):.3f}")
    print(f"ADMM ends below random in {wins} of {arguments.seeds} seeds")


if __name__ == "__main__":
    main()
