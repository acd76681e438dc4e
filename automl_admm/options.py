"""Options of a plugin: `name:key=value,key=value` becomes an instance of its dataclass."""

from __future__ import annotations

import types
import typing
from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any

from automl_admm.errors import AutomlAdmmError, ConfigurationError, PluginError, suggest
from automl_admm.making import described

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
    try:
        hints = typing.get_type_hints(kind)
    except Exception as problem:
        raise PluginError(f"options of '{owner}': {described(problem)}.") from problem
    known = {field.name: hints[field.name] for field in fields(kind) if field.init}
    for key in given:
        if key not in known:
            raise ConfigurationError(f"'{owner}' has no option '{key}'.", hint=suggest(key, known))
    values = {key: _convert(owner, key, value, known[key]) for key, value in given.items()}
    try:
        return kind(**values)
    except AutomlAdmmError:
        raise
    except (TypeError, ValueError) as problem:
        raise ConfigurationError(f"options of '{owner}': {problem}.") from problem
    except (Exception, SystemExit) as problem:
        raise PluginError(f"options of '{owner}': {described(problem)}.") from problem


def _convert(owner: str, key: str, value: Any, wanted: Any) -> Any:
    if not isinstance(value, str):
        return value
    kinds = typing.get_args(wanted) if isinstance(wanted, types.UnionType) else (wanted,)
    if type(None) in kinds and value.lower() == "none":
        return None
    for kind in kinds:
        reader = READERS.get(kind)
        try:
            if reader is not None:
                return reader(value)
        except ValueError:
            continue
    names = " or ".join(WORDS.get(kind, str(kind)) for kind in kinds)
    raise ConfigurationError(f"option '{key}' of '{owner}' must be {names}, not '{value}'.")


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
    type(None): "none",
}
READERS: dict[Any, Callable[[str], Any]] = {bool: _read_bool, int: int, float: float, str: str}
