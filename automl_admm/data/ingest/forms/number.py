"""Numbers in text: thousands, decimal commas, percent, currencies, units, a few words between."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from automl_admm.core.messages import say_value
from automl_admm.data.columns import figures_of
from automl_admm.data.conforming import Place, refuse_cells
from automl_admm.data.ingest.forms.cells import (
    Cells,
    cells_one_by_one,
    is_missing,
    kind_of_cells,
    known_missing,
    missing_words,
    refuse_unread,
    say_missing,
    series_like,
    some_are,
)
from automl_admm.data.ingest.forms.dialects import (
    DRESSED,
    Dialect,
    Writing,
    dialect_of,
    is_unsure,
    marks_in,
    plain_signs,
    say_unsure,
)
from automl_admm.data.ingest.forms.units import factors_after, factors_before
from automl_admm.data.ingest.records import Facts
from automl_admm.data.plain_columns import plain_column

LOOKED_AT = 2000  # distinct cells for a guess; all of them confirm it
FEWEST_NUMBERS = 2
LEAST_NUMBERS = 0.8  # of the rows, if words stand between the numbers
MOST_WORDS = 10
SHORTEST_CODE = 5
# 007, but not 00.5.
CODE = re.compile(r"^[-+]?0(?!0*[.,]\d)\d", re.MULTILINE)
PHONE = re.compile(r"\+[\d ]{8,}")
ADDRESS = re.compile(r"(?:\d{1,3}\.){3}\d{1,3}")
# Scalers square numbers, and trees narrow them to 32 bits.
SMALLEST, LARGEST = 1e-30, 1e30
# Scaled to one largest number, smaller ones than this part of it would be the same to a tree.
WIDEST = 1e40
# The logarithm of the smallest float above zero is larger than this.
SMALLEST_LOG = -1075
# Files mark missing cells by numbers beyond LARGEST, far from all others: NetCDF by 9.96921e36.
LARGEST_BESIDE_FILLS = 1e20
PLAIN = Writing(Dialect("."), {}, {}, is_bare=True)
TEXTS = frozenset({"string", "mixed", "mixed-integer"})
HELD = "numbers"
# Facts that a column of floats has alone.
EXTREMES = frozenset({"has_infinite", "fill", "is_log", "exponent"})
INFINITE = frozenset({"inf", "+inf", "-inf", "infinity", "+infinity", "-infinity"})
HINT = "Write it as in training, or nothing where it is missing."


def recognise_number(column: Any) -> Facts | None:
    """Return the dialect and the units of numbers in text; None for other columns."""
    kind = kind_of_cells(column)
    if kind == "floating":
        return _facts_of_extremes(figures_of(column))
    if kind not in TEXTS or not some_are(column, _is_dressed):
        return None
    cells = cells_one_by_one(column)
    types = set(map(type, cells.distinct))
    if not all(issubclass(one, str | int | float) for one in types):
        return None
    texts = [value for value in cells.distinct if isinstance(value, str) and value]
    if not texts or _are_codes(texts):
        return None
    others = (
        [value for value in cells.distinct if not isinstance(value, str)] if types > {str} else []
    )
    writing, unread = _writing_of(texts, has_figures=any(others))
    return None if writing is None else _facts(cells, texts, writing, unread)


def _facts_of_extremes(figures: NDArray[np.floating[Any]]) -> Facts | None:
    """Return facts for infinite numbers and for sizes that square to infinity or to nothing."""
    # Two looks without a copy: the sizes of a million numbers are dear to write down.
    most = np.fmax.reduce(figures, initial=0.0), -np.fmin.reduce(figures, initial=0.0)
    largest = float(max(most))
    facts: dict[str, Any] = PLAIN.describe() | {"example": "1.5"}
    if np.isinf(largest):
        facts["has_infinite"] = True
        largest = float(np.max(np.abs(figures[np.isfinite(figures)]), initial=0.0))
    if largest > LARGEST and (beside := _largest_beside_fills(figures)) is not None:
        facts["fill"] = _fill_in(figures)
        largest = beside
    if largest and not SMALLEST <= largest <= LARGEST:
        if _are_of_all_sizes(figures, largest):
            facts["is_log"] = True
        else:
            # A power of two: no digit is lost.
            facts["exponent"] = -int(np.frexp(largest)[1])
    return facts if len(facts) > len(PLAIN.describe()) + 1 else None


def _are_of_all_sizes(figures: NDArray[np.floating[Any]], largest: float) -> bool:
    sizes = np.abs(figures[np.isfinite(figures) & (figures != 0)])
    return bool(sizes.min() < largest / WIDEST)


def _largest_beside_fills(figures: NDArray[np.floating[Any]]) -> float | None:
    """Return the largest size of ordinary numbers; None if the column is extreme as a whole."""
    sizes = np.abs(figures[np.isfinite(figures)])
    ordinary = sizes[sizes <= LARGEST]
    if 2 * len(ordinary) <= len(sizes):
        return None
    largest = float(ordinary.max())
    return largest if largest <= LARGEST_BESIDE_FILLS else None


def _fill_in(figures: NDArray[np.floating[Any]]) -> float:
    """Return the first number that stands for a missing one."""
    is_fill = np.isfinite(figures) & (np.abs(figures) > LARGEST)
    return float(figures[np.argmax(is_fill)])


def _is_dressed(text: str) -> bool:
    return DRESSED.fullmatch(plain_signs(text)) is not None


def _are_codes(texts: Sequence[str]) -> bool:
    """Return True for codes, phone numbers and addresses, of which no mean makes sense."""
    if CODE.search("\n".join(texts)):
        return True
    return _are_alike(_some(texts)) and _are_alike(texts)


def _are_alike(texts: Sequence[str]) -> bool:
    present = [text for text in texts if not is_missing(text)]
    is_even = len(set(map(len, present))) == 1 and len(present[0]) >= SHORTEST_CODE
    if is_even and all(map(str.isdecimal, present)):
        return True
    return all(map(ADDRESS.fullmatch, present)) or all(map(PHONE.fullmatch, present))


def _some(texts: Sequence[str]) -> list[str]:
    return list(texts[:: max(len(texts) // LOOKED_AT, 1)])


def _writing_of(texts: Sequence[str], *, has_figures: bool) -> tuple[Writing | None, Sequence[str]]:
    """Return the writing of the numbers among texts, and the texts that are none in it.

    It is guessed on some, and again with what is left. With `has_figures` numbers stand beside the
    texts.
    """
    looked_at = _some(texts)
    writing = _guess(looked_at, has_figures=has_figures)
    unread = () if writing is None else _left(texts, writing)
    odd = [text for text in unread if _is_dressed(text)]
    again = _guess(looked_at + odd, has_figures=has_figures) if odd else None
    return (writing, unread) if again is None else (again, _left(texts, again))


def _left(texts: Sequence[str], writing: Writing) -> list[str]:
    is_left = np.isnan(writing.figures(texts))
    return [texts[int(place)] for place in np.flatnonzero(is_left)]


def _guess(texts: Sequence[str], *, has_figures: bool) -> Writing | None:
    plain = (plain_signs(text) for text in texts if not is_missing(text))
    found = [match for match in map(DRESSED.fullmatch, plain) if match]
    is_bare = has_figures or any(map(_is_bare_amount, found))
    marks, in_front = marks_in(found, "after"), marks_in(found, "before")
    before, after = factors_before(in_front), factors_after(marks, is_bare=is_bare)
    dialect = dialect_of([match["figure"] for match in found])
    # Beside percents `0.5` could mean 50.
    if before is None or after is None or dialect is None or ("%" in marks and is_bare):
        return None
    # A sign in every cell is due in later ones, too: without it they may be in another unit.
    return Writing(dialect, before, after, is_bare or not (marks or in_front))


def _is_bare_amount(match: re.Match[str]) -> bool:
    """Return True for a number without a sign; nothing is nothing in any unit."""
    is_dressed = match["before"] or match["after"]
    return not is_dressed and match["figure"].strip("0.,") != ""


def _facts(
    cells: Cells, texts: Sequence[str], writing: Writing, left: Sequence[str]
) -> Facts | None:
    unread = set(left)
    words = sorted(text for text in unread if not is_missing(text))
    numbers = [text for text in texts if text not in unread] if unread else texts
    if len(numbers) < FEWEST_NUMBERS or (words and not _are_few(words, cells)):
        return None
    facts = writing.describe() | {"example": _example(numbers)}
    if missing := missing_words(unread.difference(words)):
        facts["missing"] = missing
    if words:
        facts["words"] = words
    if _is_unsure(_some(numbers), writing) and _is_unsure(numbers, writing):
        facts["is_unsure"] = True
    return facts


def _is_unsure(numbers: Sequence[str], writing: Writing) -> bool:
    found = (DRESSED.fullmatch(plain_signs(text)) for text in numbers)
    return is_unsure([match["figure"] for match in found if match], writing.dialect)


def _are_few(words: Sequence[str], cells: Cells) -> bool:
    between = set(words)
    is_word = np.array([value in between for value in cells.distinct])
    rows = cells.counts
    return len(words) <= MOST_WORDS and rows[is_word].sum() <= (1 - LEAST_NUMBERS) * rows.sum()


def _example(numbers: Sequence[str]) -> str:
    """Return the number with the most signs, which shows the dialect best."""
    return max(numbers[:LOOKED_AT], key=lambda text: (sum(not c.isdecimal() for c in text), text))


def read_number(column: Any, facts: Facts, place: Place) -> dict[str, Any]:
    """Return the numbers of a column, and a column of ones for each word between them."""
    from pandas.api import types

    words: Sequence[str] = facts.get("words", ())
    plain = plain_column(column)
    if types.is_numeric_dtype(plain.dtype) and not types.is_complex_dtype(plain.dtype):
        figures = plain.to_numpy(dtype=float)
        _refuse_bare(column, figures, facts, place)
        found = [np.zeros(len(column)) for _ in words]
    else:
        cells = cells_one_by_one(column)
        figures = cells.spread(_figures(cells, column, facts, place))
        found = [
            cells.spread(np.array([v == word for v in cells.distinct], float), 0.0)
            for word in words
        ]
    is_number = np.isfinite(figures)
    if "fill" in facts:
        is_number &= np.abs(figures) <= LARGEST
    figures = np.where(is_number, figures, np.nan)
    if facts.get("is_log"):
        figures = _signed_logarithms(figures)
    if exponent := facts.get("exponent"):
        with np.errstate(over="ignore"):
            figures = np.clip(np.ldexp(figures, exponent), -LARGEST, LARGEST)
    made = {"": series_like(column, figures, dtype=float)}
    return made | {
        f".{word}": series_like(column, ones) for word, ones in zip(words, found, strict=True)
    }


def _signed_logarithms(figures: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return numbers in the same order, whose sizes are logarithms; 0 stays 0."""
    with np.errstate(divide="ignore"):
        sizes = np.log2(np.abs(figures)) - SMALLEST_LOG
    return np.asarray(np.sign(figures) * np.maximum(sizes, 0.0), dtype=float)


def _figures(cells: Cells, column: Any, facts: Facts, place: Place) -> NDArray[np.float64]:
    is_gap = _means_missing(facts)
    known = set(facts.get("words", ()))
    values = cells.distinct
    others = [n for n, v in enumerate(values) if not isinstance(v, str)] if cells.is_mixed else []
    texts = [v if isinstance(v, str) else "" for v in values] if others else values
    figures, bare = Writing.of(facts).figures(texts), np.full(len(texts), np.nan)
    for number in others:
        figures[number] = bare[number] = _as_float(values[number])
    _refuse_bare(column, cells.spread(bare), facts, place)
    is_lost = np.isnan(figures)
    for place_of_cell in np.flatnonzero(is_lost):
        value = values[int(place_of_cell)]
        is_lost[place_of_cell] = not (isinstance(value, str) and (is_gap(value) or value in known))
    refuse_unread(column, cells, is_lost, _held(facts), HINT, place)
    return figures


def _means_missing(facts: Facts) -> Callable[[str], bool]:
    """Return a test for the texts that mean a missing number: infinite ones too, if floats did."""
    is_gap, were_floats = known_missing(facts), not EXTREMES.isdisjoint(facts)
    return lambda text: is_gap(text) or (were_floats and text.casefold() in INFINITE)


def _as_float(value: Any) -> float:
    try:
        return np.nan if isinstance(value, complex) else float(value)
    except (TypeError, ValueError, OverflowError):
        return np.nan


def _refuse_bare(column: Any, bare: NDArray[Any], facts: Facts, place: Place) -> None:
    """Refuse numbers without a sign if all of training had one; NaN stands for other cells.

    As a number 0.098 may be 9.8 %, or less than one, and 5000 may be grams.
    """
    if facts["is_bare"]:
        return
    example = say_value(facts["example"])
    hint = f"Its unit cannot be told: give it as text with its sign, such as {example}."
    refuse_cells(column, ~np.isnan(bare) & (bare != 0), _held(facts), hint, place)


def _held(facts: Facts) -> str:
    if not EXTREMES.isdisjoint(facts):  # its cells were no texts
        return HELD
    return f"numbers such as {say_value(facts['example'])}"


def say_number(facts: Mapping[str, Any]) -> str:
    """Return a line on how the numbers are written."""
    extremes = ["infinite numbers count as missing"] if facts.get("has_infinite") else []
    if "fill" in facts:
        extremes.append(
            f"numbers beyond {LARGEST:.0e}, such as {facts['fill']:g}, count as missing"
        )
    if facts.get("is_log"):
        extremes.append("numbers of all sizes, read by the logarithms of their sizes")
    if "exponent" in facts:
        extremes.append(f"numbers of extreme size, multiplied by 2 to the {facts['exponent']}")
    if extremes:
        return "; ".join(extremes)
    said = f"numbers in text, such as {say_value(facts['example'])}"
    said += say_unsure(facts) + say_missing(facts)
    if words := facts.get("words"):
        said += f"; a column of its own tells {', '.join(map(say_value, words))}"
    return said
