"""The labels of later rows as the numbers of the classes of a run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from automl_admm.core.errors import DataError
from automl_admm.data.conforming import Place
from automl_admm.pipelines.labels import text_of


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
    yield str(label)  # older versions wrote dates in other words
    # As in features 1 and 1.0 are one number: gaps make floats of whole numbers.
    is_number = isinstance(label, int | float | np.integer | np.floating)
    if is_number and type(label) is not bool and float(label).is_integer():
        yield from (text_of(int(label)), text_of(float(label)))
