"""The code of a metric of one's own as a digest: two such metrics may share a name."""

from __future__ import annotations

import dis
import hashlib
import json
import sys
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from functools import partial
from types import CodeType, FunctionType, MappingProxyType, ModuleType
from typing import Any

from automl_admm.plugins.given_parts import GivenParts

# The file of a run has their versions, so that a name in them says what is computed.
VERSIONED = frozenset({"automl_admm", "numpy", "scipy", "pandas", "sklearn"})
VERSIONED |= sys.stdlib_module_names
UNKNOWN = "unknown"
DEEPEST = 50
PLAIN = frozenset({bool, int, float, complex, str, bytes, type(None), type(...)})
# A flag of code since Python 3.13.
HAS_DOCSTRING = 0x4000000
# A line without work, as `pass`; and a part of a number that the next instruction has whole.
NOTHING_DONE = frozenset({"NOP", "EXTENDED_ARG"})
# What these reach is in no name of the code.
HIDING = frozenset({"globals", "eval", "exec", "__import__", "import_module"})


class _UnknownPartError(Exception):
    """A part of a metric says nothing of its work."""


def digest_metric(scoring: Any, given: Any) -> str | None:
    """Return the digest of a metric given as an object, "unknown" without one; None for a name."""
    if not callable(scoring) and not isinstance(given, GivenParts):
        return None
    part = dict(given.records) if isinstance(given, GivenParts) else scoring
    try:
        said = json.dumps(_Description().of(part), sort_keys=True)
    except Exception:  # noqa: BLE001 - somebody's objects: looking at them may do anything
        return UNKNOWN
    return f"{_manner()}:{hashlib.sha256(said.encode()).hexdigest()}"


def _manner() -> str:
    """Return how code becomes a digest here: of two manners nothing is known of both.

    Another Python, or one with -O, compiles the same text to other code.
    """
    return f"{sys.implementation.cache_tag}-{sys.flags.optimize}"


def is_other_metric(was: str | None, is_now: str | None) -> bool:
    """Return True if two digests are known to be of other code.

    >>> is_other_metric("cpython-311:a", "cpython-311:b"), is_other_metric("cpython-311:a", UNKNOWN)
    (True, False)
    """
    tags = [str(code).partition(":")[0] for code in (was, is_now)]
    return was != is_now and tags[0] == tags[1]


class _Description:
    """A metric by the code and the values behind it; what may refer to itself is told once."""

    def __init__(self) -> None:
        # With the parts themselves: the address of one of the past may be that of another.
        self._seen: dict[int, tuple[int, Any]] = {}

    def of(self, part: Any, depth: int = 0) -> Any:
        """Describe a part; raise for one of unknown work."""
        if type(part) in PLAIN:
            return f"{type(part).__name__} {part!r}"
        if _is_versioned(part):
            return _place(part)
        if id(part) in self._seen:
            return self._seen[id(part)][0]
        if depth > DEEPEST:
            raise _UnknownPartError
        # Whether two equal tuples or codes are one object hangs on how they were compiled.
        if not isinstance(part, tuple | CodeType):
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
    """Yield the parts of a function, a record or a collection; raise for what may have others."""
    kind = type(part)
    if kind is FunctionType:
        yield from (part.__code__, part.__defaults__, part.__kwdefaults__, vars(part))
        yield from (cell.cell_contents for cell in part.__closure__ or ())
        yield from _globals_of(part, part.__code__)
    elif kind is CodeType:
        _demand_plain_names(part)
        yield from (part.co_names, part.co_varnames, part.co_flags & ~HAS_DOCSTRING)
        yield from _instructions(part)
        yield from (part.co_argcount, part.co_kwonlyargcount, part.co_exceptiontable)
    elif kind is partial:
        yield from (part.func, part.args, part.keywords)
    elif kind in (dict, MappingProxyType):
        yield from part.items()
    elif kind in (tuple, list):
        yield from part
    elif kind in (frozenset, set):
        yield from sorted(part, key=repr)
    elif is_dataclass(part) and not isinstance(part, type):
        yield from (type(part), *((one.name, getattr(part, one.name)) for one in fields(part)))
    elif type(part).__module__ == "sklearn.metrics._scorer":
        yield from (type(part), vars(part))
    else:
        raise _UnknownPartError


def _instructions(code: CodeType) -> Iterator[Any]:
    """Yield what is done, with its constants: their places would hang on a docstring."""
    for one in dis.get_instructions(code):
        if one.opname not in NOTHING_DONE:
            yield (one.opname, one.argval if one.opcode in dis.hasconst else one.arg)


def _demand_plain_names(code: CodeType) -> None:
    """Raise if a code imports a module of unknown version, or looks things up by a text."""
    if HIDING & {*code.co_names}:
        raise _UnknownPartError
    for one in dis.get_instructions(code):
        if one.opname == "IMPORT_NAME" and str(one.argval).split(".")[0] not in VERSIONED:
            raise _UnknownPartError


def _globals_of(function: FunctionType, code: CodeType) -> Iterator[Any]:
    """Yield the global values of a function and of the functions within it, with their names."""
    for name in code.co_names:
        if name in function.__globals__:
            yield (name, function.__globals__[name])
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _globals_of(function, constant)
