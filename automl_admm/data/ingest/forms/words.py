"""Texts of several words: lists of tags, and free text."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Sequence
from typing import Any

import numpy as np

from automl_admm.core.messages import say_value
from automl_admm.data.conforming import Place, refuse_cells
from automl_admm.data.ingest.forms.cells import (
    cells_of,
    is_missing,
    kind_of_cells,
    known_missing,
    refuse_unread,
    sample_of,
    series_like,
)
from automl_admm.data.ingest.records import Facts

JOINT = "\x1f"  # between the tags of a made column
SEPARATORS = ("|", ";", ",", "/")
FEWEST_LISTS = 5
LONGEST_TAG = 40
MOST_WORDS_IN_TAG = 3
# Tags come again: so often on average, and most of them more than once.
LEAST_USES = 2.0
LEAST_SEVERAL = 0.2  # of the cells have two tags or more
# Numbers of one count in so many cells have places, such as a score or a blood pressure.
MOST_OF_ONE_COUNT = 0.9
NUMBER = re.compile(r"[+-]?(\d+([.,]\d*)*|[.,]\d+)")
FEWEST_TEXTS = 20
LEAST_WORDS = 3.0  # on average in a free text, or two in longer ones
LONG_TEXT = 25  # characters
LEAST_DISTINCT = 0.2
BRACKETS = re.compile(r"[\[({](.*)[\])}]", re.DOTALL)
HINT = "Give it as in training, or nothing where it is missing."
SETS = (set, frozenset)
LISTS = (list, tuple, np.ndarray, *SETS)


def recognise_tags(column: Any) -> Facts | None:
    """Return the separator of tags; None for a column without lists of recurring tags."""
    if isinstance(column.dtype, np.dtype) and column.dtype.kind != "O":
        return None
    sample = [cell for cell in sample_of(column) if not isinstance(cell, str) or cell]
    if sample and all(isinstance(cell, LISTS) for cell in sample):
        lists = [[str(tag) for tag in cell] for cell in sample if not isinstance(cell, SETS)]
        return None if lists and _have_places(lists) else _of_lists(sample)
    if kind_of_cells(column) != "string" or len(set(sample)) < FEWEST_LISTS:
        return None
    for separator in SEPARATORS:
        if _are_lists([_split(text, separator) for text in set(sample) if not is_missing(text)]):
            return {"separator": separator, "example": next(t for t in sample if separator in t)}
    return None


def _of_lists(cells: Sequence[Collection[Any]]) -> Facts | None:
    if not all(_is_plain(tag) for cell in cells for tag in cell):
        return None
    return {"separator": ",", "example": ", ".join(sorted(map(str, cells[0])))}


def adopt_tags(column: Any) -> Facts | None:
    """Return the most frequent separator of texts, or facts of lists; None for other columns."""
    cells = [cell for cell in sample_of(column) if isinstance(cell, LISTS)]
    if cells and len(cells) == len(sample_of(column)):
        return _of_lists(cells)
    if kind_of_cells(column) != "string":
        return None
    sample = [text for text in sample_of(column) if not is_missing(text)]
    if not sample:
        return None
    separator = max(SEPARATORS, key=lambda sign: sum(sign in text for text in sample))
    return {"separator": separator, "example": max(sample, key=len)[:LONGEST_TAG]}


def _is_plain(tag: Any) -> bool:
    return tag is None or isinstance(tag, str | int | np.integer | np.str_)


def _split(text: str, separator: str) -> list[str]:
    inner = BRACKETS.fullmatch(text)
    found = (
        tag.strip().strip("'\"").strip() for tag in (inner[1] if inner else text).split(separator)
    )
    return [tag for tag in found if tag]


def _have_places(lists: Sequence[Sequence[str]]) -> bool:
    """Return True for numbers of which one stands first and one second: `1/2` is not `2/1`.

    A number twice in one cell means something by its place, too: a set has it once.
    """
    figures = [tags for tags in lists if all(map(NUMBER.fullmatch, tags))]
    if len(figures) < MOST_OF_ONE_COUNT * len(lists):
        return False
    counts = Counter(map(len, figures))
    count, cells = counts.most_common(1)[0]
    is_even = count > 1 and cells >= MOST_OF_ONE_COUNT * len(lists)
    return is_even or any(len(set(tags)) < len(tags) for tags in figures)


def _are_lists(lists: Sequence[Sequence[str]]) -> bool:
    if sum(len(tags) > 1 for tags in lists) < max(LEAST_SEVERAL * len(lists), FEWEST_LISTS):
        return False
    if _have_places(lists):
        return False
    uses = Counter(tag for tags in lists for tag in tags)
    if any(len(tag) > LONGEST_TAG or len(tag.split()) > MOST_WORDS_IN_TAG for tag in uses):
        return False
    again = sum(count > 1 for count in uses.values())
    # Fewer tags than lists, or it is a category with a separator in its levels.
    return (
        uses.total() >= LEAST_USES * len(uses) and 2 * again > len(uses) and len(uses) < len(lists)
    )


def read_tags(column: Any, facts: Facts, place: Place) -> dict[str, Any]:
    """Return the sorted distinct tags of each cell, joined by U+001F; "" for a missing cell."""
    separator = facts["separator"]
    is_gap = known_missing(facts)
    values = column.astype(object).tolist()
    bad = [not isinstance(v, LISTS) and not isinstance(v, str) and not _is_none(v) for v in values]
    refuse_cells(column, np.array(bad, dtype=bool), "lists of tags", HINT, place)
    joined = [JOINT.join(_tags(value, separator)) for value in values]
    texts = [
        "" if isinstance(v, str) and is_gap(v.strip()) else j
        for v, j in zip(values, joined, strict=True)
    ]
    return {"": series_like(column, texts, dtype=object)}


def _is_none(value: Any) -> bool:
    import pandas as pd

    return value is None or value is pd.NA or (isinstance(value, float) and np.isnan(value))


def _tags(value: Any, separator: str) -> list[str]:
    if isinstance(value, str):
        return sorted(set(_split(value, separator)))
    if isinstance(value, LISTS):
        return sorted({str(tag).strip() for tag in value if not _is_none(tag)} - {""})
    return []


def recognise_text(column: Any) -> Facts | None:
    """Return an example of free text; None for columns of few levels, or of a word a cell."""
    if kind_of_cells(column) != "string":
        return None
    sample = [text for text in sample_of(column) if not is_missing(text)]
    if len(set(sample)) < max(FEWEST_TEXTS, LEAST_DISTINCT * len(sample)) or not _are_prose(sample):
        return None
    present = int(column.notna().sum())
    if column.nunique() < LEAST_DISTINCT * present:
        return None
    return {"example": max(sample, key=lambda text: (len(text), text))[:LONGEST_TAG]}


def adopt_text(column: Any) -> Facts | None:
    """Return an example of a column of texts, however few and short; None for other columns."""
    sample = [text for text in sample_of(column) if isinstance(text, str)]
    if kind_of_cells(column) != "string" or not sample:
        return None
    return {"example": max(sample, key=lambda text: (len(text), text))[:LONGEST_TAG]}


def _are_prose(texts: Sequence[str]) -> bool:
    words = float(np.mean([len(text.split()) for text in texts]))
    length = float(np.mean(list(map(len, texts))))
    return words >= LEAST_WORDS or (words >= 2 and length >= LONG_TEXT)


def read_text(column: Any, facts: Facts, place: Place) -> dict[str, Any]:
    """Return the texts of a column, "" for a missing one."""
    kind = kind_of_cells(column)
    if kind not in ("string", "empty"):
        cells = cells_of(column)
        refuse_unread(
            column, cells, [not isinstance(v, str) for v in cells.distinct], "text", HINT, place
        )
    is_gap = known_missing(facts)
    values = column.astype(object).where(column.notna(), "").tolist()
    texts = ["" if is_gap(value.strip()) else value for value in values]
    return {"": series_like(column, texts, dtype=object)}


def say_tags(facts: Facts) -> str:
    """Return a line on tags."""
    return f"lists of tags such as {say_value(facts['example'])}, parted by '{facts['separator']}'"


def say_text(facts: Facts) -> str:
    """Return a line on free text."""
    return f"free text such as {say_value(facts['example'])}"
