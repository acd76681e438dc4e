"""Searches by the hundred: what they would find out again and again is known."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from forked_servers import forked_servers
from known_parameters import known_parameters


@pytest.fixture(scope="module", autouse=True)
def quick_searches() -> Iterator[None]:
    """Fork servers from a process that has imported all, and know parameters of estimators."""
    with forked_servers(), known_parameters():
        yield
