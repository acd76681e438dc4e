"""`before{a, b}` in an `any_order`: its mistakes, and its pairs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from automl_admm.core.errors import suggest
from automl_admm.core.structure.precedence import MOST_BOUND, bound_places, find_cycle
from automl_admm.grammar.diagnostics import Code, Diagnostic
from automl_admm.grammar.tree import ANY_ORDER, BEFORE, NONE, Before, Node, Span, Template, label

Pair = tuple[int, int]


def check_precedence(nodes: Iterable[Node]) -> Iterator[Diagnostic]:
    """Find pairs impossible in any order, and pairs with unclear pieces."""
    for node in nodes:
        if not isinstance(node, Template):
            continue
        if node.name == BEFORE:
            message = f"'{BEFORE}' says something of the pieces of an order, and of nothing else"
            help_ = f"Move it: '{ANY_ORDER}{{a, b, {BEFORE}{{a, b}}}}'."
            yield Diagnostic(Code.PRECEDENCE, node.span, message, help_)
        elif node.before:
            yield from _check_order(node)


def check_repeated_pairs(nodes: Iterable[Node]) -> Iterator[Diagnostic]:
    """Find pairs stated twice for one order."""
    for node in nodes:
        seen: set[tuple[str, str]] = set()
        for row in node.before if isinstance(node, Template) else ():
            for number, pair in enumerate(row.pairs(), start=1):
                # `before{a, a}` is told as a cycle already.
                if pair in seen and len(set(pair)) == 2:
                    message = f"'{pair[0]}' before '{pair[1]}' is said twice of this order"
                    span = row.names[number][1]
                    yield Diagnostic(Code.DUPLICATE, span, message, "Say it once.")
                seen.add(pair)


def pairs_of(node: Template) -> tuple[Pair, ...]:
    """Return the pairs of an order, as indices among its pieces without `none`."""
    return tuple(pair for pair, _ in _placed(node))


def pieces_of(node: Template) -> list[str]:
    """Return the names of the pieces of an order; `none` is no piece."""
    return [text for text in map(label, node.arguments) if text != NONE]


def _placed(node: Template) -> Iterator[tuple[Pair, Before]]:
    """Return the pairs with both pieces present, each with its source."""
    places = {text: place for place, text in enumerate(pieces_of(node))}
    for row in node.before:
        for earlier, later in row.pairs():
            if earlier in places and later in places:
                yield (places[earlier], places[later]), row


def _check_order(node: Template) -> Iterator[Diagnostic]:
    pieces = pieces_of(node)
    for row in node.before:
        yield from _check_row(row, pieces)
    # Counting and drawing orders takes 2ⁿ steps of n pieces with pairs.
    if len(bound_places(pairs_of(node))) > MOST_BOUND:
        message = f"'{BEFORE}' can speak of {MOST_BOUND} pieces of an order at most"
        help_ = "Give those that stand in a row a rule of their own."
        yield Diagnostic(Code.TOO_LARGE, node.before[0].span, message, help_)
    else:
        yield from _check_cycles(node, pieces)


def _check_row(row: Before, pieces: list[str]) -> Iterator[Diagnostic]:
    if len(row.names) < 2:
        message = f"'{BEFORE}' takes two pieces or more; this one has {len(row.names)}"
        help_ = f"Write '{BEFORE}{{a, b}}'."
        yield Diagnostic(Code.PIECES, row.span, message, help_)
    for name, span in row.names:
        if name not in pieces:
            yield _unknown(name, span, pieces)


def _unknown(name: str, span: Span, pieces: list[str]) -> Diagnostic:
    message = f"'{name}' is no piece of this order"
    return Diagnostic(Code.PRECEDENCE, span, message, suggest(name, pieces))


def _check_cycles(node: Template, pieces: list[str]) -> Iterator[Diagnostic]:
    """Report one cycle after another, each at the last of its pairs."""
    said: dict[Pair, Before] = {}
    for pair, row in _placed(node):
        if cycle := find_cycle([*said, pair]):
            way = " → ".join(pieces[place] for place in cycle)
            message = f"no order keeps this: {way}"
            yield Diagnostic(Code.CYCLE, row.span, message, "Leave out one of them.")
        else:
            said[pair] = row
