"""Every snippet of README.md and docs/ runs, compiles, or is covered by an example or another test.

A block of Python is run if `<!-- run -->` stands above it; `<!-- example: FILE -->` names the
script of examples/ that covers it. Commands of the shell are parsed here, and run in
tests/test_shell_snippets.py.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import click
import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot as plt

from automl_admm import AutoMLClassifier
from automl_admm.grammar import compile_text
from automl_admm.plugins.loading import load_plugins
from automl_admm.plugins.registry import Registry

pytestmark = pytest.mark.usefixtures("quick_servers")

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted(ROOT.glob("docs/**/*.md"))]
BLOCK = re.compile(r"(?:^<!-- ([^\n]+) -->\n)?^```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
# These tests run the Python or compile the grammars of a page.
TESTED = {
    "cluster": "tests/test_cluster_page.py",
    "columns": "tests/test_columns_page.py",
    "diagnostics": "tests/test_diagnostics_page.py",
    "encoders": "tests/test_encoders_page.py",
    "grammar": "tests/grammar/test_reference.py",
    "models_out": "tests/test_models_out_page.py",
    "other_tools": "tests/test_other_tools_page.py",
    "own_executor": "tests/test_own_executor_page.py",
    "own_solver": "tests/test_own_solver_page.py",
    "python": "tests/test_python_page.py",
    "read_run": "tests/api/test_saved_runs.py",
    "weights_groups_time": "tests/test_weights_page.py",
}
# `.ci/run` reads the first mark of README.md, so its Python has another one.
RUNS = {"run", "run: python"}
OPERATORS = {"|", "&&", ";", "\\"}


@dataclass(frozen=True)
class Snippet:
    page: Path
    mark: str
    kind: str
    text: str

    def __str__(self) -> str:
        return f"{self.page.stem}: {self.text.splitlines()[0][:40]}"


def snippets(*kinds: str) -> Iterator[Snippet]:
    for page in PAGES:
        for mark, kind, text in BLOCK.findall(page.read_text(encoding="utf-8")):
            if kind in kinds:
                yield Snippet(page, mark, kind, text)


PYTHON = [one for one in snippets("python") if one.page.stem not in TESTED]
RUN = sorted({one.page for one in PYTHON if one.mark in RUNS})


@pytest.mark.parametrize("page", sorted(TESTED))
def test_a_test_that_is_named_reads_the_page(page: str) -> None:
    assert f'"{page}.md"' in (ROOT / TESTED[page]).read_text(encoding="utf-8")


@pytest.mark.parametrize("snippet", [one for one in PYTHON if one.mark not in RUNS], ids=str)
def test_python_that_is_not_run_is_covered(snippet: Snippet) -> None:
    kind, _, name = snippet.mark.partition(": ")
    if kind == "file":
        exec(snippet.text, {})  # noqa: S102 - what the page shows
        return
    assert kind == "example", f"mark the snippet with '<!-- run -->': {snippet}"
    example = (ROOT / name).read_text(encoding="utf-8")
    imported = re.findall(r"from automl_admm import ([\w, ]+)", snippet.text)
    assert imported
    for line in imported:
        assert all(re.search(rf"\b{one}\b", example) for one in line.split(", "))


@pytest.mark.parametrize("page", RUN, ids=lambda page: page.stem)
def test_the_python_of_a_page_runs_in_its_order(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    _search_little(monkeypatch)
    known: dict[str, Any] = table()
    with mpl.rc_context({"backend": "Agg"}):
        for snippet in PYTHON:
            if snippet.page == page and snippet.mark in RUNS:
                exec(snippet.text, known)  # noqa: S102 - what the page shows
        plt.close("all")
    if "search" in known:
        assert set(known["search"].predict(known["X_test"])) <= {"yes", "no"}


@cache
def table() -> dict[str, Any]:
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"age": rng.normal(40, 9, 120), "city": rng.choice(["Ulm", "Bonn"], 120)})
    y = np.where(X["age"] + rng.normal(size=120) > 40, "yes", "no")
    return {"X_train": X[:90], "y_train": y[:90], "X_test": X[90:], "y_test": y[90:]}


def _search_little(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let searches end after two evaluations, in this process, in or out of their limits."""
    fit = AutoMLClassifier.fit
    little = {"time_budget": None, "max_evaluations": 2, "executor": "inline"}

    def soon(self: AutoMLClassifier, *given: Any, **named: Any) -> AutoMLClassifier:
        grammar = "tiny" if self.grammar == "default" else self.grammar
        self.set_params(**little, grammar=grammar, on_infeasible="closest")
        return fit(self, *given, **named)

    monkeypatch.setattr(AutoMLClassifier, "fit", soon)


def lark() -> list[Snippet]:
    return [one for one in snippets("lark") if one.page.stem not in TESTED]


@pytest.mark.parametrize("snippet", lark(), ids=str)
def test_a_grammar_compiles(snippet: Snippet) -> None:
    plugins = load_plugins()
    records = list(plugins.components["classification"])
    for shown in PYTHON:
        if shown.page == snippet.page and shown.mark.startswith("file: "):
            known: dict[str, Any] = {}
            exec(shown.text, known)  # noqa: S102 - what the page shows
            records += list(known["components"]())
    registry: Registry[Any] = Registry("component")
    for record in records:
        registry.add(record, "page 1")
    elsewhere = frozenset(record.name for record in plugins.components["regression"])
    made = compile_text(snippet.text, "page", registry, elsewhere, grammars=plugins.grammars)
    assert made.pipelines


def commands() -> list[tuple[str, list[str]]]:
    """List the calls of the program in all blocks of the shell, with the page."""
    found = []
    for snippet in snippets("sh"):
        call: list[str] | None = None
        for line in snippet.text.replace("\\\n", " ").splitlines():
            for word in [*shlex.split(line, comments=True), ";"]:
                if word in OPERATORS:
                    call = None
                elif call is not None:
                    call.append(word)
                elif Path(word).name == "automl-admm":
                    call = []
                    found.append((snippet.page.stem, call))
    return found


def test_there_are_many_commands() -> None:
    assert len(commands()) > 50


@pytest.mark.parametrize(
    "words", [call for _, call in commands()], ids=[" ".join(one[1])[:60] for one in commands()]
)
def test_a_command_of_the_shell_has_the_options_that_it_is_given(words: list[str]) -> None:
    known: dict[str, click.Command] = {
        record.name: record.factory() for record in load_plugins().commands
    }
    assert words[0] in known
    command, rest = known[words[0]], words[1:]
    while isinstance(command, click.Group) and rest and rest[0] in command.commands:
        command, rest = command.commands[rest[0]], rest[1:]
    command.make_parser(click.Context(command)).parse_args([*rest])
