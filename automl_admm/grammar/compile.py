"""All stages in a row: a grammar by name, path or text becomes a search space, or one error."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from automl_admm.core.errors import ConfigurationError, GrammarError
from automl_admm.core.structure.pipeline_space import PipelineSpace
from automl_admm.grammar.check.names import check, nodes
from automl_admm.grammar.check.positions import check_places
from automl_admm.grammar.check.productive import check_unfolded_size, narrow
from automl_admm.grammar.check.ranges import check_calls
from automl_admm.grammar.check.recursion import DEPTH, MAX_DEPTH, levelled
from automl_admm.grammar.diagnostics import Code, Diagnostic, render
from automl_admm.grammar.expand.importing import include
from automl_admm.grammar.expand.overriding import override
from automl_admm.grammar.expand.unfolding import unfold
from automl_admm.grammar.given_text import GrammarText
from automl_admm.grammar.locate import find_grammar, read_grammar
from automl_admm.grammar.read.reader import ReadingError, read
from automl_admm.grammar.tree import Grammar, Node
from automl_admm.plugins.records import (
    FEW_LEVELS,
    GAPS,
    KINDS,
    ComponentPlugin,
    GrammarPlugin,
    NeededKind,
    TableFact,
)
from automl_admm.plugins.registry import Registry

Facts = frozenset[TableFact]
ALL_FACTS: Facts = frozenset((*KINDS, GAPS))
COLUMNS_OF: Mapping[NeededKind, str] = {
    "categorical": "category columns",
    "many_levels": f"category columns of more than {FEW_LEVELS} levels",
    "text": "text columns",
    "tags": "columns of tags",
    "groups": "limits that compare decisions on groups",
}
NOWHERE = "no installed package has it"
TIDINESS = frozenset(
    {Code.UNUSED_RULE, Code.UNUSED_IMPORT, Code.IMPORTED_TWICE, Code.SHADOWED, Code.DUPLICATE}
)


@dataclass(frozen=True)
class CompiledGrammar:
    """A grammar's text, its name in messages, and its pipelines.

    `left_out` names the components of an `%import?` that cannot be used here, with the reason; it
    is empty if no installed package has the component.
    """

    text: str
    name: str
    pipelines: PipelineSpace
    left_out: Mapping[str, str] = field(default_factory=dict)
    absent: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Analysis:
    """The rules for the task and the table at hand, all mistakes, and the components left out."""

    rules: Mapping[str, Node] = field(default_factory=dict)
    problems: tuple[Diagnostic, ...] = ()
    left_out: Mapping[str, str] = field(default_factory=dict)
    absent: Mapping[str, str] = field(default_factory=dict)


def load_grammar(
    source: str | Path | GrammarText,
    components: Registry[ComponentPlugin],
    grammars: Registry[GrammarPlugin],
    elsewhere: frozenset[str] = frozenset(),
    max_depth: int = DEPTH,
    facts: Facts = ALL_FACTS,
) -> CompiledGrammar:
    """Load a grammar by registered name, by path, or as text.

    `components` are those of the task at hand; `elsewhere` names those of other tasks, silently
    left out of choices, as are components that need columns which are not among the `facts` of the
    table. A rule may be nested in itself `max_depth` times.
    """
    if isinstance(source, GrammarText):
        text, name = source.text, str(source)
    else:
        path = find_grammar(source, grammars)
        text, name = read_grammar(path), str(path)
    return compile_text(
        text,
        name,
        components,
        elsewhere,
        max_depth=max_depth,
        grammars=grammars,
        facts=facts,
    )


def compile_text(
    text: str,
    name: str,
    components: Registry[ComponentPlugin],
    elsewhere: frozenset[str] = frozenset(),
    *,
    max_depth: int = DEPTH,
    grammars: Registry[GrammarPlugin] | None = None,
    facts: Facts = ALL_FACTS,
) -> CompiledGrammar:
    """Compile a grammar; raises `GrammarError` with all of its mistakes.

    It may import rules of `grammars`.
    """
    if not 1 <= max_depth <= MAX_DEPTH:
        raise ConfigurationError(f"a recursion is cut at a depth from 1 to {MAX_DEPTH}.")
    found = analyse(text, components, elsewhere, max_depth, grammars, facts)
    if found.problems:
        raise GrammarError(render(found.problems, text, name))
    pipelines = unfold(found.rules, components, has_gaps=GAPS in facts)
    return CompiledGrammar(text, name, pipelines, found.left_out, found.absent)


def analyse(
    text: str,
    components: Registry[ComponentPlugin],
    elsewhere: frozenset[str] = frozenset(),
    max_depth: int = DEPTH,
    grammars: Registry[GrammarPlugin] | None = None,
    facts: Facts = ALL_FACTS,
) -> Analysis:
    """Find the rules for the task and the table at hand, and all mistakes."""
    missing = {plugin.name: plugin.missing for plugin in components if plugin.missing}
    here = frozenset(plugin.name for plugin in components) - missing.keys()
    try:
        grammar, problems = include(read(text), grammars or Registry("grammar"))
    except ReadingError as problem:
        return Analysis(problems=(problem.diagnostic,))
    grammar, more = override(grammar)
    problems += [*more, *check(grammar, here, elsewhere, missing)]
    problems += check_calls(nodes(grammar), components)
    # An untidy grammar has a meaning, so its mistakes of meaning can be told as well.
    if any(problem.code not in TIDINESS for problem in problems):
        return Analysis(problems=tuple(problems))
    absent = dict.fromkeys({item.name for item in grammar.imports} - here, "is not for this task")
    left_out = _left_out(grammar, here | elsewhere, missing)
    absent |= {name: f"is left out: {why or NOWHERE}" for name, why in left_out.items()}
    absent |= _without_columns(components, facts)
    rules, lost = narrow(levelled(grammar.bodies(), max_depth), absent)
    estimators = frozenset(plugin.name for plugin in components if plugin.role == "estimator")
    # Each check relies on the one before: only a bounded tree can be walked.
    weighers = frozenset(plugin.name for plugin in components if plugin.role == "weigher")
    encoders = frozenset(plugin.name for plugin in components if plugin.needs) - weighers
    meaning = (
        lost or check_unfolded_size(rules) or check_places(rules, estimators, encoders, weighers)
    )
    named = {item.name: absent[item.name] for item in grammar.imports if item.name in absent}
    return Analysis(rules, (*problems, *meaning), left_out, named)


def _left_out(
    grammar: Grammar, known: frozenset[str], missing: Mapping[str, str]
) -> dict[str, str]:
    """Return the optional components that cannot be used here, with the reason if there is one."""
    wanted = sorted(item.name for item in grammar.imports if item.optional)
    unusable = [name for name in wanted if name in missing or name not in known]
    return {name: missing.get(name, "") for name in unusable}


def _without_columns(components: Registry[ComponentPlugin], facts: Facts) -> dict[str, str]:
    """Return the components that need columns which the table lacks, with the reason."""
    lacking = {plugin.name: plugin.needs - facts for plugin in components}
    return {
        name: f"needs {' and '.join(COLUMNS_OF[kind] for kind in KINDS if kind in missing)}, "
        f"and {'there are' if missing == {'groups'} else 'the table has'} none"
        for name, missing in lacking.items()
        if missing
    }
