"""Searches by the hundred: their servers are forks."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from automl_admm.builtin.constraints import resources


@pytest.fixture(scope="module", autouse=True)
def quick_searches(quick_servers: None) -> Iterator[None]:
    """Fork servers from a process that has imported all; time no more calls than must be."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(resources, "MOST_REPEATS", resources.REPEATS)
        yield
