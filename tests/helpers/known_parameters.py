"""Names of parameters of scikit-learn's estimators, looked up once a class.

Each copy and each fit of an estimator reads the signature of its class anew: a sixth of the time of
a search on a small table, which tests make by the hundred.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from sklearn.base import BaseEstimator


@contextmanager
def known_parameters() -> Iterator[None]:
    """Remember the names of the parameters of a class, which do not change."""
    look = BaseEstimator.__dict__["_get_param_names"].__func__
    known: dict[type, list[str]] = {}

    def names(kind: type) -> list[str]:
        if kind not in known:
            known[kind] = look(kind)
        return list(known[kind])

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(BaseEstimator, "_get_param_names", classmethod(names))
        yield
