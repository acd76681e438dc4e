"""Truth values in every spelling, such as `yes`, `Y` and `no` in one column."""

from __future__ import annotations

import numbers
from collections.abc import Mapping
from typing import Any

import numpy as np

from automl_admm.core.messages import say_value
from automl_admm.data.conforming import Place
from automl_admm.data.ingest.forms.cells import (
    cells_of,
    is_missing,
    kind_of_cells,
    known_missing,
    missing_words,
    refuse_unread,
    say_missing,
    series_like,
    some_are,
)
from automl_admm.data.ingest.records import Facts

# A language each: true words, false words.
LANGUAGES: Mapping[str, tuple[frozenset[str], frozenset[str]]] = {
    "English": (
        frozenset({"yes", "y", "true", "t", "on", "1", "1.0", "enabled", "yeah", "yep"}),
        frozenset({"no", "n", "false", "f", "off", "0", "0.0", "disabled", "nope"}),
    ),
    "German": (
        frozenset({"ja", "j", "wahr", "ein", "an", "1", "1.0"}),
        frozenset({"nein", "n", "falsch", "aus", "0", "0.0"}),
    ),
    "French": (
        frozenset({"oui", "o", "vrai", "1", "1.0"}),
        frozenset({"non", "n", "faux", "0", "0.0"}),
    ),
    "Spanish": (
        frozenset({"sí", "si", "s", "verdadero", "1", "1.0"}),
        frozenset({"no", "n", "falso", "0", "0.0"}),
    ),
    "Portuguese": (
        frozenset({"sim", "s", "verdadeiro", "1", "1.0"}),
        frozenset({"não", "nao", "n", "falso", "0", "0.0"}),
    ),
    "Italian": (
        frozenset({"sì", "si", "s", "vero", "1", "1.0"}),
        frozenset({"no", "n", "falso", "0", "0.0"}),
    ),
    "Dutch": (
        frozenset({"ja", "j", "waar", "1", "1.0"}),
        frozenset({"nee", "n", "onwaar", "0", "0.0"}),
    ),
    "Russian": (frozenset({"да", "1", "1.0"}), frozenset({"нет", "0", "0.0"})),
    "Polish": (
        frozenset({"tak", "t", "1", "1.0"}),
        frozenset({"nie", "n", "0", "0.0"}),
    ),
}
WORDS = frozenset().union(*(side for sides in LANGUAGES.values() for side in sides))
FIGURES = frozenset({"0", "0.0", "1", "1.0"})
KINDS = frozenset({"string", "mixed", "mixed-integer", "boolean"})
MOST_SPELLINGS = 40


def recognise_boolean(column: Any) -> Facts | None:
    """Return the language of truth values in several spellings; None for other columns.

    One spelling for true and one for false are a plain category of two levels.
    """
    if kind_of_cells(column) not in KINDS or not some_are(column, _is_word, 0.8):
        return None
    facts = adopt_boolean(column)
    if facts is None:
        return None
    words = {text.casefold() for text in facts["spellings"]}
    true, false = LANGUAGES[facts["language"]]
    is_certain = words & true and words & false and not words <= FIGURES
    return facts if is_certain and len(facts["spellings"]) > 2 else None


def adopt_boolean(column: Any) -> Facts | None:
    """Return the language of truth values in any spelling; None for other columns."""
    cells = cells_of(column.astype(object))
    if len(cells.distinct) > MOST_SPELLINGS:
        return None
    written = {_written(value) for value in cells.distinct}
    truths = {text for text in written if not is_missing(text)}
    for language, (true, false) in LANGUAGES.items():
        if truths and truths <= true | false:
            return _facts(language, list(map(str, cells.distinct)))
    return None


def _facts(language: str, spellings: list[str]) -> Facts:
    present = sorted(text for text in spellings if not is_missing(text))
    facts: dict[str, Any] = {"language": language, "spellings": present}
    if missing := missing_words(text for text in spellings if is_missing(text)):
        facts["missing"] = missing
    return facts


def _is_word(text: str) -> bool:
    return text.casefold() in WORDS


def _written(value: Any) -> str:
    """Return the text of a truth value as a file has it."""
    may_be_truth = isinstance(value, str | numbers.Real | np.bool_)
    return str(value).strip().casefold() if may_be_truth else "other"


def read_boolean(column: Any, facts: Facts, place: Place) -> dict[str, Any]:
    """Return the truth values of a column; with missing ones among them it holds objects."""
    true, false = LANGUAGES[facts["language"]]
    cells = cells_of(column.astype(object))
    is_gap = known_missing(facts)
    written = list(map(_written, cells.distinct))
    is_bad = [not (text in true or text in false or is_gap(text)) for text in written]
    refuse_unread(column, cells, is_bad, "truth values", _hint(facts), place)
    truths = np.array([None if is_gap(text) else text in true for text in written], dtype=object)
    found = cells.spread(np.where(truths == None, np.nan, truths), np.nan)  # noqa: E711
    made = series_like(column, found, dtype=object)
    return {"": made if made.isna().any() else made.astype(bool)}


def _hint(facts: Facts) -> str:
    return f"Write one of {', '.join(map(say_value, facts['spellings'][:6]))}, or nothing."


def say_boolean(facts: Facts) -> str:
    """Return a line on the spellings."""
    spellings = ", ".join(map(say_value, facts["spellings"][:6]))
    return f"true or false in several spellings: {spellings}{say_missing(facts)}"
