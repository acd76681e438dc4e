"""Text → syntax tree, by Lark's own grammar of grammars.

Lark syntax without a meaning for a search space becomes an `Unsupported` node, so the checks can
report all of it; only a text outside of Lark's syntax raises.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from automl_admm.grammar.diagnostics import Code, Diagnostic
from automl_admm.grammar.read.component_calls import CALL_HELP, begins_call, read_call
from automl_admm.grammar.read.shipped_trees import shipped_tree
from automl_admm.grammar.tree import (
    BEGINNING,
    NONE,
    Aliased,
    Grammar,
    Import,
    Node,
    Reference,
    Repetition,
    Rule,
    RuleImport,
    Span,
    Unsupported,
    choice,
    sequence,
    template,
)

if TYPE_CHECKING:
    from lark import Lark, Tree
    from lark.exceptions import UnexpectedInput

MAX_CHARACTERS = 64_000
MAX_NESTING = 200  # the reader calls itself for each level, on Python's stack
REPETITION_HELP = "A search space needs an end: write '~{}..3', or a number of your own."
MAX_DIGITS = 4  # Python refuses to read thousands of digits, and takes long for fewer
# A run keeps a copy of its grammar, so that it can be repeated: what it imports from beside itself
# would not be there.
FILE_HELP = (
    "A grammar is one file: copy the rules into it, or have a plugin give the other one a name."
)
STATEMENT_HELP = "There are '%import', '%import?', '%override', '%extend' and '%ignore'."
OPTIONAL_HELP = "Write '%import default (a)': its rules bring optional components as such."
RULES = ("rule", "override_rule", "extend_rule")
STATEMENTS = {
    "declare": "'%declare'",
    "token": "a terminal",
}
OVERRIDE_STATEMENT = '| "%override" rule                        -> override_rule\n'
OUR_STATEMENTS = (
    '| "%extend" rule -> extend_rule\n'
    '| "%import?" import_path ["->" name] -> optional_import\n'
    '| "%import?" import_path name_list -> optional_multi_import\n'
)
OPTIONAL = "optional_"
ATOMS = {
    "maybe": ("'[…]'", "Write '(…)?'."),
    "literal": ("a literal", CALL_HELP),
    "literal_range": ("a range of literals", "A search space is made of names."),
}


class ReadingError(Exception):
    """The text is no Lark grammar; it carries the one diagnostic."""

    def __init__(self, diagnostic: Diagnostic) -> None:
        super().__init__(diagnostic.message)
        self.diagnostic = diagnostic


def read(text: str) -> Grammar:
    """Parse a grammar; raise `ReadingError` at a break of Lark's own syntax."""
    if len(text) > MAX_CHARACTERS:
        message = f"a grammar has at most {MAX_CHARACTERS} characters; this one has {len(text)}"
        raise ReadingError(Diagnostic(Code.TOO_LARGE, BEGINNING, message))
    return shipped_tree(text) or parse(text)


def parse(text: str) -> Grammar:
    """Parse a grammar by Lark, also one that is shipped."""
    from lark.exceptions import UnexpectedInput

    try:
        tree = _parser().parse(text)
    except UnexpectedInput as problem:
        raise ReadingError(_syntax_error(problem, text)) from None
    return _grammar(tree)


@cache
def _parser() -> Lark:
    """Return a parser of Lark's meta grammar and our statements: 33 ms once a process."""
    from lark import Lark

    source = files("lark").joinpath("grammars", "lark.lark").read_text("utf-8")
    extended = source.replace(OVERRIDE_STATEMENT, OVERRIDE_STATEMENT + OUR_STATEMENTS)
    return Lark(extended, parser="lalr", propagate_positions=True)


# --- the file ------------------------------------------------------------------------------------


def _grammar(tree: Tree[Any]) -> Grammar:
    items: dict[type, list[Any]] = {Import: [], RuleImport: [], Unsupported: []}
    rules: dict[str, list[Rule]] = {name: [] for name in RULES}
    for item in tree.children:
        if item.data in RULES:
            rule = item if item.data == "rule" else item.children[0]
            items[Unsupported].extend(_unsupported_header(rule))
            rules[item.data].extend([] if _has_parameters(rule) else [_rule(rule)])
        elif item.data.removeprefix(OPTIONAL) in {"import", "multi_import"}:
            for found in _import(item):
                items[type(found)].append(found)
        elif item.data in STATEMENTS:
            what = STATEMENTS[item.data]
            items[Unsupported].append(Unsupported(what, "Leave it out.", _span(item.meta)))
    return Grammar(
        imports=tuple(items[Import]),
        rules=tuple(rules["rule"]),
        unsupported=tuple(items[Unsupported]),
        overrides=tuple(rules["override_rule"]),
        extensions=tuple(rules["extend_rule"]),
        rule_imports=tuple(items[RuleImport]),
    )


def _rule(tree: Tree[Any]) -> Rule:
    name, body = tree.children[0], tree.children[-1]
    span = _span(name)
    # The sign is told as a mistake; the rest is checked under the plain name.
    return Rule(name.lstrip("?!"), _node(body, span, 0), span)


def _has_parameters(tree: Tree[Any]) -> bool:
    return any(tree.children[1].children)


def _unsupported_header(tree: Tree[Any]) -> list[Unsupported]:
    name, parameters, *priority, _ = tree.children
    found = []
    if name[0] in "?!_":
        plain = f"Write '{name.lstrip('?!_')}'."
        found.append(Unsupported(f"a rule name that begins with '{name[0]}'", plain, _span(name)))
    if _has_parameters(tree):
        what = f"the template definition '{name}{{…}}'"
        found.append(Unsupported(what, "Write a rule without parameters.", _span(parameters.meta)))
    found.extend(Unsupported("a priority", "Leave it out.", _span(p.meta)) for p in priority)
    return found


def _import(tree: Tree[Any]) -> Iterator[Import | RuleImport | Unsupported]:
    """`%import components (a, b)`, `%import default (rule)`, or with a dot: `components.a`."""
    path, extra = tree.children
    words = [_word(part) for part in path.children]
    is_optional = tree.data.startswith(OPTIONAL)
    if tree.data.endswith("multi_import"):
        source, names = words, extra.children
    else:
        source, names = words[:-2], path.children[-1:]
    imports = tuple(Import(_word(n), _span(n.meta), optional=is_optional) for n in names)
    if words[0] == ".":
        what = f"importing from a file ('{''.join(source or words)}')"
        yield Unsupported(what, FILE_HELP, _span(path.meta))
    elif len(source) != 1:
        help_ = "Write '%import components (a, b)', or a grammar's name: '%import default (a)'."
        yield Unsupported(f"importing from '{''.join(source or words)}'", help_, _span(path.meta))
    elif source == ["components"]:
        yield from imports
    elif is_optional:
        yield Unsupported("'%import?' of rules", OPTIONAL_HELP, _span(path.meta))
    else:
        yield RuleImport(source[0], imports, _span(path.meta))
    if not tree.data.endswith("multi_import") and extra is not None:
        yield Unsupported("'-> name'", "Use the name that it has.", _span(extra.meta))


def _word(part: Any) -> str:
    return str(part if isinstance(part, str) else part.children[0])


# --- the body of a rule --------------------------------------------------------------------------


def _node(tree: Tree[Any], around: Span, depth: int) -> Node:
    """Read a part of a rule; an empty part is reported at `around`."""
    span = around if tree.meta.empty else _span(tree.meta)
    if depth > MAX_NESTING:
        message = "the parentheses are nested too deep"
        raise ReadingError(Diagnostic(Code.TOO_LARGE, span, message, "Give parts their own rules."))
    if tree.data in ATOMS:
        return Unsupported(*ATOMS[tree.data], span)
    reader = WRAPPERS.get(tree.data)
    return _joined(tree, span, depth) if reader is None else reader(tree, span, depth)


def _joined(tree: Tree[Any], span: Span, depth: int) -> Node:
    if tree.data == "expansions":
        return choice(_alternatives(tree, span, depth), span)
    if tree.data == "template_usage":
        parts = tuple(_node(child, span, depth + 1) for child in tree.children[1:])
        return template(_word(tree.children[0]), parts, span)
    row = _row(tree, span, depth)
    if not row:
        return Unsupported("an empty alternative", f"Write '{NONE}'.", span)
    return sequence(row, span)


def _row(tree: Tree[Any], span: Span, depth: int) -> tuple[Node, ...]:
    """Read the pieces of a row; several literals can be one call."""
    waiting = deque(map(_bare, tree.children))
    parts: list[Node] = []
    while waiting:
        if begins_call(waiting):
            parts.append(read_call(waiting))
        else:
            parts.append(_node(waiting.popleft(), span, depth + 1))
    return tuple(parts)


def _bare(tree: Tree[Any]) -> Tree[Any]:
    """Return the content of an expression without an operator."""
    return tree.children[0] if tree.data == "expr" and tree.children[1] is None else tree


def _alternatives(tree: Tree[Any], span: Span, depth: int) -> tuple[Node, ...]:
    """The alternatives; an empty one is reported right behind the one before it."""
    parts: list[Node] = []
    for child in tree.children:
        parts.append(_node(child, span, depth + 1))
        if not child.meta.empty:
            end = _span(child.meta)
            span = Span(end.end_line, end.end_column, end.end_line, end.end_column)
    return tuple(parts)


def _name(tree: Tree[Any], span: Span, _: int) -> Node:
    token = tree.children[0]
    if token.type == "TOKEN":
        return Unsupported(f"the terminal '{token}'", "Names are written in lower case.", span)
    return Reference(str(token), span)


def _aliased(tree: Tree[Any], span: Span, depth: int) -> Node:
    inner, alias = tree.children
    item = _node(inner, span, depth + 1)
    return item if alias is None else Aliased(item, str(alias), span)


def _repeated(tree: Tree[Any], span: Span, depth: int) -> Node:
    inner, mark, *most = tree.children
    if mark is None:
        return _node(inner, span, depth + 1)
    if mark == "?":
        return choice((_node(inner, span, depth + 1), Reference(NONE, span)), span)
    if mark.type == "OP":
        help_ = REPETITION_HELP.format(0 if mark == "*" else 1)
        return Unsupported(f"repetition without end ('{mark}')", help_, span)
    high = next(filter(None, most), mark)
    item = _node(inner, span, depth + 1)
    # A number with very many digits is just large.
    return Repetition(item, int(mark[:MAX_DIGITS]), int(high[:MAX_DIGITS]), span)


WRAPPERS: Mapping[str, Callable[[Tree[Any], Span, int], Node]] = {
    "name": _name,
    "alias": _aliased,
    "expr": _repeated,
}


def _span(place: Any) -> Span:
    """The span of a token or of a tree's meta."""
    return Span(place.line, place.column, place.end_line, place.end_column)


# --- mistakes in Lark's own syntax ---------------------------------------------------------------


def _syntax_error(problem: UnexpectedInput, text: str) -> Diagnostic:
    from lark.exceptions import UnexpectedToken

    line, column = max(problem.line, 1), max(problem.column, 1)
    rest = text.split("\n")[line - 1][column - 1 :]
    statement = re.match(r"%\w+", rest)
    if statement is not None:
        span = Span(line, column, line, column + statement.end())
        what = f"'{statement.group()}' is not supported here"
        return Diagnostic(Code.UNSUPPORTED, span, what, STATEMENT_HELP)
    if isinstance(problem, UnexpectedToken):
        span = Span(line, column, line, column + max(len(problem.token.strip()), 1))
        expected = frozenset(problem.accepts or problem.expected)
        message = _unexpected(problem.token.type, str(problem.token))
        return Diagnostic(Code.SYNTAX, span, message, _help(expected, problem.token.type))
    allowed = frozenset(getattr(problem, "allowed", None) or ())
    span = Span(line, column, line, column + 1)
    message = f"{rest[:1]!r} is not expected here"
    return Diagnostic(Code.SYNTAX, span, message, _help(allowed, ""))


def _unexpected(kind: str, token: str) -> str:
    if kind == "$END":
        return "the text ends too early"
    return "the line ends too early" if kind == "_NL" else f"{token!r} is not expected here"


def _help(expected: frozenset[str], found: str) -> str:
    """Suggest what to write, from the tokens expected by the parser."""
    if expected == {"COLON", "DOT", "LBRACE"}:
        return "A rule reads 'name: a | b', in lower case; a line that goes on begins with '|'."
    in_braces = "RBRACE" in expected or expected == {"REGEXP", "RULE", "STRING", "TOKEN"}
    if in_braces and found:
        return "Between '{' and '}' stand names with commas; give anything else its own rule."
    if expected == {"RULE", "TOKEN"}:
        return f"A name is expected{'; an %import stands on one line' if found == '_NL' else ''}."
    if "RPAR" in expected and found in {"$END", "_NL"}:
        return "A ')' is missing."
    return ""
