"""Levels with an order: known scales such as low, medium, high, and intervals such as 10-20."""

from __future__ import annotations

import itertools
import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np

from automl_admm.core.messages import say_value
from automl_admm.data.conforming import Place
from automl_admm.data.ingest.forms.cells import (
    Cells,
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

Interval = tuple[float, float]
FEWEST_LEVELS, MOST_LEVELS = 3, 60
MOST_NUMBERS = 12
# Each from its least level; spellings of one level stand together, parted by a bar.
SCALES: tuple[str, ...] = (
    (
        "none < very low|extremely low|minimal < low|lo < medium|moderate|mid|med|normal|middle"
        " < high|hi < very high|extremely high < extreme"
    ),
    (
        "xxs|2xs < xs|extra small|x-small|tiny < s|small < m|medium < l|large|big"
        " < xl|extra large|x-large < xxl|2xl < xxxl|3xl < 4xl < 5xl"
    ),
    (
        "very bad|very poor|terrible|awful < bad|poor < fair|average|ok|okay < good < very good"
        " < excellent|outstanding"
    ),
    "po < fa < ta < gd < ex",
    "never < rarely|seldom < sometimes|occasionally < often|frequently < usually < always",
    (
        "strongly disagree < disagree < neutral|neither agree nor disagree|undecided < agree"
        " < strongly agree"
    ),
    "very dissatisfied < dissatisfied < neutral < satisfied < very satisfied",
    "very unlikely < unlikely < neutral|possible < likely < very likely",
    "beginner|novice < elementary < intermediate < advanced < expert",
    "intern < junior < mid < senior < lead|principal",
    "primary < secondary < tertiary",
    "bronze < silver < gold < platinum < diamond",
    "freezing < cold < cool < mild|warm < hot < very hot",
    "first|1st < second|2nd < third|3rd < fourth|4th < fifth|5th",
    "trivial < minor < major < critical < blocker",
    "sehr niedrig < niedrig|gering < mittel < hoch < sehr hoch",
    "nie < selten < manchmal < oft|häufig < immer",
    "bas|faible < moyen < haut|élevé",
    "bajo < medio < alto",
    "f < d- < d < d+ < c- < c < c+ < b- < b < b+ < a- < a < a+",
    (
        "d < c < cc < ccc- < ccc < ccc+ < b- < b < b+ < bb- < bb < bb+ < bbb- < bbb < bbb+ < a- < a"
        " < a+ < aa- < aa < aa+ < aaa"
    ),
)
# Letters alone are levels of sizes, but may mean anything else.
LETTERS = frozenset("abcdf")
NUMBER = r"[$€£]? ?(-?\d[\d,]*(?:\.\d+)?)[ ]?(k|m)?"
UNIT = (
    r"(?: ?(?:years?|yrs?|days?|weeks?|months?|hours?|hrs?|mins?|minutes?|kg|cm|mm|km|m|%|€|\$|eur"
    r"|usd|people|persons?|employees|rooms?|times?))?"
)
SINGLE = rf"{NUMBER}{UNIT}"
BETWEEN = rf"[\[(]?{NUMBER}{UNIT}(?: ?[-–—,] ?| to | bis |\.\.){NUMBER}{UNIT}[\])]?"
BELOW = rf"(?:<=?|≤|under|below|less than|up to|unter|bis) ?{NUMBER}{UNIT}"
ABOVE = (
    rf"(?:>=?|≥|over|above|more than|at least|über|ab) ?{NUMBER}{UNIT}"
    rf"|{NUMBER}{UNIT} ?(?:\+|plus|and over|and above|or more|or over|and more){UNIT}"
)
DIGIT = re.compile(r"\d")
SIZES = {"": 1.0, "k": 1e3, "m": 1e6}
HELD = "levels"


def recognise_ordered(column: Any) -> Facts | None:
    """Return the levels of a column from the least; None where no order is certain."""
    kind = kind_of_cells(column)
    is_like = _is_level if kind == "string" else str
    if kind not in ("string", "interval") or (kind == "string" and not some_are(column, is_like)):
        return None
    cells = cells_of(column)
    if len(cells.distinct) > 2 * MOST_LEVELS:
        return None
    texts = list(map(str, cells.distinct))
    present = [text for text in texts if not is_missing(text) or text.casefold() == "none"]
    levels = _of_scale(present) or _of_intervals([t for t in texts if not is_missing(t)])
    if levels is None:
        return None
    known = {text for spellings in levels for text in spellings}
    facts: dict[str, Any] = {"levels": levels, "is_interval": _interval(levels[0][0]) is not None}
    missing = missing_words(text for text in texts if text not in known)
    return facts | ({"missing": missing} if missing else {})


def _is_level(text: str) -> bool:
    return text.casefold() in WORDS or _interval(text) is not None


def _ranks(scale: str) -> Mapping[str, int]:
    levels = enumerate(scale.split(" < "))
    return {word: rank for rank, words in levels for word in words.split("|")}


RANKS = tuple(map(_ranks, SCALES))
WORDS = frozenset().union(*RANKS)


def _of_scale(texts: Sequence[str]) -> list[list[str]] | None:
    words = {text.casefold() for text in texts}
    for ranks in RANKS:
        if words <= ranks.keys() and len({ranks[word] for word in words}) >= FEWEST_LEVELS:
            return None if words <= LETTERS else _by_rank(texts, ranks)
    return None


def _by_rank(texts: Sequence[str], ranks: Mapping[str, int]) -> list[list[str]]:
    found: dict[int, list[str]] = {}
    for text in sorted(texts):
        found.setdefault(ranks[text.casefold()], []).append(text)
    return [found[rank] for rank in sorted(found)]


def _of_intervals(texts: Sequence[str]) -> list[list[str]] | None:
    """Return texts of intervals in their order; None if some overlap, or all are plain numbers."""
    found = {text: interval for text in texts if (interval := _interval(text)) is not None}
    if len(found) < len(texts) or not FEWEST_LEVELS <= len(found) <= MOST_LEVELS:
        return None
    wide = sum(low < high for low, high in found.values())
    # Numbers with a `<5` among them stay numbers.
    if not wide or (len(found) > MOST_NUMBERS and 2 * wide < len(found)):
        return None
    ordered = sorted(found, key=lambda text: found[text])
    ends = [found[text] for text in ordered]
    if any(low > high for low, high in ends):
        return None
    if any(one[1] > other[0] for one, other in itertools.pairwise(ends)):
        return None
    return [[text] for text in ordered]


def _interval(text: str) -> Interval | None:
    """Return the ends of an interval in text; a plain number is its own two ends."""
    plain = text.casefold().strip()
    if DIGIT.search(plain) is None:
        return None
    single, between, below, above = _patterns()
    if found := single.fullmatch(plain):
        return _number(*found.groups()), _number(*found.groups())
    if found := between.fullmatch(plain):
        return _number(found[1], found[2]), _number(found[3], found[4])
    if found := below.fullmatch(plain):
        return -np.inf, _number(found[1], found[2])
    if found := above.fullmatch(plain):
        return _number(found[1] or found[3], found[2] or found[4]), np.inf
    return None


@cache
def _patterns() -> Sequence[re.Pattern[str]]:
    # Compiling them takes longer than looking at a column without a digit.
    return [re.compile(pattern) for pattern in (SINGLE, BETWEEN, BELOW, ABOVE)]


def _number(digits: str, size: str | None) -> float:
    return float(digits.replace(",", "")) * SIZES[size or ""]


def read_ordered(column: Any, facts: Facts, place: Place) -> dict[str, Any]:
    """Return an ordered category; an interval that training had not counts as one before it."""
    import pandas as pd

    cells = cells_of(column)
    texts = list(map(str, cells.distinct))
    levels: list[list[str]] = [list(spellings) for spellings in facts["levels"]]
    names = {text.casefold(): spellings[0] for spellings in levels for text in spellings}
    if facts["is_interval"]:
        names = _at_nearest(levels, texts)
    is_gap = known_missing(facts)
    found = [names.get(_key(text, names)) for text in texts]
    lost = [one is None and not is_gap(text) for one, text in zip(found, texts, strict=True)]
    shown = ", ".join(say_value(spellings[0]) for spellings in levels[:6])
    refuse_unread(column, cells, lost, HELD, f"Write one of {shown}, or nothing.", place)
    return {"": _as_category(column, cells, found, [s[0] for s in levels], pd)}


def _at_nearest(levels: list[list[str]], texts: Sequence[str]) -> dict[Any, str]:
    """Return names for all intervals; of a new one it is the last level that begins no later.

    A model has no number for a level of its own; below all levels it takes the least.
    """
    names: dict[Any, str] = {_interval(spellings[0]): spellings[0] for spellings in levels}
    beginnings, known = [ends[0] for ends in names], list(names.values())
    for text in texts:
        ends = _interval(text)
        if ends is not None and ends[0] <= ends[1]:
            names.setdefault(ends, known[max(bisect_right(beginnings, ends[0]) - 1, 0)])
    return names


def _key(text: str, names: Mapping[Any, str]) -> Any:
    """Return a level's key: intervals are known by their ends, as `(0, 5]` and `(0.0, 5.0]`."""
    return text.casefold() if text.casefold() in names else _interval(text)


def _as_category(
    column: Any, cells: Cells, found: Sequence[str | None], levels: Sequence[str], pd: Any
) -> Any:
    values = cells.spread(np.array(found, dtype=object), None)
    return series_like(column, pd.Categorical(values, categories=list(levels), ordered=True))


def say_ordered(facts: Facts) -> str:
    """Return a line on the order."""
    levels = [spellings[0] for spellings in facts["levels"]]
    shown = levels if len(levels) <= 6 else [*levels[:3], "…", *levels[-2:]]
    return f"ordered: {' < '.join(shown)}{say_missing(facts)}"
