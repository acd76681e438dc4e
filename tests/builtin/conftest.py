"""Fits by the thousand, of texts of few words."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from short_texts import few_places


@pytest.fixture(scope="module", autouse=True)
def short_texts() -> Iterator[None]:
    """Lay words into few places."""
    with few_places():
        yield
