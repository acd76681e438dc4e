"""All stages in a row: a grammar by name, path or text becomes a search space, or one error."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from automl_admm.errors import GrammarError
from automl_admm.grammar.checks import check
from automl_admm.grammar.diagnostics import Code, Diagnostic, render
from automl_admm.grammar.locate import find_grammar, read_grammar
from automl_admm.grammar.meaning import check_estimators, check_unfolded_size, narrow
from automl_admm.grammar.model import Node
from automl_admm.grammar.reader import ReadingError, read
from automl_admm.grammar.unfolding import unfold
from automl_admm.plugin_types import ComponentPlugin, GrammarPlugin
from automl_admm.registry import Registry
from automl_admm.shape import PipelineSpace

TIDINESS = frozenset(
    {Code.UNUSED_RULE, Code.UNUSED_IMPORT, Code.IMPORTED_TWICE, Code.SHADOWED, Code.DUPLICATE}
)


@dataclass(frozen=True)
class CompiledGrammar:
    """A grammar's text, what it is called in messages, and the pipelines that it stands for."""

    text: str
    name: str
    pipelines: PipelineSpace


def load_grammar(
    source: str | Path,
    components: Registry[ComponentPlugin],
    grammars: Registry[GrammarPlugin],
    elsewhere: frozenset[str] = frozenset(),
) -> CompiledGrammar:
    """Load a grammar by registered name or by path.

    `components` are those of the task at hand; `elsewhere` names those of other tasks, which
    choices lose without a word.
    """
    path = find_grammar(source, grammars)
    return compile_text(read_grammar(path), str(path), components, elsewhere)


def compile_text(
    text: str,
    name: str,
    components: Registry[ComponentPlugin],
    elsewhere: frozenset[str] = frozenset(),
) -> CompiledGrammar:
    """Compile a grammar; raises `GrammarError` with all of its mistakes."""
    rules, problems = analyse(text, components, elsewhere)
    if problems:
        raise GrammarError(render(problems, text, name))
    return CompiledGrammar(text, name, unfold(rules, components))


def analyse(
    text: str, components: Registry[ComponentPlugin], elsewhere: frozenset[str] = frozenset()
) -> tuple[dict[str, Node], list[Diagnostic]]:
    """The rules as the task at hand has them, and everything that is wrong."""
    here = frozenset(plugin.name for plugin in components)
    try:
        grammar = read(text)
    except ReadingError as problem:
        return {}, [problem.diagnostic]
    problems = check(grammar, here, elsewhere)
    if any(problem.code not in TIDINESS for problem in problems):
        return {}, problems
    rules, lost = narrow(grammar, here)
    meaning = lost or check_unfolded_size(rules) or _check_roles(rules, components)
    return rules, [*problems, *meaning]


def _check_roles(rules: dict[str, Node], components: Registry[ComponentPlugin]) -> list[Diagnostic]:
    estimators = frozenset(plugin.name for plugin in components if plugin.role == "estimator")
    return check_estimators(rules, estimators)
