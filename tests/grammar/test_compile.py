"""A grammar by name, by path and by text."""

from __future__ import annotations

from pathlib import Path

import pytest

from automl_admm.core.errors import ConfigurationError, GrammarError
from automl_admm.grammar import compile_text, load_grammar
from automl_admm.grammar.locate import packaged_grammars
from automl_admm.plugins.records import GrammarPlugin
from automl_admm.plugins.registry import Registry

TEXT = "%import components (scale, ridge)\nstart: scale? ridge\n"


@pytest.fixture
def grammars(tmp_path: Path) -> Registry[GrammarPlugin]:
    path = tmp_path / "linear.lark"
    path.write_text(TEXT, "utf-8")
    registry: Registry[GrammarPlugin] = Registry("grammar")
    registry.add(GrammarPlugin(name="linear", summary="a line", path=path), "tests")
    return registry


def test_a_name_is_looked_up_among_the_registered_grammars(components, grammars):
    compiled = load_grammar("linear", components, grammars)
    assert compiled.text == TEXT
    assert compiled.name.endswith("linear.lark")
    assert [choice.name for choice in compiled.pipelines.space.decisions] == ["start.1"]


def test_a_name_is_the_registered_grammar_even_where_a_file_has_that_name(
    components, grammars, tmp_path, monkeypatch
):
    (tmp_path / "linear").write_text("not a grammar", "utf-8")
    monkeypatch.chdir(tmp_path)
    assert load_grammar("linear", components, grammars).text == TEXT
    with pytest.raises(GrammarError, match="linear:1:"):
        load_grammar(Path("linear"), components, grammars)


@pytest.mark.parametrize("kind", [str, Path])
def test_a_path_is_read_as_it_is(components, grammars, tmp_path, kind):
    path = tmp_path / "mine.lark"
    path.write_bytes(b"\xef\xbb\xbf" + TEXT.replace("\n", "\r\n").encode())
    assert load_grammar(kind(path), components, grammars).text == TEXT


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("linaer", "no grammar is named 'linaer'.* Did you mean 'linear'"),
        ("nowhere.lark", "'nowhere.lark' does not exist. By name there are: linear."),
        ("nowhere/linear", "'nowhere/linear' does not exist"),
        (".", "is a folder"),
    ],
)
def test_what_is_neither_name_nor_file_is_said_in_a_line(components, grammars, source, message):
    with pytest.raises(ConfigurationError, match=message):
        load_grammar(source, components, grammars)


@pytest.mark.parametrize(
    ("content", "message"),
    [(b"start: \xff", "not UTF-8 text .byte 7."), (b" " * 300_000, "too large")],
)
def test_a_file_that_is_no_text_or_too_large_is_refused(
    components, grammars, tmp_path, content, message
):
    path = tmp_path / "bad.lark"
    path.write_bytes(content)
    with pytest.raises(ConfigurationError, match=message):
        load_grammar(path, components, grammars)


def test_windows_line_ends_in_a_text_are_line_ends(components):
    compiled = compile_text(TEXT.replace("\n", "\r\n"), "text", components)
    assert compiled.pipelines == compile_text(TEXT, "text", components).pipelines


def test_the_packaged_grammars_are_found():
    assert {path.name for path in packaged_grammars()} >= {"default.lark", "tiny.lark"}


RECURSIVE = "%import components (scale, ridge)\nstart: more ridge\nmore: scale more | none\n"


@pytest.mark.parametrize(("depth", "decisions"), [(1, 0), (2, 1), (3, 2), (20, 19)])
def test_recursion_is_cut_at_a_depth(components, depth, decisions):
    compiled = compile_text(RECURSIVE, "text", components, max_depth=depth)
    names = [decision.name for decision in compiled.pipelines.space.decisions]
    assert names == [".".join(["more"] * count) for count in range(1, decisions + 1)]


@pytest.mark.parametrize("depth", [0, 21])
def test_a_depth_has_its_range(components, depth):
    with pytest.raises(ConfigurationError, match="depth from 1 to 20"):
        compile_text(RECURSIVE, "text", components, max_depth=depth)


OPTIONAL = (
    "%import? components (bayes, catty, nobody, ridge)\nstart: catty | nobody | ridge | bayes\n"
)


def test_optional_components_that_are_not_here_are_named_with_the_reason(components, elsewhere):
    found = compile_text(OPTIONAL, "mine", components, elsewhere)
    assert found.left_out == {
        "catty": "its library is not installed: pip install catty",
        "nobody": "",
    }


def test_a_grammar_without_its_optional_components_is_the_grammar_without_their_names(
    components, elsewhere
):
    plain = "%import components (ridge)\nstart: ridge\n"
    assert (
        compile_text(OPTIONAL, "mine", components, elsewhere).pipelines
        == compile_text(plain, "mine", components, elsewhere).pipelines
    )
