"""One `Study` driven by four processes beside one `minimize`, on the papers' artificial objective.

Four workers ask before the results of the other three are known, so their proposals differ from
those of one worker. What is compared is the best loss after the same number of evaluations, by
seed. `minimize` with four workers has the same delay, and `minimize` with other seeds shows the
noise.

    python benchmarks/study_processes.py --seeds 10 --evaluations 60
"""

from __future__ import annotations

import argparse
import multiprocessing
import time
from collections.abc import Sequence
from typing import Any

import numpy as np
from paired import compare

from automl_admm import Study, minimize
from automl_admm.testing.objectives import ArtificialObjective

WORKERS = 4
# Long enough for all workers to be busy at once: the objective itself costs nothing.
SECONDS = 0.02
OTHER_SEED = 1000
# Imported once, in the server that forks the workers.
PRELOADED = ["automl_admm.runs.study.study", "automl_admm.testing.objectives", "scipy.stats"]


def slow(values: dict[str, Any]) -> float:
    """Take a moment, as an evaluation does."""
    time.sleep(SECONDS)
    return ArtificialObjective(0)(values)


def work(address: Any) -> None:
    """Evaluate trials of a study in another process until it ends."""
    with Study.connect(address) as study:
        for trial in study:
            study.tell(trial, slow(trial.values))


def by_processes(seed: int, evaluations: int) -> list[float]:
    """Return the losses of a study driven by four processes, in the order of their trials."""
    space = ArtificialObjective(0).space
    context = multiprocessing.get_context("forkserver")
    with Study(space, max_evaluations=evaluations, random_state=seed) as study:
        with study.serve() as server:
            workers = [context.Process(target=work, args=(server.address,)) for _ in range(WORKERS)]
            for worker in workers:
                worker.start()
            for worker in workers:
                worker.join()
        return [one.loss for one in study.results if one.loss is not None]


def by_minimize(seed: int, evaluations: int, workers: int = 1) -> list[float]:
    """Return the losses of one `minimize`."""
    function = slow if workers > 1 else ArtificialObjective(0)
    result = minimize(
        function,
        ArtificialObjective(0).space,
        max_evaluations=evaluations,
        random_state=seed,
        n_jobs=workers,
    )
    return [one.loss for one in result.evaluations]


def show(runs: dict[str, list[list[float]]], seeds: Sequence[int], moments: Sequence[int]) -> None:
    """Print the best losses side by side by seed, then their medians and differences."""
    one, *others = runs.values()
    last = moments[-1]
    print(f"best loss after {last} evaluations\nseed  " + "  ".join(f"{n:>20}" for n in runs))
    for place, seed in enumerate(seeds):
        row = (f"{min(losses[place][:last]):20.4f}" for losses in runs.values())
        print(f"{seed:4}  " + "  ".join(row))
    print("\nmedians; beside them seeds that are better/worse/equal than one minimize")
    for moment in moments:
        first = [min(losses[:moment]) for losses in one]
        print(f"{moment:4}  {np.median(first):20.4f}", end="")
        for run in others:
            best = [min(losses[:moment]) for losses in run]
            print(f"  {np.median(best):.4f} {compare(best, first)}", end="")
        print()


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--evaluations", type=int, default=60)
    given = parser.parse_args()
    seeds = range(given.seeds)
    multiprocessing.set_forkserver_preload(PRELOADED)
    runs = {
        "one minimize": [by_minimize(seed, given.evaluations) for seed in seeds],
        "study, 4 processes": [by_processes(seed, given.evaluations) for seed in seeds],
        "minimize, 4 workers": [by_minimize(seed, given.evaluations, WORKERS) for seed in seeds],
        "minimize, other seed": [by_minimize(OTHER_SEED + s, given.evaluations) for s in seeds],
    }
    show(runs, seeds, [given.evaluations // 4, given.evaluations // 2, given.evaluations])


if __name__ == "__main__":
    main()
