"""Tests of plugins: short texts, and forks in place of interpreters."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from forked_questions import forked_questions
from short_texts import few_places

from automl_admm.testing import components, fresh_process


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
