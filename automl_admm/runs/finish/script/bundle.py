"""Definitions of this package as text that runs without it, with all that they use."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from types import MappingProxyType

PACKAGE = "automl_admm"
# Errors of this package know the command line; of those in a script a line is enough.
SHORT_FORMS: Mapping[str, str] = MappingProxyType(
    {
        "DataError": '''class DataError(ValueError):
    """The data cannot be used: a line on what is wrong, and on the cure."""

    def __init__(self, message, *, hint=None):
        super().__init__(message if hint is None else f"{message} {hint}")''',
    }
)


class NotBundledError(Exception):
    """Raised on a definition that cannot stand alone."""


@dataclass(frozen=True, slots=True)
class Source:
    """The definitions and the imports at the top of a module."""

    name: str
    lines: tuple[str, ...]
    definitions: Mapping[str, ast.stmt]
    imports: Mapping[str, tuple[str, str]]

    def text(self, node: ast.stmt) -> str:
        """Return the text of a definition, with decorators and the comment above it."""
        first = min([node.lineno, *(one.lineno for one in getattr(node, "decorator_list", ()))])
        while first > 1 and self.lines[first - 2].startswith("#"):
            first -= 1
        dropped = {
            number
            for part in ast.walk(node)
            if isinstance(part, ast.ImportFrom) and _is_ours(part.module)
            for number in range(part.lineno, (part.end_lineno or part.lineno) + 1)
        }
        kept = range(first, (node.end_lineno or node.lineno) + 1)
        return "\n".join(self.lines[number - 1] for number in kept if number not in dropped)


def _is_ours(module: str | None) -> bool:
    return module is not None and module.partition(".")[0] == PACKAGE


@cache
def _source(name: str) -> Source:
    text = inspect.getsource(import_module(name))
    definitions: dict[str, ast.stmt] = {}
    imports: dict[str, tuple[str, str]] = {}
    for node in ast.parse(text).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            definitions[node.name] = node
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            definitions |= dict.fromkeys(_assigned(node), node)
        else:
            imports |= dict(_imported(node))
    return Source(name, tuple(text.splitlines()), definitions, imports)


def _assigned(node: ast.Assign | ast.AnnAssign) -> Iterator[str]:
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    for target in targets:
        yield from (part.id for part in ast.walk(target) if isinstance(part, ast.Name))


def _imported(node: ast.AST) -> Iterator[tuple[str, tuple[str, str]]]:
    """Yield the names that an import binds: the module, and the name in it (empty for itself)."""
    if isinstance(node, ast.ImportFrom):
        for alias in node.names:
            yield alias.asname or alias.name, (node.module or "", alias.name)
    elif isinstance(node, ast.Import):
        for alias in node.names:
            yield alias.asname or alias.name, (alias.name, "")


@dataclass(slots=True)
class Bundle:
    """Collects definitions in an order in which they run."""

    imports: set[str] = field(default_factory=set)
    parts: list[str] = field(default_factory=list)
    _homes: dict[str, str] = field(default_factory=dict)

    def add(self, module: str, name: str) -> None:
        """Add a definition and, before it, all that it uses."""
        source = _source(module)
        if name in source.imports:
            self._add_import(name, *source.imports[name])
            return
        if name not in source.definitions or self._homes.get(name) == module:
            return
        if name in self._homes:
            raise NotBundledError(f"'{name}' is defined in {module} and in {self._homes[name]}")
        node = source.definitions[name]
        self._homes |= dict.fromkeys(_names_of(node), module)
        if name in SHORT_FORMS:
            self.parts.append(SHORT_FORMS[name])
            return
        for used in _used_names(node):
            self.add(module, used)
        for inner in ast.walk(node):
            for bound, (home, there) in _imported(inner):
                if _is_ours(home):
                    self._add_import(bound, home, there)
        self.parts.append(source.text(node))

    def _add_import(self, bound: str, module: str, name: str) -> None:
        if not _is_ours(module):
            renamed = "" if bound == (name or module) else f" as {bound}"
            start = f"from {module} import {name}" if name else f"import {module}"
            self.imports.add(start + renamed)
        elif bound != name:
            raise NotBundledError(f"'{module}' is imported under another name")
        else:
            self.add(module, name)

    @property
    def text(self) -> str:
        """The definitions, two blank lines between them."""
        return "\n\n\n".join(self.parts)


def _names_of(node: ast.stmt) -> Iterable[str]:
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return (node.name,)
    return tuple(_assigned(node)) if isinstance(node, ast.Assign | ast.AnnAssign) else ()


class _Uses(ast.NodeVisitor):
    """Collects the names that code uses when it runs: annotations are not looked at."""

    def __init__(self) -> None:
        self.names: list[str] = []

    def visit_Name(self, node: ast.Name) -> None:
        self.names.append(node.id)

    def visit_arg(self, node: ast.arg) -> None:
        """Pass by: an argument has nothing but an annotation."""

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.visit(node.value)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        for part in (*node.decorator_list, node.args, *node.body):
            self.visit(part)


def _used_names(node: ast.stmt) -> list[str]:
    uses = _Uses()
    uses.visit(node)
    return list(dict.fromkeys(uses.names))
