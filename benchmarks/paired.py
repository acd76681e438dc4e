"""Two methods over the same seeds: how often one is better, and what chance would do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from scipy.stats import binomtest


@dataclass(frozen=True)
class Paired:
    """Wins, losses and ties of one method against another."""

    wins: int
    losses: int
    ties: int = 0

    @property
    def p(self) -> float:
        """The exact two-sided sign test; ties say nothing."""
        decided = self.wins + self.losses
        return float(binomtest(self.wins, decided).pvalue) if decided else 1.0

    def __str__(self) -> str:
        """All of it, as a table has it."""
        return f"{self.wins}/{self.losses}/{self.ties} (p {self.p:.2g})"


def compare(ours: Sequence[float], theirs: Sequence[float]) -> Paired:
    """Compare losses of the same seeds; smaller is better."""
    pairs = list(zip(ours, theirs, strict=True))
    wins, losses = sum(a < b for a, b in pairs), sum(a > b for a, b in pairs)
    return Paired(wins, losses, len(pairs) - wins - losses)


def corrected(found: Mapping[str, float]) -> dict[str, float]:
    """Correct p values by Holm: p_(i) times the number of those that are not smaller."""
    largest, result = 0.0, {}
    for place, (name, p) in enumerate(sorted(found.items(), key=lambda item: item[1])):
        largest = max(largest, min(1.0, p * (len(found) - place)))
        result[name] = largest
    return result
