"""A grammar given as text, in place of a name or a file."""

from __future__ import annotations

import re
from dataclasses import dataclass

ONE_LINE = re.compile(r"\s*(%import\b|start\s*:)")


@dataclass(frozen=True, slots=True)
class GrammarText:
    """The text of a grammar; as text it says what it is, and not the grammar.

    >>> str(GrammarText("start: ridge"))
    'a text given in Python'
    """

    text: str

    def __str__(self) -> str:
        return "a text given in Python"


def is_text_of_grammar(source: str) -> bool:
    """Return True for the text of a grammar: names and paths have one line, and no rules.

    >>> is_text_of_grammar("start: ridge"), is_text_of_grammar("start.lark")
    (True, False)
    """
    return "\n" in source or ONE_LINE.match(source) is not None
