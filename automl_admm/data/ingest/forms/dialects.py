"""The dialect of numbers in text: their signs for thousands and decimals, and marks beside them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import compress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from automl_admm.data.ingest.forms.units import Factors

SPACES = "\u00a0\u202f\u2009\u2007"
MARK = r"[^\W\d_]|[%‰°\"″′/$€£¥₹₽₩₺₪₫]"
# A number in any dialect with what stands beside it.
DRESSED = re.compile(
    rf"\(?(?P<sign>[-+]?) ?(?P<before>(?:{MARK})[^\d()\n+-]{{0,7}}?)? ?[-+]?"
    r"(?P<figure>[.,]?\d(?:[.,' ]?\d)*[.,]?(?:[eE][-+]?\d+)?)"
    rf" ?(?P<after>(?:{MARK})[^()\n]{{0,14}}?)?\)?"
)
PLAIN_SIGNS = b"0123456789.+-\n"
AMBIGUOUS = r"[-+]?[1-9]\d{{0,2}}{0}\d{{3}}"


@dataclass(frozen=True, slots=True)
class Dialect:
    """The sign before decimals and the one between thousands (empty for none)."""

    decimal: str
    thousands: str = ""


# The first that fits all numbers of a column is taken.
DIALECTS = tuple(Dialect(*signs) for signs in (".", ".,", ",", ",.", ". ", ", ", ".'", ",'"))


@lru_cache(maxsize=64)
def figure_pattern(dialect: Dialect) -> str:
    """Return the pattern of an unsigned number."""
    point, parted = re.escape(dialect.decimal), re.escape(dialect.thousands)
    # Groups of two are common in India: 12,34,567.
    grouped = rf"[1-9]\d{{0,2}}(?:{parted}\d{{2,3}})*{parted}\d{{3}}|" if parted else ""
    return rf"(?:(?:{grouped}\d+)(?:{point}\d*)?|{point}\d+)(?:[eE][-+]?\d+)?"


def dialect_of(figures: Sequence[str]) -> Dialect | None:
    """Return the dialect of all numbers of a column; None if they have none in common."""
    joined = "\n".join(figures)
    for dialect in DIALECTS:
        if _all_are(figure_pattern(dialect), joined):
            return _decided(dialect, joined)
    return None


def _decided(dialect: Dialect, joined: str) -> Dialect:
    """Take `1,234` for a decimal comma if thousands elsewhere have no comma."""
    is_open = dialect == Dialect(".", ",") and _all_are(figure_pattern(Dialect(",")), joined)
    return Dialect(",") if is_open and re.search(r"^\d{4,}$", joined, re.MULTILINE) else dialect


def is_unsure(figures: Sequence[str], dialect: Dialect) -> bool:
    """Return True if the sign could part thousands as well as decimals in all numbers."""
    sign = dialect.thousands or dialect.decimal
    if not dialect.thousands and any(len(figure) > 3 and figure.isdecimal() for figure in figures):
        return False
    parted = [figure for figure in figures if sign in figure]
    if sign not in ".," or not parted:
        return False
    return _all_are(AMBIGUOUS.format(re.escape(sign)), "\n".join(parted)) and not (
        sign == dialect.thousands == "," and any(len(figure) > 7 for figure in figures)
    )


def say_unsure(facts: Mapping[str, Any]) -> str:
    """Return the words for a sign that could have meant something else, as part of a note."""
    if not facts.get("is_unsure"):
        return ""
    sign = facts["thousands"] or facts["decimal"]
    role = "parts thousands" if facts["thousands"] else "stands before decimals"
    return f"; taken for granted: '{sign}' {role}"


def _all_are(pattern: str, joined: str) -> bool:
    # One search over the joined lines is many times as fast as one for each.
    return re.fullmatch(rf"(?:(?:{pattern})\n)*+(?:{pattern})", joined) is not None


def plain_signs(text: str) -> str:
    """Return text with the usual minus, blank and apostrophe for their relatives."""
    if text.isascii():
        return text
    for sign in SPACES:
        text = text.replace(sign, " ")
    return text.replace("−", "-").replace("’", "'")


@dataclass(frozen=True, slots=True)
class Writing:
    """All that is needed to read numbers in text: dialect, and factors of marks beside them.

    Unless `is_bare`, a number other than 0 has a mark.
    """

    dialect: Dialect
    before: Factors
    after: Factors
    is_bare: bool

    def describe(self) -> dict[str, Any]:
        """Return it as facts."""
        return {
            "decimal": self.dialect.decimal,
            "thousands": self.dialect.thousands,
            "before": dict(self.before),
            "after": dict(self.after),
            "is_bare": self.is_bare,
        }

    @classmethod
    def of(cls, facts: Mapping[str, Any]) -> Writing:
        """Return the writing that facts describe."""
        return cls(
            Dialect(facts["decimal"], facts["thousands"]),
            facts["before"],
            facts["after"],
            facts["is_bare"],
        )

    def figures(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """Return the numbers of texts, NaN for texts that are none."""
        if not texts:
            return np.empty(0)
        joined = plain_signs("\n".join(texts))
        lines = joined.split("\n")
        if len(lines) > len(texts):  # a text of several lines is no number
            lines = [plain_signs(text) for text in texts]
        elif (quick := self._all_plain(joined, len(lines))) is not None:
            return quick
        elif _all_are(self._pattern(only_ones=True), joined):
            return np.array(list(map(float, self._bare(joined).split("\n"))))
        return self._by_pattern(lines)

    def _all_plain(self, joined: str, count: int) -> NDArray[np.float64] | None:
        """Return the numbers of lines, all with one mark if there are marks.

        None for other lines: they need longer patterns, which take several times as long.
        """
        framed, is_marked = self._without_common_mark(f"\n{joined}\n", count)
        point, parted = self.dialect.decimal, self.dialect.thousands
        lines = framed[1:-1]
        if parted and parted in lines:
            if not _all_are(rf"[-+]?{figure_pattern(self.dialect)}", lines):
                return None
            lines = lines.replace(parted, "")
        if not (is_marked or self.is_bare) or (point == "," and "." in lines):
            return None
        lines = lines.replace(point, ".")
        # What Python takes for a number besides, such as 1_000 and nan, has other signs.
        if not lines.isascii() or lines.encode().translate(None, PLAIN_SIGNS):
            return None
        try:
            return np.array(list(map(float, lines.split("\n"))))
        except ValueError:
            return None

    def _without_common_mark(self, framed: str, count: int) -> tuple[str, bool]:
        """Return lines without a mark that all of them have; False if there is none."""
        sides = [(f"\n{mark}", self.before[mark]) for mark in self.before]
        sides += [(f"{mark}\n", self.after[mark]) for mark in self.after]
        for beside, factor in sides:
            if factor == 1 and beside != "\n" and framed.count(beside) == count:
                return framed.replace(beside, "\n"), True
        return framed, False

    def _by_pattern(self, lines: list[str]) -> NDArray[np.float64]:
        """Return the numbers of lines: of most at once, of those with a factor one by one."""
        found = np.full(len(lines), np.nan)
        plain = re.compile(self._pattern(only_ones=True)).fullmatch
        is_plain = np.fromiter((one is not None for one in map(plain, lines)), bool, len(lines))
        figures = self._bare("\n".join(compress(lines, is_plain))).split("\n")
        if is_plain.any():
            found[is_plain] = list(map(float, figures))
        pattern = re.compile(self._pattern(only_ones=False))
        for place in np.flatnonzero(~is_plain):
            found[place] = self._figure(lines[place], pattern)
        return found

    def _figure(self, text: str, pattern: re.Pattern[str]) -> float:
        if "\n" in text or pattern.fullmatch(text) is None:
            return np.nan
        found = DRESSED.fullmatch(text)
        factors = {**self.before, **self.after}
        marks = [found[side] or "" for side in ("before", "after")] if found else []
        factor = float(np.prod([factors.get(mark.strip(), 1.0) for mark in marks]))
        return float(self._bare(text)) * factor

    def _bare(self, text: str) -> str:
        """Take everything away that Python's numbers do not have."""
        for mark in sorted((*self.before, *self.after), key=len, reverse=True):
            text = _without_mark(text, mark)
        text = text.replace(self.dialect.thousands, "").replace(" ", "").replace(")", "")
        return text.replace("(", "-").replace(self.dialect.decimal, ".")

    def _pattern(self, *, only_ones: bool) -> str:
        before, after = (_words(marks, only_ones=only_ones) for marks in (self.before, self.after))
        figure = figure_pattern(self.dialect)
        dressed = rf"(?:{before} ?)?{figure}(?: ?{after})?"
        signed = rf"(?:[-+] ?{dressed}|{before} ?[-+]{figure}(?: ?{after})?|{dressed})"
        nothing = r"[-+ ]*[0.,]+ *(?:\n|\Z)"
        marked = "" if self.is_bare else rf"(?=[^\n]*(?:{before}|{after})|{nothing})"
        return rf"{marked} *(?:{signed}|\( ?{dressed} ?\)) *"


def _without_mark(text: str, mark: str) -> str:
    # The letter of an exponent is no unit.
    if mark in ("e", "E"):
        return re.sub(rf"{mark}(?![-+\d])", "", text)
    return text.replace(mark, "")


def _words(factors: Factors, *, only_ones: bool) -> str:
    words = [mark for mark, factor in factors.items() if factor == 1 or not only_ones]
    longest_first = sorted(filter(None, words), key=len, reverse=True)
    # Without any there is nothing to find.
    return rf"(?:{'|'.join(map(re.escape, longest_first))})" if longest_first else r"(?!)"


def marks_in(found: Iterable[re.Match[str]], side: str) -> list[str]:
    """Return the marks on one side of numbers, the most frequent first."""
    marks = [match[side].strip() for match in found if match[side]]
    return sorted(set(marks), key=lambda mark: (-marks.count(mark), mark))
