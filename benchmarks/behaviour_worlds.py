"""Simulated worlds for every_bound.py: undecided rows, blank columns and noise.

The limits are measured by the functions of the package itself, on a model that answers: so what is
simulated is also that a row moves or not by itself, whatever stands beside it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from bound_worlds import Noise, World, scored

from automl_admm.builtin.constraints.abstention import abstain
from automl_admm.builtin.constraints.decision_rates import error
from automl_admm.builtin.constraints.robustness import BlankMoves, NoiseMoves
from automl_admm.builtin.constraints.robustness import Noise as NoiseOptions
from automl_admm.constraints.undecided import OfDecided
from automl_admm.core.evidence import Evidence
from automl_admm.core.returned_evidence import as_evidence
from automl_admm.core.space import Array
from automl_admm.pipelines.labels import UNDECIDED
from automl_admm.plugins.evaluated_pipeline import EvaluatedPipeline

MIDDLE, NARROW, WIDE = 1.1, 0.02, 1.0
BLANK, BY = 0.15, 0.1
MISSING = 0.3
# An income with missing cells, a year far from 0, and a small whole number.
MIDDLES, SPREADS = np.array([3000.0, 2000.0, 2.0]), np.array([1000.0, 8.0, 1.5])


def decided(noise: Noise, width: float) -> EvaluatedPipeline:
    """Return the decisions of a threshold with a band of this width around it."""
    scores, positive = noise["scores"], noise["positive"]
    decisions = np.where(scores > MIDDLE, 1, 0)
    decisions[np.abs(scores - MIDDLE) < width / 2] = UNDECIDED
    return EvaluatedPipeline(None, None, positive.astype(int), scores, 0.0, 0.0, decisions)


def growing(t: float) -> float:
    """Return a band that grows along the path: more and more rows are left undecided."""
    return NARROW + (WIDE - NARROW) * t


def _left(noise: Noise, t: float) -> Evidence:
    return abstain(decided(noise, growing(t)))


def _right_where_decided(noise: Noise, t: float) -> float:
    return 1.0 - _wrong(noise, 1.0 - t).value


def _wrong(noise: Noise, t: float) -> Evidence:
    return as_evidence(OfDecided(error)(decided(noise, growing(1.0 - t))))


def _decided_share(noise: Noise, t: float) -> float:
    return 1.0 - abstain(decided(noise, growing(1.0 - t))).value


def tabled(rng: np.random.Generator, rows: int) -> Noise:
    """Draw a table: one column with missing cells, one far from 0, one of small whole numbers."""
    X = np.column_stack(
        [
            rng.normal(3000.0, 1000.0, rows),
            2000.0 + np.round(8.0 * rng.normal(size=rows)),
            rng.poisson(2.0, rows),
        ]
    )
    X[rng.random(rows) < MISSING, 0] = np.nan
    return {"X": X}


@dataclass(frozen=True)
class Logistic:
    """A model of the table by the weights of its columns, each in spreads."""

    weights: tuple[float, float, float]
    classes_ = np.array([0, 1])

    def predict_proba(self, X: Any) -> Array:
        """Return probabilities; a missing cell counts as the mean."""
        scores = np.nan_to_num((X - MIDDLES) / SPREADS) @ np.array(self.weights)
        positive = 1.0 / (1.0 + np.exp(-scores))
        return np.column_stack([1.0 - positive, positive])


def _asked(noise: Noise, *weights: float) -> EvaluatedPipeline:
    X, (first, second, third) = noise["X"], weights
    y, spreads = np.zeros(len(X)), dict(zip("012", SPREADS, strict=True))
    return EvaluatedPipeline(Logistic((first, second, third)), X, y, y, 0.0, 0.0, spreads=spreads)


def _blank(noise: Noise, t: float) -> Evidence:
    """Measure a model that leans on its first column more and more."""
    return BlankMoves(BLANK)(_asked(noise, 0.3 + 0.6 * t, 0.25, 0.2))


def _noisy(noise: Noise, t: float) -> Evidence:
    """Measure one model with a limit on smaller and smaller moves."""
    return NoiseMoves(NoiseOptions(BY, 0.05 - 0.04 * t))(_asked(noise, 2.0, 0.5, 0.1))


BEHAVIOUR_WORLDS: tuple[World, ...] = (
    World("abstain", scored, _left, utility=_right_where_decided),
    World("error, of the decided rows", scored, _wrong, utility=_decided_share),
    World("blank_moves_N", tabled, _blank),
    World("noise_moves", tabled, _noisy),
)
