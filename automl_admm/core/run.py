"""The records of a run for the outside: the facts at its start, and its result."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import Any

from automl_admm.core.evaluations import Evaluation
from automl_admm.core.limits import Limit
from automl_admm.core.space import SearchSpace


class FallbackKind(StrEnum):
    """The models that ship if no pipeline was evaluated and fitted in time."""

    FEW_ROWS = "few rows"
    CONSTANT = "constant"


class StopReason(StrEnum):
    """The causes that end a search; the texts are those of `run.json` and of the screen.

    >>> StopReason("budget").is_signal
    False
    """

    EVALUATIONS = "evaluations"
    BUDGET = "budget"
    PLUGIN = "a plugin"
    CANCEL = "cancelled"
    EXHAUSTED = "nothing left to try"
    INTERRUPT = "interrupt"
    TERMINATION = "termination"
    LOST_EVALUATOR = "the process that evaluates was lost"
    FAILED_STRATEGY = "the strategy failed"
    LOST_STORE = "the store could not be written"

    @property
    def is_signal(self) -> bool:
        """True if a signal ended the search."""
        return self in (StopReason.INTERRUPT, StopReason.TERMINATION)

    @property
    def is_failure(self) -> bool:
        """True if a part of the run failed, and ended the search before its time."""
        failures = (StopReason.LOST_EVALUATOR, StopReason.FAILED_STRATEGY, StopReason.LOST_STORE)
        return self in failures


class Account(StrEnum):
    """The accounts of a run's ledger, in the order of their first seconds."""

    START = "start"
    SEARCH = "search"
    SOLVER = "solver"
    STORE = "store"
    WAIT = "wait"
    SAVING = "saving"
    FINAL_FIT = "final fit"
    CERTIFY = "certify"


class RunState(StrEnum):
    """The state of a run in `run.json`.

    >>> RunState("done") is RunState.DONE
    True
    """

    RUNNING = "running"
    STOPPED = "stopped"
    DONE = "done"


@dataclass(frozen=True, slots=True)
class Stop:
    """The end of a search: its reason, and the words for it if the reason alone says too little.

    >>> str(Stop(StopReason.BUDGET))
    'budget'
    """

    reason: StopReason
    words: str = ""

    def __str__(self) -> str:
        return self.words or str(self.reason)

    @property
    def warning(self) -> str | None:
        """Tell that a failure ended the search, if one did."""
        if not self.reason.is_failure:
            return None
        return f"{self}. The search ended there, and the result is the best until then."


@dataclass(frozen=True, slots=True)
class RunInfo:
    """The facts known before the first evaluation; `begun` is on the monotonic clock.

    In a resumed run `known` holds the earlier evaluations. `limits` are the user's; `aims` are
    those of the search, tighter before a certificate.

    >>> RunInfo("credit", SearchSpace()).seed
    0
    """

    title: str
    space: SearchSpace
    limits: tuple[Limit, ...] = ()
    seed: int = 0
    workers: int = 1
    budget_seconds: float | None = None
    max_evaluations: int | None = None
    folder: Path | None = None
    loss_name: str = "loss"
    best_score: float | None = None  # such as 1 for accuracy; None: a loss has no score
    begun: float = 0.0
    known: tuple[Evaluation, ...] = ()
    aims: tuple[Limit, ...] = ()

    def score_of(self, loss: float) -> float:
        """Return the user's view of a loss: the score `best_score − loss`, or the loss itself."""
        return loss if self.best_score is None else self.best_score - loss


@dataclass(frozen=True, slots=True)
class RunResult:
    """The result of a search: all evaluations, and the best of them.

    `best` is the best evaluation within the limits; if there is none it is the one with the least
    violation, and `feasible` is False. `seconds` is from the start of the budget to the end of the
    run, and `ledger` accounts for each of them: `start`; `wait` for evaluations, `solver`, `store`
    and the rest of the `search`; `final fit`, `certify` and `saving`. `work` does the same for the
    workers' seconds during the search. If no pipeline could be evaluated and fitted in time, `best`
    is a `fallback`, none of the evaluations: a model of "few rows", or a "constant" one.

    >>> RunResult(None, False, (), Stop(StopReason.BUDGET), 60.0).fallback is None
    True
    """

    best: Evaluation | None
    feasible: bool
    evaluations: tuple[Evaluation, ...]
    stop: Stop
    seconds: float
    limits: tuple[Limit, ...] = ()
    ledger: Mapping[str, float] = field(default_factory=dict)
    search_seconds: float = 0.0
    fallback: FallbackKind | None = None
    work: Mapping[str, float] = field(default_factory=dict)

    def with_ledger(self, ledger: Mapping[str, float]) -> RunResult:
        """Return the result with the accounts of the whole run, and their sum as its seconds."""
        return replace(self, ledger=ledger, seconds=sum(ledger.values()))

    @property
    def stopped_by(self) -> str:
        """The end of the search in words."""
        return str(self.stop)


@dataclass(frozen=True, slots=True)
class SavedRun:
    """A run as its folder has it: done, stopped, killed, or still going on.

    `info` is what observers are told, with all evaluations so far in `known`. `best` leads the
    leaderboard. If `feasible`, the model that shipped is within the limits; before there is one,
    `best` is. `content` is that of `run.json`.

    >>> SavedRun(RunInfo("credit", SearchSpace()), RunState.DONE).log
    ()
    """

    info: RunInfo
    state: RunState
    best: Evaluation | None = None
    feasible: bool = False
    content: Mapping[str, Any] = field(default_factory=dict)

    @property
    def log(self) -> tuple[Evaluation, ...]:
        """All evaluations as records, in the order of their numbers."""
        return self.info.known
