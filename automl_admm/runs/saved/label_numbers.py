"""The labels of later rows as the numbers of the classes of a run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import lru_cache
from typing import Any

import numpy as np

from automl_admm.core.errors import DataError
from automl_admm.data.conforming import Place
from automl_admm.pipelines.labels import text_of

MOST_EXACT = 2.0**53  # beyond it floats skip whole numbers


def number_labels(labels: Any, classes: Sequence[str], target: str, place: Place) -> Any:
    """Return the numbers of labels, by their names in the manifest; raise for an unknown one."""
    numbers = {name: number for number, name in enumerate(classes)}
    texts = [next((text for text in _texts(one) if text in numbers), None) for one in labels]
    found = [-1 if text is None else numbers[text] for text in texts]
    if -1 in found:
        row = found.index(-1)
        said = f"{place(row)}: column '{target}' holds '{labels[row]}'"
        hint = f"Its classes are: {', '.join(classes)}."
        raise DataError(f"{said}, which is no class of the run.", hint=hint)
    return np.array(found, dtype=np.intp)


def _texts(label: Any) -> Iterator[str]:
    """Yield the texts that a label may have in a manifest."""
    yield text_of(label)
    # As in features 1 and 1.0 are one number: gaps make floats of whole numbers.
    is_number = isinstance(label, int | float | np.integer | np.floating)
    if is_number and type(label) is not bool and _is_whole(label):
        yield from (text_of(int(label)), text_of(float(label)))
    if isinstance(label, str):
        yield from _moments(label)


@lru_cache
def _moments(text: str) -> tuple[str, ...]:
    """Return the names of the date and of the duration that a text may be, as `predict` writes."""
    import pandas as pd

    found = []
    for kind in (pd.Timestamp, pd.Timedelta):
        with suppress(ValueError, OverflowError):
            found.append(text_of(kind(text)))
    return tuple(found)


def _is_whole(label: Any) -> bool:
    """Return True for a whole number; a large float may stand for several, and is none."""
    is_float = isinstance(label, float | np.floating)
    return float(label).is_integer() and not (is_float and abs(label) > MOST_EXACT)
