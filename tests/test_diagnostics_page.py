"""The page on diagnostics: each bad example gives its number, each good one gives none."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from automl_admm.constraints.parse import LimitCode, read_text
from automl_admm.constraints.resolve import constraint_of
from automl_admm.core.errors import AutomlAdmmError
from automl_admm.grammar import compile_text
from automl_admm.grammar.diagnostics import Code
from automl_admm.grammar.text.matcher import parse
from automl_admm.grammar.text.parser import TextCode, TextError
from automl_admm.plugins.loading import load_plugins

PAGE = (Path(__file__).parents[1] / "docs" / "reference" / "diagnostics.md").read_text("utf-8")
SECTIONS = dict(re.findall(r"^### (\w\d{3})\n(.*?)(?=^##|\Z)", PAGE, re.DOTALL | re.MULTILINE))
EXAMPLES = re.compile(
    r"^Bad:\n\n```\w+\n(.*?)^```\n\nGood:\n\n```\w+\n(.*?)^```", re.DOTALL | re.MULTILINE
)
GRAMMAR = re.findall(r"<!-- pipelines -->\n```lark\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)[0]
PLUGINS = load_plugins()
# A library that is missing here, a text of megabytes, and a class that data have not: other tests
# have them.
WITHOUT_EXAMPLES = {"G028", "L007", "P006"}


def compiled(text: str) -> object:
    components = PLUGINS.components["classification"]
    elsewhere = frozenset(record.name for record in PLUGINS.components["regression"])
    return compile_text(text, "page", components, elsewhere, grammars=PLUGINS.grammars).pipelines


PIPELINES = compiled(GRAMMAR)
READERS = {
    "G": compiled,
    "L": lambda text: constraint_of(read_text(text.strip()), PLUGINS.constraints),
    "P": lambda text: parse(text.strip(), PIPELINES),  # type: ignore[arg-type]
}


def test_the_page_has_every_number() -> None:
    assert set(SECTIONS) == {str(code) for kind in (Code, LimitCode, TextCode) for code in kind}


@pytest.mark.parametrize("code", sorted(set(SECTIONS) - WITHOUT_EXAMPLES))
def test_the_bad_example_is_found_out_and_the_good_one_read(code: str) -> None:
    ((bad, good),) = EXAMPLES.findall(SECTIONS[code])
    with pytest.raises((AutomlAdmmError, TextError)) as raised:
        READERS[code[0]](bad)
    said = f"{raised.value} error[{getattr(getattr(raised.value, 'diagnostic', None), 'code', '')}]"
    assert f"error[{code}]" in said
    assert READERS[code[0]](good) is not None
