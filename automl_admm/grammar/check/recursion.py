"""Recursive rules: mistakes among them, and the cut of the others at a depth.

A rule may use itself, at the end or inside braces, as in `more: pca more | none`. It is cut at a
depth: its copies are called `more`, `more@2`, `more@3`, …, and alternatives in need of a deeper
copy are left out. The result has no cycles.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from graphlib import CycleError, TopologicalSorter

from automl_admm.grammar.diagnostics import Code, Diagnostic
from automl_admm.grammar.tree import (
    ANY_ORDER,
    LEVEL,
    NONE,
    START,
    Call,
    Choice,
    Grammar,
    Node,
    Reference,
    Repetition,
    Sequence,
    Template,
    children,
    references,
    with_children,
)

DEPTH = 3  # each level multiplies the pipelines
MAX_DEPTH = 20
Rules = Mapping[str, Node]


def rules_used(body: Node, rules: Rules) -> set[str]:
    """Return the rules named in a body."""
    return {reference.name for reference in references(body) if reference.name in rules}


# --- mistakes ------------------------------------------------------------------------------------


def check_recursion(grammar: Grammar) -> Iterator[Diagnostic]:
    """Find left-recursive rules, and rules without an end."""
    rules = grammar.bodies()
    # The rules with an end are the least fixed point; the others lead back for ever.
    endless = set(rules) - _closure(rules, _ends)
    groups = _cyclic_groups({name: rules[name] for name in rules if name in endless})
    for rule in grammar.rules:
        if rule.name == next(iter(groups.get(rule.name, ())), None):
            message = f"rule '{rule.name}' never comes to an end: each way through it leads back"
            help_ = f"Give it an alternative that does not, as '{rule.name}: … | {NONE}'."
            yield Diagnostic(Code.UNPRODUCTIVE, rule.span, message, help_)
    # Rules without an end are told above, and would be told again as left-recursive.
    yield from _check_beginnings({name: rules[name] for name in rules if name not in endless})


def _check_beginnings(rules: Rules) -> Iterator[Diagnostic]:
    """Report one left-recursive cycle after another, each cut at its last rule."""
    empty = _closure(rules, _may_be_empty)
    uses = {name: set(_beginnings(body, rules, empty)) for name, body in rules.items()}
    while (cycle := _find_cycle(uses)) is not None:
        start = min(range(len(cycle)), key=lambda i: rules[cycle[i]].span)
        ring = [*cycle[start:], *cycle[:start]]
        closing = ring[-1]
        span = next(r.span for r in references(rules[closing]) if r.name == ring[0])
        way = " → ".join([*ring, ring[0]])
        message = f"rule '{ring[0]}' begins with itself: {way}"
        help_ = f"Let it come last: '{ring[0]}: a {ring[0]} | {NONE}'."
        yield Diagnostic(Code.RECURSION, span, message, help_)
        uses[closing].discard(ring[0])


def _find_cycle(uses: Mapping[str, set[str]]) -> list[str] | None:
    """The rules of one cycle, each using the next."""
    # Sets have no order, and the same text must give the same message.
    ordered = {name: sorted(used) for name, used in uses.items()}
    try:
        TopologicalSorter(ordered).prepare()
    except CycleError as problem:
        found: list[str] = problem.args[1]
        # graphlib lists the used before the user, and the first one again at the end.
        return found[:0:-1]
    return None


def _closure(rules: Rules, holds: Callable[[Node, Rules, set[str]], bool]) -> set[str]:
    """Return the rules with a property, inherited through the rules they use."""
    users: dict[str, list[str]] = {name: [] for name in rules}
    for name, body in rules.items():
        for used in rules_used(body, rules):
            users[used].append(name)
    found: set[str] = set()
    waiting = list(rules)
    while waiting:
        name = waiting.pop()
        if name not in found and holds(rules[name], rules, found):
            found.add(name)
            waiting.extend(users[name])
    return found


def _ends(node: Node, rules: Rules, known: set[str]) -> bool:
    match node:
        case Reference(name):
            return name not in rules or name in known
        case Choice(alternatives):
            return any(_ends(item, rules, known) for item in alternatives)
        case Repetition(low=0):
            return True
        case _:
            return all(_ends(item, rules, known) for item in children(node))


def _may_be_empty(node: Node, rules: Rules, known: set[str]) -> bool:
    match node:
        case Reference(name):
            return name == NONE or name in known
        case Choice(alternatives):
            return any(_may_be_empty(item, rules, known) for item in alternatives)
        case Template(name) if name != ANY_ORDER:
            return False
        case Repetition(low=0):
            return True
        case Call():
            return False
        case _:
            return all(_may_be_empty(item, rules, known) for item in children(node))


def _beginnings(node: Node, rules: Rules, empty: set[str]) -> Iterator[str]:
    """Return the possible first rules of a node; braces begin with themselves."""
    match node:
        case Reference(name):
            yield from (name,) if name in rules else ()
        case Sequence(items):
            for item in items:
                yield from _beginnings(item, rules, empty)
                if not _may_be_empty(item, rules, empty):
                    return
        case Template(name) if name != ANY_ORDER:
            return
        case _:
            for item in children(node):
                yield from _beginnings(item, rules, empty)


# --- cutting -------------------------------------------------------------------------------------


def levelled(rules: Rules, depth: int) -> dict[str, Node]:
    """The rules with a copy of each recursive one for every level down to a depth.

    A use of a rule that `start` reaches no later than the rule it stands in leads a level down,
    so every cycle does. A reference to the level below the last one is left dangling.
    """
    rank = {name: place for place, name in enumerate(_reached(rules))}
    groups = _cyclic_groups(rules)
    found: dict[str, Node] = {}
    for name, body in rules.items():
        for level in range(1, depth + 1) if name in groups else (1,):
            found[_at(name, level)] = _lowered(body, name, level, groups, rank)
    return found


def _reached(rules: Rules) -> list[str]:
    """Return the rules reached from `start`, depth first."""
    found: dict[str, None] = {}
    # Rules that `start` does not reach come last: they need a rank as well.
    waiting = [*reversed(list(rules)), START]
    while waiting:
        name = waiting.pop()
        if name not in found:
            found[name] = None
            used = [r.name for r in references(rules[name]) if r.name in rules]
            waiting.extend(reversed(used))
    return list(found)


def _cyclic_groups(rules: Rules) -> dict[str, tuple[str, ...]]:
    """Return, for each recursive rule, all rules of its cycles, in the order of the text."""
    uses = {name: rules_used(body, rules) for name, body in rules.items()}
    below = {name: all_below(name, uses) for name in rules}
    cyclic = [name for name in rules if name in below[name]]
    return {
        name: tuple(o for o in cyclic if o in below[name] and name in below[o]) for name in cyclic
    }


def all_below(name: str, uses: Mapping[str, set[str]]) -> set[str]:
    """Return the rules that a rule uses, directly or through others."""
    found: set[str] = set()
    waiting = [name]
    while waiting:
        new = uses[waiting.pop()] - found
        found |= new
        waiting.extend(new)
    return found


def _lowered(
    node: Node,
    owner: str,
    level: int,
    groups: Mapping[str, tuple[str, ...]],
    rank: Mapping[str, int],
) -> Node:
    """Return the body of one level: rules of its own cycles are on this level or the next."""
    if isinstance(node, Reference):
        if node.name not in groups.get(owner, ()):
            return node
        # Every cycle has such a use, so none stays on one level.
        down = rank[node.name] <= rank[owner]
        return replace(node, name=_at(node.name, level + down))
    parts = (_lowered(part, owner, level, groups, rank) for part in children(node))
    return with_children(node, tuple(parts))


def _at(name: str, level: int) -> str:
    return name if level == 1 else f"{name}{LEVEL}{level}"
