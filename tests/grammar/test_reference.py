"""The page on the language against the language."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from automl_admm.core.structure.pipeline_space import PipelineSpace
from automl_admm.grammar import compile_text
from automl_admm.grammar.check.ranges import CHOICE, RANGES
from automl_admm.grammar.check.recursion import DEPTH
from automl_admm.grammar.locate import packaged_grammars
from automl_admm.grammar.text.matcher import parse
from automl_admm.grammar.tree import NONE, TEMPLATES
from automl_admm.plugins.loading import load_plugins

SECTION = (Path(__file__).parents[2] / "docs" / "reference" / "grammar.md").read_text("utf-8")
PAGE = SECTION.partition("## The language on one page")[2]
CELLS = re.findall(r"^\| ((?:[^|\\]|\\.)*) \|", PAGE, flags=re.MULTILINE)
WRITTEN = [text.replace("\\|", "|") for cell in CELLS for text in re.findall(r"`([^`]+)`", cell)]
RULES = {"a": "pca", "b": "standard_scaler", "c": "select_percentile", "model": "ridge"}


def compiled(text: str) -> PipelineSpace:
    """A grammar of the components and rules that it needs, and no others."""
    rules = "".join(
        f"{name}: {body}\n" for name, body in RULES.items() if re.search(rf"\b{name}\b", text)
    )
    body = text + rules
    used = [
        name
        for name in ("impute", "decision_tree", *RULES.values())
        if re.search(rf"\b{name}\b", body)
    ]
    grammar = body if "%import" in text else f"%import components ({', '.join(used)})\n{body}"
    plugins = load_plugins()
    elsewhere = frozenset(record.name for record in plugins.components["classification"])
    components = plugins.components["regression"]
    loaded = compile_text(grammar, "page", components, elsewhere, grammars=plugins.grammars)
    return loaded.pipelines


AROUND = {
    "//": "{}\nstart: ridge\n",
    "%import components": "{}\nstart: pca ridge\n",
    "%import? components": "{}\n%import components (ridge)\nstart: ridge | lightgbm\n",
    "%import": "{}\nstart: scaler estimator\n",
    "%override": "{}\nstart: impute pca ridge\n",
    "%extend": "start: impute estimator\nestimator: decision_tree\n{}\n",
    "more:": "{}\nstart: impute more ridge\n",
    "by_type": "start: {} ridge\n",
    "": "start: impute ({}) ridge\n",
}


def grammar_of(written: str) -> str:
    """A small grammar that has a line of the page in it."""
    frame = next(frame for start, frame in AROUND.items() if written.startswith(start))
    return frame.replace("{}", written)


def test_there_is_a_page():
    assert len(WRITTEN) > len(TEMPLATES)


@pytest.mark.parametrize("written", WRITTEN)
def test_all_that_the_page_shows_is_understood(written):
    pipelines = compiled(grammar_of(written))
    space = pipelines.space
    first = space.candidate(space.complete({}), space.default_theta())
    assert pipelines.key(parse(pipelines.text(first), pipelines)) == pipelines.key(first)


def test_the_page_shows_every_template_and_none():
    shown = " ".join(WRITTEN)
    assert [name for name in TEMPLATES if f"{name}{{" not in shown] == []
    assert NONE in WRITTEN


def test_the_page_names_every_kind_of_range():
    assert [kind for kind in (*RANGES, CHOICE) if f"`{kind}`" not in PAGE] == []


def test_the_page_says_how_deep_recursion_goes():
    assert f"`--max-depth` ({DEPTH})" in PAGE


def test_every_shipped_grammar_is_named():
    for path in packaged_grammars():
        assert re.search(rf"^\| .*`{path.stem}`.* \|", SECTION, flags=re.MULTILINE), path.stem


def test_every_command_of_grammar_is_shown():
    from automl_admm.cli.commands.grammar import command

    for name in command.commands:
        assert f"automl-admm grammar {name} " in SECTION


def test_the_example_compiles_and_the_texts_on_the_page_are_in_it():
    (example,) = re.findall(r"```lark\n(.*?)```", SECTION, flags=re.DOTALL)
    components = load_plugins().components["classification"]
    pipelines = compile_text(example, "page", components).pipelines
    texts = re.findall(r'"(impute\(\).*?)"', SECTION)
    assert len(texts) == 2
    for text in texts:
        assert pipelines.text(parse(text, pipelines)).startswith("impute(")
