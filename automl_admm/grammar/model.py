"""The syntax tree of a grammar: frozen, and every node knows where it stands in the text."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

NONE = "none"
START = "start"
ANY_ORDER = "any_order"
TEMPLATES = (ANY_ORDER,)


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """A stretch of text; lines and columns count from 1, the end column is exclusive."""

    line: int
    column: int
    end_line: int
    end_column: int


BEGINNING = Span(1, 1, 1, 1)


@dataclass(frozen=True, slots=True)
class Reference:
    """The name of a rule or of a component, or `none` for the empty piece."""

    name: str
    span: Span


@dataclass(frozen=True, slots=True)
class Template:
    """A template in use: `any_order{a, b}`."""

    name: str
    arguments: tuple[Node, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Sequence:
    """Pieces one after another, as data flow through them."""

    items: tuple[Node, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Choice:
    """One of several pieces; `x?` is the choice of x and none, in that order."""

    alternatives: tuple[Node, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Unsupported:
    """Something that Lark reads and a search space cannot use; the checks report it."""

    what: str
    help: str
    span: Span


Node = Reference | Template | Sequence | Choice | Unsupported


@dataclass(frozen=True, slots=True)
class Import:
    """One component named in an `%import components`."""

    name: str
    span: Span


@dataclass(frozen=True, slots=True)
class Rule:
    """`name: body`; the span is that of the name."""

    name: str
    body: Node
    span: Span


@dataclass(frozen=True, slots=True)
class Grammar:
    """A whole file, in the order in which it is written."""

    imports: tuple[Import, ...] = ()
    rules: tuple[Rule, ...] = ()
    unsupported: tuple[Unsupported, ...] = ()

    def bodies(self) -> dict[str, Node]:
        """The body of every rule by name; the first one where a name is defined twice."""
        return {rule.name: rule.body for rule in reversed(self.rules)}


def sequence(items: tuple[Node, ...], span: Span) -> Node:
    """A sequence without sequences in it; one piece stands for itself."""
    flat: list[Node] = []
    for item in items:
        flat.extend(item.items if isinstance(item, Sequence) else (item,))
    return flat[0] if len(flat) == 1 else Sequence(tuple(flat), span)


def choice(alternatives: tuple[Node, ...], span: Span) -> Node:
    """A choice without choices in it: `(a | b) | c` is `a | b | c`; one piece is no choice."""
    flat: list[Node] = []
    for item in alternatives:
        flat.extend(item.alternatives if isinstance(item, Choice) else (item,))
    return flat[0] if len(flat) == 1 else Choice(tuple(flat), span)


def children(node: Node) -> tuple[Node, ...]:
    """The pieces that a node is made of."""
    match node:
        case Template(arguments=parts) | Sequence(items=parts) | Choice(alternatives=parts):
            return parts
        case _:
            return ()


def walk(node: Node) -> Iterator[Node]:
    """A node and everything below it, as it is written."""
    yield node
    for child in children(node):
        yield from walk(child)


def references(node: Node) -> Iterator[Reference]:
    """Every name that is used in a node, `none` included."""
    return (item for item in walk(node) if isinstance(item, Reference))


def label(node: Node) -> str:
    """How a piece is written in one line; the label of an alternative."""
    match node:
        case Reference(name):
            return name
        case Template(name, arguments):
            return f"{name}{{{', '.join(map(label, arguments))}}}"
        case Sequence(items):
            return " ".join(map(_grouped, items))
        case Choice():
            return _choice_label(node)
        case Unsupported(what):
            return what


def _grouped(node: Node) -> str:
    text = label(node)
    return f"({text})" if isinstance(node, Choice) and not _is_optional(node) else text


def _is_optional(node: Choice) -> bool:
    last = node.alternatives[-1]
    return isinstance(last, Reference) and last.name == NONE


def _choice_label(node: Choice) -> str:
    if not _is_optional(node):
        return " | ".join(map(label, node.alternatives))
    rest = " | ".join(map(label, node.alternatives[:-1]))
    return f"{rest}?" if rest.isidentifier() else f"({rest})?"
