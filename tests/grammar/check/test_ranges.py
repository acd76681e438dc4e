"""Parameters inside of rules: the ranges, defaults and values that a search then has."""

from __future__ import annotations

import numpy as np
import pytest

from automl_admm.core.errors import ConfigurationError, GrammarError
from automl_admm.core.space import Choice, Condition, Parameter
from automl_admm.grammar import compile_text
from automl_admm.grammar.text.matcher import parse
from automl_admm.plugins.records import ComponentPlugin
from automl_admm.plugins.registry import Registry
from automl_admm.search.starts import default_start


def compiled(components, call, name="ridge"):
    text = f"%import components ({name})\nstart: {call}\n"
    return compile_text(text, "text", components).pipelines


def parameter(components, call, name="ridge"):
    (found,) = compiled(components, call, name).space.parameters
    return found


def test_a_range_has_its_scale_and_its_default(components):
    found = parameter(components, '"ridge" "(" "alpha" "=" log_float{"0.01", "10", "2"} ")"')
    assert (found.low, found.high, found.default) == (0.01, 10.0, 2.0)
    assert (found.kind, found.log) == ("float", True)


def test_without_a_default_the_components_own_is_kept_where_it_lies_in_the_range(components):
    inside = '"forest" "(" "n_estimators" "=" int{"50", "200"} ")"'
    outside = inside.replace('"50"', '"150"')
    assert parameter(components, inside, "forest").default == 100
    assert parameter(components, outside, "forest").default is None


def test_whole_numbers_leave_out_a_default_between_them(components):
    call = '"pca" "(" "n_components" "=" int{"0", "3"} ")" ridge'
    found = compiled(components, call, "pca, ridge").space.parameters[0]
    assert (found.kind, found.default) == ("int", None)


def test_numbers_to_choose_from_are_a_grid_that_starts_at_the_first(components):
    pipelines = compiled(components, '"ridge" "(" "alpha" "=" choice{"5", "0.1"} ")"')
    (found,) = pipelines.space.parameters
    assert (found.kind, found.values) == ("int", (5.0, 0.1))
    assert pipelines.text(default_start(pipelines.space)) == "ridge(alpha=5.0)"


@pytest.mark.parametrize(
    ("name", "argument", "said"),
    [
        ("ridge", '"alpha" "=" choice{"0.5", "0.50"}', "'0.50' stands twice .*, once as '0.5'"),
        ("ridge", '"alpha" "=" choice{"1", "5", "1.0"}', "'1.0' stands twice .*, once as '1'"),
        ("ridge", '"alpha" "=" choice{"1", "1"}', r"'1' stands twice in this choice\n"),
        ("forest", '"n_estimators" "=" choice{"50", "050"}', "'050' stands twice .* as '50'"),
    ],
)
def test_a_number_that_is_written_in_two_ways_stands_twice(components, name, argument, said):
    with pytest.raises(GrammarError, match=said):
        compiled(components, f'"{name}" "(" {argument} ")"', name)


@pytest.mark.parametrize(
    "texts", [("1", "0.5"), ("1",), ("1.0", "1"), ("0.5", "1.0"), ("1.0", "0.5", "1")]
)
def test_a_whole_number_is_not_taken_for_the_share_that_equals_it(texts):
    values = {"1": 1, "1.0": 1.0, "0.5": 0.5}
    share = Choice("share", ("one", "all", "half"), values=tuple(values.values()))
    registry: Registry[ComponentPlugin] = Registry("component")
    registry.add(
        ComponentPlugin(
            name="own", summary="a fake", role="estimator", factory=dict, parameters=(share,)
        ),
        "tests",
    )
    listed = ", ".join(f'"{text}"' for text in texts)
    pipelines = compiled(registry, f'"own" "(" "share" "=" choice{{{listed}}} ")"', "own")
    for choice in pipelines.space.decisions:
        assert [repr(choice.value(label)) for label in choice.alternatives] == [
            repr(values[text]) for text in texts
        ]
    for text in texts:
        candidate = parse(f"own(share={text})", pipelines)
        assert pipelines.text(candidate) == f"own(share={text})"
    if "1.0" not in texts:
        with pytest.raises(ConfigurationError, match=r"'share' (cannot be 1\.0|is always 1 here)"):
            parse("own(share=1.0)", pipelines)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        ('"svm" "(" "kernel" "=" "linear" ")"', 'svm(kernel="linear")'),
        ('"svm" "(" "kernel" "=" choice{"poly"} ")"', 'svm(kernel="poly", degree=4)'),
        ('"svm" "(" "degree" "=" "3" ")"', 'svm(kernel="linear")'),
        (
            '"svm" "(" "degree" "=" "3" "," "kernel" "=" choice{"poly", "linear"} ")"',
            'svm(kernel="poly", degree=3)',
        ),
    ],
)
def test_what_hangs_on_a_choice_goes_where_its_alternative_went(components, call, text):
    pipelines = compiled(components, call, "svm")
    assert pipelines.text(default_start(pipelines.space)) == text


NESTED = (
    Choice("mode", ("off", "on"), values=(False, True)),
    Choice("kind", ("a", "b", "c"), when=Condition("mode", ("on",))),
    Parameter("x", 0, 1, default=0.5, when=Condition("kind", ("b",))),
    Parameter("y", 0, 1, default=0.5, when=Condition("mode", ("on",))),
)
OFF, ON = "own(mode=false)", "own(mode=true, kind="


@pytest.mark.parametrize(
    ("arguments", "texts"),
    [
        ('"mode" "=" "true"', {ON + '"a", y=0.5)', ON + '"b", x=0.5, y=0.5)', ON + '"c", y=0.5)'}),
        ('"mode" "=" choice{"true"} "," "kind" "=" "b"', {ON + '"b", x=0.5, y=0.5)'}),
        ('"mode" "=" "false"', {OFF}),
        ('"mode" "=" "false" "," "kind" "=" "b"', {OFF}),
        ('"kind" "=" "b"', {OFF, ON + '"b", x=0.5, y=0.5)'}),
        ('"kind" "=" "b" "," "x" "=" "1"', {OFF, ON + '"b", x=1.0, y=0.5)'}),
        ('"kind" "=" choice{"c", "a"}', {OFF, ON + '"a", y=0.5)', ON + '"c", y=0.5)'}),
        ('"kind" "=" "a"', {OFF, ON + '"a", y=0.5)'}),
    ],
)
def test_what_hangs_on_a_fixed_choice_is_active_where_that_is(arguments, texts):
    registry: Registry[ComponentPlugin] = Registry("component")
    plugin = ComponentPlugin(
        name="own", summary="a fake", role="estimator", factory=dict, parameters=NESTED
    )
    registry.add(plugin, "tests")
    pipelines = compiled(registry, f'"own" "(" {arguments} ")"', "own")
    space, rng = pipelines.space, np.random.default_rng(0)
    drawn = [space.candidate(space.sample(rng), space.default_theta()) for _ in range(100)]
    found = {pipelines.text(one) for one in drawn}
    assert found == texts
    assert {pipelines.text(parse(text, pipelines)) for text in found} == texts


def test_an_override_holds_wherever_the_component_stands_but_not_against_a_call(components):
    text = (
        "%import components (ridge, pca)\n"
        '%override ridge: "ridge" "(" "alpha" "=" "1" ")"\n'
        '%override pca: "pca" "(" "whiten" "=" "true" ")"\n'
        'start: pca first stack{guess} ridge\nguess: "ridge" "(" "alpha" "=" "2" ")"\n'
        'first: "pca" "(" "n_components" "=" "0.75" ")"\n'
    )
    pipelines = compile_text(text, "text", components).pipelines
    assert pipelines.text(default_start(pipelines.space)) == (
        "pca(whiten=true, n_components=0.9) pca(n_components=0.75, whiten=true) "
        "stack{ridge(alpha=2.0)} ridge(alpha=1.0)"
    )


def test_an_alias_is_the_label_of_its_alternative(components):
    text = (
        "%import components (pca, scale, ridge)\nstart: (scale pca -> both | scale)? ridge -> all\n"
    )
    (choice,) = compile_text(text, "text", components).pipelines.space.decisions
    assert choice.alternatives == ("both", "scale", "none")
