"""A grammar is untrusted input: whatever it says, the answer is an error, never a hang."""

from __future__ import annotations

import sys

import pytest

from automl_admm.core.errors import ConfigurationError, GrammarError
from automl_admm.core.structure.precedence import MOST_BOUND
from automl_admm.grammar import compile_text
from automl_admm.grammar.diagnostics import SHOWN
from automl_admm.grammar.show.counting import count_shapes
from automl_admm.grammar.text.matcher import parse

# What takes this long hangs, however slow the machine is.
pytestmark = pytest.mark.timeout(30)
IMPORTS = "%import components (pca, ridge, forest)\n"
CHAIN = "".join(f"r{i}: r{i + 1}\n" for i in range(400))
DOUBLING = "".join(f"r{i}: r{i + 1} r{i + 1}\n" for i in range(200))
# 2^(2^40) pipelines in forty lines; they load in a moment and cannot be written out.
CHOOSING = "".join(f"r{i}: r{i + 1} r{i + 1} | r{i + 1}\n" for i in range(40))
PIECES = [f"p{i}" for i in range(40)]
HOSTILE = {
    "parentheses": (f"start: {'(' * 3000}pca{')' * 3000} ridge\n", "nested too deep"),
    "choices": (f"start: {'(pca | ' * 3000}ridge{')' * 3000}\n", "nested too deep"),
    "templates": (f"start: {'any_order{pca, ' * 300}pca{'}' * 300} ridge\n", "nested too deep"),
    "rules": ("start: ridge\n" + "".join(f"a{i}: b\n" for i in range(5000)), "pieces; 1000 are"),
    "characters": ("start: ridge\n" * 10_000, "at most 64000 characters"),
    "chain": (f"start: r0 ridge\n{CHAIN}r400: pca\n", "nested more than 60 deep"),
    "doubling": (f"start: r0 ridge\n{DOUBLING}r200: none\n", "more than 1000 pieces"),
    "doubling of choices": (f"start: r0 ridge\n{CHOOSING}r40: pca?\n", "more than 1000 pieces"),
    "very many rules": (
        "start: ridge\n" + "".join(f"r{i}: pca\n" for i in range(20_000)),
        "at most 64000 characters",
    ),
    "a short cycle": ("start: a ridge\na: b\nb: a\n", "rule 'a' never comes to an end"),
    "a rule that begins with itself": (
        "start: a ridge\na: a pca | pca\n",
        "rule 'a' begins with itself",
    ),
    "precedence of very many": (
        f"start: any_order{{{', '.join(PIECES)}, before{{{', '.join(PIECES)}}}}} ridge\n"
        + "".join(f"{name}: pca?\n" for name in PIECES),
        "12 pieces of an order at most",
    ),
    "precedence of pairs without end": (
        f"start: any_order{{pca, forest, before{{{', '.join(['pca', 'forest'] * 3000)}}}}} ridge\n",
        "no order keeps this: pca → forest → pca",
    ),
    "precedence of precedence": (
        f"start: any_order{{pca, forest, {'before{pca, ' * 100}pca{'}' * 100}}} ridge\n",
        "is no piece of this order",
    ),
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
    "a file": (
        "%import .secret (a)\nstart: a ridge\n",
        "importing from a file \\('.secret'\\) is not",
    ),
    "a folder": ("%import ..secret (a)\nstart: a ridge\n", "is not expected here"),
    "a module": ("start: ridge os.system\n", "is not expected here"),
    "an attribute": ("start: ridge.__class__\n", "is not expected here"),
    "a dunder name": ("start: pca __import__\n", "is not expected here"),
    "a dunder rule": ("start: ridge\n__init__: pca\n", "is not expected here"),
    "a dunder component": ("%import components (__class__)\nstart: ridge\n", "not expected here"),
    "a private component": (
        "%import components (_registry)\nstart: _registry\n",
        "there is no component '_registry'",
    ),
    "a component that is not there": (
        "%import components (rigde)\nstart: rigde\n",
        "there is no component 'rigde'\n.*\n.*\nhelp: Did you mean 'ridge'?",
    ),
    "a built-in of Python": ("%import components (eval)\nstart: eval\n", "no component 'eval'"),
    "a call of a module": (
        'start: "os.system" "(" ")"\n',
        "uses 'os.system', which is not defined",
    ),
    "a call of a dunder": ('start: "__import__" "(" ")"\n', "uses '__import__', which is not"),
    "a parameter that is an attribute": (
        'start: pca "ridge" "(" "__class__" "=" "1" ")"\n',
        "'ridge' has no parameter '__class__'",
    ),
    "a grammar that is a module": (
        "%import os (system)\nstart: ridge\n",
        "there is no grammar 'os'",
    ),
    "a path of modules": (
        "%import automl_admm.plugins.loading (load_plugins)\nstart: ridge\n",
        "importing from 'automl_admm.plugins.loading' is not supported",
    ),
    "a declaration": ("%declare A\nstart: ridge\n", "'%declare' is not supported here"),
    "a terminal of one's own": ("start: /.*/ ridge\n", "a literal is not supported here"),
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


def test_what_a_text_names_is_never_imported(components):
    pipelines = compile_text(
        IMPORTS + "start: pca? (ridge | forest)\n", "text", components
    ).pipelines
    before = set(sys.modules)
    for name in ("os.system", "__import__", "ridge.__class__", "antigravity", "eval"):
        with pytest.raises(ConfigurationError, match=r"error\[P00[12]\]"):
            parse(f"{name}() ridge()", pipelines)
        with pytest.raises(ConfigurationError, match=r"error\[P00[13]\]"):
            parse(f"ridge({name}=1)", pipelines)
    assert set(sys.modules) == before


def test_a_file_beside_a_grammar_is_not_read(components, tmp_path, monkeypatch):
    (tmp_path / "secret.lark").write_text("start: hunter2\n", "utf-8")
    monkeypatch.chdir(tmp_path)
    for text in ("%import .secret (start)\n", "%import .secret.start\n", "%import secret.start\n"):
        with pytest.raises(GrammarError) as caught:
            compile_text(text, str(tmp_path / "mine.lark"), components)
        assert "hunter2" not in caught.value.message


def test_the_orders_of_the_most_that_may_be_bound_are_counted(components):
    names = [f"r{number}" for number in range(MOST_BOUND)]
    row = ", ".join(f"before{{r0, {name}}}" for name in names[1:])
    text = IMPORTS.replace(", forest", "") + "start: many ridge\n"
    text += f"many: any_order{{{', '.join(names)}, {row}}}~5\n"
    text += "".join(f"{name}: pca?\n" for name in names)
    shape = compile_text(text, "most", components).pipelines.shape
    assert count_shapes(shape) == (39916800 * 2**MOST_BOUND) ** 5
