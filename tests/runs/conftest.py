"""Searches by the hundred: their servers are forks."""

from __future__ import annotations

import pytest


@pytest.fixture(scope="module", autouse=True)
def quick_searches(quick_servers: None, few_calls: None) -> None:
    """Fork servers from a process that has imported all; time no more calls than must be."""
