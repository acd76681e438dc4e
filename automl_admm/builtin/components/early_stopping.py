"""The growth of scikit-learn's boosted trees, which may have stopped early.

Measured with scikit-learn 1.9.1: a fit that stopped early and goes on adds trees that a fit from
the start does not have. One that stopped with its very last tree looks as if it had not stopped.
"""

from __future__ import annotations

from typing import Any

from automl_admm.plugins.growth import Growth


def _is_patient(model: Any) -> bool:
    """Return True without early stopping: its count begins anew in a fit that goes on."""
    return model.n_iter_no_change is None


def _has_fewer_trees(model: Any) -> bool:
    return bool(model.n_estimators_ < model.n_estimators)


def _has_fewer_rounds(model: Any) -> bool:
    return bool(model.n_iter_ < model.max_iter)


def _does_not_stop(model: Any) -> bool:
    """Return True without early stopping, which begins by itself above 10 000 rows."""
    return not model.do_early_stopping_


GRADIENT = Growth(may_grow=_is_patient, has_stopped=_has_fewer_trees)
HISTOGRAMS = Growth(may_grow=_does_not_stop, has_stopped=_has_fewer_rounds)
