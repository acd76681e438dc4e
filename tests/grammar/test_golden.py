"""Every grammar of golden/ against what was written down for it, to the letter."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from automl_admm.core.errors import GrammarError
from automl_admm.core.space import Choice, Condition, Decision, Parameter
from automl_admm.core.structure.pipeline_space import (
    Alternatives,
    Module,
    Ordered,
    PipelineSpace,
    Sequence,
    Shape,
    parts_of,
)
from automl_admm.grammar import compile_text

GOLDEN = Path(__file__).parent / "golden"
GOOD = sorted((GOLDEN / "good").glob("*.lark"))
BAD = sorted((GOLDEN / "bad").glob("*.lark"))


def describe(pipelines: PipelineSpace) -> str:
    """A pipeline space as text: its decisions and parameters, and then its shape."""
    lines = [*map(describe_decision, pipelines.space.decisions)]
    lines += [*map(describe_parameter, pipelines.space.parameters)]
    return "\n".join([*lines, "", *outline(pipelines.shape, "")]) + "\n"


def describe_decision(decision: Decision) -> str:
    if isinstance(decision, Choice):
        kind, labels = "choice", " | ".join(decision.alternatives)
    else:
        pairs = [f"{decision.items[a]} < {decision.items[b]}" for a, b in decision.precedence]
        kind, labels = "order", ", ".join([*decision.items, *pairs])
    return f"{kind} {decision.name}: {labels}{describe_condition(decision.when)}"


def describe_parameter(parameter: Parameter) -> str:
    return f"parameter {parameter.name}{describe_condition(parameter.when)}"


def describe_condition(when: Condition | None) -> str:
    return "" if when is None else f"  if {when.decision} = {' or '.join(when.alternatives)}"


def outline(shape: Shape, indent: str) -> Iterator[str]:
    deeper = indent + "  "
    match shape:
        case Module(component, parameters, fixed):
            mapped = [f"{argument}={name}" for argument, name in parameters]
            mapped += [f"{argument} is {value!r}" for argument, value in fixed]
            yield f"{indent}{component}({', '.join(mapped)})"
        case Sequence(items):
            yield f"{indent}sequence" if items else f"{indent}nothing"
            for item in items:
                yield from outline(item, deeper)
        case Alternatives(decision, named) | Ordered(decision, named):
            yield f"{indent}{type(shape).__name__.lower()} {decision}"
            for label, item in named:
                yield f"{deeper}{label}:"
                yield from outline(item, deeper + "  ")
        case _:
            yield f"{indent}{type(shape).__name__.lower()}"
            for item in parts_of(shape):
                yield from outline(item, deeper)


@pytest.mark.parametrize("path", GOOD, ids=lambda path: path.stem)
def test_a_good_grammar_means_what_is_written_down(path, components, elsewhere):
    compiled = compile_text(path.read_text("utf-8"), path.name, components, elsewhere)
    assert describe(compiled.pipelines) == path.with_suffix(".txt").read_text("utf-8")


@pytest.mark.parametrize("path", BAD, ids=lambda path: path.stem)
def test_a_bad_grammar_says_all_that_is_written_down(path, components, elsewhere):
    with pytest.raises(GrammarError) as caught:
        compile_text(path.read_text("utf-8"), path.name, components, elsewhere)
    assert f"{caught.value.message}\n" == path.with_suffix(".txt").read_text("utf-8")


def test_every_code_of_a_mistake_has_its_golden_file():
    from automl_admm.grammar.diagnostics import Code

    shown = "".join(path.with_suffix(".txt").read_text("utf-8") for path in BAD)
    assert [code for code in Code if f"error[{code}]" not in shown] == []
