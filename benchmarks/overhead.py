"""CPU milliseconds that a solver takes for itself, at 10, 100 and 1 000 known observations.

Every installed θ-solver in a box of 10 dimensions, and every z-solver on a table of 8 × 11 × 7 × 11
selections: ours and those of plugins. Each is measured in a process of its own, on one thread; an
ask or a tell is the median of five that follow a first ask, which is shown apart: it reads the
history and may fit a model from nothing. What needs more than 60 s of CPU for one size is stopped.

    python benchmarks/overhead.py
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import psutil

from automl_admm.core.limits import Limit
from automl_admm.core.space import Array, SearchSpace, Selection
from automl_admm.core.subproblems import (
    Observation,
    Quadratic,
    SelectionSubproblem,
    ThetaSubproblem,
)
from automl_admm.plugins.loading import load_plugins
from automl_admm.runs.prepare.assembly import build_solver
from automl_admm.testing.objectives import BOWL, TABLE_A2, space_of

SIZES = (10, 100, 1000)
REPEATS = 5
MOST_SECONDS = 60
ONE_THREAD = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL")}


@dataclass(frozen=True)
class Cost:
    """CPU milliseconds: of begin and the first ask, of an ask, of a tell."""

    first: float
    ask: float
    tell: float


def measure_theta(request: str, size: int, limited: int) -> Cost:
    """A θ-solver in 10 dimensions, with so many limits."""
    rng = np.random.default_rng(0)

    def observe(point: Array) -> Observation[Array]:
        value = BOWL(point)
        return Observation(point, value, value, (float(point.mean()),) * limited)

    nothing = np.zeros(BOWL.dimension)
    subproblem = ThetaSubproblem(
        BOWL.parameters(),
        nothing + 0.5,
        Quadratic(nothing, nothing),
        tuple(observe(point) for point in rng.random((size, BOWL.dimension))),
        tuple(Limit(f"g{number}", 0.45) for number in range(limited)),
        evaluations=32,
    )
    return time_rounds(build_solver(load_plugins().theta_solvers, request), subproblem, observe)


def measure_z(request: str, size: int, limited: int) -> Cost:
    """A z-solver on the table of decisions of Table A2, without limits."""
    del limited
    rng = np.random.default_rng(0)
    space = SearchSpace(space_of(TABLE_A2).decisions)
    worth = {
        (choice.name, label): float(rng.random())
        for choice in space.decisions
        for label in getattr(choice, "alternatives", ())
    }

    def observe(selection: Selection) -> Observation[Selection]:
        loss = sum(worth[name, str(pick)] for name, pick in selection)
        return Observation(selection, loss, loss)

    subproblem = SelectionSubproblem(
        space,
        space.complete({}),
        tuple(observe(space.sample(rng)) for _ in range(size)),
        evaluations=32,
    )
    return time_rounds(build_solver(load_plugins().z_solvers, request), subproblem, observe)


def time_rounds(solver: Any, subproblem: Any, observe: Callable[[Any], Any]) -> Cost:
    """Begin, ask and tell, six times; imports of the first ask are not counted."""
    begun = time.process_time()
    solver.begin(subproblem)
    points = solver.ask(1, [])
    first = time.process_time() - begun
    asks, tells = [], []
    for _ in range(REPEATS):
        told = [observe(point) for point in points]
        begun = time.process_time()
        solver.tell(told)
        tells.append(time.process_time() - begun)
        begun = time.process_time()
        points = solver.ask(1, [])
        asks.append(time.process_time() - begun)
    return Cost(1000 * first, 1000 * float(np.median(asks)), 1000 * float(np.median(tells)))


KINDS = {"theta": measure_theta, "z": measure_z}


def measure(kind: str, request: str, size: int, limited: int = 0) -> Cost | str:
    """The cost, measured in another process; a word where it needs too long or fails."""
    job = json.dumps([kind, request, size, limited])
    process = subprocess.Popen(
        [sys.executable, __file__, "--job", job],
        env={**os.environ, **ONE_THREAD},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    printed = _await(process)
    if printed is None:
        return f"> {MOST_SECONDS} s"
    return "failed" if process.returncode else Cost(**json.loads(printed.splitlines()[-1]))


def _await(process: subprocess.Popen[str]) -> str | None:
    """What a process printed; None if it used up its CPU time and was killed."""
    watched = psutil.Process(process.pid)
    while True:
        try:
            return process.communicate(timeout=1.0)[0]
        except subprocess.TimeoutExpired:
            with contextlib.suppress(psutil.Error):
                times = watched.cpu_times()
                if times.user + times.system > MOST_SECONDS:
                    process.kill()
                    process.communicate()
                    return None


def do_job(job: str) -> None:
    """In the other process: measure, and print the result as JSON."""
    warnings.simplefilter("ignore")
    kind, request, size, limited = json.loads(job)
    cost = KINDS[kind](request, size, limited)
    print(json.dumps(vars(cost)))


def table(kind: str, names: list[str]) -> dict[tuple[str, int], Cost | str]:
    """One row a solver."""
    print(f"\n{kind}-solvers: CPU ms of the first ask / an ask / a tell")
    print(f"{'':<18}" + "".join(f"{f'{size} observations':>26}" for size in SIZES))
    found: dict[tuple[str, int], Cost | str] = {}
    for name in names:
        row = ""
        for size in SIZES:
            cost = measure(kind, name, size)
            found[name, size] = cost
            row += f"{shown(cost):>26}"
            if isinstance(cost, str):
                break
        print(f"{name:<18}{row}", flush=True)
    return found


def shown(cost: Cost | str) -> str:
    """The three numbers, or the word."""
    if isinstance(cost, str):
        return cost
    values = (cost.first, cost.ask, cost.tell)
    return " / ".join(f"{value:.2f}" if value < 10.0 else f"{value:.0f}" for value in values)


def claims(found: dict[tuple[str, int], Cost | str]) -> None:
    """What the project promises, beside what was measured here."""
    print()
    for size in SIZES:
        ours, theirs = found.get(("gp", size)), found.get(("smac-gp", size))
        if isinstance(ours, Cost) and isinstance(theirs, Cost):
            ratio = theirs.ask / ours.ask
            print(f"smac-gp / gp, an ask at {size}: {ratio:.0f} (promised: at least 50)")
    if ("smac-gp", SIZES[0]) not in found:
        print("the plugin with smac-gp is not installed: no comparison with gp")
    print(f"ctpe, one limit, 200 observations: {shown(measure('theta', 'ctpe', 200, 1))} ms")
    print("(promised: an ask under 5 ms)")
    for limited in (0, 1, 2):
        cost = shown(measure("theta", "gp", 64, limited))
        print(f"gp, {limited} limits, 64 observations: {cost} ms")


def main() -> None:
    """Print the tables and the claims."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--solvers", nargs="+", help="all of them, unless some are named")
    parser.add_argument("--job", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.job:
        do_job(arguments.job)
        return
    plugins = load_plugins()
    named = arguments.solvers
    thetas, zs = (
        [record.name for record in records if not named or record.name in named]
        for records in (plugins.theta_solvers, plugins.z_solvers)
    )
    found = table("theta", thetas)
    table("z", zs)
    claims(found)


if __name__ == "__main__":
    main()
