"""Searches by the hundred: their servers are forks."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from forked_servers import forked_servers


@pytest.fixture(scope="module", autouse=True)
def quick_searches() -> Iterator[None]:
    """Fork servers from a process that has imported all."""
    with forked_servers():
        yield
