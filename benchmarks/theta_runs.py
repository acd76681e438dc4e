"""What the benchmarks of θ-solvers share: cases, methods, and the trace of one run.

A method is one of our θ-solvers by name, or a sampler of Optuna driven directly.
"""

from __future__ import annotations

import json
import time
import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from automl_admm.core.limits import Limit
from automl_admm.core.ranking import spread
from automl_admm.core.space import Array, Parameter
from automl_admm.core.subproblems import Observation, Quadratic, ThetaSubproblem
from automl_admm.plugins.loading import load_plugins
from automl_admm.runs.prepare.assembly import build_solver
from automl_admm.search.admm.lagrangian import constraint_cost, constraint_residuals

RHO = 4.0
ROUND = 8
DUAL_CAP = 100.0


@dataclass(frozen=True)
class Case:
    """A function on the unit box; with `limit`, one constraint g ≤ limit; noise is added to f."""

    name: str
    dimension: int
    objective: Callable[[Array], float]
    constraint: Callable[[Array], float] | None = None
    limit: float = 0.0
    noise: float = 0.0

    @property
    def limits(self) -> tuple[Limit, ...]:
        """The limits as a solver is given them."""
        return (Limit("g", self.limit),) if self.constraint else ()


@dataclass
class Trace:
    """One run: f without noise, f as it was seen, g − limit, and CPU ms a proposal."""

    true: list[float]
    seen: list[float]
    excess: list[float]
    milliseconds: float = 0.0

    def regrets(self, counts: Iterable[int]) -> list[float]:
        """The true value of the best seen, after each number of evaluations."""
        return [self.true[int(np.argmin(self.seen[:count]))] for count in counts]

    def best_feasible(self) -> float:
        """The best value within the limit, infinite without any."""
        pairs = zip(self.seen, self.excess, strict=True)
        return min((value for value, over in pairs if over <= 0.0), default=np.inf)

    def first_feasible(self) -> float:
        """The number of the first evaluation within the limit, infinite without any."""
        inside = np.flatnonzero(np.array(self.excess) <= 0.0)
        return float(inside[0]) + 1.0 if inside.size else np.inf

    def feasible(self) -> int:
        """How many evaluations lie within the limit."""
        return int((np.array(self.excess) <= 0.0).sum())


class Experiment:
    """Evaluates a case, keeps the trace, and measures the time that a method takes for itself."""

    def __init__(self, case: Case, seed: int) -> None:
        self.case = case
        self.trace = Trace([], [], [])
        self._noise = np.random.default_rng(seed + 5000)
        self._begun = time.process_time()
        self._spent = 0.0

    def evaluate(self, point: Array) -> tuple[float, tuple[float, ...]]:
        """The f and g of a point; the clock of the method stands still."""
        self._spent += time.process_time() - self._begun
        value = self.case.objective(point)
        seen = value + self.case.noise * float(self._noise.normal())
        constraints = () if self.case.constraint is None else (self.case.constraint(point),)
        self.trace.true.append(value)
        self.trace.seen.append(seen)
        self.trace.excess.append(max((g - self.case.limit for g in constraints), default=0.0))
        self._begun = time.process_time()
        return seen, constraints

    def finish(self) -> Trace:
        """The trace with its times."""
        spent = self._spent + time.process_time() - self._begun
        self.trace.milliseconds = 1000.0 * spent / len(self.trace.seen)
        return self.trace


Method = Callable[[Case, int, int], Trace]


@dataclass
class Multiplier:
    """The augmented value of a constraint, in units as `automl_admm.search.admm` has them."""

    limit: float
    dual: float = 0.0

    def price(self, objective: float, unit: float, g: float) -> float:
        """f / unit + ρ/2 (r + μ/ρ)² − μ²/(2ρ)."""
        over, room, dual = self._terms(g)
        return objective / unit + constraint_cost(over, room, dual, RHO)

    def update(self, g: float) -> None:
        """Set μ ← μ + ρ r at the best point of a round."""
        over, room, dual = self._terms(g)
        residual = float(constraint_residuals(over, room, dual, RHO)[0])
        self.dual = float(np.clip(self.dual + RHO * residual, -DUAL_CAP, DUAL_CAP))

    def _terms(self, g: float) -> tuple[Array, Array, Array]:
        scale = 0.1 * self.limit
        return np.array([(g - self.limit) / scale]), np.array([np.inf]), np.array([self.dual])


def ours(request: str, *, priced: bool = False) -> Method:
    """One of our θ-solvers.

    With `priced` and a constraint it is given the augmented value in rounds of eight evaluations,
    with a new multiplier and all that is known re-priced at each, as ADMM does it. Without, it has
    one sub-problem and sees f and g.
    """
    records = load_plugins().theta_solvers

    def run(case: Case, seed: int, budget: int) -> Trace:
        solver, experiment = build_solver(records, request), Experiment(case, seed)
        start = np.random.default_rng(seed + 1000).random(case.dimension)
        multiplier = Multiplier(case.limit)
        known: list[tuple[Array, float, tuple[float, ...]]] = []
        length = ROUND if priced and case.limits else budget
        while len(known) < budget:
            observe = _pricing(multiplier, [value for _, value, _ in known])
            solver.begin(_box(case, start, [observe(*row) for row in known], budget, seed))
            for _ in range(min(length, budget - len(known))):
                (point,) = solver.ask(1, [])
                known.append((point, *experiment.evaluate(point)))
                solver.tell([observe(*known[-1])])
            if case.limits:
                multiplier.update(min(known, key=lambda row: observe(*row).loss)[2][0])
        return experiment.finish()

    return run


Pricing = Callable[[Array, float, tuple[float, ...]], Observation[Array]]


def _pricing(multiplier: Multiplier, values: list[float]) -> Pricing:
    """How an evaluation is shown under a multiplier; without constraints its loss is f."""
    unit, dual = (spread(values) if values else 1.0), Multiplier(multiplier.limit, multiplier.dual)

    def observe(point: Array, value: float, constraints: tuple[float, ...]) -> Observation[Array]:
        loss = dual.price(value, unit, constraints[0]) if constraints else value
        return Observation(point, loss, value, constraints)

    return observe


def _box(
    case: Case, start: Array, history: list[Observation[Array]], budget: int, seed: int
) -> ThetaSubproblem:
    nothing = np.zeros(case.dimension)
    return ThetaSubproblem(
        tuple(Parameter(f"x{axis}", 0.0, 1.0) for axis in range(case.dimension)),
        start,
        Quadratic(nothing, nothing),
        tuple(history),
        case.limits,
        evaluations=budget,
        seed=seed,
    )


def optuna_sampler(name: str) -> Method:
    """Optuna's `GPSampler` or `TPESampler` with its defaults."""
    import optuna

    optuna.logging.set_verbosity(optuna.logging.WARNING)

    def run(case: Case, seed: int, budget: int) -> Trace:
        experiment = Experiment(case, seed)
        study = optuna.create_study(sampler=getattr(optuna.samplers, name)(seed=seed))
        for _ in range(budget):
            trial = study.ask()
            axes = [trial.suggest_float(f"x{axis}", 0.0, 1.0) for axis in range(case.dimension)]
            value, constraints = experiment.evaluate(np.array(axes))
            for g in constraints:
                trial.set_constraint("g", g - case.limit)
            study.tell(trial, value)
        return experiment.finish()

    return run


def optuna_methods() -> dict[str, Method]:
    """Optuna's samplers, as far as it and torch are installed; what is missing is said."""
    try:
        import optuna  # noqa: F401
    except ImportError:
        print("optuna is not installed: its samplers are left out")
        return {}
    found = {"optuna TPE": optuna_sampler("TPESampler")}
    try:
        import torch
    except ImportError:
        print("torch is not installed: Optuna's GPSampler is left out")
    else:
        torch.set_num_threads(1)
        found = {"optuna GP": optuna_sampler("GPSampler"), **found}
    return found


def collect(
    methods: Mapping[str, Method],
    cases: Iterable[Case],
    seeds: Iterable[int],
    budget: int,
    keep: Path | None,
) -> dict[tuple[str, str], list[Trace]]:
    """All runs by method and case. Runs that the file `keep` holds are not repeated."""
    held: dict[str, Any] = json.loads(keep.read_text()) if keep and keep.exists() else {}
    found: dict[tuple[str, str], list[Trace]] = {}
    for case in cases:
        for name, method in methods.items():
            traces = []
            for seed in seeds:
                key = f"{name}/{case.name}/{seed}/{budget}"
                if key not in held:
                    held[key] = asdict(_quietly(method, case, seed, budget))
                traces.append(Trace(**held[key]))
            found[name, case.name] = traces
            if keep:
                keep.write_text(json.dumps(held))
    return found


def _quietly(method: Method, case: Case, seed: int, budget: int) -> Trace:
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return method(case, seed, budget)
