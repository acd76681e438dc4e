"""Everything that can be wrong with a syntax tree; no check stops at the first mistake.

Checks of *soundness* come first: what every later stage builds on. Checks of *tidiness* find what
is surely not meant. What a grammar *means* (`meaning.py`) is looked at only if it is sound.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from graphlib import CycleError, TopologicalSorter

from automl_admm.errors import suggest
from automl_admm.grammar.diagnostics import Code, Diagnostic
from automl_admm.grammar.model import (
    ANY_ORDER,
    BEGINNING,
    NONE,
    START,
    TEMPLATES,
    Choice,
    Grammar,
    Node,
    Reference,
    Template,
    Unsupported,
    label,
    references,
    walk,
)

MAX_PIECES = 1_000


def check(grammar: Grammar, here: frozenset[str], elsewhere: frozenset[str]) -> list[Diagnostic]:
    """All mistakes of soundness and tidiness.

    `here` are the names of the components that the task has, `elsewhere` those of other tasks.
    """
    problems = list(_check_size(grammar))
    if problems:
        return problems
    problems = check_soundness(grammar, here, elsewhere)
    places = {problem.span for problem in problems}
    return [*problems, *(p for p in check_tidiness(grammar) if p.span not in places)]


def check_soundness(
    grammar: Grammar, here: frozenset[str], elsewhere: frozenset[str]
) -> list[Diagnostic]:
    """Mistakes that leave open what the grammar says."""
    return [
        *_check_support(grammar),
        *_check_rule_names(grammar),
        *_check_imported_names(grammar, here | elsewhere),
        *_check_references(grammar, here | elsewhere),
        *_check_templates(grammar),
        *_check_recursion(grammar),
    ]


def check_tidiness(grammar: Grammar) -> list[Diagnostic]:
    """Mistakes that leave the meaning clear, and are surely not meant."""
    return [*_check_unused_rules(grammar), *_check_imports(grammar), *_check_duplicates(grammar)]


def nodes(grammar: Grammar) -> Iterator[Node]:
    """Every node of every rule."""
    for rule in grammar.rules:
        yield from walk(rule.body)


def _check_size(grammar: Grammar) -> Iterator[Diagnostic]:
    """A grammar is untrusted input: what is written is bounded before anything is compared."""
    size = sum(1 for _ in nodes(grammar)) + len(grammar.imports)
    if size > MAX_PIECES:
        message = f"the grammar has {size} pieces; {MAX_PIECES} are allowed"
        yield Diagnostic(Code.TOO_LARGE, BEGINNING, message)


# --- soundness -----------------------------------------------------------------------------------


def _check_support(grammar: Grammar) -> Iterator[Diagnostic]:
    inside = (node for node in nodes(grammar) if isinstance(node, Unsupported))
    for item in (*grammar.unsupported, *inside):
        message = f"{item.what} is not supported here"
        yield Diagnostic(Code.UNSUPPORTED, item.span, message, item.help)


def _check_rule_names(grammar: Grammar) -> Iterator[Diagnostic]:
    first: dict[str, int] = {}
    for rule in grammar.rules:
        if rule.name in first:
            message = f"rule '{rule.name}' is defined twice, first in line {first[rule.name]}"
            help_ = "Rename one, or join them with '|'."
            yield Diagnostic(Code.DEFINED_TWICE, rule.span, message, help_)
        if rule.name in {NONE, *TEMPLATES}:
            message = f"'{rule.name}' has a meaning of its own and cannot be a rule"
            yield Diagnostic(Code.RESERVED, rule.span, message, "Rename the rule.")
        first.setdefault(rule.name, rule.span.line)
    if START not in first:
        message = f"there is no rule '{START}'"
        help_ = f"Write one, as '{START}: impute scaler estimator'."
        near = f" {suggest(START, first)}" if first else ""
        yield Diagnostic(Code.NO_START, BEGINNING, message, help_ + near)


def _check_imported_names(grammar: Grammar, known: frozenset[str]) -> Iterator[Diagnostic]:
    for item in grammar.imports:
        if item.name not in known:
            message = f"there is no component '{item.name}'"
            help_ = suggest(item.name, known)
            yield Diagnostic(Code.UNKNOWN_COMPONENT, item.span, message, help_)


def _check_references(grammar: Grammar, components: frozenset[str]) -> Iterator[Diagnostic]:
    defined = {NONE, *grammar.bodies(), *(item.name for item in grammar.imports)}
    for rule in grammar.rules:
        for reference in references(rule.body):
            if reference.name not in defined:
                message = f"rule '{rule.name}' uses '{reference.name}', which is not defined"
                help_ = _help_undefined(reference.name, defined - {START}, components)
                yield Diagnostic(Code.UNDEFINED, reference.span, message, help_)


def _help_undefined(name: str, defined: Iterable[str], components: frozenset[str]) -> str:
    if name in TEMPLATES:
        return f"Write '{name}{{a, b}}'."
    if name in components:
        return f"It is a component: write '%import components ({name})'."
    return suggest(name, {*defined, *components})


def _check_templates(grammar: Grammar) -> Iterator[Diagnostic]:
    for node in nodes(grammar):
        if not isinstance(node, Template):
            continue
        if node.name not in TEMPLATES:
            message = f"template '{node.name}' is not supported here"
            yield Diagnostic(Code.UNSUPPORTED, node.span, message, suggest(node.name, TEMPLATES))
        elif sum(label(item) != NONE for item in node.arguments) < 2:
            message = f"'{ANY_ORDER}' needs two pieces or more to put in order"
            help_ = "Leave it out where there is only one."
            yield Diagnostic(Code.TOO_FEW_TO_ORDER, node.span, message, help_)


def _check_recursion(grammar: Grammar) -> Iterator[Diagnostic]:
    """Report one cycle after another, each cut where it closes."""
    bodies = grammar.bodies()
    uses = {name: _rules_used(body, bodies) for name, body in bodies.items()}
    while (cycle := _find_cycle(uses)) is not None:
        start = min(range(len(cycle)), key=lambda i: _line(bodies[cycle[i]]))
        ring = [*cycle[start:], *cycle[:start]]
        closing = ring[-1]
        span = next(r.span for r in references(bodies[closing]) if r.name == ring[0])
        way = " → ".join([*ring, ring[0]])
        message = f"rule '{ring[0]}' leads back to itself: {way}"
        yield Diagnostic(Code.RECURSION, span, message, "Recursion comes later.")
        uses[closing].discard(ring[0])


def _line(node: Node) -> tuple[int, int]:
    return node.span.line, node.span.column


def _rules_used(body: Node, bodies: Mapping[str, Node]) -> set[str]:
    return {reference.name for reference in references(body) if reference.name in bodies}


def _find_cycle(uses: Mapping[str, set[str]]) -> list[str] | None:
    """The rules of one cycle, each using the next."""
    ordered = {name: sorted(used) for name, used in uses.items()}
    try:
        TopologicalSorter(ordered).prepare()
    except CycleError as problem:
        found: list[str] = problem.args[1]
        return found[:0:-1]
    return None


# --- tidiness ------------------------------------------------------------------------------------


def _check_unused_rules(grammar: Grammar) -> Iterator[Diagnostic]:
    bodies = grammar.bodies()
    if START not in bodies:
        return
    reached = _reached(bodies)
    for rule in grammar.rules:
        if rule.name not in reached:
            message = f"rule '{rule.name}' is not used by '{START}'"
            yield Diagnostic(Code.UNUSED_RULE, rule.span, message, "Use it or delete it.")


def _reached(bodies: Mapping[str, Node]) -> set[str]:
    reached, waiting = {START}, [START]
    while waiting:
        new = _rules_used(bodies[waiting.pop()], bodies) - reached
        reached |= new
        waiting.extend(new)
    return reached


def _check_imports(grammar: Grammar) -> Iterator[Diagnostic]:
    bodies = grammar.bodies()
    used = {reference.name for body in bodies.values() for reference in references(body)}
    first: set[str] = set()
    for item in grammar.imports:
        if item.name in first:
            message = f"component '{item.name}' is imported twice"
            yield Diagnostic(Code.IMPORTED_TWICE, item.span, message, "Delete one of them.")
        elif item.name in bodies:
            message = f"component '{item.name}' is hidden by the rule of the same name"
            yield Diagnostic(Code.SHADOWED, item.span, message, "Rename the rule.")
        elif item.name not in used:
            message = f"component '{item.name}' is imported and not used"
            yield Diagnostic(Code.UNUSED_IMPORT, item.span, message, "Use it or delete it here.")
        first.add(item.name)


def _check_duplicates(grammar: Grammar) -> Iterator[Diagnostic]:
    for node in nodes(grammar):
        match node:
            case Choice(alternatives=parts):
                yield from _repeated(parts, "choice")
            case Template(arguments=parts):
                yield from _repeated(parts, node.name)
            case _:
                pass


def _repeated(parts: tuple[Node, ...], owner: str) -> Iterator[Diagnostic]:
    seen: Counter[str] = Counter()
    for part in parts:
        text = label(part)
        seen[text] += 1
        if seen[text] == 2:
            help_ = _help_repeated(part)
            message = f"'{text}' stands twice in this {owner}"
            yield Diagnostic(Code.DUPLICATE, part.span, message, help_)


def _help_repeated(part: Node) -> str:
    is_none = isinstance(part, Reference) and part.name == NONE
    return f"'x?' already means 'x | {NONE}'." if is_none else "Delete one of them."
