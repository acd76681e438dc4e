"""What each part of ADMM is worth: the search without it, on real pipelines within two limits.

Space, objective, limits and the ten settings are those of limits_experiment.py: every pipeline is
measured first, once, so that the runs take no more than their solvers and have no noise. Each row
is the shipped search with one part taken out or set otherwise, beside joint searches of the same
space. A row is compared with the shipped search in pairs of the same setting and seed: the share of
pairs in which it has the lower loss within the limits (a tie is half a pair; a run without anything
within counts as worst). A share below a half says that the part helps. The interval is of a
bootstrap over seeds, because the settings of a seed are not independent; p is of the Wilcoxon test
over the mean shares of the seeds, corrected by Holm.

    python benchmarks/admm_parts.py --data ../shared/data/credit_default.csv --keep runs --first 100
"""

from __future__ import annotations

import argparse
import json
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, dataclass, field
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any, Protocol, TypeVar
from unittest.mock import patch

import numpy as np
from artificial_objective import commit_here
from limits_experiment import measure_space, problem, settings_of
from limits_report import Setting
from limits_rivals import Trial, best_feasible, search, share_feasible, spend
from paired import corrected
from scipy.stats import wilcoxon
from threadpoolctl import threadpool_limits

from automl_admm.search.admm import outer_loop
from automl_admm.search.admm.settings import AdmmSettings
from automl_admm.search.admm.stagnation import Drought

RUNS, WORST, RESAMPLES = "parts.jsonl", 1.0, 10_000


def unchanged() -> AbstractContextManager[Any]:
    """Change nothing."""
    return nullcontext()


def no_multipliers() -> AbstractContextManager[Any]:
    """Keep λ and μ at 0: what is left is a quadratic penalty."""
    without = partial(AdmmSettings, dual_cap=0.0)
    return patch("automl_admm.builtin.strategies.AdmmSettings", without)


def no_excursions() -> AbstractContextManager[Any]:
    """Never leave a selection for another when neither block improves."""
    return patch.object(outer_loop, "_leave", lambda *_: None)


def no_drought() -> AbstractContextManager[Any]:
    """Give each sub-problem all of its n_t evaluations."""
    return patch.object(Drought, "lasts", lambda *_: False)


@dataclass(frozen=True)
class Variant:
    """A row: the settings of the search, and the change of the code that takes a part out."""

    chosen: Mapping[str, Any] = field(default_factory=dict)
    change: Callable[[], AbstractContextManager[Any]] = unchanged


SHIPPED = "ADMM as shipped"
VARIANTS = {
    SHIPPED: Variant(),
    "μ = λ = 0": Variant(change=no_multipliers),
    "ρ = 1e-6": Variant({"strategy": "admm:rho=1e-06"}),
    "ρ = 0.01": Variant({"strategy": "admm:rho=0.01"}),
    "ρ = 0.1": Variant({"strategy": "admm:rho=0.1"}),
    "ρ = 10": Variant({"strategy": "admm:rho=10"}),
    "n_t = 16 + 16 t": Variant({"strategy": "admm:first=16,step=16"}),
    "random z-min": Variant({"z_solver": "random"}),
    "cmab in z-min": Variant({"z_solver": "cmab"}),
    "random θ-min": Variant({"theta_solver": "random"}),
    "ctpe in θ-min": Variant({"theta_solver": "ctpe"}),
    "no excursions": Variant(change=no_excursions),
    "no drought": Variant(change=no_drought),
    "joint ctpe": Variant({"strategy": "joint", "theta_solver": "ctpe"}),
    "joint tpe": Variant({"strategy": "joint", "theta_solver": "tpe"}),
    "joint random": Variant({"strategy": "joint", "theta_solver": "random"}),
}


@dataclass(frozen=True)
class Job:
    """One run."""

    data: Path
    keep: Path
    name: str
    trial: Trial

    @property
    def key(self) -> str:
        """The same in every call of the script."""
        return json.dumps([self.name, *asdict(self.trial).values()])


class Keyed(Protocol):
    """A run that is known by its key."""

    @property
    def key(self) -> str:
        """The same in every call of the script."""


JobT = TypeVar("JobT", bound=Keyed)


@dataclass(frozen=True)
class Ended:
    """The best loss within the limits, and the share of evaluations that are within."""

    loss: float
    share: float


def run(job: Job) -> tuple[str, Ended]:
    """Run a job."""
    prepared, work = problem(job.data, job.keep)
    variant = VARIANTS[job.name]
    with threadpool_limits(1), warnings.catch_warnings(), variant.change():
        warnings.simplefilter("ignore")
        outcomes = spend(partial(search, variant.chosen), prepared, work, job.trial).outcomes
    bounds = job.trial.bounds
    loss = min(best_feasible(outcomes, bounds), WORST)
    return job.key, Ended(loss, share_feasible(outcomes, bounds))


def jobs_of(arguments: argparse.Namespace, every: Sequence[Setting]) -> Iterator[Job]:
    """Every run, seed by seed, so that a part is worth a table."""
    for seed in range(arguments.first, arguments.first + arguments.seeds):
        for setting in every:
            for name in VARIANTS:
                trial = Trial(setting.bounds, seed, arguments.evaluations)
                yield Job(arguments.data, arguments.keep, name, trial)


def read_runs(path: Path) -> dict[str, Ended]:
    """What has been run, by the key of its job."""
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return {key: Ended(**ended) for key, ended in map(json.loads, lines)}


def make_runs(
    jobs: Sequence[JobT], path: Path, processes: int, run: Callable[[JobT], tuple[str, Ended]]
) -> None:
    """Make the runs that are missing, and append each to the file when it ends."""
    known = read_runs(path)
    missing = [job for job in jobs if job.key not in known]
    with get_context("spawn").Pool(processes) as pool, path.open("a", encoding="utf-8") as file:
        for number, (key, ended) in enumerate(pool.imap_unordered(run, missing), 1):
            file.write(json.dumps([key, asdict(ended)]) + "\n")
            file.flush()
            print(f"\r{number}/{len(missing)} runs", end="", flush=True)
    print()


def shares_better(mine: np.ndarray, theirs: np.ndarray) -> np.ndarray:
    """Return for each seed the share of settings where `mine` is lower; a tie is a half."""
    return np.asarray(((mine < theirs) + 0.5 * (mine == theirs)).mean(axis=1))


def interval(shares: np.ndarray) -> tuple[float, float]:
    """Return the 95 % interval of the mean over seeds, which are drawn anew."""
    places = np.random.default_rng(0).integers(len(shares), size=(RESAMPLES, len(shares)))
    low, high = np.quantile(shares[places].mean(axis=1), [0.025, 0.975])
    return float(low), float(high)


def table_of(losses: Mapping[str, np.ndarray], within: Mapping[str, np.ndarray]) -> list[list[Any]]:
    """Return a row for each variant; the arrays have seeds by settings."""
    shipped = losses[SHIPPED]
    shares = {name: shares_better(one, shipped) for name, one in losses.items() if name != SHIPPED}
    tests = {
        name: float(wilcoxon(one - 0.5).pvalue) if np.any(one != 0.5) else 1.0
        for name, one in shares.items()
    }
    told = corrected(tests)
    rows = []
    for name, mine in losses.items():
        row = [name, float(np.round(mine.mean(), 4)), f"{within[name].mean():.0%}"]
        if name == SHIPPED:
            rows.append([*row, "", "", ""])
            continue
        low, high = interval(shares[name])
        pairs = f"{(mine < shipped).sum()}/{(mine > shipped).sum()}/{(mine == shipped).sum()}"
        rows.append([*row, pairs, f"{shares[name].mean():.2f} ({low:.2f} to {high:.2f})"])
        rows[-1].append(f"{told[name]:.2g}")
    return rows


COLUMNS = [
    "",
    "mean best loss",
    "within",
    "better/worse/level than shipped",
    "share better (95 %)",
    "p (Holm)",
]


def main() -> None:
    """Make what is missing, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="credit_default.csv")
    parser.add_argument("--keep", type=Path, required=True, help="folder of the cache and runs")
    parser.add_argument("--first", type=int, default=100, help="the first seed")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--evaluations", type=int, default=60)
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--settings", nargs="+", type=int, default=list(range(10)))
    parser.add_argument("--sample", type=int, help="pipelines measured before (default: all)")
    parser.add_argument("--write", type=Path, help="a JSON file for the table")
    arguments = parser.parse_args()
    arguments.keep.mkdir(parents=True, exist_ok=True)
    outcomes = measure_space(arguments.data, arguments.keep, arguments.processes, arguments.sample)
    ten = settings_of(outcomes)
    every = [ten[place] for place in arguments.settings]
    jobs, path = list(jobs_of(arguments, every)), arguments.keep / RUNS
    make_runs(jobs, path, arguments.processes, run)
    runs, shape = read_runs(path), (arguments.seeds, len(every))
    ended = {name: [runs[job.key] for job in jobs if job.name == name] for name in VARIANTS}
    rows = table_of(
        {name: np.reshape([one.loss for one in found], shape) for name, found in ended.items()},
        {name: np.reshape([one.share for one in found], shape) for name, found in ended.items()},
    )
    title = f"{arguments.seeds} seeds, {len(every)} settings, {arguments.evaluations} evaluations"
    table = {"commit": commit_here(), "title": title, "columns": COLUMNS, "rows": rows}
    for row in [COLUMNS, *rows]:
        print(" | ".join(map(str, row)))
    if arguments.write:
        text = json.dumps({"tables": {"parts": table}}, ensure_ascii=False, indent=1)
        arguments.write.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
