"""The distinct cells of a column: forms look at each text once, however often it stands there."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from automl_admm.data.conforming import Place, refuse_cells
from automl_admm.data.distinct_values import find_distinct
from automl_admm.data.table_schema import MISSING_TEXTS

# Enough to dismiss a form in a millisecond; whoever passes is confirmed on all cells.
SAMPLE = 400
MOSTLY = 0.9
LEAST_LIKE = 0.5  # of the sample: the rest may be words for "missing"
# So many texts of training may be unreadable and count as missing, which is said.
MOST_BAD, MOST_BAD_SHARE = 20, 0.02
MISSING_WORDS = frozenset(
    {
        *("-", "--", "---", ".", "..", "?", "??", "*", "/", "–", "—", "x", "#"),
        *("#div/0!", "#n/a", "#name?", "#null!", "#num!", "#ref!", "#value!", "#wert!"),
        *("blank", "empty", "error", "missing", "n.a", "n.a.", "n/a", "n/d", "n.d", "n.d.", "na"),
        *("nan", "nat", "nd", "nil", "no data", "none", "not a number", "not applicable"),
        *("not available", "not given", "not known", "not recorded", "not specified", "null"),
        *("tba", "tbd", "unbekannt", "undefined", "unknown", "unspecified", "inconnu", "void"),
        *("desconocido", "k.a.", "k. a.", "keine angabe", "s.o.", "inf", "-inf", "+inf"),
        *("infinity", "-infinity", "(missing)", "(null)", "<na>", "<null>", "[null]", "\\n"),
    }
)


@dataclass(frozen=True, slots=True)
class Cells:
    """The distinct present values of a column, and for each row its value's place (-1: none)."""

    distinct: list[Any]
    codes: NDArray[np.intp]

    @property
    def is_mixed(self) -> bool:
        """True if not all values are texts."""
        return not set(map(type, self.distinct)) <= {str}

    @property
    def counts(self) -> NDArray[np.intp]:
        """The number of rows of each value."""
        return np.bincount(self.codes[self.codes >= 0], minlength=len(self.distinct))

    def spread(self, found: NDArray[Any], missing: Any = np.nan) -> NDArray[Any]:
        """Return for each row what was found for its value."""
        return np.append(found, np.array([missing], dtype=found.dtype))[self.codes]


def cells_of(column: Any) -> Cells:
    """Return the distinct cells of a column; texts are without blanks around them."""
    try:
        codes, distinct = find_distinct(column)
    except TypeError:  # lists and the like are not to be compared
        return _each_of_its_own(column)
    return Cells(_all_stripped(distinct.tolist()), codes)


def _each_of_its_own(column: Any) -> Cells:
    present = column.notna().to_numpy(dtype=bool)
    codes = np.where(present, np.cumsum(present) - 1, -1)
    return Cells(_all_stripped(column[present].astype(object).tolist()), codes)


def cells_one_by_one(column: Any) -> Cells:
    """Return the present cells of a column; alike ones are looked for if a sample has any.

    To find the distinct ones of a million texts takes longer than to read each as a number.
    """
    sample = sample_of(column)
    if len(set(map(str, sample))) < MOSTLY * len(sample):
        return cells_of(column)
    return _each_of_its_own(column)


def _all_stripped(values: list[Any]) -> list[Any]:
    are_texts = set(map(type, values)) <= {str}
    return list(map(str.strip if are_texts else _stripped, values))


def _stripped(value: Any) -> Any:
    return value.strip() if isinstance(value, str) else value


def kind_of_cells(column: Any) -> str:
    """Return pandas' word for the kind of the present cells, such as `string` or `datetime64`."""
    import pandas as pd

    if isinstance(column.dtype, pd.CategoricalDtype):
        return kind_of_cells(column.dtype.categories.to_series())
    if isinstance(column.dtype, pd.ArrowDtype) and not pd.api.types.is_string_dtype(column.dtype):
        first = int(column.notna().to_numpy(dtype=bool).argmax()) if len(column) else 0
        return kind_of_cells(column.iloc[first : first + 1].astype(object))
    if pd.api.types.is_string_dtype(column.dtype) and column.dtype != object:
        return "string"
    return str(pd.api.types.infer_dtype(column, skipna=True))


def sample_of(column: Any, size: int = SAMPLE) -> list[Any]:
    """Return present values from all over a column."""
    part = column.iloc[_places(len(column), size)].dropna()
    if len(part) < size // 10 and len(column) > size:
        full = column.dropna()
        part = full.iloc[_places(len(full), size)]
    return [_stripped(value) for value in part.tolist()]


@lru_cache(maxsize=16)  # each form of each column asks for its rows
def _places(rows: int, size: int) -> NDArray[np.int_]:
    """Return the places of so many rows from all over a column, or of all that there are."""
    found = np.unique(np.linspace(0, max(rows - 1, 0), size).astype(int))[:rows]
    found.flags.writeable = False  # it is everybody's
    return found


def some_are(column: Any, is_like: Callable[[str], Any], share: float = LEAST_LIKE) -> bool:
    """Return True if at least this share of a sample of texts is alike, missing ones aside."""
    texts = [text for text in sample_of(column) if isinstance(text, str) and not is_missing(text)]
    return bool(texts) and sum(map(bool, map(is_like, texts))) >= share * len(texts)


def is_missing(text: str) -> bool:
    """Return True for a text that may mean a missing value."""
    return not text or text in MISSING_TEXTS or text.casefold() in MISSING_WORDS


def known_missing(facts: Any) -> Callable[[str], bool]:
    """Return a test for the texts that meant a missing value in training, or in any file."""
    words = {word.casefold() for word in facts.get("missing", ())}
    return lambda text: not text or text in MISSING_TEXTS or text.casefold() in words


def missing_words(texts: Iterable[str]) -> list[str]:
    """Return the texts for missing values to note, sorted; those of every file need no note."""
    return sorted({text for text in texts if text and text not in MISSING_TEXTS})


def words_between(
    cells: Cells, lost: NDArray[np.bool_], is_gap: Callable[[str], bool] = is_missing
) -> list[str] | None:
    """Return the unreadable texts if they may count as missing: known words, and few others."""
    words = [text for text, is_lost in zip(cells.distinct, lost, strict=True) if is_lost]
    bad = lost.copy()
    bad[lost] = [not is_gap(text) for text in words]
    rows = cells.counts
    if bad.sum() > MOST_BAD or rows[bad].sum() > MOST_BAD_SHARE * rows.sum() or lost.all():
        return None
    return missing_words(words)


def refuse_unread(
    column: Any,
    cells: Cells,
    bad: Sequence[bool] | NDArray[Any],
    held: str,
    hint: str,
    place: Place,
) -> None:
    """Raise on the first cell with an unreadable value, by its place."""
    is_bad = np.asarray(bad, dtype=bool)
    if is_bad.any():
        refuse_cells(column, cells.spread(is_bad, missing=False), held, hint, place)


def series_like(column: Any, values: Any, **options: Any) -> Any:
    """Return values as a column with the index and the name of another."""
    import pandas as pd

    return pd.Series(values, index=column.index, name=column.name, **options)


def say_missing(facts: Any) -> str:
    """Return the words for missing values as part of a note."""
    words = facts.get("missing", ())
    if not words:
        return ""
    listed = ", ".join(f"'{word}'" for word in words[:4])
    more = f" and {len(words) - 4} more" if len(words) > 4 else ""
    return f"; {listed}{more} count as missing"
