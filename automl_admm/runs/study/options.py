"""The arguments of `Study` and `minimize`, and the settings made of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from automl_admm.core.limits import Limit
from automl_admm.core.space import SearchSpace
from automl_admm.runs.blackbox import Cheap
from automl_admm.runs.config import RunConfig, count_workers
from automl_admm.runs.given_objects import take_objects
from automl_admm.runs.options import options_of
from automl_admm.runs.search_options import SearchOptions
from automl_admm.runs.validation import folder_of, observers_of, seed_of, with_numbers

# The executor by default, if calls come one at a time and without limits on each.
OF_ONE = "inline"


@dataclass(frozen=True, kw_only=True)
class BlackBoxOptions(SearchOptions):
    """The options that `Study` and `minimize` have beside those of every search."""

    constraints: Iterable[Limit | str] = ()
    cheap: Cheap | None = None
    executor: str | None = None  # type: ignore[assignment] # None leaves the choice to us
    starts: Iterable[Mapping[str, Any]] = ()
    warm_start: Any = None
    work_dir: str | Path | None = None

    def __post_init__(self) -> None:
        for name in ("constraints", "starts", "callbacks", "observers"):
            given = getattr(self, name)
            if isinstance(given, Iterator):  # it can be read once, and is read where it is saved
                object.__setattr__(self, name, tuple(given))


@dataclass(frozen=True)
class StudyCall(BlackBoxOptions):
    """The arguments of one `Study`."""

    space: SearchSpace


def config_of(call: BlackBoxOptions, begun: float, title: str) -> RunConfig:
    """Return the settings of a search over a function."""
    workers = count_workers(call.n_jobs)
    # One call at a time without limits on it needs no child process.
    is_alone = workers == 1 and call.eval_time_limit is None and call.memory_limit is None
    default = OF_ONE if is_alone else "local"
    given = with_numbers(call, options_of(SearchOptions))
    resolved = {
        "executor": default if call.executor is None else call.executor,
        "n_jobs": workers,
        "random_state": seed_of(call.random_state),
        "callbacks": observers_of(call.callbacks),
        "work_dir": folder_of(call.work_dir),
    }
    more = {"default_workers": call.n_jobs is None, "title": title, "begun": begun}
    return RunConfig(**take_objects(given | resolved | more))
