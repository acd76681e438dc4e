"""Texts of few words need few places: their topics are found in so many columns."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from automl_admm.pipelines import column_routes

PLACES = 256


@contextmanager
def few_places() -> Iterator[None]:
    """Lay the words of a text into fewer places: a fit with a column of texts takes half as long.

    Decompositions of all places are most of a fit on a table of some hundred rows.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(column_routes, "PLACES", PLACES)
        yield
