"""The syntax of pipelines written as text: `impute() pca(n_components=3)`.

A text is a row of steps, `name(argument=value, …)` with values as in JSON, NaN and Infinity among
them, and of branches, `name{row, row}`; `none` is the empty row. Any other text raises `TextError`,
with its place.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from automl_admm.core.space import Value
from automl_admm.grammar.diagnostics import Diagnostic
from automl_admm.grammar.tree import NONE, Span

MAX_CHARACTERS = 64_000
MAX_NESTING = 60  # as deep as a grammar may be nested
# NaN and Infinity are no JSON, but Python's JSON writes and reads them.
WORDS: dict[str, Value] = {
    "true": True,
    "false": False,
    "null": None,
    "NaN": math.nan,
    "Infinity": math.inf,
}
# Every character is some token, the last kind included: so each mistake has a place.
TOKEN = re.compile(
    r"""\s*(?:
        (?P<name>[^\W\d]\w*)
      | (?P<number>-?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?|-Infinity\b)
      | (?P<string>"(?:[^"\\\n]|\\.)*")
      | (?P<sign>[(){},=])
      | (?P<end>$)
      | (?P<strange>.)
    )""",
    re.VERBOSE | re.DOTALL,
)
MOST_DIGITS = 640  # of what Python reads and writes whatever its settings


class TextCode(StrEnum):
    """The kinds of mistakes in a pipeline's text; a code never changes its meaning."""

    SYNTAX = "P001"
    UNKNOWN_COMPONENT = "P002"
    UNKNOWN_PARAMETER = "P003"
    VALUE = "P004"
    NOT_IN_LANGUAGE = "P005"
    TOO_LARGE = "P006"


class TextError(Exception):
    """The text is no pipeline of the language; it carries the one diagnostic."""

    def __init__(
        self, span: Span, message: str, help_: str = "", code: TextCode = TextCode.SYNTAX
    ) -> None:
        super().__init__(message)
        self.diagnostic = Diagnostic(code, span, message, help_)


@dataclass(frozen=True, slots=True)
class Argument:
    """`name=value`, and the places of both."""

    name: str
    value: Value
    name_span: Span
    value_span: Span


@dataclass(frozen=True, slots=True)
class WrittenStep:
    """`component(argument=value)`; the span covers the name."""

    component: str
    arguments: tuple[Argument, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Row:
    """Items one after another; `end` is the place right behind them."""

    items: tuple[Written, ...]
    end: Span


@dataclass(frozen=True, slots=True)
class WrittenBranches:
    """`kind{row, row}`; the span covers the kind."""

    kind: str
    parts: tuple[Row, ...]
    span: Span


Written = WrittenStep | WrittenBranches


def steps_of(row: Row) -> Iterator[WrittenStep]:
    """Yield all steps of a pipeline, those in branches included."""
    for item in row.items:
        if isinstance(item, WrittenStep):
            yield item
        else:
            for part in item.parts:
                yield from steps_of(part)


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str
    text: str
    span: Span


def read_row(text: str, first_line: int = 1) -> Row:
    """Read a pipeline; `first_line` is its first line in a file."""
    if len(text) > MAX_CHARACTERS:
        message = f"a pipeline has at most {MAX_CHARACTERS} characters"
        raise TextError(Span(first_line, 1, first_line, 1), message, code=TextCode.TOO_LARGE)
    reading = _Reading(list(_tokens(text, first_line)))
    row = reading.row(0)
    if reading.next.kind != "end":
        raise TextError(reading.next.span, f"'{reading.next.text}' is not expected here")
    if not row.items:
        raise TextError(row.end, "there is no pipeline here", "Write it like 'impute() ridge()'.")
    return row


def _tokens(text: str, first_line: int) -> Iterator[_Token]:
    place, line, begun = 0, first_line, 0
    while True:
        match = TOKEN.match(text, place)
        if match is None or match.lastgroup is None:
            raise AssertionError(place)
        kind = match.lastgroup
        start, end = match.span(kind)
        line += text.count("\n", place, start)
        begun = max(begun, text.rfind("\n", 0, start) + 1)
        column = start - begun + 1
        yield _Token(kind, match[kind], Span(line, column, line, column + max(end - start, 1)))
        if kind == "end":
            return
        place = end


@dataclass
class _Reading:
    """The tokens of a text, and how far they are read."""

    tokens: list[_Token]
    place: int = 0

    @property
    def next(self) -> _Token:
        """Return the next token."""
        return self.tokens[self.place]

    def is_sign(self, text: str) -> bool:
        """Return True if this sign comes next."""
        return self.next.kind == "sign" and self.next.text == text

    def take(self) -> _Token:
        """Go on by a token."""
        self.place += 1
        return self.tokens[self.place - 1]

    def demand(self, sign: str, help_: str, closing: str = "") -> _Token:
        """Skip this sign, or raise; `closing` is the possible alternative."""
        if not self.is_sign(sign):
            due = f"'{sign}' or '{closing}'" if closing else f"'{sign}'"
            raise TextError(self.next.span, f"{_shown(self.next)} stands where {due} is due", help_)
        return self.take()

    def row(self, depth: int) -> Row:
        """Read items up to the first token that begins none."""
        if depth > MAX_NESTING:
            message = f"the text is nested more than {MAX_NESTING} deep"
            raise TextError(self.next.span, message, code=TextCode.TOO_LARGE)
        items: list[Written] = []
        while self.next.kind == "name":
            items.append(self.item(depth))
        if self.next.kind in {"number", "string", "strange"}:
            help_ = "A pipeline is a row of steps such as 'pca(n_components=3)'."
            raise TextError(self.next.span, f"{_shown(self.next)} is not expected here", help_)
        return Row(tuple(items), self.next.span)

    def item(self, depth: int) -> Written:
        """A step, or branches."""
        name = self.take()
        if self.is_sign("{"):
            self.take()
            return WrittenBranches(name.text, tuple(self.parts(depth)), name.span)
        self.demand("(", f"Write '{name.text}()'.")
        arguments = tuple(self.arguments())
        return WrittenStep(name.text, arguments, name.span)

    def parts(self, depth: int) -> Iterator[Row]:
        """The rows of branches, up to their brace."""
        while True:
            yield self.part(depth)
            if self.is_sign("}"):
                self.take()
                return
            self.demand(",", "Rows are separated by commas.", "}")

    def part(self, depth: int) -> Row:
        """A row between commas: `none`, or at least one item."""
        if self.next.kind == "name" and self.next.text == NONE:
            return Row((), self.take().span)
        row = self.row(depth + 1)
        if not row.items:
            raise TextError(row.end, "a row is empty", f"Write '{NONE}'.")
        return row

    def arguments(self) -> Iterator[Argument]:
        """The arguments of a step, up to its parenthesis."""
        seen: set[str] = set()
        while not self.is_sign(")"):
            argument = self.argument()
            if argument.name in seen:
                raise TextError(argument.name_span, f"'{argument.name}' is given twice")
            seen.add(argument.name)
            yield argument
            if not self.is_sign(")"):
                self.demand(",", "Arguments are separated by commas.", ")")
        self.take()

    def argument(self) -> Argument:
        """`name=value`."""
        name = self.next
        if name.kind != "name":
            help_ = "Arguments read 'name=value'."
            raise TextError(name.span, f"{_shown(name)} stands where a name is due", help_)
        self.take()
        self.demand("=", "Arguments read 'name=value'.")
        value = self.take()
        return Argument(name.text, _value(value), name.span, value.span)


def _value(token: _Token) -> Value:
    if token.kind == "number":
        return _number(token.text)
    if token.kind == "name" and token.text in WORDS:
        return WORDS[token.text]
    if token.kind == "name":
        help_ = f'A text stands between double quotes: "{token.text}".'
        raise TextError(token.span, f"'{token.text}' is no value", help_)
    try:
        return str(json.loads(token.text if token.kind == "string" else ""))
    except ValueError:
        help_ = 'A value is a number, a text such as "mean", true, false or null.'
        raise TextError(token.span, f"{_shown(token)} is no value", help_) from None


def _number(text: str) -> float | int:
    """Read a number; a whole one too long for Python becomes its size."""
    is_whole = re.fullmatch(r"-?\d+", text) is not None
    return int(text) if is_whole and len(text) <= MOST_DIGITS else float(text)


def _shown(token: _Token) -> str:
    return "the end" if token.kind == "end" else repr(token.text)
