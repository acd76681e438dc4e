"""A threshold for a metric that looks at decisions, kept only if it is better than by noise.

Half is the best threshold for accuracy and for probabilities that are right; for an F1, a cost of
your own, or rows of 1 : 99, it seldom is. Moving it costs no training.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from automl_admm.core.space import Array
from automl_admm.pipelines.decision_scores import decision_score
from automl_admm.pipelines.metrics import Metric
from automl_admm.pipelines.predictions.measured import Seen, Table, score_of
from automl_admm.pipelines.predictions.plain_decisions import told_decisions
from automl_admm.pipelines.predictions.wrappers import Decided
from automl_admm.pipelines.row_share import share_of_rows
from automl_admm.pipelines.thresholds.single import between

Rows = NDArray[np.intp]
# None for plain `predict`, whose ties may be on the other side than at the default one.
Threshold = float | None
# Shares of the rows below a threshold, closer together where positive rows are rare.
SHARES = (0.02, 0.1, 0.25, 0.4, 0.55, 0.7, 0.8, 0.87, 0.93, 0.97, 0.99)
CLOSER = 4
# Of one part alone: it is cut into so many, to see how much the gain varies.
PARTS = 4
# Each threshold scores every part once: of more rows these are enough to compare them.
MOST_ROWS = 4000
SEED = 0
# A gain counts from so many of its standard errors on: one is passed by noise in one case of five.
ERRORS = 2.0


@dataclass(frozen=True, eq=False)
class Block:
    """Rows that a pipeline was not fitted on, its scores for them, and its `plain` decisions."""

    pipeline: Any
    rows: Table
    scores: Array
    plain: Rows

    def score(self, metric: Metric, threshold: Threshold) -> float:
        """Return the metric at a threshold; −∞ if it has no value."""
        decided = self.plain if threshold is None else self.called(threshold)
        quick = decision_score(metric, self.rows)
        found = self._asked(metric, decided) if quick is None else quick(decided)
        return found if math.isfinite(found) else -math.inf

    def called(self, threshold: float) -> Rows:
        """Return the class numbers at a threshold."""
        return (self.scores >= threshold).astype(np.intp)

    def _asked(self, metric: Metric, decided: Any) -> float:
        labels = self.rows.classes[decided]
        return score_of(metric, Decided(self.pipeline, lambda _: labels), self.rows)


def best_at_thresholds(metric: Metric, seen: Seen, default: float) -> float:
    """Return the best score of a part by plain `predict`, and at the thresholds that are tried."""
    block = _block(seen, np.arange(len(seen.rows.y)))
    return float(np.max(list(_table([block], metric, default).values())))


def threshold_for_score(
    metric: Metric, seen: Sequence[Seen], default: float, repeats: float = 1.0
) -> float | None:
    """Return a threshold better than plain `predict` by more than its noise; None without one.

    For each part k the threshold is chosen on the other parts: t_k = argmax_t mean_{j ≠ k} s_j(t).
    The gain s_k(t_k) − s_k(plain) is thereby on rows that had no say. Its mean must exceed two
    standard errors; then the best threshold of all parts together is returned. One that calls all
    rows the same is not looked at. `repeats` says how often each row stands in the parts.
    """
    blocks = _blocks(seen)
    found = _table(blocks, metric, default)
    table = np.array(list(found.values()))
    if not np.isfinite(table[0]).all() or not _is_gain(table, len(blocks) / repeats):
        return None
    return list(found)[int(np.argmax(table.mean(axis=1)))]


def _table(blocks: Sequence[Block], metric: Metric, default: float) -> dict[Threshold, list[float]]:
    """Return the scores of all parts at each threshold, those of plain `predict` first.

    The default threshold comes next if it decides otherwise, and not all rows the same.
    """
    ordered = np.sort(np.concatenate([block.scores for block in blocks]))
    is_plain = all(np.array_equal(block.called(default), block.plain) for block in blocks)
    has_own = not is_plain and ordered[0] < default <= ordered[-1]
    first: list[Threshold] = [None, default] if has_own else [None]
    found = {one: [block.score(metric, one) for block in blocks] for one in first}

    def look(shares: Any) -> None:
        for share in shares:
            threshold = between(
                ordered, int(np.clip(round(share * len(ordered)), 1, len(ordered) - 1))
            )
            if ordered[0] < threshold and threshold not in found:
                found[threshold] = [block.score(metric, threshold) for block in blocks]

    look(SHARES)
    look(_closer(ordered, found, default))
    return found


def _closer(ordered: Array, found: Mapping[Threshold, Sequence[float]], default: float) -> Array:
    """Return shares of the rows around that of the best threshold so far."""
    best = max(found, key=lambda threshold: np.mean(found[threshold]))
    share = np.searchsorted(ordered, default if best is None else best) / len(ordered)
    lower = max((one for one in SHARES if one < share), default=0.0)
    upper = min((one for one in SHARES if one > share), default=1.0)
    return np.linspace(lower, upper, CLOSER + 2)[1:-1]


def _is_gain(table: Array, independent: float) -> bool:
    """Return True if thresholds chosen on other parts beat the first row by their noise."""
    gains = []
    for part in range(table.shape[1]):
        others = np.delete(table, part, axis=1).mean(axis=1)
        gains.append(table[int(np.argmax(others)), part] - table[0, part])
    error = float(np.std(gains, ddof=1)) / math.sqrt(independent)
    return bool(np.isfinite(gains).all()) and float(np.mean(gains)) > ERRORS * error


def _blocks(seen: Sequence[Seen]) -> list[Block]:
    """Return the parts to compare thresholds on, two at least; very large ones by some rows."""
    if len(seen) > 1:
        return [_block(one, np.arange(len(one.rows.y))) for one in seen]
    mixed = np.random.default_rng(SEED).permutation(len(seen[0].rows.y))
    dealt = mixed[np.argsort(seen[0].rows.y[mixed], kind="stable")]
    return [_block(seen[0], np.sort(dealt[part::PARTS])) for part in range(PARTS)]


def _block(seen: Seen, places: Rows) -> Block:
    scores = np.asarray(seen.part.scores, dtype=float)
    places = share_of_rows(places, seen.rows.y, min(MOST_ROWS / max(len(places), 1), 1.0), SEED)
    plain = told_decisions(seen)[places]
    return Block(seen.answers, seen.rows.part(places), scores[places], plain)
