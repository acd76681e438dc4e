"""Optuna's samplers and their traits."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import Protocol

import optuna
from optuna.exceptions import ExperimentalWarning
from optuna.samplers import BaseSampler, GPSampler, TPESampler

from automl_admm.plugin_api import SharedSetting

FEWEST_INITIAL = 5
MOST_INITIAL = 10
EVERYTHING = 2**31
# Optuna's Gaussian process keeps a list of every place of a whole number, gigabytes of it from 1e8
# places on. With so many, a place is to its neighbour what one real number is to the next.
WIDEST = 4096


class Kind(Protocol):
    """A kind of sampler.

    It is told `points` of a history, and asked up to `tries` times for one that is new. If
    `prunes`, it learns of failures as pruned trials; else they have to have a value. Whole numbers
    with more than `widest` places are to it as real ones.
    """

    @property
    def points(self) -> int:
        """Number of points of a history for this sampler."""

    @property
    def tries(self) -> int:
        """Number of attempts at one proposal."""

    @property
    def prunes(self) -> bool:
        """True if it learns from pruned trials."""

    @property
    def widest(self) -> float:
        """Largest number of places of a whole number."""

    def sampler(self, *, seed: int, budget: int | None, is_conditional: bool) -> BaseSampler:
        """Build it."""


@dataclass(frozen=True, slots=True)
class Parzen:
    """The multivariate TPE; in conditional spaces by groups of co-occurring parameters."""

    initial: int | None
    candidates: int
    points: int = EVERYTHING
    tries: int = 8
    prunes: bool = True
    widest: float = math.inf

    def sampler(self, *, seed: int, budget: int | None, is_conditional: bool) -> BaseSampler:
        """Build it; grouping is called experimental, and the only way to learn conditions."""
        with quiet():
            return TPESampler(
                seed=seed,
                n_startup_trials=self.initial or usual_initial(budget),
                n_ei_candidates=self.candidates,
                multivariate=True,
                group=is_conditional,
                constant_liar=True,
            )


@dataclass(frozen=True, slots=True)
class Process:
    """A Gaussian process for the value and one for each constraint."""

    initial: int | None
    points: int
    tries: int = 2
    prunes: bool = False
    widest: float = WIDEST

    def sampler(self, *, seed: int, budget: int | None, is_conditional: bool) -> BaseSampler:
        """Build it; it samples conditional parameters at random."""
        del is_conditional
        return GPSampler(
            seed=seed,
            # It is told no more than `points`: if it waited for more, it would for ever.
            n_startup_trials=min(self.initial or usual_initial(budget), self.points),
            warn_independent_sampling=False,
        )


def usual_initial(budget: int | None) -> int:
    """A quarter of the budget; Optuna's own ten random points would be most of a small one."""
    usual = MOST_INITIAL if budget is None else min(MOST_INITIAL, budget // 4)
    return max(usual, FEWEST_INITIAL)


# One for all threads, for there is one set of filters and one level of Optuna's log.
_SETTING = SharedSetting()


def quiet() -> AbstractContextManager[None]:
    """Keep Optuna from announcing each study, and from harmless warnings.

    It calls grouping experimental, and divides by zero where a model is certain of everything.
    """
    return _SETTING.within(_silenced)


@contextmanager
def _silenced() -> Iterator[None]:
    level = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(max(level, optuna.logging.ERROR))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ExperimentalWarning)
            warnings.simplefilter("ignore", RuntimeWarning)
            yield
    finally:
        optuna.logging.set_verbosity(level)
