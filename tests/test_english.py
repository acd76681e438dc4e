"""Docstrings open with a verb or a noun, and have few relative clauses."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
QUESTIONS = {"what", "whether", "where", "who", "whose", "how", "why", "when", "which"}
RELATIVES = {"which", "that", "what", "whose", "who", "whom", "where", "whatever", "whoever"}
WORDS = re.compile(r"[A-Za-z']+")
MOST_RELATIVES = 2.5  # in 100 words; tox, httpx and Optuna have 0.9 to 1.5
FOLDERS = sorted(
    [f"automl_admm/{path.parent.name}" for path in ROOT.glob("automl_admm/*/__init__.py")]
    + [f"plugins/{path.parent.name}" for path in ROOT.glob("plugins/*/src")]
)


def docstrings(folder: Path) -> list[tuple[str, list[str]]]:
    """List the place and the words of each docstring below a folder, but for tests."""
    found = []
    for path in sorted(folder.rglob("*.py")):
        if "tests" in path.parts:
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                text = ast.get_docstring(node) or ""
                place = f"{path.relative_to(ROOT)}:{getattr(node, 'lineno', 1)}"
                found.append((place, WORDS.findall(text)))
    return [(place, words) for place, words in found if words]


@pytest.mark.parametrize("folder", FOLDERS)
def test_docstrings_open_with_a_verb_or_a_noun(folder: str) -> None:
    opened = [place for place, words in docstrings(ROOT / folder) if words[0].lower() in QUESTIONS]
    assert opened == []


@pytest.mark.parametrize("folder", FOLDERS)
def test_relative_clauses_are_few(folder: str) -> None:
    words = [word for _, listed in docstrings(ROOT / folder) for word in listed]
    relatives = [word for word in words if word.lower() in RELATIVES]
    assert 100 * len(relatives) / len(words) <= MOST_RELATIVES
