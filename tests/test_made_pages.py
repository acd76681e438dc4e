"""The parts of pages that are made from the code and from files of other folders."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from borrowed_pages import borrowed, page_of
from made_parts import PARTS, describe_range, told

from automl_admm import plugin_api
from automl_admm.core.space import Choice, Parameter
from automl_admm.plugins.loading import load_plugins

DOCS = Path(__file__).parents[1] / "docs"
MARKS = [
    name
    for page in sorted(DOCS.glob("**/*.md"))
    for name in re.findall(r"^<!-- made: ([\w-]+) -->$", page.read_text("utf-8"), re.MULTILINE)
]


def headings(text: str) -> set[str]:
    return set(re.findall(r"^##+ (.+)$", text, re.MULTILINE))


def test_every_mark_has_its_part_and_every_part_a_page() -> None:
    assert sorted(MARKS) == sorted(PARTS)


@pytest.mark.parametrize("name", sorted(PARTS))
def test_a_part_has_tables_without_a_cell_too_many(name: str) -> None:
    text = PARTS[name]()
    assert len(text) > 500
    width = 0
    for line in re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE).splitlines():
        cells = len(re.findall(r"(?<!\\)\|", line)) if line.startswith("|") else 0
        assert cells == width or not (cells and width), line
        width = cells


def test_the_commands_are_listed_with_their_options() -> None:
    text = PARTS["commands"]()
    assert headings(text) >= {record.name for record in load_plugins().commands}
    assert "| `--budget TIME` |" in text or re.search(r"\| `--budget \w+` \|", text)


def test_the_public_names_all_have_a_heading() -> None:
    told_at_the_head = {"Array", "Search", "WAIT", "hookimpl"}
    assert headings(PARTS["public-names"]()) == {*plugin_api.__all__} - told_at_the_head


def test_a_component_has_the_ranges_that_are_searched() -> None:
    section = PARTS["components"]().partition("## ridge\n")[2].partition("\n## ")[0]
    assert "Estimator for regression" in section
    assert "| `alpha` | float" in section


@pytest.mark.parametrize(
    ("parameter", "shown"),
    [
        (Choice("kind", ("a", "b")), ("a | b", "a")),
        (Parameter("n", 1, 9, kind="int", default=3), ("int 1 to 9", "3")),
    ],
)
def test_a_range_is_told_in_words(parameter: Choice | Parameter, shown: tuple[str, str]) -> None:
    assert describe_range(parameter) == shown


def test_the_example_of_a_docstring_becomes_a_block_of_code() -> None:
    assert told("Say so.\n\nExample::\n\n    f(1)\n") == "Say so.\n\n```python\nf(1)\n```\n"
    assert "```pycon\n>>> f(1)\n2\n```" in told("Say so.\n\n>>> f(1)\n2\n")


def test_a_file_that_is_a_page_has_its_place() -> None:
    assert page_of("docs/benchmarks/reliability.md") == "benchmarks/reliability.md"
    assert page_of("plugins/automl-admm-smac") == "plugins/automl-admm-smac.md"
    assert page_of("pyproject.toml") is None


def test_no_two_pages_have_one_place() -> None:
    places = [page.place for page in borrowed()]
    assert len(set(places)) == len(places)
