"""The names of scikit-learn's scorers, kept as a list: importing them takes a second."""

from __future__ import annotations

from sklearn.metrics import get_scorer_names

from automl_admm.plugins.taken_names import SCORERS


def test_every_scorer_of_scikit_learn_is_known() -> None:
    assert set(get_scorer_names()) <= SCORERS
