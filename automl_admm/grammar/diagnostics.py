"""Mistakes in a grammar with their places and remedies, and their display."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from automl_admm.grammar.tree import Span

# Mistakes, and characters of a line: a message is read on a terminal.
SHOWN = 50
WIDTH = 120


class Code(StrEnum):
    """The kinds of mistakes; a code never changes its meaning."""

    SYNTAX = "G001"
    UNSUPPORTED = "G002"
    UNDEFINED = "G003"
    UNUSED_RULE = "G004"
    NO_START = "G005"
    DEFINED_TWICE = "G006"
    UNKNOWN_COMPONENT = "G007"
    UNUSED_IMPORT = "G008"
    SHADOWED = "G009"
    RECURSION = "G010"
    TOO_FEW_TO_ORDER = "G011"
    DUPLICATE = "G012"
    ESTIMATOR = "G013"
    NOTHING_LEFT = "G014"
    RESERVED = "G015"
    IMPORTED_TWICE = "G016"
    TOO_LARGE = "G017"
    PIECES = "G018"
    COLUMNS = "G019"
    EMPTY_RANGE = "G020"
    UNPRODUCTIVE = "G021"
    UNKNOWN_PARAMETER = "G022"
    BOUNDS = "G023"
    OVERRIDE = "G024"
    IMPORT = "G025"
    PRECEDENCE = "G026"
    CYCLE = "G027"
    UNAVAILABLE = "G028"
    WEIGHER = "G029"


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One mistake. `help` says how to fix it, if known."""

    code: StrEnum
    span: Span
    message: str
    help: str = ""


def render(diagnostics: Iterable[Diagnostic], text: str, path: str) -> str:
    """Write mistakes out in the order of the text, each with its line and a caret."""
    ordered = sorted(diagnostics, key=lambda item: (item.span, item.code, item.message))
    lines = text.split("\n")
    blocks = [_render_one(item, lines, path) for item in ordered[:SHOWN]]
    if len(ordered) > SHOWN:
        blocks.append(f"… and {len(ordered) - SHOWN} more.")
    return "\n\n".join(blocks)


def _render_one(item: Diagnostic, lines: list[str], path: str) -> str:
    span = item.span
    head = f"{path}:{span.line}:{span.column}: error[{item.code}]: {item.message}"
    source = lines[span.line - 1].rstrip("\r") if span.line <= len(lines) else ""
    end = span.end_column if span.end_line == span.line else len(source) + 1
    shown = [head, *_underlined(source, span.column - 1, end - 1)]
    return "\n".join([*shown, f"help: {item.help}"] if item.help else shown)


def _underlined(source: str, start: int, end: int) -> tuple[str, str]:
    """A line and its carets; of a very long line the part around them."""
    cut = max(0, start - WIDTH // 2) if len(source) > WIDTH else 0
    shown = "".join(map(_printable, source[cut : cut + WIDTH]))
    start, end = start - cut, min(end - cut, len(shown))
    # Tabs stay tabs, so that the caret stands below its character.
    indent = "".join("\t" if character == "\t" else " " for character in shown[:start])
    return f"    {shown}", f"    {indent}{'^' * max(end - start, 1)}"


def _printable(character: str) -> str:
    """Return a character safe to print on a terminal."""
    harmless = character.isprintable() or character == "\t"
    return character if harmless else "\N{REPLACEMENT CHARACTER}"
