"""Class labels and their numbers: sorted, the positive class last."""

from __future__ import annotations

from collections.abc import Callable, Collection
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Any

import numpy as np

from automl_admm.core.errors import ConfigurationError, DataError, Remedy
from automl_admm.core.messages import say_value
from automl_admm.data.conforming import figure_of
from automl_admm.data.python_rows import plain_target

DATES = (np.datetime64, np.timedelta64, datetime, timedelta)
# scikit-learn's `FixedThresholdClassifier` takes these alone for a positive label.
NAMED = (str, bool, int, float, np.bool_, np.integer, np.floating)
SHOWN = 12  # labels in a message
# The number of a row that a model leaves undecided; its label is None.
UNDECIDED = -1


def number_classes(y: Any, positive: object = None) -> tuple[Any, Any]:
    """Return the labels in their order, and the number of each row's label.

    They are sorted, and the last of two is the positive one. A label given as `positive` takes the
    last place; it may be given as text for labels of any type.
    """
    import pandas as pd

    is_text = isinstance(getattr(y, "dtype", None), pd.StringDtype)
    values = y if is_text else np.asarray(y)
    # Hashing a million texts takes a tenth of the time of sorting them, or of making objects.
    codes, distinct = pd.factorize(values, use_na_sentinel=False)
    dtype = object if is_text else values.dtype
    labels, places = np.unique(np.asarray(distinct, dtype=dtype), return_inverse=True)
    numbers = places[codes]
    if positive is None:
        return labels, numbers
    place = _place_of(positive, labels)
    order = np.array([*(other for other in range(len(labels)) if other != place), place])
    return labels[order], np.argsort(order)[numbers]


def leaves_undecided(model: Any) -> bool:
    """Return True for a model that may predict None for a row."""
    return bool(getattr(model, "leaves_undecided", False))


def are_decided(labels: Any) -> Any:
    """Tell for each predicted label if it is one; a row left undecided has None."""
    found = np.asarray(labels)
    if found.dtype != object:
        return np.ones(len(found), dtype=bool)
    nothing: Any = None
    return np.asarray(found != nothing, dtype=bool)


def number_decided(labels: Any, number: Callable[[Any], Any]) -> Any:
    """Return the numbers of predicted labels, and UNDECIDED for rows without one."""
    found, is_decided = np.asarray(labels), are_decided(labels)
    if is_decided.all():
        return number(found)
    numbers = np.full(len(found), UNDECIDED, dtype=np.intp)
    if is_decided.any():
        numbers[is_decided] = number(found[is_decided])
    return numbers


def label_decided(numbers: Any, classes: Any) -> Any:
    """Return the labels of class numbers as objects, None for UNDECIDED."""
    found = np.full(len(numbers), None, dtype=object)
    is_decided = numbers != UNDECIDED
    found[is_decided] = np.asarray(classes)[numbers[is_decided]]
    return found


def accuracy_of_decided(told: Any, y: Any, weights: Any = None) -> float:
    """Return the accuracy on the rows with a label other than None; NaN without any."""
    from sklearn.metrics import accuracy_score
    from sklearn.utils import column_or_1d

    decided = np.flatnonzero(are_decided(told))
    if not len(decided):
        return float("nan")
    # As a list, so that labels have their own type again: scikit-learn takes no objects for it.
    known = np.array(np.asarray(told)[decided].tolist())
    counted = None if weights is None else np.asarray(weights)[decided]
    return float(accuracy_score(column_or_1d(y)[decided], known, sample_weight=counted))


def labels_to_score(y: Any, classes: Any) -> Any:
    """Return labels to compare predictions with; raise if one is missing, or all are unknown."""
    labels = plain_target(y, hint="Score the other rows.")
    check_scored(labels, classes)
    return labels


def check_scored(y: Any, classes: Any) -> None:
    """Raise if none of the labels to be compared with predictions is a class of the model.

    Text is no number: scikit-learn cannot compare both, and calls other words an accuracy of 0.
    Some labels may be none of the classes, as a rare one in a fold.
    """
    found = _keys(y)
    if not found or not found.keys().isdisjoint(_keys(classes)):
        return
    raise DataError(
        f"none of the labels to score is a class of the model: they are {_say(found)}, and its "
        f"classes are {_say(classes)}.",
        hint="Give them in the words and the type of training.",
    )


def _say(labels: Collection[Any]) -> str:
    shown = ", ".join(map(say_value, list(labels)[:SHOWN]))
    return f"{shown}, …" if len(labels) > SHOWN else shown


def _keys(labels: Any) -> dict[Any, None]:
    """Return the labels in their order, dates of all units as one text."""
    values = np.asarray(labels).ravel()
    is_plain = values.dtype.kind not in "mM"
    return dict.fromkeys(map(_key, values.tolist() if is_plain else values))


def _key(label: Any) -> Any:
    return text_of(label) if isinstance(label, DATES) else label


def sorted_order(classes: Any) -> Any:
    """Return the places that sort labels: scikit-learn's order of classes."""
    return np.argsort(classes)


def sorted_texts(classes: Any) -> list[str]:
    """Return the labels as text, in sorted order."""
    return [text_of(label) for label in np.asarray(classes)[sorted_order(classes)]]


def text_of(label: Any) -> str:
    """Return a label as files have it: a date in one form, whatever its unit and type."""
    if isinstance(label, DATES):
        import pandas as pd

        is_moment = isinstance(label, np.datetime64 | datetime)
        # pandas knows no years and months without a date.
        with suppress(ValueError):
            return str((pd.Timestamp(label) if is_moment else pd.Timedelta(label)).isoformat())
    return str(label)


def positive_text(classes: Any) -> str | None:
    """Return the positive one of two labels as text; None if there are not two."""
    return None if classes is None or len(classes) != 2 else text_of(classes[-1])


def is_turned(classes: Any) -> bool:
    """Tell whether the positive one of two labels is not the last of the sorted ones."""
    return classes is not None and len(classes) == 2 and bool(classes[0] > classes[1])


def positive_of(classes: Any) -> Any:
    """Return the positive one of two labels as a plain Python value; None if there are not two."""
    if classes is None or len(classes) != 2:
        return None
    return classes[-1].item() if isinstance(classes[-1], np.generic) else classes[-1]


def _place_of(positive: object, labels: Any) -> int:
    if len(labels) != 2:
        raise ConfigurationError(
            f"a positive class needs a target of two classes, and this one has {len(labels)}: "
            f"{list_labels(labels)}."
        )
    place = place_of(positive, labels)
    if place is not None:
        _check_named(place, labels)
        return place
    raise ConfigurationError(
        f"there is no class '{positive}' in the target to be the positive one.",
        hint=f"Its classes are {list_labels(labels)}.",
    )


def _check_named(place: int, labels: Any) -> None:
    """Raise if thresholds cannot be of this label: scikit-learn's name a text or a number."""
    is_last, label = place == len(labels) - 1, labels[place]
    # A time of numpy is one of its whole numbers.
    is_date = isinstance(label, DATES)
    if is_last or (not is_date and isinstance(label, NAMED)):
        return
    raise ConfigurationError(
        f"the positive class '{text_of(label)}' is neither a text nor a number of Python or numpy, "
        f"and of such labels the last one is the positive class: '{text_of(labels[-1])}'.",
        hint=Remedy("Write the labels of the target as texts, or leave out {positive}."),
    )


def place_of(said: object, labels: Any) -> int | None:
    """Return the place of a label, which may be said as text; None if none or several are meant."""
    # From the strictest to the loosest; a step that fits two labels decides nothing.
    for is_meant in (_is_equal, _is_same_text, _is_same_date, _is_same_number, _is_same_word):
        found = [place for place, label in enumerate(labels) if is_meant(label, said)]
        if len(found) == 1:
            return found[0]
    return None


def _is_equal(label: Any, positive: object) -> bool:
    # numpy compares text with numbers by a warning instead of an answer.
    return isinstance(label, str) == isinstance(positive, str) and bool(label == positive)


def _is_same_text(label: Any, positive: object) -> bool:
    return str(positive).strip() in (str(label), text_of(label))


def _is_same_date(label: Any, positive: object) -> bool:
    """A date may be written in more than one form."""
    import pandas as pd

    if not isinstance(label, DATES):
        return False
    is_moment = isinstance(label, np.datetime64 | datetime)
    try:
        read = (pd.Timestamp if is_moment else pd.Timedelta)(str(positive).strip())
    except (OverflowError, ValueError):
        return False
    return text_of(read) == text_of(label)


def _is_same_number(label: Any, positive: object) -> bool:
    """A label may be kept as 1.0 and written as 1."""
    number = None if isinstance(label, bool | np.bool_) else figure_of(label)
    return number is not None and number == figure_of(str(positive))


def _is_same_word(label: Any, positive: object) -> bool:
    return str(label).casefold() == str(positive).strip().casefold()


def list_labels(labels: Any) -> str:
    """Return labels as a message tells them, in one line; of many, the first."""
    shown = ", ".join(repr(str(label)) for label in list(labels)[:SHOWN])
    return f"{shown}, …" if len(labels) > SHOWN else shown
