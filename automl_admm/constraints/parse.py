"""Text → limit: parsed by a small grammar, never evaluated."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from enum import StrEnum
from functools import cache
from itertools import starmap
from typing import TYPE_CHECKING, Any

from automl_admm.constraints.syntax import (
    LEAST,
    PLAIN,
    ClassOption,
    GroupColumn,
    MeasureOption,
    WrittenLimit,
)
from automl_admm.core.errors import ConfigurationError
from automl_admm.grammar.diagnostics import Diagnostic, render
from automl_admm.grammar.tree import BEGINNING, Span
from automl_admm.plugins.records import CLASS_OPTIONS

if TYPE_CHECKING:
    from lark import Lark, Token, Tree
    from lark.exceptions import UnexpectedInput

MAX_CHARACTERS = 1_000  # no limit is longer; a pasted file is told at once
BASELINE = "baseline"
# Not `<` and `>`: on measured numbers they are the same, and a limit has one name.
SENSES = {"<=": False, ">=": True}
MEANT = {"<": "<=", "=<": "<=", "≤": "<=", ">": ">=", "=>": ">=", "≥": ">="}
EXAMPLE = 'Write it like "latency_us <= 50" or "fpr_gap[sex] <= 5 %".'
OPTIONS = (("class",), ("true", "predicted"))
QUANTILES = re.compile(r"q(\d+)")
CUTS_EXAMPLE = "Cut at numbers, as in [age:30,40], or into parts of equally many rows, [age:q4]."
MOST_PARTS = 20
OPTIONS_BEHIND = re.compile(r":\s*(\w+\s*=.*?)(\s*[\[<>≤≥].*)")
BOUND_AT_END = re.compile(r"[<>=≤≥]\s*[-+.\deE]*\d$")
OPTION_EXAMPLE = 'Write it like recall{class="a"} or confusion{true="a",predicted="b"}.'
# What is between brackets is told apart after parsing: a comma may be followed by the next
# column, or by the next point where this one is cut.
GRAMMAR = r"""
start: WORD braces? groups? SENSE bound confidence?
braces: "{" option ("," option)* "}"
option: WORD ("=" (WORD | LABEL | NUMBER))?
groups: "[" entry ("," entry)* "]"
entry: column (":" (NUMBER | WORD))? | NUMBER | WORD "=" NUMBER -> least
column: WORD | QUOTED
bound: NUMBER PERCENT? ("*" WORD)?
confidence: "@" NUMBER PERCENT?
WORD: /[^\W\d][\w.\-]*/
QUOTED: /"[^"]+"|'[^']+'/
LABEL: /"([^"]|"")*"|'([^']|'')*'/
SENSE: /[<>=!≤≥]+/
NUMBER: /[-+]?(\d+(\.\d*)?|\.\d+)([eE][-+]?\d+)?/
PERCENT: "%"
%ignore /[ \t\r\n]+/
"""


class LimitCode(StrEnum):
    """The kinds of mistakes in a limit; a code never changes its meaning."""

    SYNTAX = "L001"
    SENSE = "L002"
    CUTS = "L003"
    DUPLICATE = "L004"
    FACTOR = "L005"
    OPTION = "L006"
    UNKNOWN_CLASS = "L007"


class _MistakeError(Exception):
    def __init__(self, code: LimitCode, place: Token | Span, message: str, hint: str = "") -> None:
        super().__init__(message)
        span = place if isinstance(place, Span) else _span(place)
        self.diagnostic = Diagnostic(code, span, message, hint)


def read_text(text: str, example: str = EXAMPLE) -> WrittenLimit:
    """Read the limit in a text.

    Raise `ConfigurationError` with the place of the first mistake; `example` is shown if the text
    does not look like a limit at all.
    """
    from lark.exceptions import UnexpectedInput

    try:
        return _limit(_parsed(str(text)), str(text))
    except UnexpectedInput as problem:
        mistake = _syntax_error(problem, str(text), example)
    except _MistakeError as problem:
        mistake = problem.diagnostic
    raise ConfigurationError(render([mistake], str(text), "limit"))


def columns_in(texts: Iterable[Any]) -> frozenset[str]:
    """Return the columns named by the limits given as text; one with a mistake is told later."""
    found: set[str] = set()
    for text in texts:
        if isinstance(text, str):
            with suppress(ConfigurationError):
                found.update(column.name for column in read_text(text).columns)
    return frozenset(found)


def _parsed(text: str) -> Tree[Any]:
    if len(text) > MAX_CHARACTERS:
        message = f"this is no limit: it has more than {MAX_CHARACTERS} characters"
        raise _MistakeError(LimitCode.SYNTAX, BEGINNING, message)
    return _parser().parse(text)


@cache
def _parser() -> Lark:
    from lark import Lark

    # LALR refuses an ambiguous grammar when it is built, and takes linear time.
    return Lark(GRAMMAR, parser="lalr", propagate_positions=True)


def _limit(tree: Tree[Any], text: str) -> WrittenLimit:
    measure, *rest = tree.children
    (sense,) = (part for part in rest if not hasattr(part, "data"))
    parts = {part.data: part for part in rest if part is not sense}
    columns = _columns(parts["groups"]) if "groups" in parts else ()
    least = _least(parts["groups"]) if "groups" in parts else 0
    pairs = _pairs(parts["braces"]) if "braces" in parts else {}
    classes = _classes({key: label for key, label in pairs.items() if key in CLASS_OPTIONS})
    options = tuple(_option(key, value) for key, value in pairs.items() if key not in CLASS_OPTIONS)
    number, *more = parts["bound"].children
    is_percent = _has_percent(more)
    confidence = _confidence(parts["confidence"]) if "confidence" in parts else None
    factors = [token for token in more if token.type == "WORD"]
    of_baseline = any(map(_is_baseline, factors))
    at_least = _is_at_least(sense)
    return WrittenLimit(
        str(measure),
        columns,
        at_least,
        _number(number, is_percent=is_percent),
        of_baseline,
        classes,
        confidence,
        least,
        text,
        options,
        is_percent,
    )


def _has_percent(tokens: list[Token]) -> bool:
    return any(token.type == "PERCENT" for token in tokens)


def _number(number: Token, *, is_percent: bool) -> float:
    return float(number) / 100 if is_percent else float(number)


def _confidence(tree: Tree[Any]) -> float:
    """Return the confidence; rounded, as 99.9 / 100 is not the number that 0.999 is."""
    number, *more = tree.children
    return float(f"{_number(number, is_percent=_has_percent(more)):.12g}")


def _is_baseline(word: Token) -> bool:
    if word == BASELINE:
        return True
    message = f"a number can be multiplied by '{BASELINE}' only, not by '{word}'"
    hint = f'Write it like "latency_us <= 0.5 * {BASELINE}": the pipeline the search begins with.'
    raise _MistakeError(LimitCode.FACTOR, word, message, hint)


def _is_at_least(sense: Token) -> bool:
    if sense in SENSES:
        return SENSES[sense]
    meant = MEANT.get(sense)
    hint = f"Write '{meant}'." if meant else "Write '<=' for at most, '>=' for at least."
    message = f"this is no limit: '{sense}' is neither '<=' nor '>='"
    raise _MistakeError(LimitCode.SENSE, sense, message, hint)


def _pairs(tree: Tree[Any]) -> dict[Token, Token | None]:
    """Return the options between braces with their values, in the order written."""
    pairs: dict[Token, Token | None] = {}
    for option in tree.children:
        name, value = (*option.children, None)[:2]
        # A token is equal to its text, wherever that stands.
        if name in pairs and name not in CLASS_OPTIONS:
            message = f"the option '{name}' stands twice"
            raise _MistakeError(LimitCode.OPTION, name, message)
        if name in pairs:
            raise _no_class([*pairs, name], name)
        pairs[name] = value
    return pairs


def _classes(pairs: Mapping[Token, Token | None]) -> tuple[ClassOption, ...]:
    """Return the classes between braces: one, or a true and a predicted one."""
    options = tuple(starmap(_class_option, pairs.items()))
    names = tuple(option.name for option in options)
    if not names or names in OPTIONS:
        return options
    if names[::-1] in OPTIONS:
        return options[::-1]  # one limit has one name, in whichever order it is written
    raise _no_class(list(pairs), list(pairs)[-1])


def _no_class(names: list[Token], last: Token) -> _MistakeError:
    message = f"{{{','.join(names)}}} names no class of a limit"
    return _MistakeError(LimitCode.OPTION, last, message, OPTION_EXAMPLE)


def _class_option(name: Token, label: Token | None) -> ClassOption:
    if label is None and name == "class":
        return ClassOption("class", None, _span(name))
    if label is None:
        message = f"'{name}' needs a class"
        raise _MistakeError(LimitCode.OPTION, name, message, OPTION_EXAMPLE)
    return ClassOption(str(name), _unquoted(label), _span(label))


def _option(name: Token, value: Token | None) -> MeasureOption:
    if value is None:
        message = f"the option '{name}' needs a value"
        hint = f'Write {{{name}=…}}, or {{class="{name}"}} for a class.'
        raise _MistakeError(LimitCode.OPTION, name, message, hint)
    return MeasureOption(str(name), _unquoted(value), _span(name))


def _unquoted(value: Token) -> str:
    # A quote inside is doubled, as in CSV.
    text = str(value)
    return text[1:-1].replace(text[0] * 2, text[0]) if value.type == "LABEL" else text


def _columns(tree: Tree[Any]) -> tuple[GroupColumn, ...]:
    """Gather the cut points of a column; in the text they are entries of their own."""
    found: list[tuple[Token, list[Token]]] = []
    for entry in tree.children:
        if entry.data == LEAST:
            continue
        first, *rest = entry.children
        # A token, no subtree: a further cut point of the column before it.
        if not hasattr(first, "data"):
            if not found or not found[-1][1] or found[-1][1][0].type != "NUMBER":
                message = "a number stands where a column is due"
                hint = "Cut points follow a colon, as in [age:30,40]; quote a name like this."
                raise _MistakeError(LimitCode.CUTS, first, message, hint)
            found[-1][1].append(first)
        else:
            found.append((first.children[0], rest))
    columns = tuple(_column(name, cuts) for name, cuts in found)
    _check_duplicates(found)
    return columns


def _least(tree: Tree[Any]) -> int:
    """Return the least size of a group, 0 if none is written; it comes last."""
    written = [entry for entry in tree.children if entry.data == LEAST]
    if not written:
        return 0
    name, number = written[0].children
    size = float(number)
    is_right = name == LEAST and size.is_integer() and size >= 1 and len(tree.children) > 1
    if not is_right or written[0] is not tree.children[-1] or len(written) > 1:
        message = f"'{name}={number}' is no least size of a group"
        hint = f"It comes once, after the columns, as in [sex,race,{LEAST}=50]."
        raise _MistakeError(LimitCode.CUTS, name, message, hint)
    return int(size)


def _column(name: Token, cuts: list[Token]) -> GroupColumn:
    if cuts and cuts[0].type == "WORD":
        return GroupColumn(_plain(name), quantiles=_parts(cuts[0]))
    points = tuple(map(float, cuts))
    for earlier, later, token in zip(points, points[1:], cuts[1:], strict=False):
        if later <= earlier:
            message = f"the cut points must rise, and {token} does not come after {earlier:g}"
            raise _MistakeError(LimitCode.CUTS, token, message)
    return GroupColumn(_plain(name), points)


def _parts(word: Token) -> int:
    """Return the number of parts of a column that is cut at its quantiles."""
    found = QUANTILES.fullmatch(word)
    if found is None or not 2 <= int(found[1]) <= MOST_PARTS:
        message = f"'{word}' cuts no column"
        hint = f"{CUTS_EXAMPLE} There may be 2 to {MOST_PARTS} parts."
        raise _MistakeError(LimitCode.CUTS, word, message, hint)
    return int(found[1])


def _plain(name: Token) -> str:
    return str(name[1:-1]) if name.type == "QUOTED" else str(name)


def _check_duplicates(found: list[tuple[Token, list[Token]]]) -> None:
    names = [_plain(name) for name, _ in found]
    for place, (token, _) in enumerate(found):
        if names[place] in names[:place]:
            message = f"the column '{names[place]}' stands twice"
            raise _MistakeError(LimitCode.DUPLICATE, token, message)


def _span(token: Token) -> Span:
    line, column = token.line or 1, token.column or 1
    return Span(line, column, line, column + len(token))


def _syntax_error(problem: UnexpectedInput, text: str, example: str) -> Diagnostic:
    from lark.exceptions import UnexpectedToken

    is_token = isinstance(problem, UnexpectedToken)
    if is_token and problem.token.type == "$END":  # Lark's name for the end of the text
        lines = text.split("\n")
        span = Span(len(lines), len(lines[-1]) + 1, len(lines), len(lines[-1]) + 1)
        message = "this is no limit: it ends too early"
        return Diagnostic(LimitCode.SYNTAX, span, message, example)
    # Lark says −1 where it does not know the place.
    line, column = max(problem.line, 1), max(problem.column, 1)
    found = str(problem.token) if is_token else text.split("\n")[line - 1][column - 1 : column]
    span = Span(line, column, line, column + len(found))
    message = f"this is no limit: {found!r} is not expected here"
    hint = (
        _hint_to_brace(text, span)
        or _hint_to_unit(text, span)
        or _hint_to_quote(text, span)
        or example
    )
    return Diagnostic(LimitCode.SYNTAX, span, message, hint)


def _hint_to_brace(text: str, span: Span) -> str | None:
    """Say how options are written, if they stand behind a colon as those of a solver do."""
    begin, given = text[: span.column - 1].strip(), OPTIONS_BEHIND.match(text[span.column - 1 :])
    if "\n" in text or given is None or not PLAIN.fullmatch(begin):
        return None
    return f"Options of a limit stand in braces: {begin}{{{given[1]}}}{given[2]}"


def _hint_to_unit(text: str, span: Span) -> str | None:
    """Say that a number stands alone, if the mistake is a word right behind the bound."""
    begin, rest = text[: span.column - 1].rstrip(), text[span.column - 1 :]
    if "\n" in text or BOUND_AT_END.search(begin) is None or not rest[:1].isalpha():
        return None
    return f"Write the number alone, in the unit of the name: {begin}"


def _hint_to_quote(text: str, span: Span) -> str | None:
    """Say how to quote a column whose name has other signs, if the mistake is between brackets."""
    begin, end = text.find("["), text.rfind("]")
    inside = text[begin + 1 : end].strip()
    if "\n" in text or not begin < span.column <= end + 1 or not inside or '"' in inside:
        return None
    return f'If that is the name of a column, quote it: {text[:begin]}["{inside}"]{text[end + 1 :]}'
