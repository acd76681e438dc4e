"""What a user asks for, as one frozen record, checked before anything is made."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

import numpy as np

from automl_admm.core.errors import ConfigurationError, Remedy
from automl_admm.core.messages import say_value
from automl_admm.execution.server.early_server import EarlyServer
from automl_admm.grammar.check.recursion import DEPTH
from automl_admm.plugins.records import Constraint, LearningTask
from automl_admm.runs.driving.interrupts import Deferral
from automl_admm.runs.validation import (
    OWN_SOLVER,
    check_memory,
    check_number,
    check_on_infeasible,
    check_path,
    check_positive,
    check_text,
    check_whole,
)

DEFAULT_SECONDS = 60.0
SHARE_OF_ONE_EVALUATION = 1 / 8
SHORTEST_LIMIT = 1.0
LIMIT_WITHOUT_BUDGET = 300.0


def _working_folder() -> Path:
    """Where this process works, as an absolute path; where that was deleted, only its name."""
    try:
        return Path.cwd()
    except FileNotFoundError:
        return Path()


@dataclass(frozen=True)
class RunConfig:
    """Everything about a run but its data.

    `begun` is the monotonic time at which the budget started to count: the command line counts
    from the start of its process. Without `evaluation_seconds` one evaluation may take an eighth
    of the budget, or five minutes if there is only a number of evaluations. Solvers may ask for
    evaluations on a share of the rows, but none below `min_fidelity`. To `certify` that the limits
    hold at this confidence, `certify_fraction` of the rows is set aside instead of `test_size`
    (None: as many as the limits take), and looks at them are counted in a file, `looks`. With
    `group_thresholds` what ships may decide by the group that a row belongs to. A result outside
    of the limits is an error if `on_infeasible` is `raise`, and none if it is `closest`. The search
    begins at `starts`: texts of pipelines, and files with one a line. A rule of the grammar may
    stand inside of itself `max_depth` times. With `default_workers` nobody asked for that number of
    `workers`, and an executor that knows better, such as a cluster, takes its own. `source` says
    where the data came from, if they did from somewhere, and `share` which pieces of it were read,
    where there was no time for all; of these rows it takes a `portion` where there is no time to
    prepare all. A run that is `resumed` goes on with what its `folder` holds, its earlier sessions
    having used `seconds_used`; if something else is asked for than before, only if
    `changes_allowed`. The `folder` is as it was written, and `origin` the
    working folder that it was written in: a solver may leave that. A program that has set handlers
    of signals may let `interrupts` come when it suits a run; without it they come as in any Python.
    The executor `local` takes the `server` that was started early, if there is one.
    """

    grammar: str | Path = "default"
    max_depth: int = DEPTH
    task: LearningTask | None = None
    positive: str | float | None = None
    budget_seconds: float | None = None
    max_evaluations: int | None = None
    scoring: str | Callable[..., float] | None = None
    constraints: tuple[Constraint | str, ...] = ()
    starts: tuple[str | Path, ...] = ()
    theta_solver: str = "gp"
    z_solver: str = "bo"
    strategy: str = "admm"
    executor: str = "local"
    workers: int = 1
    default_workers: bool = False
    cv: Any = None
    test_size: float = 0.0
    certify: float | None = None
    certify_fraction: float | None = None
    looks: Path | None = None
    group_thresholds: bool = False
    on_infeasible: str = "raise"
    evaluation_seconds: float | None = None
    memory_bytes: int | None = None
    min_fidelity: float = 1.0
    seed: int = 0
    title: str = "search"
    source: str | None = None
    share: str | None = None
    portion: str | None = None
    folder: Path | None = None
    origin: Path = field(default_factory=_working_folder)
    resumed: bool = False
    seconds_used: float = 0.0
    changes_allowed: bool = False
    extra_plugins: Mapping[str, object] = field(default_factory=dict)
    observers: tuple[object, ...] = ()
    interrupts: Deferral | None = None
    server: EarlyServer | None = None
    begun: float = field(default_factory=time.monotonic)

    def __post_init__(self) -> None:
        self._make_plain()
        self._check_names()
        check_positive("the budget", self.budget_seconds, "seconds")
        check_positive("the time limit of one evaluation", self.evaluation_seconds, "seconds")
        check_memory(self.memory_bytes)
        check_whole("max_evaluations", self.max_evaluations)
        check_whole("the number of workers", self.workers)
        check_whole("the seed", self.seed, least=0)
        check_number("the least fidelity", self.min_fidelity)
        if not 0.0 < self.min_fidelity <= 1.0:
            raise ConfigurationError(
                f"the least fidelity must be above 0 and at most 1, not {self.min_fidelity}."
            )
        if not 0.0 <= self.test_size < 1.0:
            raise ConfigurationError(f"the test size must be in [0, 1), not {self.test_size}.")
        self._check_certification()

    def _make_plain(self) -> None:
        """Make Python's numbers of numpy's: they are written as text otherwise, and stay text."""
        for one in fields(self):
            value = getattr(self, one.name)
            if isinstance(value, np.generic):
                object.__setattr__(self, one.name, value.item())

    def _check_names(self) -> None:
        check_on_infeasible(self.on_infeasible)
        check_path("grammar", self.grammar)
        if self.positive is not None and not isinstance(self.positive, str | int | float):
            raise ConfigurationError(
                f"the positive class must be a label of the target, not {say_value(self.positive)}."
            )
        for start in self.starts:
            check_path("a start", start)
        check_text("theta_solver", self.theta_solver, "gp", OWN_SOLVER)
        check_text("z_solver", self.z_solver, "bo", OWN_SOLVER)
        check_text("strategy", self.strategy, "admm")
        check_text("executor", self.executor, "local")

    def _check_certification(self) -> None:
        if self.certify is None:
            if self.certify_fraction is not None:
                raise ConfigurationError(
                    "a certification fraction needs a confidence.",
                    hint=Remedy("Add {certify=0.95}."),
                )
            return
        check_number("the confidence of a certificate", self.certify)
        if not 0.5 <= self.certify < 1.0:
            raise ConfigurationError(
                f"the confidence of a certificate must be in [0.5, 1), not {self.certify:g}.",
                hint="0.95 is usual.",
            )
        if not self.constraints:
            raise ConfigurationError(
                "there is no limit to certify.",
                hint=Remedy('Give {constraints}, such as "fpr <= 0.05".'),
            )
        if self.certify_fraction is not None and not 0.0 < self.certify_fraction <= 0.5:
            raise ConfigurationError(
                f"the certification fraction must be in (0, 0.5], not {self.certify_fraction:g}."
            )

    @property
    def seconds(self) -> float | None:
        """The time budget; a run without any budget gets a minute."""
        if self.budget_seconds is None and self.max_evaluations is None:
            return DEFAULT_SECONDS
        return self.budget_seconds

    @property
    def place(self) -> Path | None:
        """The run's folder, wherever this process works meanwhile."""
        return None if self.folder is None else self.origin / self.folder

    @property
    def is_repeatable(self) -> bool:
        """Whether the same settings give the same evaluations in the same order."""
        return self.seconds is None and self.workers == 1

    @property
    def deadline(self) -> float | None:
        """The end of the budget on the monotonic clock."""
        return None if self.seconds is None else self.begun + self.seconds

    @property
    def limit_of_one(self) -> float:
        """The time limit of one evaluation."""
        if self.evaluation_seconds is not None:
            return self.evaluation_seconds
        if self.seconds is None:
            return LIMIT_WITHOUT_BUDGET
        return max(self.seconds * SHARE_OF_ONE_EVALUATION, SHORTEST_LIMIT)


def count_workers(n_jobs: int | None) -> int:
    """The workers that scikit-learn's `n_jobs` means: None is 1, -1 all cores, -2 all but one."""
    if n_jobs is None:
        return 1
    check_whole("n_jobs", n_jobs, least=None)
    if n_jobs == 0:
        raise ConfigurationError("n_jobs must not be 0.", hint="Use 1, or -1 for all cores.")
    cores = len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1
    return n_jobs if n_jobs > 0 else max(cores + 1 + n_jobs, 1)
