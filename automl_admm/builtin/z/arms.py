"""Shared by bandits: the arms of a selection, rewards of losses, orders by assignment."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
from scipy.optimize import linear_sum_assignment

from automl_admm.core.space import Choice, Decision, Order, Pick, Selection

Arm = tuple[str, str, int]
# Losses above this quantile earn nothing, so a few huge ones do not flatten the rewards.
UPPER_QUANTILE = 0.7
# One loss gives no scale.
LEAST_SEEN = 2
TRIES = 24


def arms_of(selection: Selection) -> Iterator[Arm]:
    """Yield the arms played by a selection."""
    for name, pick in selection:
        if isinstance(pick, str):
            # A choice has a single position; an order has one for each item.
            yield name, pick, 0
        else:
            yield from ((name, item, position) for position, item in enumerate(pick))


@dataclass(frozen=True, slots=True)
class Scale:
    """A scale that turns losses of any size into rewards in [0, 1]."""

    best: float
    width: float

    @classmethod
    def of(cls, losses: Sequence[float]) -> Scale:
        """Return the scale from the best loss seen to the 0.7 quantile."""
        if len(losses) < LEAST_SEEN:
            return cls(0.0, 0.0)
        best, upper = np.quantile(losses, [0.0, UPPER_QUANTILE])
        return cls(float(best), float(upper - best))

    def reward(self, loss: float) -> float:
        """Return r̃ = 1 − clip((f − best) / width, 0, 1); ½ if nothing tells losses apart."""
        if not math.isfinite(loss):
            return 0.0
        share = (loss - self.best) / self.width if self.width > 0 else 0.5
        return 1.0 - min(max(share, 0.0), 1.0)


@dataclass(frozen=True, slots=True)
class Tallies:
    """The number of pulls of each arm, and its total reward."""

    pulls: dict[Arm, float]
    rewards: dict[Arm, float]

    def copy(self) -> Tallies:
        """Return a copy to count on in."""
        return Tallies(dict(self.pulls), dict(self.rewards))

    def count(self, selection: Selection, reward: float) -> None:
        """Enter one pull of every arm of a selection."""
        for arm in arms_of(selection):
            self.pulls[arm] = self.pulls.get(arm, 0.0) + 1.0
            self.rewards[arm] = self.rewards.get(arm, 0.0) + reward


class ArmTable:
    """The numbered arms of every selection seen, to credit a long record in one sum."""

    def __init__(self) -> None:
        self._numbers: dict[Arm, int] = {}
        self._played: dict[Selection, list[int]] = {}

    def credit(self, losses: Mapping[Selection, float]) -> Tallies:
        """Credit the arms of each selection with its reward, all on one scale."""
        scale = Scale.of([loss for loss in losses.values() if math.isfinite(loss)])
        played = [self._numbered(selection) for selection in losses]
        shares = np.repeat([scale.reward(loss) for loss in losses.values()], list(map(len, played)))
        arms = np.fromiter(chain.from_iterable(played), dtype=np.intp)
        pulls = np.bincount(arms, minlength=len(self._numbers)).astype(float)
        rewards = np.bincount(arms, shares, minlength=len(self._numbers))
        return Tallies(
            dict(zip(self._numbers, pulls.tolist(), strict=True)),
            dict(zip(self._numbers, rewards.tolist(), strict=True)),
        )

    def _numbered(self, selection: Selection) -> list[int]:
        if selection not in self._played:
            arms = arms_of(selection)
            self._played[selection] = [
                self._numbers.setdefault(arm, len(self._numbers)) for arm in arms
            ]
        return self._played[selection]


def play_untaken(
    tallies: Tallies, play: Callable[[Tallies], Selection], taken: Collection[Selection]
) -> Selection | None:
    """Play until a selection is not taken; None after a number of tries.

    A taken selection with by far the best arms would come for ever. So each time it counts as a
    further pull without reward, until another one is ahead; this changes the tallies.
    """
    for _ in range(TRIES):
        selection = play(tallies)
        if selection not in taken:
            return selection
        # Lowers the means of these arms until another selection is ahead.
        tallies.count(selection, 0.0)
    return None


def best_pick(decision: Decision, index: Callable[[Arm], float]) -> Pick:
    """Return the alternative, or the permutation, with the largest sum of indices."""
    if isinstance(decision, Choice):
        return best_alternative(decision, index)
    return best_order(decision, index)


def best_alternative(choice: Choice, index: Callable[[Arm], float]) -> str:
    """Return the alternative with the largest index."""
    values = [index((choice.name, label, 0)) for label in choice.alternatives]
    return choice.alternatives[int(np.argmax(values))]


def best_order(order: Order, index: Callable[[Arm], float]) -> tuple[str, ...]:
    """Maximise Σ_ik o_ik ω_ik over permutation matrices o (appendix A of Ram et al. 2020).

    With a precedence no item gets an impossible position; violations left by the assignment are
    rearranged.
    """
    # −∞ forbids a position.
    omega = np.full((len(order.items), len(order.items)), -np.inf)
    for place, (item, positions) in enumerate(zip(order.items, order.positions(), strict=True)):
        omega[place, positions] = [index((order.name, item, k)) for k in positions]
    items, taken = linear_sum_assignment(omega, maximize=True)
    # The assignment lists items in their declared order; sort them by position.
    placed = sorted(zip(taken, items, strict=True))
    return order.arranged([order.items[int(item)] for _, item in placed])
