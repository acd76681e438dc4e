"""Tests of plugins: one thread, as `tests/conftest.py` says, and forks in place of interpreters."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
import scipy.linalg  # noqa: F401 - its BLAS is to be there when threads are counted
import sklearn.ensemble  # noqa: F401 - and its OpenMP
from forked_questions import forked_questions
from short_texts import few_places
from threadpoolctl import threadpool_limits

from automl_admm.testing import components, fresh_process

threadpool_limits(1)
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


@pytest.fixture(scope="module", autouse=True)
def short_texts() -> Iterator[None]:
    """Lay words into few places: the contract of components has a column of texts."""
    with few_places():
        yield


@pytest.fixture(scope="module", autouse=True)
def forks() -> Iterator[None]:
    """Ask forks where contracts ask another process; they import the library of a plugin anew."""
    with forked_questions(components, fresh_process):
        yield
