"""Parameters without an effect in the table at hand: they are not searched."""

from __future__ import annotations

import pytest

from automl_admm.core.errors import ConfigurationError
from automl_admm.core.space import Choice, Parameter
from automl_admm.grammar import compile_text
from automl_admm.grammar.text.matcher import parse
from automl_admm.plugins.contexts import GAPS
from automl_admm.plugins.records import ComponentPlugin
from automl_admm.plugins.registry import Registry
from tests.grammar.conftest import build

HEAD = "%import components (fill, scale, forest)\n"
NARROWED = '"fill" "(" "by" "=" choice{"median", "mean"} ")"'
NO_GAPS = frozenset[str]()


@pytest.fixture(scope="module")
def components() -> Registry[ComponentPlugin]:
    registry: Registry[ComponentPlugin] = Registry("component")
    parameters = (Choice("by", ("mean", "median")), Parameter("share", 0.0, 1.0, default=0.25))
    fill = ComponentPlugin(
        name="fill",
        summary="fake",
        role="transformer",
        factory=build,
        parameters=(*parameters, Parameter("kept", 1, 9, "int", default=3)),
        idle_without_gaps=("by", "share"),
    )
    scale = ComponentPlugin(name="scale", summary="fake", role="transformer", factory=build)
    forest = ComponentPlugin(name="forest", summary="fake", role="estimator", factory=build)
    for one in (fill, scale, forest):
        registry.add(one, "tests")
    return registry


def compiled(rules, components, facts=NO_GAPS):
    head = HEAD if "scale" in rules else HEAD.replace("scale, ", "")
    return compile_text(f"{head}{rules}\n", "text", components, facts=facts).pipelines


def searched(pipelines):
    space = pipelines.space
    names = (item.name.rpartition(".")[2] for item in (*space.decisions, *space.parameters))
    return {name for name in names if name in ("by", "share", "kept")}


@pytest.mark.parametrize(
    ("rules", "left"),
    [
        ("start: fill forest", {"kept"}),
        ("start: first forest\nfirst: fill | scale", {"kept"}),
        ("start: (fill scale | scale) forest", {"kept"}),
        ("start: union{fill, scale} forest", {"kept"}),
        ("start: by_type{fill, scale} forest", {"kept"}),
        (f"start: {NARROWED} scale forest", {"kept"}),
        # What stands before it may leave gaps where the table has none.
        ("start: scale fill forest", {"by", "share", "kept"}),
        ("start: scale? fill forest", {"by", "share", "kept"}),
        ("start: any_order{scale, fill} forest", {"by", "share", "kept"}),
        ("start: scale union{fill, scale} forest", {"by", "share", "kept"}),
    ],
)
def test_what_matters_in_gaps_alone_is_not_searched_without_gaps(components, rules, left):
    assert searched(compiled(rules, components)) == left
    assert searched(compiled(rules, components, {GAPS})) == {"by", "share", "kept"}


def test_a_repeated_component_is_first_only_once(components):
    assert searched(compiled("start: fill~2 forest", components)) == {"by", "share", "kept"}
    space = compiled("start: fill~2 forest", components).space
    assert sum(item.name.endswith(".by") for item in space.decisions) == 1


def test_it_has_its_default_which_the_text_says(components):
    pipelines = compiled("start: fill forest", components)
    text = pipelines.text(parse("fill() forest()", pipelines))
    assert text == 'fill(by="mean", share=0.25, kept=3) forest()'
    narrowed = compiled(f"start: {NARROWED} forest", components)
    assert 'by="median"' in narrowed.text(parse("fill() forest()", narrowed))


def test_a_text_with_another_value_means_the_same_pipeline(components):
    pipelines = compiled("start: fill forest", components)
    usual = parse("fill(kept=4) forest()", pipelines)
    other = parse('fill(by="median", share=0.5, kept=4) forest()', pipelines)
    assert pipelines.key(other) == pipelines.key(usual)
    with_gaps = compiled("start: fill forest", components, {GAPS})
    same = with_gaps.key(parse("fill(kept=4) forest()", with_gaps))
    assert same == pipelines.key(usual)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('fill(by="mode") forest()', "'by' cannot be \"mode\""),
        ("fill(share=2) forest()", "'share' cannot be 2"),
        ("fill(bye=2) forest()", "no parameter 'bye'"),
    ],
)
def test_a_value_that_was_never_declared_is_refused(components, text, message):
    with pytest.raises(ConfigurationError, match=message):
        parse(text, compiled("start: fill forest", components))
