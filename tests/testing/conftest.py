"""Fits by the thousand: what they would find out again and again is known."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from known_parameters import known_parameters


@pytest.fixture(scope="module", autouse=True)
def quick_fits() -> Iterator[None]:
    """Know the parameters of estimators."""
    with known_parameters():
        yield
