"""Limits on what a model answers: undecided rows, blank columns, noise; for certified_findings.py.

Each is measured on fresh rows by its definition: a column is emptied, the numbers are moved, and
the answers are compared here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from zlib import crc32

import numpy as np
from certified_kinds import Kind, Seen
from pandas.api.types import is_numeric_dtype

from automl_admm.core.space import Array
from automl_admm.data.fingerprints import mix

BLANK, BY, MOVED = 0.2, 0.2, 0.05
NOISY = "under noise"
ERROR = "error of the decided rows"


def of_answers() -> tuple[Kind, ...]:
    """Return the kinds: errors of the decided rows, undecided rows, and moves of scores."""
    exact, added = "binomial", (0.0, 0.05, 0.1)
    return (
        Kind("error", _wrong, (0.0, 0.1, 0.25), bound=exact),
        # Without the limit no row is undecided, so that this is the room itself.
        Kind("abstain", _undecided, (0.05, 0.1, 0.2), bound=exact, is_added=True),
        Kind(
            f"blank_moves_{BLANK:g}", _blank, added, bound="each column's binomial", is_added=True
        ),
        Kind(
            f"noise_moves{{by={BY:g},more_than={MOVED:g}}}",
            _noisy,
            added,
            bound=exact,
            is_added=True,
        ),
    )


def is_decided(predicted: Any) -> Any:
    """Return which rows have a label."""
    return np.array([one is not None for one in predicted], dtype=bool)


def _wrong(seen: Seen) -> float:
    decided = is_decided(seen.predicted)
    return float(np.mean(seen.predicted[decided] != seen.truth[decided]))


def _undecided(seen: Seen) -> float:
    return float(np.mean(~is_decided(seen.predicted)))


def _blank(seen: Seen) -> float:
    shares = [_moved(one, BLANK) for name, one in seen.moves.items() if name != NOISY]
    return max(shares)


def _noisy(seen: Seen) -> float:
    return _moved(seen.moves[NOISY], MOVED)


def _moved(distances: Array, least: float) -> float:
    return float(np.mean(distances > least))


def moves_of(model: Any, X: Any, learned: Any) -> Mapping[str, Array]:
    """Return how far the probability of each row moves if a column is blank, and under noise.

    `learned` are the rows of the search, whose standard deviations are the unit of the noise.
    """
    before = model.predict_proba(X)[:, -1]
    found = {}
    for name in X.columns:
        filled = X[name].notna().to_numpy()
        blank = X.assign(**{name: X[name].mask(X[name].notna())})
        found[name] = np.abs(model.predict_proba(blank)[:, -1] - before)[filled]
    numbers = [name for name in X.columns if is_numeric_dtype(X[name].dtype)]
    noisy = X.assign(**{name: _with_noise(X[name], learned[name]) for name in numbers})
    return found | {NOISY: np.abs(model.predict_proba(noisy)[:, -1] - before)}


def _with_noise(column: Any, learned: Any) -> Any:
    """Return numbers up or down by a part of the spread, as their digits and the name say."""
    numbers = column.to_numpy(dtype=float)
    bits = numbers.astype(np.float32).view(np.uint32).astype(np.uint64)
    salt = np.full(len(bits), crc32(str(column.name).encode()), dtype=np.uint64)
    signs = np.where(mix(bits, salt) & np.uint64(1), 1.0, -1.0)
    return numbers + BY * float(learned.std(ddof=0)) * signs
