"""A limit as it was written, before any name in it is looked up."""

from __future__ import annotations

import re
from dataclasses import dataclass

# As the WORD of the grammar: any other name needs its quotes to be read again.
PLAIN = re.compile(r"[^\W\d][\w.\-]*")


@dataclass(frozen=True, slots=True)
class GroupColumn:
    """A column with groups as values, or a number column with its cut points."""

    name: str
    cuts: tuple[float, ...] = ()

    def __str__(self) -> str:
        quote = "'" if '"' in self.name else '"'
        name = self.name if PLAIN.fullmatch(self.name) else f"{quote}{self.name}{quote}"
        return f"{name}:{','.join(f'{cut:g}' for cut in self.cuts)}" if self.cuts else name


@dataclass(frozen=True, slots=True)
class WrittenLimit:
    """`measure[columns] <= bound`; its text is canonical: one limit has one name.

    A bound may be a multiple of the baseline's value.
    """

    measure: str
    columns: tuple[GroupColumn, ...]
    at_least: bool
    bound: float
    of_baseline: bool = False

    @property
    def name(self) -> str:
        """The measured name with its columns, in canonical form."""
        groups = ",".join(map(str, self.columns))
        return f"{self.measure}[{groups}]" if groups else self.measure
