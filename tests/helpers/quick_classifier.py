"""A classifier fitted by one quick evaluation, for tests of the tables that it takes."""

from __future__ import annotations

from typing import Any

from automl_admm import AutoMLClassifier


def fitted(X: Any, y: Any, **more: Any) -> AutoMLClassifier:
    """Return a classifier fitted on a table, with more options if any are given."""
    search = AutoMLClassifier(
        grammar="tiny", max_evaluations=1, executor="inline", random_state=0, cv=0.3, **more
    )
    return search.fit(X, y)
