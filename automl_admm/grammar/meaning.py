"""What a sound grammar means for the task at hand, and what can be wrong with that.

Three steps, all over the rules in the order in which they need each other: leave out what the task
does not have, measure the tree before anybody unfolds it, and follow every path to its estimator.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from graphlib import TopologicalSorter

from automl_admm.grammar.checks import MAX_PIECES
from automl_admm.grammar.diagnostics import Code, Diagnostic
from automl_admm.grammar.model import (
    NONE,
    START,
    Choice,
    Grammar,
    Node,
    Reference,
    Sequence,
    Span,
    Template,
    Unsupported,
    children,
    choice,
    label,
    references,
    sequence,
)

MAX_DEPTH = 60
Rules = Mapping[str, Node]


def dependency_order(rules: Rules) -> list[str]:
    """The rules, each after those that it uses."""
    uses = {
        name: [r.name for r in references(body) if r.name in rules] for name, body in rules.items()
    }
    return list(TopologicalSorter(uses).static_order())


# --- leaving out what the task does not have -----------------------------------------------------


@dataclass(frozen=True, slots=True)
class Lost:
    """A piece that no pipeline of this task can have, and why."""

    span: Span
    reason: str


def narrow(grammar: Grammar, here: frozenset[str]) -> tuple[dict[str, Node], list[Diagnostic]]:
    """The rules without components of other tasks, and the mistake if nothing is left.

    A choice loses such alternatives without a word. Where it loses all of them, so does whatever
    needs it, up to the next choice that has another way.
    """
    absent = frozenset(item.name for item in grammar.imports) - here
    rules = grammar.bodies()
    found: dict[str, Node | Lost] = {}
    for name in dependency_order(rules):
        found[name] = _narrow(rules[name], absent, found)
    start = found[START]
    if isinstance(start, Lost):
        help_ = "Add an alternative: 'automl-admm components' lists what each task has."
        return {}, [Diagnostic(Code.NOTHING_LEFT, start.span, start.reason, help_)]
    return {name: body for name, body in found.items() if not isinstance(body, Lost)}, []


def _narrow(node: Node, absent: frozenset[str], rules: Mapping[str, Node | Lost]) -> Node | Lost:
    if isinstance(node, Reference):
        if node.name in absent:
            return Lost(node.span, f"component '{node.name}' is not for this task")
        rule = rules.get(node.name)
        return rule if isinstance(rule, Lost) else node
    parts = [_narrow(child, absent, rules) for child in children(node)]
    kept = tuple(part for part in parts if not isinstance(part, Lost))
    lost = next((part for part in parts if isinstance(part, Lost)), None)
    if isinstance(node, Choice):
        reason = f"no alternative of '{label(node)}' is for this task"
        return choice(kept, node.span) if kept else Lost(node.span, reason)
    if lost is not None:
        return lost
    if isinstance(node, Template):
        return Template(node.name, kept, node.span)
    return sequence(kept, node.span)


# --- measuring -----------------------------------------------------------------------------------


def check_unfolded_size(rules: Rules) -> list[Diagnostic]:
    """Count the unfolded tree rule by rule: 2⁴⁰ pieces are counted, never made."""
    sizes: dict[str, int] = {}
    depths: dict[str, int] = {}
    for name in dependency_order(rules):
        sizes[name] = _size(rules[name], sizes)
        depths[name] = _depth(rules[name], depths)
    span = rules[START].span
    if sizes[START] > MAX_PIECES:
        message = f"written out, '{START}' has more than {MAX_PIECES} pieces"
        help_ = "Use fewer rules in several places."
        return [Diagnostic(Code.TOO_LARGE, span, message, help_)]
    if depths[START] > MAX_DEPTH:
        message = f"'{START}' is nested more than {MAX_DEPTH} deep"
        return [Diagnostic(Code.TOO_LARGE, span, message, "Write it flatter.")]
    return []


def _size(node: Node, rules: Mapping[str, int]) -> int:
    below = sum(_size(child, rules) for child in children(node))
    return 1 + below + (rules.get(node.name, 0) if isinstance(node, Reference) else 0)


def _depth(node: Node, rules: Mapping[str, int]) -> int:
    below = max((_depth(child, rules) for child in children(node)), default=0)
    return 1 + max(below, rules.get(node.name, 0) if isinstance(node, Reference) else 0)


# --- following every path to its estimator -------------------------------------------------------


def check_estimators(rules: Rules, estimators: frozenset[str]) -> list[Diagnostic]:
    """Every path through `start` must end in its one estimator."""
    problems = dict.fromkeys(_check_followers(rules[START], _Roles(rules, estimators), after=False))
    path = _path_without_estimator(rules[START], _Roles(rules, estimators))
    if path is not None:
        pipeline = " ".join(path)
        shown = f"the pipeline '{pipeline}'" if pipeline else "the empty pipeline"
        message = f"{shown} is possible and has no estimator"
        help_ = f"Let every path through '{START}' end in an estimator."
        problems[Diagnostic(Code.ESTIMATOR, _last_span(rules[START]), message, help_)] = None
    return list(problems)


@dataclass(frozen=True, slots=True)
class _Roles:
    rules: Rules
    estimators: frozenset[str]


def _check_followers(node: Node, roles: _Roles, *, after: bool) -> Iterator[Diagnostic]:
    """Find what may follow an estimator; `after` says that one may have come before."""
    match node:
        case Reference(name) if name in roles.rules:
            yield from _check_followers(roles.rules[name], roles, after=after)
        case Reference(name, span) if after and name != NONE:
            message = f"'{name}' can come after an estimator, which must be the last"
            yield Diagnostic(Code.ESTIMATOR, span, message, "Move the estimator to the end.")
        case Choice(alternatives):
            for item in alternatives:
                yield from _check_followers(item, roles, after=after)
        case Sequence(items):
            for item in items:
                yield from _check_followers(item, roles, after=after)
                after = after or _may_estimate(item, roles)
        case Template(name, arguments):
            for item in arguments:
                yield from _check_followers(item, roles, after=after)
                if not after and _may_estimate(item, roles):
                    message = f"'{label(item)}' has an estimator and cannot stand in '{name}'"
                    help_ = "Only transformers can be put in any order."
                    yield Diagnostic(Code.ESTIMATOR, item.span, message, help_)


def _may_estimate(node: Node, roles: _Roles) -> bool:
    """Whether an estimator can be in a piece."""
    if isinstance(node, Reference) and node.name in roles.rules:
        return _may_estimate(roles.rules[node.name], roles)
    if isinstance(node, Reference):
        return node.name in roles.estimators
    return any(_may_estimate(child, roles) for child in children(node))


def _path_without_estimator(node: Node, roles: _Roles) -> tuple[str, ...] | None:
    """The components of the first way through a piece that meets no estimator."""
    match node:
        case Reference(name) if name in roles.rules:
            return _path_without_estimator(roles.rules[name], roles)
        case Reference(name):
            own = () if name == NONE else (name,)
            return None if name in roles.estimators else own
        case Choice(alternatives):
            ways = (_path_without_estimator(item, roles) for item in alternatives)
            return next((way for way in ways if way is not None), None)
        case Sequence(parts) | Template(arguments=parts):
            found = [_path_without_estimator(item, roles) for item in parts]
            known = [way for way in found if way is not None]
            return sum(known, ()) if len(known) == len(found) else None
        case Unsupported():
            return None


def _last_span(node: Node) -> Span:
    return _last_span(node.items[-1]) if isinstance(node, Sequence) else node.span
