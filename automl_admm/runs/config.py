"""The settings of a run as one frozen record, checked before anything is made."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass, field, fields
from functools import cached_property
from numbers import Real
from pathlib import Path
from typing import Any

import numpy as np

from automl_admm.core.errors import ConfigurationError, Remedy
from automl_admm.execution.server.early_server import EarlyServer
from automl_admm.execution.threads import count_cores
from automl_admm.pipelines.thresholds.cost_text import costs_as_text
from automl_admm.plugins.records import Constraint
from automl_admm.runs.driving.interrupts import Deferral
from automl_admm.runs.metric_code import digest_metric
from automl_admm.runs.options import OPTIONS, RunOptions
from automl_admm.runs.validation import check_option, check_whole, number_as_json
from automl_admm.store.run_folder import RunFolder

DEFAULT_SECONDS = 60.0
SHARE_OF_ONE_EVALUATION = 1 / 8
SHORTEST_LIMIT = 1.0
LIMIT_WITHOUT_BUDGET = 300.0
MOST_ASIDE = 0.5  # of the rows, for a certificate


def _working_folder() -> Path:
    """Return this process's working folder; a relative path if the folder was deleted."""
    try:
        return Path.cwd()
    except FileNotFoundError:
        return Path()


@dataclass(frozen=True)
class RunConfig(RunOptions):
    """All that a run is told, except its data.

    The options come from `RunOptions`; those that stand here again are already resolved: seconds,
    bytes, a number of workers, a seed, tuples. `default_workers` is True if the user did not choose
    the number of workers; an executor that knows better, such as a cluster, may then take its own
    number.

    Certification counts its looks at the rows set aside in the file `looks`. `title` names the
    run and `source` tells the origin of its data. `share` tells the pieces of the file that were
    read if there was no time to read it all, and `portion` the rows of them that were taken if
    there was no time to prepare them all. `found_encoding` is that of the file by its bytes, also
    where the user named another one. Of large data an evaluation learns from `searched_rows`;
    the preparation decides how many.

    A `resumed` run goes on with the content of `work_dir`; its earlier sessions used
    `seconds_used`. It may differ from the earlier sessions only if `changes_allowed`.
    `work_dir` is as the user wrote it, relative to `origin`: a solver may change the process's
    working folder. `begun` is the monotonic time at which the budget began to count: the command
    line counts from the start of its process.

    A program with its own signal handlers may pass `interrupts`, which defer a signal until the
    run can take it; without them signals work as in any Python program. The executor `local`
    takes the `server` that was started early, if there is one.
    """

    _: KW_ONLY
    theta_solver: str = "gp"
    z_solver: str = "bo"
    strategy: str = "admm"
    executor: str = "local"
    time_budget: float | None = None
    eval_time_limit: float | None = None
    memory_limit: int | None = None
    n_jobs: int = 1
    random_state: int = 0
    scoring: str | Callable[..., float] | None = None
    constraints: tuple[str | Constraint, ...] = ()
    starts: tuple[str | Path, ...] = ()
    reuse: tuple[str | Path, ...] = ()
    observers: tuple[str, ...] = ()
    callbacks: tuple[object, ...] = ()
    work_dir: Path | None = None
    default_workers: bool = False
    looks: Path | None = None
    title: str = "search"
    source: str | None = None
    share: str | None = None
    portion: str | None = None
    found_encoding: str | None = None
    searched_rows: int | None = None
    origin: Path = field(default_factory=_working_folder)
    resumed: bool = False
    seconds_used: float = 0.0
    changes_allowed: bool = False
    extra_plugins: Mapping[str, object] = field(default_factory=dict)
    interrupts: Deferral | None = None
    server: EarlyServer | None = None
    begun: float = field(default_factory=time.monotonic)

    def __post_init__(self) -> None:
        self._make_plain()
        self._check_kinds()
        if not 0.0 < self.least_fidelity <= 1.0:
            raise ConfigurationError(
                f"the least fidelity must be above 0 and at most 1, not {self.min_fidelity}."
            )
        if self.searched_rows is not None:
            check_whole("the number of searched rows", self.searched_rows, least=1)
        if not 0.0 <= self.test_size < 1.0:
            raise ConfigurationError(f"the test size must be in [0, 1), not {self.test_size}.")
        self._check_certification()

    def _make_plain(self) -> None:
        """Turn numpy's numbers into Python's, and names of columns into texts, as JSON has them."""
        for one in fields(self):
            value = getattr(self, one.name)
            if isinstance(value, np.generic):
                object.__setattr__(self, one.name, value.item())
        for option in OPTIONS:
            value = number_as_json(option, getattr(self, option.name))
            object.__setattr__(self, option.name, value)
        if isinstance(self.columns, Mapping):
            columns = {str(name): kind for name, kind in self.columns.items()}
            object.__setattr__(self, "columns", columns or None)
        object.__setattr__(self, "cost", costs_as_text(self.cost))
        if isinstance(self.column_cost, Mapping):
            costs = {str(name): _plain(cost) for name, cost in self.column_cost.items()}
            object.__setattr__(self, "column_cost", costs or None)

    def _check_kinds(self) -> None:
        for option in OPTIONS:
            value = getattr(self, option.name)
            # A dataclass keeps the default of a field as an attribute of the class.
            may_be_none = getattr(type(self), option.name) is None
            if value is not None or not may_be_none:
                check_option(option, value)

    def _check_certification(self) -> None:
        if self.certify is None:
            for is_given, what in (
                (self.certify_fraction is not None, "a certification fraction"),
                (self.last_look, "a last look"),
            ):
                if is_given:
                    hint = Remedy("Add {certify=0.95}.")
                    raise ConfigurationError(f"{what} needs a confidence.", hint=hint)
            return
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
        if self.certify_fraction is not None and not 0.0 < self.certify_fraction <= MOST_ASIDE:
            raise ConfigurationError(
                f"the certification fraction must be in (0, {MOST_ASIDE:g}], "
                f"not {self.certify_fraction:g}."
            )

    @property
    def seconds(self) -> float | None:
        """Time budget; a run without any budget gets a minute."""
        if self.time_budget is None and self.max_evaluations is None:
            return DEFAULT_SECONDS
        return self.time_budget

    @property
    def least_fidelity(self) -> float:
        """The least share of the rows that a solver may train on; by default all of them."""
        return 1.0 if self.min_fidelity is None else self.min_fidelity

    @property
    def place(self) -> Path | None:
        """Path of the run's folder, independent of the process's present working folder."""
        return None if self.work_dir is None else self.origin / self.work_dir

    def run_before(self) -> dict[str, Any] | None:
        """Return `run.json` of the run that this one goes on with; None for a new run."""
        if not self.resumed or self.place is None:
            return None
        folder = RunFolder(self.place)
        return folder.read(folder.settings)

    @property
    def is_repeatable(self) -> bool:
        """True if the same settings give the same evaluations in the same order."""
        return self.seconds is None and self.n_jobs == 1

    @property
    def deadline(self) -> float | None:
        """End of the budget on the monotonic clock."""
        return None if self.seconds is None else self.begun + self.seconds

    @cached_property
    def metric_code(self) -> str | None:
        """The digest of a metric given as an object, as it was when first asked for."""
        return digest_metric(self.scoring, self.extra_plugins.get("scoring"))

    @property
    def limit_of_one(self) -> float:
        """Time limit of one evaluation, by default an eighth of the budget.

        Without a time budget it is five minutes.
        """
        if self.eval_time_limit is not None:
            return self.eval_time_limit
        if self.seconds is None:
            return LIMIT_WITHOUT_BUDGET
        return max(self.seconds * SHARE_OF_ONE_EVALUATION, SHORTEST_LIMIT)


def _plain(value: object) -> object:
    """Return a number as one of Python, so that 1 and 1.0 are alike in a file; else the value."""
    return value if isinstance(value, bool) or not isinstance(value, Real) else float(value)


def count_workers(n_jobs: int | None) -> int:
    """Return the number of workers for `n_jobs`: None is 1, -1 all cores, -2 all but one."""
    if n_jobs is None:
        return 1
    check_whole("n_jobs", n_jobs, least=None)
    if n_jobs == 0:
        raise ConfigurationError("n_jobs must not be 0.", hint="Use 1, or -1 for all cores.")
    return n_jobs if n_jobs > 0 else max(count_cores() + 1 + n_jobs, 1)
