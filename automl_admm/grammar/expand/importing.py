"""`%import default (scaler, estimator)`: import rules of registered grammars.

The rules needed by an imported rule come with it, under names without clashes: `reducer@default`. A
grammar is looked up only in the registry, so a text can open no file.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from automl_admm.core.errors import ConfigurationError, suggest
from automl_admm.grammar.diagnostics import Code, Diagnostic
from automl_admm.grammar.expand.overriding import override
from automl_admm.grammar.locate import read_grammar
from automl_admm.grammar.read.reader import ReadingError, read
from automl_admm.grammar.tree import (
    LEVEL,
    Before,
    Call,
    Grammar,
    Node,
    Reference,
    Rule,
    RuleImport,
    Span,
    Template,
    children,
    names_used,
    with_children,
)
from automl_admm.plugins.records import GrammarPlugin
from automl_admm.plugins.registry import Registry


def include(
    grammar: Grammar, grammars: Registry[GrammarPlugin], around: tuple[str, ...] = ()
) -> tuple[Grammar, list[Diagnostic]]:
    """Return the grammar with all imported rules; `around` are the importing grammars."""
    problems = list(_imported_twice(grammar.rule_imports))
    for wanted in _joined_by_grammar(grammar.rule_imports):
        plugin = _find(wanted, grammars)
        if plugin is None:
            names = [known.name.replace("-", "_") for known in grammars]
            message = f"there is no grammar '{wanted.grammar}'"
            help_ = suggest(wanted.grammar, ["components", *names])
            problems.append(Diagnostic(Code.IMPORT, wanted.span, message, help_))
            continue
        source = _load(plugin, grammars, around)
        if source is None:
            message = f"grammar '{plugin.name}' has mistakes of its own, or imports itself"
            help_ = f"See 'automl-admm grammar check {plugin.name}'."
            problems.append(Diagnostic(Code.IMPORT, wanted.span, message, help_))
            continue
        problems.extend(_missing(wanted, source))
        grammar = _joined(grammar, wanted, source)
    return grammar, problems


def _imported_twice(imports: Iterable[RuleImport]) -> Iterator[Diagnostic]:
    seen: set[tuple[str, str]] = set()
    for wanted in imports:
        named = {(wanted.grammar, item.name): item for item in wanted.names}
        for key, item in named.items():
            if key in seen:
                message = f"rule '{item.name}' is imported twice"
                yield Diagnostic(Code.IMPORTED_TWICE, item.span, message, "Delete one of them.")
        seen |= named.keys()


def _joined_by_grammar(imports: Iterable[RuleImport]) -> Iterable[RuleImport]:
    """Return one import of each grammar: what its rules share comes with them once."""
    found: dict[str, RuleImport] = {}
    for wanted in imports:
        first = found.setdefault(wanted.grammar, replace(wanted, names=()))
        found[wanted.grammar] = replace(first, names=(*first.names, *wanted.names))
    return found.values()


def _find(wanted: RuleImport, grammars: Registry[GrammarPlugin]) -> GrammarPlugin | None:
    """The grammar of a name; a name in a grammar has `_` for `-`."""
    # Lark's names have no hyphen.
    names = (wanted.grammar, wanted.grammar.replace("_", "-"))
    return next((grammars.get(name) for name in names if name in grammars), None)


def _load(
    plugin: GrammarPlugin, grammars: Registry[GrammarPlugin], around: tuple[str, ...]
) -> Grammar | None:
    if plugin.name in around:
        return None
    try:
        source, problems = include(
            read(read_grammar(plugin.path)), grammars, (*around, plugin.name)
        )
    except (ReadingError, ConfigurationError):
        return None
    # Before it is joined: its overrides are meant for its own rules.
    source, more = override(source)
    return None if problems or more else source


def _missing(wanted: RuleImport, source: Grammar) -> Iterator[Diagnostic]:
    rules = source.bodies()
    for item in wanted.names:
        if item.name not in rules:
            message = f"grammar '{wanted.grammar}' has no rule '{item.name}'"
            written = [name for name in rules if LEVEL not in name]
            yield Diagnostic(Code.IMPORT, item.span, message, suggest(item.name, written))


def _joined(grammar: Grammar, wanted: RuleImport, source: Grammar) -> Grammar:
    """Add the wanted rules, their dependencies, and the components of all of them."""
    rules = source.bodies()
    own = {item.name: item.span for item in wanted.names if item.name in rules}
    needed = _needed(list(own), rules)
    # No text can hold such a name, so it clashes with none of the user's.
    names = {name: name if name in own else f"{name}{LEVEL}{wanted.grammar}" for name in needed}
    added: list[Rule] = []
    used: set[str] = set()
    for name in needed:
        span = own.get(name, wanted.span)
        added.append(Rule(names[name], _moved(rules[name], span, names), span))
        used |= {word for word, _ in names_used(rules[name])} - set(rules)
    here = {item.name for item in grammar.imports}
    components = {i.name: i for i in source.imports if i.name in used and i.name not in here}
    imports = [
        replace(components[name], span=wanted.span, implied=True) for name in sorted(components)
    ]
    return replace(grammar, rules=(*grammar.rules, *added), imports=(*grammar.imports, *imports))


def _needed(names: list[str], rules: Mapping[str, Node]) -> list[str]:
    """Return the rules and their dependencies, in the order of discovery."""
    found: dict[str, None] = {}
    waiting = list(reversed(names))
    while waiting:
        name = waiting.pop()
        if name not in found:
            found[name] = None
            waiting.extend(word for word, _ in names_used(rules[name]) if word in rules)
    return list(found)


def _moved(node: Node, span: Span, names: Mapping[str, str]) -> Node:
    """Return the node under its new names; its place is that of the import."""
    if isinstance(node, Reference):
        return Reference(names.get(node.name, node.name), span)
    if isinstance(node, Call):
        given = (replace(a, given=replace(a.given, span=span), span=span) for a in node.arguments)
        return Call(node.component, tuple(given), span)
    parts = tuple(_moved(part, span, names) for part in children(node))
    if isinstance(node, Template):
        rows = (Before(tuple((name, span) for name, _ in row.names), span) for row in node.before)
        return replace(node, arguments=parts, before=tuple(rows), span=span)
    return replace(with_children(node, parts), span=span)
