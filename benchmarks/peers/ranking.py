"""Ranks of systems over data sets, their intervals, and the tests of their differences."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import friedmanchisquare, rankdata, studentized_range

# Scores that agree in so many digits are equal.
DIGITS = 4
RESAMPLES = 10_000


@dataclass(frozen=True)
class Block:
    """One split with the score of each system, larger is better; None is a failure."""

    data_set: str
    scores: Mapping[str, float | None]


@dataclass(frozen=True)
class Rank:
    """The mean rank of a system, its bootstrap interval, and its worst rank in one block."""

    mean: float
    low: float
    high: float
    worst: float


@dataclass(frozen=True)
class Differences:
    """Friedman's test that all are equal, and Nemenyi's of one system with each other."""

    statistic: float
    p: float
    critical_distance: float
    pairs: Mapping[str, float]


@dataclass(frozen=True)
class Places:
    """Blocks in which a system was the best alone, the best with others, and the worst."""

    first: int
    shared: int
    last: int


@dataclass(frozen=True)
class Tally:
    """Blocks that one system won, lost and shared with another."""

    wins: int
    losses: int
    ties: int


def ranks_in(block: Block, systems: Sequence[str]) -> Any:
    """Rank the systems of a block from 1; equal ones share a rank, failures share the last."""
    values = [_cost(block.scores[system]) for system in systems]
    return rankdata(values, method="average")


def _cost(score: float | None) -> float:
    return math.inf if score is None else -round(score, DIGITS)


def by_set(blocks: Sequence[Block], systems: Sequence[str]) -> Any:
    """Return a row for each data set: the mean ranks over its splits.

    Splits of one table are not independent: a set counts once, however many seeds it has.
    """
    found: dict[str, list[Any]] = {}
    for block in blocks:
        found.setdefault(block.data_set, []).append(ranks_in(block, systems))
    return np.array([np.mean(rows, axis=0) for rows in found.values()])


def rank_all(blocks: Sequence[Block], systems: Sequence[str], seed: int = 0) -> dict[str, Rank]:
    """Return the ranks of all systems; the 95 % intervals come from drawing data sets anew."""
    table = by_set(blocks, systems)
    drawn = np.random.default_rng(seed).integers(len(table), size=(RESAMPLES, len(table)))
    low, high = np.quantile(table[drawn].mean(axis=1), [0.025, 0.975], axis=0)
    worst = np.max([ranks_in(block, systems) for block in blocks], axis=0)
    means = table.mean(axis=0)
    return {
        system: Rank(float(means[i]), float(low[i]), float(high[i]), float(worst[i]))
        for i, system in enumerate(systems)
    }


def compare_all(
    blocks: Sequence[Block], systems: Sequence[str], reference: str
) -> Differences | None:
    """Test with data sets as blocks; None for less than three systems or two sets."""
    table = by_set(blocks, systems)
    sets, count = table.shape
    if count < 3 or sets < 2:
        return None
    if np.ptp(table) == 0:
        return Differences(0.0, 1.0, math.nan, {one: 1.0 for one in systems if one != reference})
    statistic, p = friedmanchisquare(*table.T)
    means = np.apply_along_axis(rankdata, 1, table).mean(axis=0)
    error = math.sqrt(count * (count + 1) / (12 * sets))
    own = means[list(systems).index(reference)]
    pairs = {
        system: float(studentized_range.sf(abs(mean - own) / error, count, np.inf))
        for system, mean in zip(systems, means, strict=True)
        if system != reference
    }
    distance = float(studentized_range.ppf(0.95, count, np.inf)) * error
    return Differences(float(statistic), float(p), distance, pairs)


def tally(blocks: Sequence[Block], one: str, other: str) -> Tally:
    """Count the blocks in which `one` is better, worse and as good; two failures are a tie."""
    pairs = [(_cost(block.scores[one]), _cost(block.scores[other])) for block in blocks]
    wins, losses = sum(a < b for a, b in pairs), sum(a > b for a, b in pairs)
    return Tally(wins, losses, len(pairs) - wins - losses)


def count_places(blocks: Sequence[Block], systems: Sequence[str]) -> dict[str, Places]:
    """Count the blocks in which each system is best or worst; where all are equal none is worst."""
    found: dict[str, list[tuple[bool, bool, bool]]] = {system: [] for system in systems}
    for block in blocks:
        costs = {system: _cost(block.scores[system]) for system in systems}
        best, worst = min(costs.values()), max(costs.values())
        is_alone = list(costs.values()).count(best) == 1
        for system, cost in costs.items():
            is_best, is_last = cost == best, cost == worst > best
            found[system].append((is_best and is_alone, is_best and not is_alone, is_last))
    return {system: Places(*map(sum, zip(*rows, strict=True))) for system, rows in found.items()}
