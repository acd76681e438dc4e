"""ADMM against the joint problem on the papers' artificial objective (appendix B, table A2).

6 776 selections, about a hundred parameters. All methods get the same processor time (evaluations
cost next to nothing, so it is the solvers' own), the space starts at the same point, and what is
shown is over seeds. Four studies, each a table:

    speedup    joint `gp` against adaptive ADMM(gp, bo) and ADMM(gp, cmab), F = 8 and 16
    precision  fixed numbers of evaluations a sub-problem against adaptive ones
    warm       sub-problems that know the log against those that begin with nothing
    rho        the penalty from 0.001 to 10

A long horizon is for the joint problem, which still improves late. `--stop` ends the runs of ADMM
earlier: what they had by then is what they are compared by, which is to their disadvantage.

    python benchmarks/artificial_objective.py --seconds 20 --seeds 20 --plot plots
    python benchmarks/artificial_objective.py --studies speedup --seconds 120 --stop 15
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
from artificial_floor import least_value
from scipy.stats import t as student
from threadpoolctl import threadpool_limits

from automl_admm.admm.loop import AdmmSettings, admm
from automl_admm.admm.schedule import Precision
from automl_admm.joint.loop import joint
from automl_admm.plugins import Plugins, load_plugins
from automl_admm.problem import AdmmState, Evaluation, Status, ThetaSubproblem
from automl_admm.protocols import ThetaSolver
from automl_admm.runner.assembly import build_solver
from automl_admm.search import Proposal, Search, SearchProblem, default_start
from automl_admm.shape import content_hash
from automl_admm.testing.objectives import ArtificialObjective

LAST = 256
NEAR, NEAR_ZERO = 0.1, 0.01
Curve = list[tuple[float, float]]


@dataclass(frozen=True)
class Method:
    """One row: what it is called and how it is set up."""

    name: str
    z_solver: str | None = None
    first: int = 16
    step: int = 16
    rho: float = 1.0
    cold: bool = False

    def search(self, problem: SearchProblem, plugins: Plugins) -> Search:
        """The search over a problem."""
        theta = build_solver(plugins.theta_solvers, "gp")
        if self.z_solver is None:
            return joint(problem, theta)
        solver = Forgetful(partial(build_solver, plugins.theta_solvers, "gp"))
        settings = AdmmSettings(rho=self.rho, precision=Precision(self.first, self.step, LAST))
        z = build_solver(plugins.z_solvers, self.z_solver)
        return admm(problem, solver if self.cold else theta, z, settings)


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
STUDIES: dict[str, tuple[Method, ...]] = {
    "speedup": (
        JOINT,
        Method("AdADMM-F8(gp, bo)", "bo", step=8),
        Method("AdADMM-F16(gp, bo)", "bo", step=16),
        Method("AdADMM-F8(gp, cmab)", "cmab", step=8),
        Method("AdADMM-F16(gp, cmab)", "cmab", step=16),
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


def run(method: Method, seed: int, seconds: float, stop: float) -> Curve:
    """The improvements of one run until `stop`: (processor seconds, best value so far)."""
    objective = ArtificialObjective(seed)
    space, plugins = objective.space, load_plugins()
    begun = time.process_time()

    def clock() -> float:
        return time.process_time() - begun

    def key(candidate: Any) -> str:
        return content_hash(json.dumps(space.values(candidate), sort_keys=True))

    problem = SearchProblem(
        space, key, (default_start(space),), seed=seed, deadline=seconds, clock=clock
    )
    with threadpool_limits(1):
        return list(improvements(method.search(problem, plugins), problem, objective, stop))


def improvements(
    search: Search, problem: SearchProblem, objective: ArtificialObjective, stop: float
) -> Iterator[tuple[float, float]]:
    """Drive a search in this process until it is time to stop."""
    known: dict[str, float] = {}
    event, best = next(search), np.inf
    while problem.clock() < stop:
        results: Sequence[Evaluation] = ()
        if isinstance(event, Proposal):
            key = problem.key(event.candidate)
            if key not in known:
                known[key] = objective(problem.space.values(event.candidate))
            loss = known[key]
            if loss < best:
                best = loss
                yield problem.clock(), loss
            results = [Evaluation(len(known), key, event.candidate, Status.SUCCESS, loss)]
        elif not isinstance(event, AdmmState):
            raise TypeError("nothing runs that could be waited for")
        try:
            event = search.send(results)
        except StopIteration:
            return


Job = tuple[Method, int, float, float]


def perform(job: Job) -> Curve:
    """One run, in a process of the pool."""
    return run(*job)


def collect(jobs: Sequence[Job], keep: Path | None, processes: int) -> list[Curve]:
    """The curves of all jobs; those on file are not made again."""
    known: dict[str, Curve] = json.loads(keep.read_text()) if keep and keep.exists() else {}
    missing = [job for job in jobs if repr(job) not in known]
    with get_context("spawn").Pool(processes) as pool:
        for job, curve in zip(missing, pool.imap(perform, missing), strict=True):
            known[repr(job)] = curve
            if keep:
                keep.write_text(json.dumps(known))
    return [known[repr(job)] for job in jobs]


def at(curve: Curve, seconds: float) -> float:
    """The best value at a time; before the first evaluation that of the first."""
    values = [value for moment, value in curve if moment <= seconds]
    return values[-1] if values else curve[0][1]


def reached(
    curves: Sequence[Curve], target: float, middle: Callable[[list[float]], Any] = np.median
) -> float:
    """When the middle over seeds falls to a target; infinite if it never does."""
    moments = sorted({moment for curve in curves for moment, _ in curve})
    for moment in moments:
        if middle([at(curve, moment) for curve in curves]) <= target:
            return moment
    return np.inf


def paired_ratio(curves: Sequence[Curve], others: Sequence[Curve], seconds: float) -> str:
    """The geometric mean over seeds of the ratio of two ends, and its 95 % interval (Student's t).

    Ends differ by orders of magnitude between seeds, so two medians can be far apart by accident.
    """
    pairs = zip(curves, others, strict=True)
    logs = np.log([at(one, seconds) / at(other, seconds) for one, other in pairs])
    error = float(logs.std(ddof=1) / np.sqrt(len(logs))) if len(logs) > 1 else np.nan
    half = float(student.ppf(0.975, len(logs) - 1)) * error if len(logs) > 1 else np.nan
    low, middle, high = np.exp([logs.mean() - half, logs.mean(), logs.mean() + half])
    return f"{middle:.2f} ({low:.2f} to {high:.2f})"


def show(study: str, found: dict[str, list[Curve]], seconds: float) -> None:
    """Print one study's table: medians over seeds, and ratios to the first row."""
    first = next(iter(found))
    moments = [seconds * share for share in (0.003, 0.01, 0.03, 0.1, 0.3, 1.0)]
    target = float(np.median([at(curve, seconds) for curve in found[first]]))
    heads = "".join(f"{f'{moment:.3g} s':>10}" for moment in moments)
    print(f"\n{study}: median best value after so much processor time ({len(found[first])} seeds)")
    print(
        f"{'':<28}{heads}   better by  reaches the first row's end  seeds below it"
        "   ratio to it, paired (95 %)"
    )
    for name, curves in found.items():
        row = [float(np.median([at(curve, moment) for curve in curves])) for moment in moments]
        pairs = zip(curves, found[first], strict=True)
        below = sum(at(one, seconds) < at(other, seconds) for one, other in pairs)
        moment = reached(curves, target)
        print(
            f"{name:<28}"
            + "".join(f"{value:>10.4f}" for value in row)
            + f"{100 * (target - row[-1]) / target:>10.1f} %"
            + f"{f'after {moment:.2f} s, {seconds / moment:.0f}x':>28}"
            + f"{below:>12} of {len(curves)}"
            + f"{paired_ratio(curves, found[first], seconds):>29}",
            flush=True,
        )


def show_means(found: dict[str, list[Curve]], seconds: float) -> None:
    """Print the same of means over seeds, as the papers have it in their tables of data sets.

    The speed-up is S = T / T_A, T_A the time at which the mean has fallen to f_J, where the mean of
    the first row ends after T; the improvement is I = (f_J - f_A) / f_J.
    """
    means = {n: float(np.mean([at(c, seconds) for c in curves])) for n, curves in found.items()}
    target = next(iter(means.values()))
    print("\nthe same of means over the seeds")
    for name, curves in found.items():
        moment = reached(curves, target, np.mean)
        print(
            f"{name:<28}{means[name]:.4f} at the end, {100 * (1 - means[name] / target):>4.1f} %"
            f" better; reaches the first row's end after {moment:.2f} s, {seconds / moment:.0f}x"
        )


def show_floor(found: dict[str, list[Curve]], seconds: float) -> None:
    """Print the least value there is, and how far above it each row ends."""
    seeds = range(len(next(iter(found.values()))))
    least = np.array([least_value(ArtificialObjective(seed)) for seed in seeds])
    ends = {
        name: np.array([at(curve, seconds) for curve in curves]) for name, curves in found.items()
    }
    target = float(np.median(next(iter(ends.values()))))
    share = 100 * (1 - np.median(least) / target)
    print(f"\nleast value there is: {np.median(least):.4f} in the median, {share:.1f} % better")
    for name, values in ends.items():
        above = values - least
        near = int((above <= np.maximum(NEAR * least, NEAR_ZERO)).sum())
        print(f"{name:<28}{np.median(above):.4f} above it; near it in {near} of {len(seeds)} seeds")


def draw(study: str, found: dict[str, list[Curve]], seconds: float, folder: Path) -> None:
    """Median and quartiles over processor time, both axes logarithmic."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    times = np.geomspace(seconds / 1000, seconds, 120)
    figure, axes = plt.subplots(figsize=(7, 4.5))
    for name, curves in found.items():
        values = np.array([[at(curve, moment) for moment in times] for curve in curves])
        low, middle, high = np.percentile(values, [25, 50, 75], axis=0)
        (line,) = axes.loglog(times, middle, label=name)
        axes.fill_between(times, low, high, color=line.get_color(), alpha=0.12, linewidth=0)
    axes.set_xlabel("processor time, seconds")
    axes.set_ylabel("best value so far (median, quartiles)")
    axes.set_title(f"artificial objective: {study}")
    axes.legend(fontsize=8)
    figure.tight_layout()
    folder.mkdir(parents=True, exist_ok=True)
    figure.savefig(folder / f"artificial_{study}.png", dpi=120)
    plt.close(figure)


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=20.0, help="processor time of one run")
    parser.add_argument("--stop", type=float, help="when to stop the runs of ADMM")
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--studies", nargs="+", choices=STUDIES, default=list(STUDIES))
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--keep", type=Path, help="a JSON file of runs: those are not repeated")
    parser.add_argument("--plot", type=Path, help="a folder to draw into")
    arguments = parser.parse_args()
    methods = list(dict.fromkeys(m for study in arguments.studies for m in STUDIES[study]))
    whole, early = arguments.seconds, arguments.stop or arguments.seconds
    stops = {method: whole if method == JOINT else early for method in methods}
    jobs = [(m, seed, whole, stops[m]) for m in methods for seed in range(arguments.seeds)]
    curves = collect(jobs, arguments.keep, arguments.processes)
    for study in arguments.studies:
        found = {
            m.name: [c for (n, *_), c in zip(jobs, curves, strict=True) if n == m]
            for m in STUDIES[study]
        }
        show(study, found, arguments.seconds)
        show_means(found, arguments.seconds)
        if study == "speedup":
            show_floor(found, arguments.seconds)
        if arguments.plot:
            draw(study, found, arguments.seconds, arguments.plot)


if __name__ == "__main__":
    main()
