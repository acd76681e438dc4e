"""All checks of a syntax tree; none stops at the first mistake.

Checks of *soundness* come first: every later stage builds on them. Checks of *tidiness* find surely
unintended text. The *meaning* of a grammar (`productive`) is checked only if it is sound.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType

from automl_admm.core.errors import suggest
from automl_admm.grammar.check.before_pairs import check_precedence, check_repeated_pairs
from automl_admm.grammar.check.recursion import all_below, check_recursion, rules_used
from automl_admm.grammar.diagnostics import Code, Diagnostic
from automl_admm.grammar.tree import (
    ANY_ORDER,
    BEGINNING,
    BY_TYPE,
    NONE,
    STACK,
    START,
    TEMPLATES,
    UNION,
    Aliased,
    Call,
    Choice,
    Grammar,
    Node,
    Reference,
    Repetition,
    Template,
    Unsupported,
    children,
    label,
    names_used,
    walk,
)
from automl_admm.plugins.loading import package_of

WITHOUT = "'%import?' in place of '%import' goes on without it."
MAX_PIECES = 1_000  # the largest shipped grammar has 55
MAX_REPEATS = 20


def check(
    grammar: Grammar,
    here: frozenset[str],
    elsewhere: frozenset[str],
    missing: Mapping[str, str] = MappingProxyType({}),
) -> list[Diagnostic]:
    """Return all mistakes of soundness and tidiness.

    `here` are the names of the components for the task, `elsewhere` those of other tasks. Those in
    `missing` cannot be built on this machine, for the reason given.
    """
    # Later checks take time by the product of sizes: a huge text must not reach them.
    problems = list(_check_size(grammar))
    if problems:
        return problems
    problems = check_soundness(grammar, here, elsewhere, missing)
    places = {problem.span for problem in problems}
    # One mistake a place: the untidiness often goes away with it.
    return [*problems, *(p for p in check_tidiness(grammar) if p.span not in places)]


def check_soundness(
    grammar: Grammar, here: frozenset[str], elsewhere: frozenset[str], missing: Mapping[str, str]
) -> list[Diagnostic]:
    """Find mistakes that make the meaning of the grammar unclear."""
    return [
        *_check_support(grammar),
        *_check_rule_names(grammar),
        *_check_imported_names(grammar, here | elsewhere, missing),
        *_check_references(grammar, here | elsewhere),
        *_check_callees(grammar),
        *_check_templates(grammar),
        *_check_repetitions(grammar),
        *check_precedence(nodes(grammar)),
        *check_recursion(grammar),
    ]


def check_tidiness(grammar: Grammar) -> list[Diagnostic]:
    """Find mistakes with a clear meaning, but surely unintended."""
    return [
        *_check_unused_rules(grammar),
        *_check_imports(grammar),
        *_check_duplicates(grammar),
        *check_repeated_pairs(nodes(grammar)),
    ]


def nodes(grammar: Grammar) -> Iterator[Node]:
    """Every node of every rule."""
    for rule in grammar.rules:
        yield from walk(rule.body)


def _check_size(grammar: Grammar) -> Iterator[Diagnostic]:
    """Bound the size of the text before any comparison: a grammar is untrusted input."""
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


def _check_imported_names(
    grammar: Grammar, known: frozenset[str], missing: Mapping[str, str]
) -> Iterator[Diagnostic]:
    for item in grammar.imports:
        if item.optional:
            continue
        if item.name in missing:
            message = f"component '{item.name}' cannot be used: {missing[item.name]}"
            yield Diagnostic(Code.UNAVAILABLE, item.span, message, WITHOUT)
        elif item.name not in known:
            message = f"there is no component '{item.name}'"
            help_ = _bringer(item.name) or suggest(item.name, known)
            yield Diagnostic(Code.UNKNOWN_COMPONENT, item.span, message, help_)


def _bringer(name: str) -> str:
    """Name our package with a component; empty if none has it."""
    package = package_of(name)
    return f"{package} brings it: pip install ./plugins/{package}. {WITHOUT}" if package else ""


def _check_references(grammar: Grammar, components: frozenset[str]) -> Iterator[Diagnostic]:
    defined = {NONE, *grammar.bodies(), *(item.name for item in grammar.imports)}
    for rule in grammar.rules:
        for name, span in names_used(rule.body):
            if name not in defined:
                message = f"rule '{rule.name}' uses '{name}', which is not defined"
                # `start` within a rule is hardly ever what was meant.
                help_ = _help_undefined(name, defined - {START}, components)
                yield Diagnostic(Code.UNDEFINED, span, message, help_)


def _check_callees(grammar: Grammar) -> Iterator[Diagnostic]:
    components = {item.name for item in grammar.imports}
    # A name that is both is told as a hidden import.
    rules = {NONE, *grammar.bodies()} - components
    for node in nodes(grammar):
        if isinstance(node, Call) and node.component in rules:
            message = f"'{node.component}' is no component and takes no parameters"
            help_ = f"Write '{node.component}' alone."
            yield Diagnostic(Code.UNKNOWN_PARAMETER, node.span, message, help_)


def _help_undefined(name: str, defined: Iterable[str], components: frozenset[str]) -> str:
    if name in TEMPLATES:
        return f"Write '{name}{{{'a' if name == STACK else 'a, b'}}}'."
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
        else:
            yield from _check_pieces(node)


def _check_pieces(node: Template) -> Iterator[Diagnostic]:
    """Check the number of pieces of every template; some do not count `none`."""
    written = len(node.arguments)
    real = sum(label(item) != NONE for item in node.arguments)
    if node.name == ANY_ORDER and real < 2:
        message = f"'{ANY_ORDER}' needs two pieces or more to put in order"
        help_ = "Leave it out where there is only one."
        yield Diagnostic(Code.TOO_FEW_TO_ORDER, node.span, message, help_)
    elif node.name == UNION and real < 2:
        message = f"'{UNION}' needs two branches or more to join"
        help_ = f"'{NONE}' adds no columns: leave '{UNION}' out where there is one branch."
        yield Diagnostic(Code.PIECES, node.span, message, help_)
    elif node.name == STACK and written != 1:
        message = f"'{STACK}' takes one piece; this one has {written}"
        help_ = f"Write '{STACK}{{a}} {STACK}{{b}}', or a rule 'either: a | b'."
        yield Diagnostic(Code.PIECES, node.span, message, help_)
    elif node.name == BY_TYPE and written != 2:
        message = f"'{BY_TYPE}' takes two pieces; this one has {written}"
        help_ = f"Write '{BY_TYPE}{{numeric, categorical}}'; '{NONE}' passes columns on."
        yield Diagnostic(Code.PIECES, node.span, message, help_)


def _check_repetitions(grammar: Grammar) -> Iterator[Diagnostic]:
    for node in nodes(grammar):
        if not isinstance(node, Repetition):
            continue
        if not 0 <= node.low <= node.high or node.high == 0:
            message = f"'{label(node)}' repeats nothing: the numbers run from few to many"
            yield Diagnostic(Code.EMPTY_RANGE, node.span, message, "Write '~1..3', for example.")
        elif node.high > MAX_REPEATS:
            message = f"a piece can stand {MAX_REPEATS} times in a row at most"
            yield Diagnostic(Code.TOO_LARGE, node.span, message)


# --- tidiness ------------------------------------------------------------------------------------


def _check_unused_rules(grammar: Grammar) -> Iterator[Diagnostic]:
    bodies = grammar.bodies()
    # All rules would be unused, which is one mistake and not many.
    if START not in bodies:
        return
    uses = {name: rules_used(body, bodies) for name, body in bodies.items()}
    reached = {START, *all_below(START, uses)}
    for rule in grammar.rules:
        if rule.name not in reached:
            message = f"rule '{rule.name}' is not used by '{START}'"
            yield Diagnostic(Code.UNUSED_RULE, rule.span, message, "Use it or delete it.")


def _check_imports(grammar: Grammar) -> Iterator[Diagnostic]:
    bodies = grammar.bodies()
    used = {name for body in bodies.values() for name, _ in names_used(body)}
    first: set[str] = set()
    for item in grammar.imports:
        if item.name in first:
            message = f"component '{item.name}' is imported twice"
            yield Diagnostic(Code.IMPORTED_TWICE, item.span, message, "Delete one of them.")
        elif item.name in bodies:
            message = f"component '{item.name}' is hidden by the rule of the same name"
            yield Diagnostic(Code.SHADOWED, item.span, message, "Rename the rule.")
        # Nobody wrote an implied import, so nobody can delete it.
        elif item.name not in used and not item.implied:
            message = f"component '{item.name}' is imported and not used"
            yield Diagnostic(Code.UNUSED_IMPORT, item.span, message, "Use it or delete it here.")
        first.add(item.name)


def _check_duplicates(grammar: Grammar) -> Iterator[Diagnostic]:
    for node in nodes(grammar):
        match node:
            case Choice(alternatives=parts):
                yield from _repeated(parts, "choice")
            case Template(name, parts) if name == ANY_ORDER:
                yield from _repeated(parts, name)
            case _:
                pass


def _repeated(parts: tuple[Node, ...], owner: str) -> Iterator[Diagnostic]:
    seen: Counter[tuple[str, ...]] = Counter()
    first: dict[tuple[str, ...], Node] = {}
    for part in parts:
        # The labels of unsupported pieces say too little to call two of them the same.
        if any(isinstance(node, Unsupported) for node in walk(part)):
            continue
        # An imported rule may have the label of one of the user's.
        text = (label(part), *_names_shown(part))
        seen[text] += 1
        if seen[text] == 2:  # once, however often it stands there
            help_ = _help_repeated(part, first[text], owner)
            message = f"'{text[0]}' stands twice in this {owner}"
            yield Diagnostic(Code.DUPLICATE, part.span, message, help_)
        first.setdefault(text, part)


def _names_shown(part: Node) -> Iterator[str]:
    """Return the whole names of what a label shows; behind an alias it shows nothing."""
    if isinstance(part, Reference):
        yield part.name
    elif isinstance(part, Call):
        yield part.component
    elif not isinstance(part, Aliased):
        for child in children(part):
            yield from _names_shown(child)


def _help_repeated(part: Node, first: Node, owner: str) -> str:
    if isinstance(part, Reference) and part.name == NONE:
        return f"'x?' already means 'x | {NONE}'."
    if _values_in(part) == _values_in(first):
        return "Delete one of them."
    if owner == ANY_ORDER:
        return "Their values are others: give each a rule of its own."
    return "Their values are others: name them, 'a -> first | b -> second', or give one a choice."


def _values_in(part: Node) -> list[object]:
    """Return the arguments of the components in a part, wherever they stand in the file."""
    calls = (node for node in walk(part) if isinstance(node, Call))
    return [
        (call.component, argument.name, argument.given.kind, argument.given.texts)
        for call in calls
        for argument in call.arguments
    ]
