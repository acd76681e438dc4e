"""A grammar is untrusted input: whatever it says, the answer is an error, never a hang."""

from __future__ import annotations

import pytest

from automl_admm.errors import GrammarError
from automl_admm.grammar import compile_text
from automl_admm.grammar.diagnostics import SHOWN

IMPORTS = "%import components (pca, ridge, forest)\n"
CHAIN = "".join(f"r{i}: r{i + 1}\n" for i in range(400))
DOUBLING = "".join(f"r{i}: r{i + 1} r{i + 1}\n" for i in range(200))
HOSTILE = {
    "parentheses": (f"start: {'(' * 3000}pca{')' * 3000} ridge\n", "nested too deep"),
    "choices": (f"start: {'(pca | ' * 3000}ridge{')' * 3000}\n", "nested too deep"),
    "templates": (f"start: {'any_order{pca, ' * 300}pca{'}' * 300} ridge\n", "nested too deep"),
    "rules": ("start: ridge\n" + "".join(f"a{i}: b\n" for i in range(5000)), "pieces; 1000 are"),
    "characters": ("start: ridge\n" * 10_000, "at most 64000 characters"),
    "chain": (f"start: r0 ridge\n{CHAIN}r400: pca\n", "nested more than 60 deep"),
    "doubling": (f"start: r0 ridge\n{DOUBLING}r200: none\n", "more than 1000 pieces"),
    "long cycle": (f"start: r0 ridge\n{CHAIN}r400: r0\n", "rule 'r0' never comes to an end"),
    "left recursion": (f"start: r0 ridge\n{CHAIN}r400: r0 | pca\n", "rule 'r0' begins with itself"),
    "copies": ("start: a ridge\na: b~20\nb: c~20\nc: pca~20\n", "more than 1000 pieces"),
    "very many": (f"start: pca~{'9' * 5000} ridge\n", "20 times in a row at most"),
    "recursion": ("start: a ridge\na: pca " + "a " * 40 + "| none\n", "more than 1000 pieces"),
    "digits": (
        f'start: "ridge" "(" "alpha" "=" float{{"1", "{"9" * 5000}"}} ")"\n',
        "is no number",
    ),
    "arguments": (
        'start: "ridge" "(" ' + '"alpha" "=" "1" "," ' * 700 + '"a" "=" "1" ")"\n',
        "'alpha' is given twice",
    ),
    "templates of templates": (
        "start: t{pca} ridge\nt{x}: t{t{x}}\n",
        "template definition 't{…}'",
    ),
    "a slow terminal": ("start: A ridge\nA: /(a+)+$/\n", "a terminal is not supported"),
    "itself": ("start: start\n", "rule 'start' never comes to an end"),
    "a file": ("%import .secret (a)\nstart: a ridge\n", "importing from '.secret' is not"),
    "a folder": ("%import ..secret (a)\nstart: a ridge\n", "is not expected here"),
    "a module": ("start: ridge os.system\n", "is not expected here"),
    "open call": ("start: " + '"pca" "(" ' * 2000 + "ridge\n", "in a call of 'pca'"),
    "control characters": ("start: \x00\x1b[2J ridge\n", "is not expected here"),
}


@pytest.mark.parametrize("case", HOSTILE)
def test_a_hostile_grammar_is_an_error_of_printable_text(components, case):
    text, message = HOSTILE[case]
    with pytest.raises(GrammarError, match=message) as caught:
        compile_text(IMPORTS + text, "hostile", components)
    assert all(c.isprintable() or c in "\n\t" for c in caught.value.message)


def test_of_very_many_mistakes_the_first_are_shown_and_the_rest_counted(components):
    text = IMPORTS + "start: " + "unknown " * 700 + "\n"
    with pytest.raises(GrammarError, match=r"… and 6\d\d more") as caught:
        compile_text(text, "many", components)
    assert caught.value.message.count("error[") == SHOWN


def test_the_most_that_is_allowed_compiles(components):
    text = "%import components (pca, ridge)\nstart: " + "pca " * 900 + "ridge\n"
    assert len(compile_text(text, "long", components).pipelines.space.parameters) == 2 * 900 + 1


def test_what_makes_lark_hang_compiles(components):
    text = "%import components (pca, scale, ridge)\nstart: " + "(pca | scale)? " * 18 + "ridge\n"
    space = compile_text(text, "text", components).pipelines.space
    assert [len(choice.alternatives) for choice in space.decisions] == [3] * 18
