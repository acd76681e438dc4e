"""ADMM against the joint problem on the papers' artificial objective (appendix B, table A2).

6 776 selections, about a hundred parameters. Evaluations cost next to nothing, so processor time is
the solvers' own; where a training takes longer than a proposal, the axis by evaluations counts. The
space starts at the same point, and what is shown is over seeds. Four studies, each a table:

    speedup    joint `gp`, `tpe`, `random`, and `optuna` and `smac` where their plugins are
               installed, against adaptive ADMM
    precision  fixed numbers of evaluations a sub-problem against adaptive ones
    warm       sub-problems that know the log against those that begin with nothing
    rho        the penalty from 0.001 to 10

A long horizon is for the joint `gp`, which still improves late. `--stop` ends the other runs
earlier, though not before `--evaluations` are done: what they had by then is what they are compared
by, which is to their disadvantage. `--keep` holds the runs, each with the commit it was made at.

Left out: joint `ctpe`, which without limits proposes what `tpe` does, and joint `trust-region`,
which on so many axes makes some 50 evaluations in 6 s.

    python benchmarks/artificial_objective.py --seconds 20 --seeds 20 --plot plots
    python benchmarks/artificial_objective.py --studies speedup --seconds 45 --stop 8 --first 100
"""

from __future__ import annotations

import argparse
import json
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
from artificial_report import (
    Curve,
    draw,
    show,
    show_evaluations,
    show_floor,
    show_means,
    show_pairs,
)
from threadpoolctl import threadpool_limits

from automl_admm.core.admm_state import AdmmState
from automl_admm.core.evaluations import Evaluation, Status
from automl_admm.core.protocols import ThetaSolver
from automl_admm.core.structure.pipeline_space import content_hash
from automl_admm.core.subproblems import ThetaSubproblem
from automl_admm.plugins.loading import Plugins, load_plugins
from automl_admm.runs.prepare.assembly import build_solver
from automl_admm.search.admm.outer_loop import admm
from automl_admm.search.admm.settings import AdmmSettings, Precision
from automl_admm.search.joint.joint_search import joint
from automl_admm.search.protocol import Proposal, Search, SearchProblem
from automl_admm.search.starts import default_start
from automl_admm.testing.objectives import ArtificialObjective

LAST = 256
SHIPPED = "AdADMM-F16(gp, bo)"  # what `--strategy admm` is, if nothing else is asked for


@dataclass(frozen=True)
class Method:
    """One row: what it is called and how it is set up."""

    name: str
    z_solver: str | None = None
    theta_solver: str = "gp"
    first: int = 16
    step: int = 16
    rho: float = 1.0
    cold: bool = False

    def search(self, problem: SearchProblem, plugins: Plugins) -> Search:
        """The search over a problem; a joint one sees the space as `--strategy joint` shows it."""
        make = partial(build_solver, plugins.theta_solvers, self.theta_solver)
        if self.z_solver is None:
            return joint(problem, make(), plugins.theta_solvers.get(self.theta_solver).joint)
        settings = AdmmSettings(rho=self.rho, precision=Precision(self.first, self.step, LAST))
        z = build_solver(plugins.z_solvers, self.z_solver)
        return admm(problem, Forgetful(make) if self.cold else make(), z, settings)


class Forgetful:
    """A θ-solver that begins every sub-problem with nothing but its start: a cold start."""

    def __init__(self, make: Callable[[], ThetaSolver]) -> None:
        self._make = make

    def begin(self, subproblem: ThetaSubproblem) -> None:
        """Forget everything."""
        self._solver = self._make()
        self._solver.begin(replace(subproblem, history=()))
        self.ask, self.tell = self._solver.ask, self._solver.tell


JOINT = Method("joint gp")
RIVALS = ("tpe", "random", "optuna", "smac")
STUDIES: dict[str, tuple[Method, ...]] = {
    "speedup": (
        JOINT,
        Method("AdADMM-F8(gp, bo)", "bo", step=8),
        Method(SHIPPED, "bo", step=16),
        Method("AdADMM-F8(gp, cmab)", "cmab", step=8),
        Method("AdADMM-F16(gp, cmab)", "cmab", step=16),
        Method("AdADMM-F16(tpe, bo)", "bo", "tpe"),
        *(Method(f"joint {name}", theta_solver=name) for name in RIVALS),
    ),
    "precision": (
        *(Method(f"ADMM{n}(gp, cmab)", "cmab", first=n, step=0) for n in (16, 64, 256)),
        Method("AdADMM-F8(gp, cmab)", "cmab", step=8),
        Method("AdADMM-F16(gp, cmab)", "cmab", step=16),
    ),
    "warm": (
        Method("AdADMM-F16(gp, cmab) warm", "cmab"),
        Method("AdADMM-F16(gp, cmab) cold", "cmab", cold=True),
    ),
    "rho": tuple(
        Method(f"rho = {rho:g}", "cmab", rho=rho) for rho in (0.001, 0.01, 0.1, 1.0, 10.0)
    ),
}


@dataclass(frozen=True)
class Horizon:
    """When a run ends: after `stop` seconds and `evaluations`, after `seconds` at the latest."""

    seconds: float
    stop: float
    evaluations: int = 0

    def is_over(self, seconds: float, evaluations: int) -> bool:
        """Whether a run has had its share."""
        return seconds >= self.seconds or (seconds >= self.stop and evaluations >= self.evaluations)


def run(method: Method, seed: int, horizon: Horizon) -> Curve:
    """One run, at its improvements and its end: processor seconds, evaluations, best value."""
    objective = ArtificialObjective(seed)
    space, plugins = objective.space, load_plugins()
    build_solver(plugins.theta_solvers, method.theta_solver)  # its imports are not the search's
    begun = time.process_time()

    def clock() -> float:
        return time.process_time() - begun

    def key(candidate: Any) -> str:
        return content_hash(json.dumps(space.values(candidate), sort_keys=True))

    problem = SearchProblem(
        space, key, (default_start(space),), seed=seed, deadline=horizon.seconds, clock=clock
    )
    with threadpool_limits(1):
        return list(improvements(method.search(problem, plugins), problem, objective, horizon))


def improvements(
    search: Search, problem: SearchProblem, objective: ArtificialObjective, horizon: Horizon
) -> Iterator[tuple[float, int, float]]:
    """Drive a search in this process until its share is over."""
    known: dict[str, float] = {}
    event, best = next(search), np.inf
    while not horizon.is_over(problem.clock(), len(known)):
        results: Sequence[Evaluation] = ()
        if isinstance(event, Proposal):
            key = problem.key(event.candidate)
            if key not in known:
                known[key] = objective(problem.space.values(event.candidate))
            loss = known[key]
            if loss < best:
                best = loss
                yield problem.clock(), len(known), loss
            results = [Evaluation(len(known), key, event.candidate, Status.SUCCESS, loss)]
        elif not isinstance(event, AdmmState):
            raise TypeError("nothing runs that could be waited for")
        try:
            event = search.send(results)
        except StopIteration:
            break
    yield problem.clock(), len(known), best


Job = tuple[Method, int, Horizon]


def perform(job: Job) -> Curve:
    """One run, in a process of the pool."""
    return run(*job)


def collect(jobs: Sequence[Job], keep: Path | None, processes: int) -> list[Curve]:
    """The curves of all jobs; those on file are not made again. Prints the commits they are of."""
    known: dict[str, Any] = json.loads(keep.read_text()) if keep and keep.exists() else {}
    missing, commit = [job for job in jobs if repr(job) not in known], commit_here()
    with get_context("spawn").Pool(processes) as pool:
        for job, curve in zip(missing, pool.imap(perform, missing), strict=True):
            known[repr(job)] = {"commit": commit, "curve": curve}
            if keep:
                keep.write_text(json.dumps(known))
    print("runs of commit", *sorted({known[repr(job)]["commit"] for job in jobs}))
    return [[tuple(point) for point in known[repr(job)]["curve"]] for job in jobs]


def commit_here() -> str:
    """The commit that is checked out; `+` where files differ from it."""
    command = ["git", "-C", str(Path(__file__).parent), "describe", "--always", "--dirty=+"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=20.0, help="processor time of one run")
    parser.add_argument("--stop", type=float, help="when to stop all but the joint gp")
    parser.add_argument("--evaluations", type=int, default=0, help="but not before so many")
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--studies", nargs="+", choices=STUDIES, default=list(STUDIES))
    parser.add_argument("--without", nargs="+", default=[], help="rows to leave out, by name")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--keep", type=Path, help="a JSON file of runs: those are not repeated")
    parser.add_argument("--plot", type=Path, help="a folder to draw into")
    arguments = parser.parse_args()
    left_out = {*arguments.without, *not_installed()}
    rows = {s: [m for m in STUDIES[s] if m.name not in left_out] for s in arguments.studies}
    methods = list(dict.fromkeys(m for study in rows.values() for m in study))
    whole, early = arguments.seconds, arguments.stop or arguments.seconds
    early_end = Horizon(whole, early, arguments.evaluations)
    ends = {m: Horizon(whole, whole) if m == JOINT else early_end for m in methods}
    seeds = range(arguments.first, arguments.first + arguments.seeds)
    jobs = [(m, seed, ends[m]) for seed in seeds for m in methods]
    curves = collect(jobs, arguments.keep, arguments.processes)
    for study, members in rows.items():
        found = {
            m.name: [c for (n, *_), c in zip(jobs, curves, strict=True) if n == m] for m in members
        }
        show(study, found, whole)
        show_means(found, whole)
        if study == "speedup":
            show_evaluations(found)
            show_pairs(found, SHIPPED, (0.3, 1.0, 3.0, early, whole))
            show_floor(found, seeds, whole)
        if arguments.plot:
            draw(study, found, whole, arguments.plot)


def not_installed() -> list[str]:
    """The rows whose θ-solver no plugin brings; said, so that nobody misses them."""
    known = load_plugins().theta_solvers
    missing = [f"joint {name}" for name in RIVALS if name not in known]
    if missing:
        print("left out, their plugins are not installed:", ", ".join(missing))
    return missing


if __name__ == "__main__":
    main()
