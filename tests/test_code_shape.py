"""Files, classes and functions stay small enough to be read in one go."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
LONGEST_FILE, LONGEST_CLASS, LONGEST_FUNCTION = 400, 200, 55
Definition = ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


def sources() -> Iterator[Path]:
    for folder in (ROOT / "automl_admm", *ROOT.glob("plugins/*/src")):
        yield from sorted(folder.rglob("*.py"))


def too_long() -> Iterator[str]:
    for path in sources():
        text = path.read_text(encoding="utf-8")
        name = path.relative_to(ROOT)
        if len(text.splitlines()) >= LONGEST_FILE:
            yield f"{name}"
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, Definition) and lines_of(node) > most_of(node):
                yield f"{name}: {node.name} has {lines_of(node)} lines"


def lines_of(node: Definition) -> int:
    return (node.end_lineno or node.lineno) - node.lineno + 1


def most_of(node: Definition) -> int:
    return LONGEST_CLASS if isinstance(node, ast.ClassDef) else LONGEST_FUNCTION


def test_nothing_is_too_long_to_be_read() -> None:
    assert list(too_long()) == []
