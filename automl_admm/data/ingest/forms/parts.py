"""Texts of parts that come again, such as AB-1234 or name@host: hardly two alike, and yet alike.

As levels they would tell nothing of a later row, but their parts do.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from automl_admm.core.messages import say_value
from automl_admm.data.conforming import Place
from automl_admm.data.ingest.forms.cells import is_missing, kind_of_cells, sample_of
from automl_admm.data.ingest.forms.words import FEWEST_TEXTS, read_text
from automl_admm.data.ingest.records import Facts

LEAST_DISTINCT = 0.8  # of the texts; with fewer they are the levels of a category
LOOKED_AT = 2000  # texts; among more, even parts drawn by chance would come again
# A part tells something if so many texts have it, and as many have it not.
FEWEST_USES = 5
LEAST_TOLD = 0.5  # of the texts have such a part
LEAST_OF_SHAPE = 0.9  # of the texts have one order of letters, digits and signs
PART = re.compile(r"[^\W_]+")
RUN = re.compile(r"[^\W\d_]+|\d+")
BORDER = re.compile(r"(?<=[^\W\d_])(?=\d)|(?<=\d)(?=[^\W\d_])")
Split = Callable[[str], Sequence[str]]


def recognise_parts(column: Any) -> Facts | None:
    """Return parts that tell something; None for other columns, and where no part does.

    `is_split` stands for parts without a sign between them, such as those of AB1234.
    """
    if kind_of_cells(column) != "string" or not _are_distinct(column):
        return None
    texts = sorted({text for text in sample_of(column, LOOKED_AT) if not is_missing(text)})
    if found := _telling(texts, _parts):
        return found
    found = _telling(texts, _pieces) if _have_one_shape(texts) else None
    return None if found is None else {**found, "is_split": True}


def _are_distinct(column: Any) -> bool:
    """Return True for texts of which hardly two are alike; a sample dismisses most columns."""
    sample = sample_of(column)
    if len(set(sample)) < max(FEWEST_TEXTS, LEAST_DISTINCT * len(sample)):
        return False
    return bool(column.nunique() >= LEAST_DISTINCT * column.notna().sum())


def _telling(texts: Sequence[str], split: Split) -> Facts | None:
    """Return the most frequent telling part and a text with it, if most texts have such a part."""
    parted = [set(split(text)) for text in texts]
    uses = Counter(part for parts in parted for part in parts)
    most = len(texts) - FEWEST_USES
    telling = {part for part, count in uses.items() if FEWEST_USES <= count <= most}
    if not telling or sum(map(bool, map(telling.intersection, parted))) < LEAST_TOLD * len(texts):
        return None
    part = max(telling, key=lambda part: (uses[part], part))
    return {"example": next(text for text in texts if part in split(text)), "part": part}


def _parts(text: str) -> list[str]:
    return PART.findall(text.casefold())


def _pieces(text: str) -> list[str]:
    return RUN.findall(text.casefold())


def _have_one_shape(texts: Sequence[str]) -> bool:
    """Return True for texts of one order of letters and digits; that of random signs differs."""
    shapes = Counter(RUN.sub(_letter_or_digit, text) for text in texts)
    return bool(shapes) and max(shapes.values()) >= LEAST_OF_SHAPE * len(texts)


def _letter_or_digit(run: re.Match[str]) -> str:
    return "0" if run[0].isdecimal() else "a"


def read_parts(column: Any, facts: Facts, place: Place) -> dict[str, Any]:
    """Return the texts of a column, their parts with a blank between them; "" for a missing one."""
    made = read_text(column, facts, place)
    if facts.get("is_split"):
        made[""] = made[""].map(lambda text: BORDER.sub(" ", text)).astype(object)
    return made


def say_parts(facts: Facts) -> str:
    """Return a line on the parts."""
    part, example = say_value(facts["part"]), say_value(facts["example"])
    return f"texts of parts that come again, such as {part} in {example}"
