"""Evidence with a part of its rows, as if each row had been kept with one probability.

Evidence has no rows any more, but counts and values. Each row has one uniform number, and is kept
below the share: so by one seed the rows of a smaller share are among those of a larger one. Of s
events among n trials those kept are binomial, as if the rows had been drawn. Parts that share rows
are thinned apart from each other: each is as if its rows had been drawn, and bounds for such parts
ask no more.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any

import numpy as np

from automl_admm.certify.pooling import LONE
from automl_admm.core.evidence import F1, Evidence, Fact, Ranking, Rate
from automl_admm.core.space import Array


def thin(evidence: Evidence, share: float, rng: np.random.Generator) -> Evidence:
    """Return the evidence with each row kept with the probability `share`.

    With a generator of the same seed those of a smaller share are among those of a larger one. A
    fact is of no rows; evidence of which two lots do not add up stays as it is.

    >>> thin(Rate(0, 100), 0.2, np.random.default_rng(0))
    Rate(events=0, trials=25, of='rows')
    """
    if share >= 1.0 or isinstance(evidence, (Fact, *LONE)):
        return evidence
    if isinstance(evidence, Rate):
        events, trials = _counts(evidence.events, evidence.trials, share, rng)
        return replace(evidence, events=events, trials=trials)
    if isinstance(evidence, F1):
        hits, rows = _counts(evidence.hits, evidence.rows, share, rng)
        return replace(evidence, hits=hits, rows=rows)
    if isinstance(evidence, Ranking):  # its scores are of different rows
        return Ranking(
            *(_some(one, share, rng) for one in (evidence.positives, evidence.negatives))
        )
    return _of_parts_or_values(evidence, share, rng)


def _counts(among: int, rows: int, share: float, rng: np.random.Generator) -> tuple[int, int]:
    if not 0 <= among <= rows:
        return among, rows
    kept, others = (_below(share, count, rng) for count in (among, rows - among))
    return kept, kept + others


def _below(share: float, count: int, rng: np.random.Generator) -> int:
    """Return how many of so many uniform numbers are below the share.

    They are never made one by one: those below ½ are binomial, and each half is halved again. Every
    half has a generator of its own, so the numbers are the same whatever the share.
    """
    found = 0
    while count and 0.0 < share < 1.0:
        lower, upper = rng.spawn(2)
        low = int(rng.binomial(count, 0.5))
        if share < 0.5:
            share, count, rng = 2 * share, low, lower
        else:
            found, share, count, rng = found + low, 2 * share - 1, count - low, upper
    return found + (count if share >= 1.0 else 0)


def _some(values: Array, share: float, rng: np.random.Generator) -> Array:
    return values[rng.random(len(values)) < share]


def _of_parts_or_values(evidence: Any, share: float, rng: np.random.Generator) -> Evidence:
    """Thin each part, or the values of all fields by the same rows."""
    known = {item.name: getattr(evidence, item.name) for item in fields(evidence)}
    lengths = {len(value) for value in known.values() if isinstance(value, np.ndarray)}
    kept = rng.random(max(lengths, default=0)) < share
    thinned = dict[str, Any]()
    for name, value in known.items():
        if isinstance(value, Mapping):
            thinned[name] = {key: thin(part, share, rng) for key, part in value.items()}
        elif isinstance(value, np.ndarray):
            thinned[name] = value[kept]
    found: Evidence = replace(evidence, **thinned)
    return found
