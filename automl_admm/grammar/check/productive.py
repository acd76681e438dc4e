"""The meaning of a sound grammar for the task and the table at hand, and its mistakes.

Two steps, both over the rules in dependency order: drop components of other tasks and tables, and
measure the tree before anybody unfolds it. `positions` then checks the order of pieces.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from graphlib import TopologicalSorter

from automl_admm.grammar.check.names import MAX_PIECES
from automl_admm.grammar.diagnostics import Code, Diagnostic
from automl_admm.grammar.tree import (
    LEVEL,
    NONE,
    START,
    Call,
    Choice,
    Node,
    Reference,
    Repetition,
    Span,
    children,
    choice,
    label,
    meaning,
    plain_name,
    references,
    with_children,
)

MAX_DEPTH = 60  # later stages call themselves level by level, on Python's stack
Rules = Mapping[str, Node]


def dependency_order(rules: Rules) -> list[str]:
    """Return the rules, each after the rules it uses."""
    uses = {
        name: [r.name for r in references(body) if r.name in rules] for name, body in rules.items()
    }
    return list(TopologicalSorter(uses).static_order())


# --- leaving out what the task and the table do not have -----------------------------------------


@dataclass(frozen=True, slots=True)
class Lost:
    """A piece impossible in any pipeline, the choice that lost all by it, and the cause."""

    span: Span
    cause: str
    choice: str = ""

    @property
    def reason(self) -> str:
        """Name the choice, if there is one, and the cause."""
        return (
            f"no alternative of '{self.choice}' is left: {self.cause}"
            if self.choice
            else self.cause
        )


def narrow(rules: Rules, absent: Mapping[str, str]) -> tuple[dict[str, Node], list[Diagnostic]]:
    """Return the rules without the components `absent`, and the mistake if nothing is left.

    The value of `absent` is the reason: it is not for this task, or the table lacks its columns. A
    choice loses such alternatives silently, and those below the last level of a recursion. If it
    loses all of them, every user of the choice is lost, up to the next choice with another
    alternative.
    """
    found: dict[str, Node | Lost] = {}
    for name in dependency_order(rules):
        found[name] = _narrow(rules[name], absent, found)
    start = found[START]
    if isinstance(start, Lost):
        help_ = "Add an alternative: 'automl-admm components' lists what each task has."
        return {}, [Diagnostic(Code.NOTHING_LEFT, start.span, start.reason, help_)]
    return {name: body for name, body in found.items() if not isinstance(body, Lost)}, []


def _narrow(node: Node, absent: Mapping[str, str], rules: Mapping[str, Node | Lost]) -> Node | Lost:
    named = node.component if isinstance(node, Call) else getattr(node, "name", "")
    if named in absent and isinstance(node, Reference | Call):
        return Lost(node.span, f"component '{named}' {absent[named]}")
    if isinstance(node, Reference):
        # `levelled` leaves the way below the last level dangling.
        if LEVEL in node.name and node.name not in rules:
            name = plain_name(node.name)
            return Lost(node.span, f"'{name}' leads back to itself more often than is allowed")
        rule = rules.get(node.name)
        return rule if isinstance(rule, Lost) else node
    parts = [_narrow(child, absent, rules) for child in children(node)]
    kept = tuple(part for part in parts if not isinstance(part, Lost))
    lost = next((part for part in parts if isinstance(part, Lost)), None)
    if isinstance(node, Choice):
        return _narrow_choice(node, kept, lost)
    # Repeated no times it is still possible.
    if isinstance(node, Repetition) and node.low == 0 and lost is not None:
        return Reference(NONE, node.span)
    return with_children(node, kept) if lost is None else lost


def _narrow_choice(node: Choice, kept: tuple[Node, ...], lost: Lost | None) -> Node | Lost:
    if lost is not None and not kept:
        return Lost(node.span, lost.cause, label(node))
    # Where something is lost, two alternatives can have become the same: `(a~0..1)?`.
    first: dict[Hashable, Node] = {}
    for part in kept:
        first.setdefault(meaning(part), part)
    return choice(tuple(first.values()), node.span)


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
    if isinstance(node, Repetition):  # once, and twice, and …
        below *= node.high * (node.high + 1) // 2
    return 1 + below + (rules.get(node.name, 0) if isinstance(node, Reference) else 0)


def _depth(node: Node, rules: Mapping[str, int]) -> int:
    below = max((_depth(child, rules) for child in children(node)), default=0)
    return 1 + max(below, rules.get(node.name, 0) if isinstance(node, Reference) else 0)
