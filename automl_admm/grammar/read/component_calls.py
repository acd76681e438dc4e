"""Calls in the body of a rule: `"pca" "(" "n_components" "=" float{"0.5", "0.9"} ")"`.

To Lark these are literals and a template; here they are a component with its parameters.
"""

from __future__ import annotations

import json
from collections import deque
from typing import TYPE_CHECKING, Any

from automl_admm.grammar.tree import Argument, Call, Given, Node, Span, Unsupported

if TYPE_CHECKING:
    from lark import Tree

CALL_HELP = 'Write \'"pca" "(" "n_components" "=" float{"0.5", "0.9"} ")"\'.'


class _BrokenError(Exception):
    """The call does not go on as it should at this place."""

    def __init__(self, place: Any) -> None:
        super().__init__("broken")
        self.place = place


def begins_call(waiting: deque[Tree[Any]]) -> bool:
    """Return True if the next pieces are a name in quotes and an opening parenthesis."""
    return len(waiting) > 1 and _text(waiting[0]) is not None and _text(waiting[1]) == "("


def read_call(waiting: deque[Tree[Any]]) -> Node:
    """Take a call from the front of the pieces of a row."""
    first = waiting.popleft()
    waiting.popleft()
    try:
        arguments, last = _arguments(waiting, first)
    except _BrokenError as problem:
        # The rest of a broken call would give a second mistake for each of its pieces.
        while waiting and _text(waiting.popleft()) != ")":
            pass
        what = f"this in a call of '{_text(first)}'"
        return Unsupported(what, CALL_HELP, _span(problem.place, problem.place))
    return Call(_text(first) or "", arguments, _span(first, last))


def _arguments(
    waiting: deque[Tree[Any]], last: Tree[Any]
) -> tuple[tuple[Argument, ...], Tree[Any]]:
    """Read the arguments and the closing parenthesis; return both."""
    arguments: list[Argument] = []
    while _text(last := _next(waiting, last)) != ")":
        if arguments and _text(last) != ",":
            raise _BrokenError(last)
        arguments.append(_argument(waiting, _next(waiting, last) if arguments else last))
    return tuple(arguments), last


def _argument(waiting: deque[Tree[Any]], name: Tree[Any]) -> Argument:
    text = _text(name)
    equals = _next(waiting, name)
    if text is None or _text(equals) != "=":
        raise _BrokenError(name if text is None else equals)
    value = _next(waiting, equals)
    return Argument(text, _given(value), _span(name, value))


def _given(value: Tree[Any]) -> Given:
    alone = _text(value)
    if alone is not None and alone not in {"(", ")", ",", "="}:
        return Given(None, (alone,), _span(value, value))
    if value.data != "template_usage":
        raise _BrokenError(value)
    name, *texts = value.children
    found = [(part, _text(part)) for part in texts]
    wrong = next((part for part, text in found if text is None), None)
    if wrong is not None:
        raise _BrokenError(wrong)
    kind = str(name.children[0])
    return Given(kind, tuple(text for _, text in found if text is not None), _span(value, value))


def _next(waiting: deque[Tree[Any]], last: Tree[Any]) -> Tree[Any]:
    if not waiting:
        raise _BrokenError(last)
    return waiting.popleft()


def _text(tree: Tree[Any]) -> str | None:
    """Return the text of a literal; None for anything else."""
    if tree.data != "literal":
        return None
    try:
        return str(json.loads(tree.children[0]))
    except ValueError:
        return None


def _span(first: Tree[Any], last: Tree[Any]) -> Span:
    begin, end = first.meta, last.meta
    return Span(begin.line, begin.column, end.end_line, end.end_column)
