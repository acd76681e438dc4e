"""Another process for the contracts of solvers is a fork, far cheaper than an interpreter."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from forked_questions import forked_questions

from automl_admm.testing import fresh_process


@pytest.fixture(scope="module", autouse=True)
def forks() -> Iterator[None]:
    """Ask in a fork of a process with a random hash seed of its own."""
    with forked_questions(fresh_process):
        yield
