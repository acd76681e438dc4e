"""How busy many workers are kept, and what it costs the search not to wait for each result.

Fits are imitated: the loss is the artificial objective of Ram et al., and the time a sleep that is
drawn for each candidate from a lognormal distribution, so that 2 cores suffice for 8 workers, if
nothing else runs.

Busy: runs against the clock through `minimize` with real child processes. Of the time from the
first evaluation to the end of the search, how much of all workers' time was spent in sleeps. What
comes before (the start of the processes) is shown apart, and "whole run" is the share with it.
`--executors local dask ray` measures each engine; the last table compares them. "Idle each" is the
workers' time that was not spent so, by evaluation: it does not hang on how long these take; of it
"solver" is what the solvers took in the one process that proposes, while other workers went on.

Quality: the same search with a clock that is computed, which takes the solvers' time only. Best
loss after so many evaluations have ended, with 1 to 8 workers; the median over the seeds, each of
which is an objective of its own. Beside it what one worker had found some evaluations earlier: so
far behind is a search that has its results as late as many workers have them, and loses nothing
else by it. The optimum of the artificial objective is near 0, where a small difference is a large
ratio; with `--data` the same is measured on tables of real trainings, with the times these took.

    python benchmarks/utilisation.py --seeds 20 --plot benchmarks/plots
    python benchmarks/utilisation.py --seeds 0 --workers 8 --executors local dask ray
    python benchmarks/utilisation.py --workers --seeds 40 --data ../shared/data/hpo
"""

from __future__ import annotations

import argparse
import heapq
import json
import math
import os
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from threadpoolctl import threadpool_limits

from automl_admm import minimize
from automl_admm.core.evaluations import Evaluation, Status
from automl_admm.core.protocols import Finished, Task
from automl_admm.core.run import RunInfo, RunResult
from automl_admm.core.space import SearchSpace
from automl_admm.execution.task_report import call_work
from automl_admm.plugins.records import ExecutorPlugin, ExecutorSetting, NoOptions
from automl_admm.plugins.specs import hookimpl
from automl_admm.runs.blackbox import run_black_box
from automl_admm.runs.config import RunConfig
from automl_admm.search.protocol import derive_seed
from automl_admm.testing.lookup_tables import Measurement, Table, read_table
from automl_admm.testing.objectives import ArtificialObjective

WORKERS = (1, 2, 4, 8)
SHOWN = (32, 64, 128)
MOST_BEHIND = 1.10
LEAST_BUSY = 0.95
RESAMPLES = 2_000


Seconds = Callable[[Mapping[str, Any]], float]


@dataclass(frozen=True)
class Durations:
    """exp(N(log median, σ²)) seconds, drawn by what is evaluated: a fit takes as long again."""

    median: float
    sigma: float

    def __call__(self, values: Mapping[str, Any]) -> float:
        """The seconds that one evaluation takes."""
        text = json.dumps(values, sort_keys=True, default=str)
        rng = np.random.default_rng(derive_seed("duration", text))
        return self.median * math.exp(self.sigma * rng.normal())


@dataclass(frozen=True)
class Sleeper:
    """The objective that takes its time; every call leaves a line: when it began, how long."""

    objective: ArtificialObjective
    durations: Durations
    log: Path

    def __call__(self, values: Mapping[str, Any]) -> float:
        """Sleep, and return the loss."""
        begun, seconds = time.monotonic(), self.durations(values)
        line = os.open(self.log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        os.write(line, f"{begun} {seconds}\n".encode())
        os.close(line)
        time.sleep(seconds)
        return self.objective(values)


@dataclass
class Books:
    """An observer: the seconds of the run by what they went to."""

    ledger: Mapping[str, float] = field(default_factory=dict)

    @hookimpl
    def run_finished(self, info: RunInfo, result: RunResult) -> None:
        """Keep the books of the run."""
        del info
        self.ledger = result.ledger


@dataclass(frozen=True)
class Busy:
    """One run against the clock."""

    workers: int
    share: float
    startup: float
    evaluations: int
    solver: float
    idle: float
    whole: float


def measure_busy(workers: int, seconds: float, durations: Durations, executor: str) -> Busy:
    """Search for some seconds, and add up the sleeps up to the end of the budget."""
    objective, books = ArtificialObjective(0), Books()
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "log"
        begun = time.monotonic()
        minimize(
            Sleeper(objective, durations, log),
            objective.space,
            time_budget=seconds,
            eval_time_limit=seconds,
            n_jobs=workers,
            executor=executor,
            random_state=0,
            callbacks=[books],
        )
        lines = [tuple(map(float, line.split())) for line in log.read_text().splitlines()]
    first, end = lines[0][0], begun + seconds
    asleep = sum(max(min(at + lasting, end) - at, 0.0) for at, lasting in lines)
    share = asleep / (workers * (end - first))
    solver = books.ledger.get("solver", 0.0) / len(lines)
    idle = (workers * (end - first) - asleep) / len(lines)
    whole = asleep / (workers * seconds)
    return Busy(workers, share, first - begun, len(lines), solver, idle, whole)


@dataclass
class VirtualExecutor:
    """Evaluates at once, and hands out the results in the order in which they would come."""

    work: Any
    workers: int
    durations: Seconds
    runs_here: bool = True
    _now: float = 0.0
    _running: list[tuple[float, int, Finished]] = field(default_factory=list)

    def submit(self, task: Task) -> None:
        """Evaluate, and note when it would have ended."""
        values = self.work.space.values(task.arguments["candidate"])
        seconds = self.durations(values)
        report = call_work(self.work, task.method, task.arguments, Path())
        finished = Finished(task.number, report.status, report.result, report.message, seconds)
        heapq.heappush(self._running, (self._now + seconds, task.number, finished))

    def wait(self, timeout: float | None = None) -> Sequence[Finished]:
        """The next result; nothing if no time is to pass."""
        if timeout == 0.0 or not self._running:
            return []
        self._now, _, finished = heapq.heappop(self._running)
        return [finished]

    def kill(self, number: int) -> None:
        """Say of a task that it was killed."""
        for place, (_, other, _) in enumerate(self._running):
            if other == number:
                self._running[place] = (self._now, number, Finished(number, Status.CANCELLED))
        heapq.heapify(self._running)

    def close(self) -> None:
        """Nothing is held."""


@dataclass(frozen=True)
class Virtual:
    """The plugin that has the executor with the computed clock."""

    durations: Seconds

    @hookimpl
    def executors(self) -> Iterable[ExecutorPlugin]:
        """`virtual`."""
        yield ExecutorPlugin(name="virtual", summary="a computed clock", factory=self._build)

    def _build(self, work: Any, setting: ExecutorSetting, options: NoOptions) -> VirtualExecutor:
        del options
        return VirtualExecutor(work, setting.workers, self.durations)


class Imitated(Protocol):
    """What is searched: a function that costs nothing."""

    @property
    def space(self) -> SearchSpace:
        """Where it is searched."""

    def __call__(self, values: Mapping[str, Any]) -> float:
        """The loss."""


@dataclass(frozen=True)
class Training:
    """One training of each configuration in a table, of those that are there; by a seed."""

    table: Table
    seed: int = 0

    @property
    def space(self) -> SearchSpace:
        """The table's."""
        return self.table.space

    def __call__(self, values: Mapping[str, Any]) -> float:
        """The loss of the training."""
        return self._measurement(values).loss

    def seconds(self, values: Mapping[str, Any]) -> float:
        """How long the training took."""
        return self._measurement(values).runtime

    def _measurement(self, values: Mapping[str, Any]) -> Measurement:
        text = json.dumps(values, sort_keys=True, default=str)
        return self.table(values, np.random.default_rng(derive_seed(self.seed, text)))


def trace(
    objective: Imitated, durations: Seconds, seed: int, workers: int, chosen: Mapping[str, Any]
) -> list[float]:
    """The best loss after each evaluation that came back, in one search."""
    ended = Ended()
    config = RunConfig(
        max_evaluations=SHOWN[-1],
        executor="virtual",
        n_jobs=workers,
        random_state=seed,
        extra_plugins={"virtual": Virtual(durations)},
        callbacks=(ended,),
        **chosen,
    )
    run_black_box(config, objective, objective.space, (), {})
    losses = [e.loss if e.ok else math.inf for e in ended.evaluations]
    return list(np.minimum.accumulate(losses))


@dataclass
class Ended:
    """An observer: the evaluations in the order in which they ended."""

    evaluations: list[Evaluation] = field(default_factory=list)

    @hookimpl
    def evaluation_finished(self, info: RunInfo, evaluation: Evaluation) -> None:
        """Note one down."""
        del info
        self.evaluations.append(evaluation)


def print_busy(executor: str, found: Sequence[Busy]) -> None:
    """A row for each number of workers."""
    print(f"{executor}; load of the machine: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    heads = (("busy", 8), ("start-up", 11), ("evaluations", 13), ("idle each", 12), ("solver", 10))
    print(f"{'workers':>8}" + "".join(f"{head:>{width}}" for head, width in heads))
    for run in found:
        row = f"{run.workers:>8}{run.share:>8.1%}{run.startup:>9.2f} s{run.evaluations:>13}"
        print(f"{row}{1000 * run.idle:>9.0f} ms{1000 * run.solver:>7.0f} ms")
    last = found[-1]
    verdict = "met" if last.share >= LEAST_BUSY else "missed"
    print(f"{last.workers} workers are to be busy for {LEAST_BUSY:.0%} of the time: {verdict}\n")


def print_engines(found: Mapping[str, Sequence[Busy]]) -> None:
    """A row for each engine, with most workers."""
    heads = (("executor", 30), ("workers", 9), ("busy", 8), ("start-up", 11), ("whole run", 11))
    last_heads = (("evaluations", 13), ("idle each", 12), ("solver", 10))
    print("".join(f"{head:>{width}}" for head, width in (*heads, *last_heads)))
    for executor, runs in found.items():
        last = runs[-1]
        row = f"{executor:>30}{last.workers:>9}{last.share:>8.1%}{last.startup:>9.2f} s"
        row += f"{last.whole:>11.1%}{last.evaluations:>13}"
        print(f"{row}{1000 * last.idle:>9.0f} ms{1000 * last.solver:>7.0f} ms")
    verdict = "met" if all(runs[-1].share >= LEAST_BUSY for runs in found.values()) else "missed"
    print(f"all engines are to be busy for {LEAST_BUSY:.0%} of the time: {verdict}\n")


def search_all(
    tasks: Sequence[tuple[Imitated, Seconds]], chosen: Mapping[str, Any]
) -> dict[int, np.ndarray]:
    """Every task with every number of workers; a row a seed."""
    with threadpool_limits(1):
        return {
            workers: np.array(
                [trace(task, took, s, workers, chosen) for s, (task, took) in enumerate(tasks)]
            )
            for workers in WORKERS
        }


def print_quality(name: str, traces: Mapping[int, np.ndarray]) -> None:
    """A row for each number of workers: the median best loss, and its ratio to one worker's."""
    print(f"{name}, {len(traces[WORKERS[0]])} seeds")
    print("median best loss, and its ratio to one worker's (90 % of what other seeds would give)")
    print(f"{'workers':>8}" + "".join(f"{f'by {count} evaluations':>30}" for count in SHOWN))
    worst = 0.0
    for workers, found in traces.items():
        cells = ""
        for count in SHOWN:
            here, alone = found[:, count - 1], traces[WORKERS[0]][:, count - 1]
            ratio = float(np.median(here) / np.median(alone))
            worst = max(worst, ratio)
            low, high = bounds_of_ratio(here, alone)
            cells += f"{f'{np.median(here):.4g} {ratio:.2f} ({low:.2f} to {high:.2f})':>30}"
        print(f"{workers:>8}{cells}")
    alone = np.median(traces[WORKERS[0]], axis=0)
    late = "".join(f"{f'{alone[n - WORKERS[-1] - 1] / alone[n - 1]:.2f}':>30}" for n in SHOWN)
    print(f"{'late':>8}{late}   (one worker, {WORKERS[-1]} evaluations earlier)")
    verdict = "met" if worst <= MOST_BEHIND else "missed"
    print(f"no more than {MOST_BEHIND - 1:.0%} worse than one worker: {verdict}\n")


def bounds_of_ratio(here: np.ndarray, alone: np.ndarray) -> tuple[float, float]:
    """The 5th and the 95th percentile of the ratio of medians when seeds are drawn anew."""
    rng = np.random.default_rng(0)
    drawn = rng.integers(len(here), size=(RESAMPLES, len(here)))
    ratios = np.median(here[drawn], axis=1) / np.median(alone[drawn], axis=1)
    low, high = np.percentile(ratios, [5, 95])
    return float(low), float(high)


def draw(traces: Mapping[int, np.ndarray], busy: Sequence[Busy], folder: Path) -> None:
    """The share that is busy by workers, and the best loss by evaluations."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(11, 4), layout="constrained")
    axes[0].plot([run.workers for run in busy], [100 * run.share for run in busy], marker="o")
    axes[0].axhline(100 * LEAST_BUSY, color="grey", linestyle=":")
    axes[0].set(xlabel="workers", ylabel="% of the workers' time in evaluations", ylim=(80, 100))
    for workers, found in traces.items():
        axes[1].plot(range(1, SHOWN[-1] + 1), np.median(found, axis=0), label=f"{workers} workers")
    axes[1].set(xlabel="evaluations that ended", ylabel="median best loss", yscale="log")
    axes[1].legend(fontsize="small")
    folder.mkdir(parents=True, exist_ok=True)
    figure.savefig(folder / "utilisation.png", dpi=80)


def main() -> None:
    """Print both tables, draw the plot."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=120.0, help="of each run for 'busy'")
    parser.add_argument("--median", type=float, default=1.0, help="seconds of an evaluation")
    parser.add_argument("--sigma", type=float, default=1.0, help="of the lognormal distribution")
    parser.add_argument("--executors", nargs="+", default=["local"], help="for 'busy'")
    parser.add_argument("--workers", type=int, nargs="*", default=WORKERS, help="for 'busy'")
    parser.add_argument("--seeds", type=int, default=20, help="for 'quality'; 0 for none")
    parser.add_argument("--strategy", default="admm", help="for 'quality'")
    parser.add_argument("--theta-solver", default=RunConfig.theta_solver, help="for 'quality'")
    parser.add_argument("--z-solver", default=RunConfig.z_solver, help="for 'quality'")
    parser.add_argument("--data", type=Path, help="a folder of tables NAME.npz, for 'quality'")
    parser.add_argument("--plot", type=Path, help="a folder for the plot")
    arguments = parser.parse_args()
    durations = Durations(arguments.median, arguments.sigma)
    found: dict[str, list[Busy]] = {}
    for executor in arguments.executors if arguments.workers else ():
        found[executor] = [
            measure_busy(workers, arguments.seconds, durations, executor)
            for workers in arguments.workers
        ]
        print_busy(executor, found[executor])
    if len(found) > 1:
        print_engines(found)
    runs = next(iter(found.values()), [])
    chosen = {name: getattr(arguments, name) for name in ("strategy", "theta_solver", "z_solver")}
    seeds = range(arguments.seeds)
    traces: dict[int, np.ndarray] = {}
    if seeds:
        traces = search_all([(ArtificialObjective(seed), durations) for seed in seeds], chosen)
        print_quality("artificial objective", traces)
    for path in sorted(arguments.data.glob("*.npz")) if arguments.data and seeds else ():
        trainings = [Training(read_table(path), seed) for seed in seeds]
        searched = search_all([(training, training.seconds) for training in trainings], chosen)
        print_quality(trainings[0].table.name, searched)
    if arguments.plot and traces and runs:
        draw(traces, runs, arguments.plot)


if __name__ == "__main__":
    main()
