"""Bins of equally many rows, as a calibration error takes them."""

from __future__ import annotations

from typing import Any

import numpy as np

from automl_admm.core.space import Array

BINS = 10  # as is customary


def edges_of(probabilities: Array) -> Array:
    """Return the edges between `BINS` bins of equally many rows; equal values are in one bin."""
    return np.asarray(np.quantile(probabilities, np.arange(1, BINS) / BINS))


def bins_of(probabilities: Array, edges: Array) -> Any:
    """Return the number of the bin of every row; a value on an edge is in the upper bin."""
    return np.searchsorted(edges, probabilities, side="right")
