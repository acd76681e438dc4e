"""What a run tells the outside: the facts at its start, and its result."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from automl_admm.core.problem import Evaluation, Limit
from automl_admm.core.space import SearchSpace

# What ships where nothing was evaluated and fitted in time.
FEW_ROWS, CONSTANT = "few rows", "constant"


@dataclass(frozen=True, slots=True)
class RunInfo:
    """What is known before the first evaluation; `begun` is on the monotonic clock.

    Of a run that is resumed `known` are the evaluations that were made before.
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
    best_score: float | None = None
    begun: float = 0.0
    known: tuple[Evaluation, ...] = ()

    def score_of(self, loss: float) -> float:
        """What a loss means to the user: the score `best_score − loss`, or the loss itself."""
        return loss if self.best_score is None else self.best_score - loss


@dataclass(frozen=True, slots=True)
class RunResult:
    """How a search ended: everything evaluated, and the best of it.

    `best` is the best evaluation within the limits; where there is none it is the one with the
    least violation, and `feasible` is False. `seconds` is from the start of the budget to the
    end of the search. `ledger` says what every second of this process went to since that start:
    `start`; `wait` for evaluations, `solver`, `store` and the rest of the `search`; `final fit`,
    `certify` and `saving`. `work` says it of the workers' seconds while it searched.
    Where no pipeline could be evaluated and fitted in time, `best` is a `fallback`, which is no one
    of the evaluations: a model of "few rows", or a "constant" one.
    """

    best: Evaluation | None
    feasible: bool
    evaluations: tuple[Evaluation, ...]
    stopped_by: str
    seconds: float
    limits: tuple[Limit, ...] = ()
    ledger: Mapping[str, float] = field(default_factory=dict)
    search_seconds: float = 0.0
    fallback: str | None = None
    work: Mapping[str, float] = field(default_factory=dict)
