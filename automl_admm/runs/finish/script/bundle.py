"""Definitions of this package as text that runs without it, with all that they use."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator, Mapping
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

    def text(self, node: ast.stmt, renamed: Mapping[str, str]) -> str:
        """Return the text of a definition, with decorators and the comment above it."""
        first = min([node.lineno, *(one.lineno for one in getattr(node, "decorator_list", ()))])
        while first > 1 and self.lines[first - 2].startswith("#"):
            first -= 1
        lines, dropped = self._renamed(node, renamed), _facts(node).dropped
        kept = range(first, (node.end_lineno or node.lineno) + 1)
        return "\n".join(lines[number - 1] for number in kept if number not in dropped)

    def _renamed(self, node: ast.stmt, renamed: Mapping[str, str]) -> list[str]:
        """Return all lines, with other names in this definition; arguments keep their own."""
        places = [place for place in _facts(node).places if place[2] in renamed]
        lines = list(self.lines)
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name in renamed:
            at = lines[node.lineno - 1].index(f" {node.name}") + 1
            places.append((node.lineno, at, node.name))
        for number, column, name in sorted(places, reverse=True):
            line = lines[number - 1].encode()  # columns count bytes
            end = column + len(name.encode())
            lines[number - 1] = (line[:column] + renamed[name].encode() + line[end:]).decode()
        return lines


def _is_ours(module: str | None) -> bool:
    return module is not None and module.partition(".")[0] == PACKAGE


@dataclass(frozen=True, slots=True)
class Facts:
    """All that is asked about the code of a definition.

    `used` are the names that it uses when it runs, `places` (line, column, name) are those of names
    that are no arguments. `inner` are imports of this package within it, in lines to be `dropped`.
    """

    used: tuple[str, ...]
    places: tuple[tuple[int, int, str], ...]
    inner: tuple[tuple[str, str, str], ...]
    dropped: frozenset[int]


@cache  # a process may write many scripts, and all share most of their definitions
def _facts(node: ast.stmt) -> Facts:
    everything = list(ast.walk(node))
    own = {part.arg for part in everything if isinstance(part, ast.arg)}
    names = [part for part in everything if isinstance(part, ast.Name) and part.id not in own]
    ours = [p for p in everything if isinstance(p, ast.ImportFrom) and _is_ours(p.module)]
    spans = [range(part.lineno, (part.end_lineno or part.lineno) + 1) for part in ours]
    return Facts(
        tuple(_used_names(node)),
        tuple((part.lineno, part.col_offset, part.id) for part in names),
        tuple(
            (bound, home, there)
            for part in everything
            for bound, (home, there) in _imported(part)
            if _is_ours(home)
        ),
        frozenset(number for span in spans for number in span),
    )


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
    """Collects definitions in an order in which they run.

    Of several with one name all but the first are renamed.
    """

    imports: set[str] = field(default_factory=set)
    parts: list[str] = field(default_factory=list)
    _known: dict[tuple[str, str], str] = field(default_factory=dict)

    def add(self, module: str, name: str) -> str | None:
        """Add a definition after all that it uses; return its name, None if there is none."""
        source = _source(module)
        if name in source.imports:
            return self._import(name, *source.imports[name])
        if name not in source.definitions:
            return None
        if (module, name) not in self._known:
            self._define(source, source.definitions[name])
        return self._known[module, name]

    def _define(self, source: Source, node: ast.stmt) -> None:
        names = _names_of(node)
        self._known |= {(source.name, name): self._free(name, source.name) for name in names}
        short = next((SHORT_FORMS[name] for name in names if name in SHORT_FORMS), None)
        if short is not None:
            self.parts.append(short)
            return
        renamed: dict[str, str] = {}
        facts = _facts(node)
        for used in (*names, *facts.used):
            found = self.add(source.name, used)
            if found not in (None, used):
                renamed[used] = str(found)
        for bound, home, there in facts.inner:
            renamed[bound] = self._import(bound, home, there) or bound
        self.parts.append(source.text(node, renamed))

    def _free(self, name: str, module: str) -> str:
        """Return the name, or one that no other definition has."""
        taken = set(self._known.values())
        if name not in taken:
            return name
        last = module.rpartition(".")[2]
        other = f"{last.upper() if name.isupper() else last}_{name.lstrip('_')}"
        if other in taken:
            raise NotBundledError(f"there are several definitions of '{name}'")
        return other

    def _import(self, bound: str, module: str, name: str) -> str | None:
        if _is_ours(module):
            return self.add(module, name)
        renamed = "" if bound == (name or module) else f" as {bound}"
        start = f"from {module} import {name}" if name else f"import {module}"
        self.imports.add(start + renamed)
        return None

    @property
    def text(self) -> str:
        """The definitions, two blank lines between them."""
        return "\n\n\n".join(self.parts)


def _names_of(node: ast.stmt) -> tuple[str, ...]:
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
