"""Searches in children: their servers are forks, far cheaper than interpreters."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from forked_servers import forked_servers


@pytest.fixture(scope="module", autouse=True)
def forks() -> Iterator[None]:
    """Fork the servers from a process that has imported what searches need."""
    with forked_servers():
        yield
