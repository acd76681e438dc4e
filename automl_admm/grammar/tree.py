"""The syntax tree of a grammar: frozen, every node with its place in the text."""

from __future__ import annotations

from collections.abc import Container, Hashable, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise

NONE = "none"
# `more@2` is the rule `more` used inside of itself.
LEVEL = "@"  # no name in a text can have this sign
START = "start"
ANY_ORDER = "any_order"
UNION = "union"
STACK = "stack"
BY_TYPE = "by_type"
BEFORE = "before"
TEMPLATES = (ANY_ORDER, UNION, STACK, BY_TYPE, BEFORE)


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
class Before:
    """`before{a, b}` within an `any_order`: labels of its pieces, each with its place."""

    names: tuple[tuple[str, Span], ...]
    span: Span

    def pairs(self) -> tuple[tuple[str, str], ...]:
        """Pair each name with its successor."""
        labels = [name for name, _ in self.names]
        return tuple(pairwise(labels))


@dataclass(frozen=True, slots=True)
class Template:
    """A template in use: `any_order{a, b}`, `union{a, b}`, `stack{a}`, `by_type{a, b}`.

    `before` orders some pieces of an `any_order`; it is no piece itself.
    """

    name: str
    arguments: tuple[Node, ...]
    span: Span
    before: tuple[Before, ...] = ()


@dataclass(frozen=True, slots=True)
class Sequence:
    """Pieces one after another, as data flow through them."""

    items: tuple[Node, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Choice:
    """One of several pieces; `x?` is the choice of x and none, in this order."""

    alternatives: tuple[Node, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Repetition:
    """A piece several times in a row, each time on its own: `x~2`, `x~1..3`."""

    item: Node
    low: int
    high: int
    span: Span


@dataclass(frozen=True, slots=True)
class Given:
    """The setting of an argument: a template of texts, as `int{"1", "9"}`, or one text alone."""

    kind: str | None
    texts: tuple[str, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Argument:
    """One parameter in a call."""

    name: str
    given: Given
    span: Span


@dataclass(frozen=True, slots=True)
class Call:
    """A component with parameters of its own: `"pca" "(" "whiten" "=" "true" ")"`."""

    component: str
    arguments: tuple[Argument, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Aliased:
    """A piece with a name to show for it: `pca select -> reduced`."""

    item: Node
    name: str
    span: Span


@dataclass(frozen=True, slots=True)
class Unsupported:
    """Lark syntax without a meaning for a search space; the checks report it."""

    what: str
    help: str
    span: Span


Node = Reference | Template | Sequence | Choice | Repetition | Call | Aliased | Unsupported


@dataclass(frozen=True, slots=True)
class Import:
    """One component named in an `%import components`, or needed by an imported rule.

    One of an `%import? components` is `optional`: choices lose it where no package has it.
    """

    name: str
    span: Span
    implied: bool = False
    optional: bool = False


@dataclass(frozen=True, slots=True)
class RuleImport:
    """Rules of another grammar: `%import default (scaler, estimator)`."""

    grammar: str
    names: tuple[Import, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Rule:
    """`name: body`; the span covers the name."""

    name: str
    body: Node
    span: Span


@dataclass(frozen=True, slots=True)
class Grammar:
    """A whole file, in the order of its text."""

    imports: tuple[Import, ...] = ()
    rules: tuple[Rule, ...] = ()
    unsupported: tuple[Unsupported, ...] = ()
    overrides: tuple[Rule, ...] = ()
    extensions: tuple[Rule, ...] = ()
    rule_imports: tuple[RuleImport, ...] = ()

    def bodies(self) -> dict[str, Node]:
        """Return the body of every rule by name; the first one for a name defined twice."""
        found: dict[str, Node] = {}
        for rule in self.rules:
            found.setdefault(rule.name, rule.body)
        return found


def template(name: str, parts: tuple[Node, ...], span: Span) -> Template:
    """A template; the `before{…}` in an `any_order` are set apart from its pieces."""
    found: list[Before] = []
    pieces: list[Node] = []
    for part in parts:
        if name == ANY_ORDER and isinstance(part, Template) and part.name == BEFORE:
            names = tuple((label(item), item.span) for item in part.arguments)
            found.append(Before(names, part.span))
        else:
            pieces.append(part)
    return Template(name, tuple(pieces), span, tuple(found))


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
    """Return the pieces of a node."""
    match node:
        case Template(arguments=parts) | Sequence(items=parts) | Choice(alternatives=parts):
            return parts
        case Repetition(item) | Aliased(item):
            return (item,)
        case _:
            return ()


def with_children(node: Node, parts: tuple[Node, ...]) -> Node:
    """The same node, made of other pieces."""
    match node:
        case Template():
            return replace(node, arguments=parts)
        case Sequence():
            return sequence(parts, node.span)
        case Choice():
            return choice(parts, node.span)
        case Repetition() | Aliased():
            return replace(node, item=parts[0])
        case _:
            return node


def walk(node: Node) -> Iterator[Node]:
    """A node and everything below it, as it is written."""
    yield node
    for child in children(node):
        yield from walk(child)


def references(node: Node) -> Iterator[Reference]:
    """Return every name used in a node, `none` included."""
    return (item for item in walk(node) if isinstance(item, Reference))


def names_used(node: Node) -> Iterator[tuple[str, Span]]:
    """Return every name of a rule or a component, called components included."""
    for item in walk(node):
        if isinstance(item, Reference):
            yield item.name, item.span
        elif isinstance(item, Call):
            yield item.component, item.span


def label(node: Node) -> str:  # noqa: PLR0911 - one for each kind of node
    """Return a piece as text in one line, the label of an alternative."""
    match node:
        case Reference(name):
            return plain_name(name)
        case Call(component=name) | Aliased(name=name):
            return name
        case Template(name, arguments, _, before):
            rules = (f"{BEFORE}{{{', '.join(text for text, _ in row.names)}}}" for row in before)
            return f"{name}{{{', '.join([*map(label, arguments), *rules])}}}"
        case Sequence(items):
            return " ".join(map(_grouped, items))
        case Choice():
            return _choice_label(node)
        case Repetition(item, low, high):
            times = f"{low}" if low == high else f"{low}..{high}"
            text = label(item)
            return f"{text if _is_atom(item) else f'({text})'}~{times}"
        case Unsupported(what):
            return what


def free_name(name: str, taken: Container[str]) -> str:
    """Return the name, with a number if it is taken."""
    number, free = 1, name
    while free in taken:
        number += 1
        free = f"{name}#{number}"
    return free


def free_labels(parts: Iterable[Node]) -> tuple[str, ...]:
    """Return the labels of pieces side by side: a label shows no values, so two can be alike."""
    found: dict[str, None] = {}
    for part in parts:
        found[free_name(label(part), found)] = None
    return tuple(found)


def meaning(node: Node) -> Hashable:
    """Return a piece without its places in the text: equal ones are the same pipelines."""
    match node:
        case Reference(name) | Call(component=name, arguments=()):
            return name
        case Call(name, arguments):
            return name, tuple(sorted((a.name, a.given.kind, a.given.texts) for a in arguments))
        case Template(name, before=before):
            own: Hashable = (name, tuple(row.pairs() for row in before))
        case Repetition(_, low, high):
            own = (low, high)
        case Aliased(name=name):
            own = name
        case _:
            own = None
    return type(node).__name__, own, tuple(map(meaning, children(node)))


def plain_name(name: str) -> str:
    """Return the name of a rule as in the text, without its level."""
    return name.partition(LEVEL)[0]


def _is_atom(node: Node) -> bool:
    return isinstance(node, Reference | Template | Call)


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
