"""Positions of pieces in a pipeline: every path is followed to its estimator.

The rules are sound and their unfolded size is bounded, so every path can be walked.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from automl_admm.grammar.diagnostics import Code, Diagnostic
from automl_admm.grammar.tree import (
    ANY_ORDER,
    BY_TYPE,
    NONE,
    STACK,
    START,
    Aliased,
    Call,
    Choice,
    Node,
    Reference,
    Repetition,
    Sequence,
    Span,
    Template,
    children,
    label,
)


@dataclass(frozen=True, slots=True)
class _Roles:
    rules: Mapping[str, Node]
    estimators: frozenset[str]
    encoders: frozenset[str]
    weighers: frozenset[str]


def check_places(
    rules: Mapping[str, Node],
    estimators: frozenset[str],
    encoders: frozenset[str],
    weighers: frozenset[str] = frozenset(),
) -> list[Diagnostic]:
    """Every path through `start` must end in its one estimator; columns are routed first.

    `encoders` are components that need kinds of columns: like `by_type` they take the raw table.
    No data flow through `weighers`, so they stand in no branch and in no order.
    """
    roles, start = _Roles(rules, estimators, encoders, weighers), rules[START]
    # A rule used twice is walked twice; its mistakes are told once.
    problems = dict.fromkeys(_check_followers(start, roles, after=False))
    problems.update(dict.fromkeys(_check_columns(start, roles, after=False)))
    problems.update(dict.fromkeys(_check_weighers(start, roles)))
    path = _path_without_estimator(start, roles)
    if path is not None:
        problems[_no_estimator(path, _last_span(start), f"path through '{START}'")] = None
    return list(problems)


def _no_estimator(path: tuple[str, ...], span: Span, owner: str) -> Diagnostic:
    shown = f"the pipeline '{' '.join(path)}'" if path else "the empty pipeline"
    message = f"{shown} is possible and has no estimator"
    return Diagnostic(Code.ESTIMATOR, span, message, f"Let every {owner} end in an estimator.")


# --- estimators ----------------------------------------------------------------------------------


def _check_followers(node: Node, roles: _Roles, *, after: bool) -> Iterator[Diagnostic]:
    """Find pieces after an estimator; `after` is True if one may have come before."""
    match node:
        case Reference(name) if name in roles.rules:
            yield from _check_followers(roles.rules[name], roles, after=after)
        case Reference(name, span=span) | Call(name, span=span) if after and name != NONE:
            yield _after_estimator(name, span)
        case Choice() | Aliased():
            for item in children(node):
                yield from _check_followers(item, roles, after=after)
        case Sequence(items):
            for item in items:
                yield from _check_followers(item, roles, after=after)
                after = after or _may_estimate(item, roles)
        case Repetition(item, _, high):
            yield from _check_followers(item, roles, after=after)
            # The second copy comes after the first.
            if high > 1 and _may_estimate(item, roles):
                yield from _check_followers(item, roles, after=True)
        case Template():
            yield from _check_template(node, roles, after=after)


def _check_template(node: Template, roles: _Roles, *, after: bool) -> Iterator[Diagnostic]:
    if node.name == STACK:
        yield from _check_stacked(node.arguments[0], roles)
        if after:
            yield _after_estimator(label(node), node.span)
        return
    for item in node.arguments:
        yield from _check_followers(item, roles, after=after)
        # Behind an estimator that is told already.
        if not after and _may_estimate(item, roles):
            yield _estimator_in(item, node.name)


def _after_estimator(text: str, span: Span) -> Diagnostic:
    message = f"'{text}' can come after an estimator, which must be the last"
    return Diagnostic(Code.ESTIMATOR, span, message, "Move the estimator to the end.")


def _estimator_in(item: Node, name: str) -> Diagnostic:
    message = f"'{label(item)}' has an estimator and cannot stand in '{name}'"
    help_ = f"Write '{STACK}{{…}}' around it: predictions become features."
    if name == ANY_ORDER:
        help_ = "Only transformers can be put in any order."
    return Diagnostic(Code.ESTIMATOR, item.span, message, help_)


def _check_stacked(item: Node, roles: _Roles) -> Iterator[Diagnostic]:
    """Check that each path through a stacked piece, a pipeline of its own, ends in an estimator."""
    yield from _check_followers(item, roles, after=False)
    path = _path_without_estimator(item, roles)
    if path is not None:
        yield _no_estimator(path, item.span, f"path through '{STACK}{{…}}'")


def _may_estimate(node: Node, roles: _Roles) -> bool:
    """Return True if a pipeline can end in a piece; a stacked estimator is no end."""
    if isinstance(node, Reference) and node.name in roles.rules:
        return _may_estimate(roles.rules[node.name], roles)
    if isinstance(node, Reference | Call):
        return label(node) in roles.estimators
    if isinstance(node, Template) and node.name == STACK:
        return False
    return any(_may_estimate(child, roles) for child in children(node))


def _path_without_estimator(node: Node, roles: _Roles) -> tuple[str, ...] | None:
    """Return the components of the first path through a piece without an estimator."""
    match node:
        case Reference(name) if name in roles.rules:
            return _path_without_estimator(roles.rules[name], roles)
        case Reference(name) | Call(name):
            own = () if name == NONE else (name,)
            return None if name in roles.estimators else own
        case Choice(alternatives):
            ways = (_path_without_estimator(item, roles) for item in alternatives)
            return next((way for way in ways if way is not None), None)
        # Branches hold no estimators, or only stacked ones: the path goes on behind them.
        case Template(name) if name != ANY_ORDER:
            return (label(node),)
        case Repetition(item, low):
            way = _path_without_estimator(item, roles) if low else ()
            return None if way is None else way * low
        case _:
            found = [_path_without_estimator(item, roles) for item in children(node)]
            known = [way for way in found if way is not None]
            return sum(known, ()) if len(known) == len(found) else None


def _last_span(node: Node) -> Span:
    return _last_span(node.items[-1]) if isinstance(node, Sequence) else node.span


# --- columns -------------------------------------------------------------------------------------


def _check_columns(
    node: Node, roles: _Roles, *, after: bool, parted: bool = False
) -> Iterator[Diagnostic]:
    """Find `by_type` and encoders behind a component: only the raw table has kinds of columns.

    `parted` is True inside of `by_type`: encoders have their place there, another `by_type` not.
    """
    rules = roles.rules
    match node:
        case Reference(name) if name in rules:
            yield from _check_columns(rules[name], roles, after=after, parted=parted)
        case Reference() | Call() if after and label(node) in roles.encoders:
            yield _not_first(label(node), node.span)
        case Choice() | Aliased():
            for item in children(node):
                yield from _check_columns(item, roles, after=after, parted=parted)
        case Sequence(items):
            for item in items:
                yield from _check_columns(item, roles, after=after, parted=parted)
                after = after or _may_act(item, roles)
        case Repetition(item, _, high):
            # The second copy has the first one before it.
            again = after or (high > 1 and _may_act(item, roles))
            yield from _check_columns(item, roles, after=again, parted=parted)
        case Template():
            yield from _check_parts(node, roles, after=after, parted=parted)


def _check_parts(
    node: Template, roles: _Roles, *, after: bool, parted: bool
) -> Iterator[Diagnostic]:
    if (after or parted) and node.name == BY_TYPE:
        yield _not_first(label(node), node.span)
    for item in node.arguments:
        # In an order another piece may come first.
        behind, inside = after or node.name == ANY_ORDER, parted or node.name == BY_TYPE
        yield from _check_columns(item, roles, after=behind, parted=inside)


def _not_first(name: str, span: Span) -> Diagnostic:
    message = f"'{name}' can stand where the kinds of the columns are not known"
    help_ = f"Let '{name.partition('{')[0]}' be the first thing that a pipeline does."
    return Diagnostic(Code.COLUMNS, span, message, help_)


def _may_act(node: Node, roles: _Roles) -> bool:
    """Return True if a component that changes data can be in a piece."""
    if isinstance(node, Reference) and node.name in roles.rules:
        return _may_act(roles.rules[node.name], roles)
    if isinstance(node, Reference | Call):
        return label(node) not in {NONE, *roles.weighers}
    return any(_may_act(child, roles) for child in children(node))


# --- weighers ------------------------------------------------------------------------------------


def _check_weighers(node: Node, roles: _Roles, *, inside: str = "") -> Iterator[Diagnostic]:
    """Find weighers of rows `inside` of a template; all rows of a pipeline are weighed."""
    match node:
        case Reference(name) if name in roles.rules:
            yield from _check_weighers(roles.rules[name], roles, inside=inside)
        case Reference() | Call() if inside and label(node) in roles.weighers:
            yield _weigher_in(label(node), inside, node.span)
        case _:
            within = node.name if isinstance(node, Template) else inside
            for item in children(node):
                yield from _check_weighers(item, roles, inside=within)


def _weigher_in(name: str, template: str, span: Span) -> Diagnostic:
    message = f"'{name}' weighs rows and cannot stand in '{template}'"
    help_ = f"Write it outside of '{template}', before the estimator."
    return Diagnostic(Code.WEIGHER, span, message, help_)
