"""Pipelines as text: what is printed reads back, and what cannot be read is explained."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from automl_admm.core.errors import ConfigurationError
from automl_admm.core.space import Candidate, Choice, Parameter, SearchSpace
from automl_admm.core.structure.pipeline_space import Module, PipelineSpace, occupied
from automl_admm.grammar import compile_text, load_grammar
from automl_admm.grammar.compile import analyse
from automl_admm.grammar.diagnostics import Code
from automl_admm.grammar.expand.unfolding import unfold
from automl_admm.grammar.locate import packaged_grammars
from automl_admm.grammar.text.arguments import bind
from automl_admm.grammar.text.matcher import find_derived, parse, parse_lines
from automl_admm.grammar.text.parser import TextCode, TextError, read_row
from automl_admm.pipelines.build import build_pipeline
from automl_admm.pipelines.row_weighing import without_weighers
from automl_admm.plugins.loading import Plugins, load_plugins
from automl_admm.plugins.records import TASKS, BuildContext, LearningTask

GOLDEN = Path(__file__).parents[1] / "golden" / "text"
GRAMMAR = """\
%import components (impute, scale, pca, select, forest, ridge, svm)
start: impute any_order{scaler, reducer, selector} estimator
scaler: scale?
reducer: pca?
selector: none | select
estimator: forest | ridge | svm
"""
BRANCHED = """\
%import components (impute, scale, pca, select, forest, ridge)
start: by_type{numbers, none} union{reduced, kept} stacked forest
numbers: impute scale?
reduced: pca?
kept: select (scale | union{pca, select})
stacked: none | stack{linear}
linear: scale? ridge
"""
NAMES = [path.stem for path in packaged_grammars()]


@pytest.fixture(scope="module")
def pipelines(components) -> PipelineSpace:
    return compile_text(GRAMMAR, "mine", components).pipelines


@pytest.fixture(scope="module")
def branched(components) -> PipelineSpace:
    return compile_text(BRANCHED, "branched", components).pipelines


@pytest.fixture(scope="module")
def plugins() -> Plugins:
    return load_plugins()


@pytest.fixture(scope="module")
def shipped(plugins) -> list[tuple[PipelineSpace, LearningTask]]:
    """The spaces of all packaged grammars, for every task that each can serve."""
    everywhere = frozenset(p.name for registry in plugins.components.values() for p in registry)
    found = []
    for name in NAMES:
        for task in TASKS:
            try:
                loaded = load_grammar(name, plugins.components[task], plugins.grammars, everywhere)
            except ConfigurationError:
                continue
            found.append((loaded.pipelines, task))
    assert len(found) >= len(NAMES)
    return found


def drawn(pipelines: PipelineSpace, seed: int) -> Candidate:
    space, rng = pipelines.space, np.random.default_rng(seed)
    return space.candidate(space.sample(rng), rng.uniform(size=len(space.parameters)))


@settings(deadline=None, max_examples=200)
@given(number=st.integers(0, 1_000), seed=st.integers(0, 2**32 - 1))
def test_every_pipeline_of_every_shipped_grammar_reads_back(plugins, shipped, number, seed):
    pipelines, task = shipped[number % len(shipped)]
    candidate = drawn(pipelines, seed)
    text = pipelines.text(candidate)
    read = parse(text, pipelines)
    assert pipelines.text(read) == text
    assert pipelines.key(read) == pipelines.key(candidate)
    steps, context = pipelines.steps(read), BuildContext(task, (0, 1, 2), (3,))
    built = build_pipeline(steps, plugins.components[task], context, seed)
    flow = without_weighers(steps, plugins.components[task])
    assert len(built.steps) == len(occupied(flow))


CALLED = '"pca" "(" "whiten" "=" "true" "," "n_components" "=" float{"0.6", "0.8"} ")"'
MODELS = (
    "ridge | svm",
    'svm | d\nd: "svm" "(" "degree" "=" "3" ")"',
    '"svm" "(" "kernel" "=" "poly" "," "degree" "=" int{"2", "4"} ")"',
)
PIECES = (
    CALLED,
    "pca",
    "pca?",
    "(pca | scale)",
    "(scale | pca scale)?",
    "select~1..2",
    "x",
    "stack{m}",
)
BODIES = (
    "any_order{a, b, c}",
    "any_order{a, b, c, before{c, a}}",
    "any_order{a, b, c, before{c, b, a}}",
    "union{a, b} c",
    "a b c",
    "any_order{a, b}~1..2 c",
    "(a | b c)~2",
)


@settings(deadline=None)
@given(
    body=st.sampled_from(BODIES),
    parts=st.tuples(*[st.sampled_from(PIECES)] * 3),
    model=st.sampled_from(MODELS),
    seed=st.integers(0, 2**32 - 1),
)
def test_every_pipeline_of_every_grammar_reads_back(components, body, parts, model, seed):
    rules = "".join(f"{name}: {part}\n" for name, part in zip("abc", parts, strict=True))
    text = f"start: {body} m\nm: {model}\nx: none | scale x\n{rules}"
    used = [name for name in ("pca", "scale", "select", "ridge", "svm") if name in text]
    grammar = f"%import components ({', '.join(used)})\n{text}"
    found = analyse(grammar, components)
    assume(all(problem.code == Code.UNUSED_RULE for problem in found.problems))
    pipelines = unfold(found.rules, components)
    candidate = drawn(pipelines, seed)
    text = pipelines.text(candidate)
    read = parse(text, pipelines)
    assert in_any_order(pipelines.text(read)) == in_any_order(text)
    assert pipelines.key(read) == pipelines.key(candidate)


def in_any_order(text: str) -> str:
    """The text with sorted arguments: where it can be read in two ways, they may differ in that."""
    return re.sub(r"\(([^()]*)\)", lambda found: str(sorted(found[1].split(", "))), text)


@given(seed=st.integers(0, 2**32 - 1))
def test_every_pipeline_with_branches_reads_back(branched, seed):
    text = branched.text(drawn(branched, seed))
    assert branched.text(parse(text, branched)) == text


def test_branches_are_read_part_by_part(branched):
    text = "by_type{impute(), none} union{none, select() union{pca(), select()}} forest()"
    read = parse(text, branched)
    assert [step.split("(")[0] for step in branched.text(read).split(" ")] == [
        "by_type{impute",
        "none}",
        "union{none,",
        "select",
        "union{pca",
        "whiten=false),",
        "select",
        "forest",
    ]


BAD_BRANCHES = {
    "union{pca(), select() scale()} forest()": (1, "Here may stand: by_type{…}"),
    "by_type{none, none} union{none, none} forest()": (9, "something is missing"),
    "by_type{scale(), none} union{none, none} forest()": (9, "Here may stand: impute"),
    "by_type{impute()} union{none, none} forest()": (1, "has 1 parts, and here it is one of 2"),
    "by_type{impute(), none} union{pca() pca(), none} forest()": (37, "Nothing may follow here"),
    "by_type{impute(), none} union{pca(), select()} forest()": (46, "Here may stand: scale, union"),
    "by_type{impute(), none} unoin{pca(), none} forest()": (25, "Here may stand: union{…}"),
    "by_type{impute(), none} union{pca(), } forest()": (38, "Write 'none'"),
    "by_type{impute(), none} union{pca(), none forest()": (43, "'forest' stands where"),
}


@pytest.mark.parametrize("text", BAD_BRANCHES)
def test_a_mistake_in_branches_has_its_place(branched, text):
    column, says = BAD_BRANCHES[text]
    with pytest.raises(ConfigurationError) as caught:
        parse(text, branched)
    assert caught.value.message.startswith(f"pipeline:1:{column}: error[P00")
    assert says in caught.value.message


def test_what_is_left_out_takes_its_default(pipelines):
    text = pipelines.text(parse("impute() pca() forest()", pipelines))
    assert text == (
        'impute(strategy="mean") pca(n_components=0.9, whiten=false) forest(n_estimators=100)'
    )


def test_it_makes_the_choices_that_the_text_shows(pipelines):
    read = parse('impute() select() scale() svm(kernel="poly", degree=4)', pipelines)
    assert dict(read.selection.picks) == {
        "start.impute.strategy": "mean",
        "start.order": ("selector", "scaler", "reducer"),
        "scaler": "scale",
        "reducer": "none",
        "selector": "select",
        "estimator": "svm",
        "estimator.svm.kernel": "poly",
    }


def test_an_order_that_comes_to_the_same_is_the_written_one(pipelines):
    read = parse("impute() select() ridge()", pipelines)
    assert read.selection.get("start.order") == ("scaler", "reducer", "selector")


def test_of_two_ways_to_read_a_text_the_first_is_taken(components):
    text = "%import components (pca, ridge)\nstart: first second ridge\n"
    text += "first: pca | none\nsecond: pca | none\n"
    read = parse("pca() ridge()", compile_text(text, "two", components).pipelines)
    assert dict(read.selection.picks) == {"first": "pca", "second": "none"}


@settings(deadline=None)
@given(
    low=st.floats(-1e6, 1e6),
    width=st.floats(1e-3, 1e6),
    unit=st.floats(0.0, 1.0),
    log=st.booleans(),
)
def test_a_number_of_six_digits_reads_back(low, width, unit, log):
    low = abs(low) + 1e-6 if log else low
    parameter = Parameter("x", low, low + width, log=log)
    assert written_value(parameter, parameter.value(unit)) == parameter.value(unit)


@pytest.mark.parametrize(("low", "high"), [(-0.1, 0.7), (-0.3, 0.1), (-0.6, 0.2), (-1e6, 3.3)])
def test_a_zero_reads_back_in_every_range_around_it(low: float, high: float):
    assert written_value(Parameter("x", low, high), 0.0) == 0.0


@given(low=st.integers(1, 1000), width=st.integers(0, 10**6), unit=st.floats(0.0, 1.0), log=...)
def test_an_integer_reads_back(low: int, width: int, unit: float, log: bool):
    parameter = Parameter("x", low, low + width, kind="int", log=log)
    assert written_value(parameter, parameter.value(unit)) == parameter.value(unit)


@pytest.mark.parametrize("kind", ["int", "category"])
def test_values_that_only_python_takes_for_one_another_are_told_apart(kind):
    parameter = Parameter("x", 0, 6, kind=kind, values=(None, True, 1, "1", 1.0, 0.0, -0.0))
    for number, value in enumerate(parameter.values):
        read = written_value(parameter, value)
        assert repr(read) == repr(value), number


def test_a_choice_of_values_is_read_by_value():
    item = Choice("x", ("nothing", "one", "all", "yes"), values=(None, 1, 1.0, True))
    pipelines = PipelineSpace(SearchSpace((item,)), Module("m", (("x", "x"),)))
    for label, text in [("nothing", "null"), ("one", "1"), ("all", "1.0"), ("yes", "true")]:
        assert parse(f"m(x={text})", pipelines).selection.get("x") == label


ODD = (math.nan, math.inf, -math.inf, 2**63, 2**63 + 1, -(2**70), 10**600, 1e300, "Infinity", None)


def test_every_value_that_is_printed_reads_back():
    item = Choice("x", tuple(map(repr, ODD)), values=ODD)
    pipelines = PipelineSpace(SearchSpace((item,)), Module("m", (("x", "x"),)))
    for label in item.alternatives:
        candidate = pipelines.space.candidate(pipelines.space.complete({"x": label}), np.zeros(0))
        assert parse(pipelines.text(candidate), pipelines) == candidate


@pytest.mark.parametrize("value", ["NaN", "Infinity", "-Infinity", "9" * 600, "-" + "9" * 600])
def test_what_is_in_no_range_is_told_in_a_short_line(value):
    pipelines = PipelineSpace(SearchSpace((), (Parameter("x", 0, 1),)), Module("m", (("x", "x"),)))
    with pytest.raises(ConfigurationError, match=f"'x' cannot be {value[:20]}") as caught:
        parse(f"m(x={value})", pipelines)
    assert len(caught.value.message.split("\n")[0]) < 120


def written_value(parameter: Parameter, value: object) -> object:
    pipelines = PipelineSpace(SearchSpace((), (parameter,)), Module("m", (("x", "x"),)))
    candidate = parse(f"m(x={json.dumps(value)})", pipelines)
    return pipelines.space.values(candidate)["x"]


def test_what_is_fixed_may_be_said_and_not_changed():
    pipelines = PipelineSpace(SearchSpace(), Module("m", (), (("p", False),)))
    assert pipelines.text(parse("m(p=false)", pipelines)) == "m(p=false)"
    with pytest.raises(ConfigurationError, match="'p' is always false here"):
        parse("m(p=0)", pipelines)


MISTAKES = sorted(GOLDEN.glob("*.txt"))


@pytest.mark.parametrize("path", MISTAKES, ids=lambda path: path.stem)
def test_a_text_that_cannot_be_read_is_explained(path, pipelines):
    text, _, explained = path.read_text("utf-8").partition("\n---\n")
    with pytest.raises(ConfigurationError) as caught:
        parse(text, pipelines)
    assert f"{caught.value.message}\n" == explained


def test_every_code_of_a_mistake_has_its_golden_file():
    shown = "".join(path.read_text("utf-8") for path in MISTAKES)
    assert [code for code in TextCode if f"error[{code}]" not in shown] == []


def test_lines_are_pipelines_and_all_mistakes_are_told(pipelines):
    text = '# mine\n\nimpute() ridge()\n  impute(strategy="mean") ridge()  \nimpute() forest()\r\n'
    read = parse_lines(text, pipelines, "starts.txt")
    assert [pipelines.text(candidate).split()[-1] for candidate in read] == [
        f"ridge(alpha={pipelines.space.values(read[0])['estimator.ridge.alpha']})",
        "forest(n_estimators=100)",
    ]
    with pytest.raises(ConfigurationError) as caught:
        parse_lines(text + "impute() rigde()\nscale() ridge()\n", pipelines, "starts.txt")
    assert "starts.txt:6:10: error[P002]" in caught.value.message
    assert "starts.txt:7:1: error[P005]" in caught.value.message


HOSTILE = {
    "characters": "impute() " * 10_000,
    "nesting": "union{" * 5_000,
    "digits": f"impute() ridge(alpha={'9' * 50_000})",
    "strings": 'impute(strategy="' + "\\" * 20_000,
    "control": "impute() \x1b[2J ridge()",
}


@pytest.mark.parametrize("case", HOSTILE)
def test_a_hostile_text_is_an_error_of_printable_text(pipelines, case):
    with pytest.raises(ConfigurationError) as caught:
        parse(HOSTILE[case], pipelines)
    assert all(c.isprintable() or c in "\n\t" for c in caught.value.message)


def test_a_text_that_can_be_read_in_very_many_ways_is_given_up(components):
    names = [f"r{number}" for number in range(40)]
    text = "%import components (pca, ridge)\n" + f"start: any_order{{{', '.join(names)}}} ridge\n"
    text += "".join(f"{name}: pca?\n" for name in names)
    pipelines = compile_text(text, "many", components).pipelines
    with pytest.raises(ConfigurationError, match="in too many ways"):
        parse("pca() " * 41 + "ridge()", pipelines)


def test_a_long_text_of_a_long_grammar_is_read(components):
    text = "%import components (pca, ridge)\nstart: " + "pca? " * 300 + "ridge\n"
    pipelines = compile_text(text, "long", components).pipelines
    read = parse("pca() " * 200 + "ridge()", pipelines)
    assert sum(pick == "pca" for _, pick in read.selection) == 200


WORDS = ["impute", "ridge", "pca", "(", ")", "{", "}", ",", "=", "1", "0.9", '"mean"', "none", "é"]


@given(st.lists(st.sampled_from(WORDS) | st.text(max_size=3), max_size=15).map(" ".join))
def test_any_text_is_a_pipeline_or_an_error(pipelines, text):
    try:
        said = pipelines.text(parse(text, pipelines))
    except ConfigurationError as problem:
        said = problem.message
    assert said.startswith(("impute(", "pipeline:"))


def test_a_step_that_no_module_can_be_is_a_mistake_not_a_crash():
    (step,) = read_row("m(x=1)").items
    assert isinstance(bind(Module("m"), step, {}), TextError)


def test_of_many_texts_those_are_found_that_are_pipelines_of_the_grammar(shipped) -> None:
    known = [space.text(drawn(space, seed)) for space, _ in shipped for seed in range(4)]
    texts = [*known, "", "impute(", "no_such_step()", known[0] + " impute()", "x" * 1_000_000]
    for space, _ in shipped:
        wanted = {}
        for place, text in enumerate(texts):
            try:
                wanted[place] = parse(text, space)
            except ConfigurationError:
                continue
        assert find_derived(texts, space) == wanted
        assert 4 <= len(wanted) < len(texts)
