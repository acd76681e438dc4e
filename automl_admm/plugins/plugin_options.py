"""Options of a plugin: `name:key=value,key=value` becomes an instance of its dataclass."""

from __future__ import annotations

import inspect
import re
import types
import typing
from collections.abc import Callable, Mapping
from dataclasses import fields
from enum import Enum
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, Literal

from automl_admm.core.errors import AutomlAdmmError, ConfigurationError, PluginError, suggest
from automl_admm.core.messages import say_error, say_value

TRUE = frozenset({"true", "yes", "on", "1"})
FALSE = frozenset({"false", "no", "off", "0"})


def split_request(text: str) -> tuple[str, dict[str, str]]:
    """Split `gp:restarts=2,xi=0.1` into the name and its raw options."""
    name, _, rest = text.partition(":")
    options: dict[str, str] = {}
    for item in filter(None, (part.strip() for part in rest.split(","))):
        key, equals, value = item.partition("=")
        key = key.strip()
        if not equals or not key:
            raise ConfigurationError(
                f"'{item}' in '{text}' is no option.", hint="Write NAME:key=value,key=value."
            )
        if key in options:
            raise ConfigurationError(f"option '{key}' stands twice in '{text}'.")
        options[key] = value.strip()
    return name.strip(), options


def build_options(owner: str, kind: type[Any], given: Mapping[str, Any]) -> Any:
    """Make the option dataclass of a plugin; texts are read as the fields' types say."""
    known = _types(owner, kind)
    for key in given:
        if key not in known:
            raise ConfigurationError(f"'{owner}' has no option '{key}'.", hint=suggest(key, known))
    values = {key: _convert(owner, key, value, known[key]) for key, value in given.items()}
    try:
        return kind(**values)
    except (AutomlAdmmError, KeyboardInterrupt):
        raise
    except (TypeError, ValueError) as problem:
        message = f"options of '{owner}': {str(problem).rstrip('.')}{_told(given, str(problem))}."
        raise ConfigurationError(message) from problem
    except BaseException as problem:
        raise PluginError(f"options of '{owner}': {say_error(problem)}.") from problem


def write_options(owner: str, kind: type[Any], given: Mapping[str, str]) -> dict[str, str]:
    """Return options as texts of one form: `0.10` and `1e-1` are written `0.1`.

    A text stays as it is if its value has no text that reads back as the same.
    """
    options, known = build_options(owner, kind, given), _types(owner, kind)
    return {
        key: _one_form(text, getattr(options, key), _reader(known[key]) or str)
        for key, text in given.items()
    }


def _one_form(text: str, value: Any, reader: Callable[[str], Any]) -> str:
    shown = value.name if isinstance(value, Enum) else _named(value)
    if isinstance(value, float) and float(f"{value:g}") == value:
        shown = f"{value:g}"
    try:
        return shown if reader(shown) == value else text
    except ValueError:
        return text


def _told(given: Mapping[str, Any], problem: str) -> str:
    """Return the given options that a mistake is about in parentheses; all if it names none."""
    named = [key for key in given if re.search(rf"\b{re.escape(key)}\b", problem)]
    shown = ", ".join(f"{key}={_as_written(given[key])}" for key in named or given)
    return f" (given: {shown})" if shown else ""


def _as_written(value: Any) -> str:
    return value if isinstance(value, str) else say_value(value)


def check_options(owner: str, kind: type[Any]) -> None:
    """Raise if no text can be read as the type of an option, or if the defaults are refused."""
    for key, wanted in _types(owner, kind).items():
        if _reader(wanted) is None:
            raise PluginError(
                f"option '{key}' of '{owner}' is of the type {inspect.formatannotation(wanted)}, "
                "which cannot be read from a text.",
                hint="Use str, int, float, bool, Path, Literal, an Enum, or lists and unions of "
                "these.",
            )
    build_options(owner, kind, {})


def list_options(kind: type[Any]) -> list[tuple[str, str, Any]]:
    """The name of each option, its type, and its default."""
    known, defaults = _types(kind.__name__, kind), kind()
    return [(key, _shown(wanted), getattr(defaults, key, "")) for key, wanted in known.items()]


def _shown(wanted: Any) -> str:
    """Return a type as it is written; of an Enum, its names."""
    is_enum = isinstance(wanted, type) and issubclass(wanted, Enum)
    return _words(wanted) if is_enum else inspect.formatannotation(wanted).replace("pathlib.", "")


def _types(owner: str, kind: type[Any]) -> Mapping[str, Any]:
    try:
        return _types_of(kind)  # type: ignore[arg-type] # a class has a hash
    except Exception as problem:
        raise PluginError(f"options of '{owner}': {say_error(problem)}.") from problem


@lru_cache(maxsize=256)  # of the classes of all plugins, which are asked for at every start
def _types_of(kind: type[Any]) -> Mapping[str, Any]:
    """Return the types of the fields of a dataclass; annotations are evaluated for them."""
    hints = typing.get_type_hints(kind)
    found = {field.name: hints[field.name] for field in fields(kind) if field.init}
    return types.MappingProxyType(found)


def _convert(owner: str, key: str, value: Any, wanted: Any) -> Any:
    if not isinstance(value, str):
        return value
    reader = _reader(wanted) or str
    try:
        return reader(value)
    except ValueError:
        message = f"option '{key}' of '{owner}' must be {_words(wanted)}, not '{value}'."
        raise ConfigurationError(message) from None


def _reader(wanted: Any) -> Callable[[str], Any] | None:
    """Return the reader of texts of a type, or None; a reader raises ValueError."""
    if wanted in READERS:
        return READERS[wanted]
    if isinstance(wanted, type) and issubclass(wanted, Enum):
        return partial(_read_one_of, {member.name: member for member in wanted})
    origin, inside = typing.get_origin(wanted), typing.get_args(wanted)
    if origin is Literal:
        return partial(_read_one_of, {_named(value): value for value in inside})
    if origin in UNIONS:
        # A text is anything: what may be something else as well is tried as that first.
        readers = [_reader(kind) for kind in sorted(inside, key=lambda kind: kind is str)]
        found = [reader for reader in readers if reader is not None]
        return partial(_read_any, found) if len(found) == len(readers) else None
    if origin in (list, tuple):
        repeats = origin is list or (len(inside) == 2 and inside[1] is Ellipsis)
        readers = [_reader(kind) for kind in (inside[:1] if repeats else inside)]
        found = [reader for reader in readers if reader is not None]
        if len(found) == len(readers):
            return partial(_read_several, origin, found, repeats=repeats)
    return None


def _words(wanted: Any) -> str:
    if wanted in WORDS:
        return WORDS[wanted]
    if isinstance(wanted, type) and issubclass(wanted, Enum):
        return " or ".join(member.name for member in wanted)
    origin, inside = typing.get_origin(wanted), typing.get_args(wanted)
    if origin is Literal:
        return " or ".join(_named(value) for value in inside)
    if origin in UNIONS:
        return " or ".join(map(_words, inside))
    if origin in (list, tuple):
        repeats = origin is list or inside[-1] is Ellipsis
        return (
            f"{_words(inside[0])}, or several with ':' between"
            if repeats
            else (" : ".join(map(_words, inside)))
        )
    return inspect.formatannotation(wanted)


def _named(value: object) -> str:
    return str(value).lower() if value is None or isinstance(value, bool) else str(value)


def _read_one_of(known: Mapping[str, Any], text: str) -> Any:
    for name in (text, text.lower()):
        if name in known:
            return known[name]
    raise ValueError(text)


def _read_any(readers: list[Callable[[str], Any]], text: str) -> Any:
    for reader in readers:
        try:
            return reader(text)
        except ValueError:
            continue
    raise ValueError(text)


def _read_several(
    kind: type[Any], readers: list[Callable[[str], Any]], text: str, *, repeats: bool
) -> Any:
    parts = [part.strip() for part in text.split(SEPARATOR)] if text else []
    if repeats:
        readers = readers * len(parts)
    if len(parts) != len(readers):
        raise ValueError(text)
    return kind(reader(part) for reader, part in zip(readers, parts, strict=True))


def _read_none(text: str) -> None:
    if text.lower() != "none":
        raise ValueError(text)


def _read_bool(text: str) -> bool:
    if text.lower() in TRUE:
        return True
    if text.lower() in FALSE:
        return False
    raise ValueError(text)


WORDS = {
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    str: "a text",
    Any: "a text",
    Path: "a path",
    list: "texts with ':' between",
    tuple: "texts with ':' between",
    type(None): "none",
}
SEPARATOR = ":"
UNIONS = (typing.Union, types.UnionType)
READERS: dict[Any, Callable[[str], Any]] = {
    type(None): _read_none,
    bool: _read_bool,
    int: int,
    float: float,
    str: str,
    Any: str,
    Path: Path,
    list: partial(_read_several, list, [str], repeats=True),
    tuple: partial(_read_several, tuple, [str], repeats=True),
}
