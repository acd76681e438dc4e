"""`%override` and `%extend`: changes to imported rules and components.

An override gives a rule another body, or a component other ranges everywhere; an extension gives a
rule more alternatives.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from automl_admm.core.errors import suggest
from automl_admm.grammar.diagnostics import Code, Diagnostic
from automl_admm.grammar.tree import (
    Call,
    Grammar,
    Node,
    Reference,
    Rule,
    children,
    choice,
    with_children,
)


def override(grammar: Grammar) -> tuple[Grammar, list[Diagnostic]]:
    """Apply the overrides and extensions of a grammar, and return their mistakes."""
    problems: list[Diagnostic] = []
    bodies = grammar.bodies()
    calls: dict[str, Call] = {}
    for item in grammar.overrides:
        problem = _problem(item, grammar)
        if problem is not None:
            problems.append(problem)
        elif item.name in bodies:
            bodies[item.name] = item.body
        elif isinstance(item.body, Call):
            calls[item.name] = item.body
    for item in grammar.extensions:
        if item.name in bodies:
            old = bodies[item.name]
            bodies[item.name] = choice((old, item.body), old.span)
        else:
            message = f"there is no rule '{item.name}' to extend"
            help_ = suggest(item.name, bodies)
            problems.append(Diagnostic(Code.OVERRIDE, item.span, message, help_))
    rules = (replace(rule, body=_called(bodies[rule.name], calls)) for rule in grammar.rules)
    return replace(grammar, rules=tuple(rules)), problems


def _problem(item: Rule, grammar: Grammar) -> Diagnostic | None:
    components = {known.name for known in grammar.imports}
    bodies = grammar.bodies()
    if sum(other.name == item.name for other in grammar.overrides) > 1:
        message = f"'{item.name}' is overridden more than once"
        return Diagnostic(Code.OVERRIDE, item.span, message, "Delete all but one.")
    if item.name not in components and item.name not in bodies:
        message = f"there is no rule or imported component '{item.name}' to override"
        help_ = suggest(item.name, [*components, *bodies])
        return Diagnostic(Code.OVERRIDE, item.span, message, help_)
    is_call = isinstance(item.body, Call) and item.body.component == item.name
    if item.name not in bodies and not is_call:
        message = f"'{item.name}' is a component: only its parameters can be overridden"
        help_ = f'Write \'"{item.name}" "(" "…" "=" int{{"1", "9"}} ")"\'.'
        return Diagnostic(Code.OVERRIDE, item.span, message, help_)
    return None


def _called(node: Node, calls: Mapping[str, Call]) -> Node:
    if isinstance(node, Reference) and node.name in calls:
        return replace(calls[node.name], span=node.span)
    if isinstance(node, Call) and node.component in calls:
        given = {argument.name for argument in node.arguments}
        # What a call says itself is closer to its place than an override.
        rest = (a for a in calls[node.component].arguments if a.name not in given)
        return replace(node, arguments=(*node.arguments, *rest))
    return with_children(node, tuple(_called(part, calls) for part in children(node)))
