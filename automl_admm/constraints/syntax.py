"""A limit as it was written, before any name in it is looked up."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from automl_admm.grammar.tree import BEGINNING, Span

# As the WORD of the grammar: any other name needs its quotes to be read again.
PLAIN = re.compile(r"[^\W\d][\w.\-]*")
LEAST = "least"
NUMBER = re.compile(r"[-+]?(\d+(\.\d*)?|\.\d+)([eE][-+]?\d+)?")


@dataclass(frozen=True, slots=True)
class GroupColumn:
    """A column with groups as values, or a number column with its cut points.

    One that is cut into so many parts by `quantiles` has its cut points once rows are known.
    """

    name: str
    cuts: tuple[float, ...] = ()
    quantiles: int = 0

    def __str__(self) -> str:
        quote = "'" if '"' in self.name else '"'
        name = self.name if PLAIN.fullmatch(self.name) else f"{quote}{self.name}{quote}"
        if self.quantiles:
            return f"{name}:q{self.quantiles}"
        return f"{name}:{','.join(map(say_cut, self.cuts))}" if self.cuts else name


def say_cut(cut: float) -> str:
    """Return a cut point with all its digits: another process reads it again.

    >>> say_cut(30.0), say_cut(1234567.5)
    ('30', '1234567.5')
    """
    short = f"{cut:g}"
    return short if float(short) == cut else repr(float(cut))


@dataclass(frozen=True, slots=True)
class ClassOption:
    """A class named by a limit: `class="fraud"`, or a bare `class` for each of them in turn.

    `place` is that of the label in the text, or of the option if it has none.
    """

    name: str
    label: str | None = None
    place: Span = field(default=BEGINNING, compare=False)

    def __str__(self) -> str:
        # Always in quotes, and a quote inside is doubled: any label can be read again.
        label = None if self.label is None else self.label.replace('"', '""')
        return self.name if label is None else f'{self.name}="{label}"'


@dataclass(frozen=True, slots=True)
class MeasureOption:
    """An option of a plugin's constraint, as `alpha=0.1`; its value is read when that is known.

    `place` is that of the option in the text.
    """

    name: str
    value: str
    place: Span = field(default=BEGINNING, compare=False)

    def __str__(self) -> str:
        if PLAIN.fullmatch(self.value) or NUMBER.fullmatch(self.value):
            return f"{self.name}={self.value}"
        value = self.value.replace('"', '""')
        return f'{self.name}="{value}"'


@dataclass(frozen=True, slots=True)
class WrittenLimit:
    """`measure{classes,options}[columns] <= bound`; its text is canonical: one limit has one name.

    Groups with fewer than `least` rows to learn from are not compared. A bound may be a multiple of
    the baseline's value, or was written as a percentage. `confidence` is that of its certificate,
    `text` is what the user wrote.
    """

    measure: str
    columns: tuple[GroupColumn, ...]
    at_least: bool
    bound: float
    of_baseline: bool = False
    classes: tuple[ClassOption, ...] = ()
    confidence: float | None = None
    least: int = 0
    text: str = field(default="", compare=False)
    options: tuple[MeasureOption, ...] = ()
    is_percent: bool = field(default=False, compare=False)

    @property
    def name(self) -> str:
        """The measured name with its classes, options and columns, in canonical form."""
        columns = [*self.columns, f"{LEAST}={self.least}"] if self.least else self.columns
        options = sorted(self.options, key=lambda option: option.name)
        braces, groups = (",".join(map(str, part)) for part in ((*self.classes, *options), columns))
        named = f"{self.measure}{{{braces}}}" if braces else self.measure
        return f"{named}[{groups}]" if groups else named
