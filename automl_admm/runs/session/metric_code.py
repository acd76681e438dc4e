"""The code of a metric of one's own as a digest: two such metrics may share a name."""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from functools import partial
from types import CodeType, FunctionType, ModuleType
from typing import Any

from automl_admm.plugins.given_parts import GivenParts
from automl_admm.runs.config import RunConfig

# The file of a run has their versions, so that a name in them says what is computed.
VERSIONED = frozenset({"automl_admm", "numpy", "scipy", "pandas", "sklearn"})
VERSIONED |= sys.stdlib_module_names
UNKNOWN = "unknown"
DEEPEST = 50
PLAIN = (bool, int, float, complex, str, bytes, type(None), type(...))


class _UnknownPartError(Exception):
    """A part of a metric says nothing of its work."""


def metric_code(config: RunConfig) -> str | None:
    """Return the digest of a metric given as an object, "unknown" without one; None for a name."""
    given: Any = config.extra_plugins.get("scoring")
    if not callable(config.scoring) and not isinstance(given, GivenParts):
        return None
    part = dict(given.records) if isinstance(given, GivenParts) else config.scoring
    try:
        said = json.dumps(_Description().of(part), sort_keys=True)
    except (_UnknownPartError, ValueError):  # a variable of a closure may have no value yet
        return UNKNOWN
    return hashlib.sha256(said.encode()).hexdigest()


class _Description:
    """A metric by the code and the values behind it, each part once."""

    def __init__(self) -> None:
        # With the parts themselves: the address of one of the past may be that of another.
        self._seen: dict[int, tuple[int, Any]] = {}

    def of(self, part: Any, depth: int = 0) -> Any:
        """Describe a part; raise for one of unknown work."""
        if isinstance(part, PLAIN):
            return f"{type(part).__name__} {part!r}"
        if _is_versioned(part):
            return _place(part)
        if id(part) in self._seen:
            return self._seen[id(part)][0]
        if depth > DEEPEST:
            raise _UnknownPartError
        self._seen[id(part)] = len(self._seen), part
        return [type(part).__name__, [self.of(one, depth + 1) for one in _parts(part)]]


def _is_versioned(part: Any) -> bool:
    """Return True for a module, a function or a class of a library of known version.

    It is looked up under its name: a wrapper may bear the name of the wrapped function.
    """
    if isinstance(part, ModuleType):
        return part.__name__.split(".")[0] in VERSIONED
    module, path = getattr(part, "__module__", None), getattr(part, "__qualname__", None)
    if not isinstance(module, str) or not isinstance(path, str):
        return False
    found: Any = sys.modules.get(module)
    for name in path.split("."):
        found = getattr(found, name, None)
    return found is part and module.split(".")[0] in VERSIONED


def _place(part: Any) -> str:
    if isinstance(part, ModuleType):
        return part.__name__
    return f"{part.__module__}.{part.__qualname__}"


def _parts(part: Any) -> Iterator[Any]:
    """Yield the parts of a function, a record or a collection."""
    if isinstance(part, FunctionType):
        yield from (part.__code__, part.__defaults__, part.__kwdefaults__)
        yield from (cell.cell_contents for cell in part.__closure__ or ())
        yield from _globals_of(part, part.__code__)
    elif isinstance(part, CodeType):
        yield from (part.co_code, part.co_names, part.co_consts)
    elif isinstance(part, partial):
        yield from (part.func, part.args, part.keywords)
    elif isinstance(part, Mapping):
        yield from part.items()
    elif isinstance(part, tuple | list):
        yield from part
    elif isinstance(part, frozenset | set):
        yield from sorted(part, key=repr)
    elif is_dataclass(part) and not isinstance(part, type):
        yield from (type(part), *((one.name, getattr(part, one.name)) for one in fields(part)))
    elif type(part).__module__ == "sklearn.metrics._scorer":
        yield from (type(part), vars(part))
    else:
        raise _UnknownPartError


def _globals_of(function: FunctionType, code: CodeType) -> Iterator[Any]:
    """Yield the global values of a function and of the functions within it, with their names."""
    for name in code.co_names:
        if name in function.__globals__:
            yield (name, function.__globals__[name])
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _globals_of(function, constant)
