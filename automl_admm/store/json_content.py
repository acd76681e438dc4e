"""JSON files, possibly changed by others, checked against a schema before use.

A schema is a function of a value and its place; it raises for a wrong value. Unknown keys pass: a
later version may have written them.
"""

from __future__ import annotations

import hashlib
import json
import math
import reprlib
from collections.abc import Callable, Mapping
from datetime import datetime
from pathlib import Path
from types import MappingProxyType
from typing import Any

from automl_admm.core.errors import StoreError
from automl_admm.core.messages import no_file_keeps, reason_of

Schema = Callable[[Any, str], None]

LARGEST_WHOLE = 2**63 - 1  # of SQLite and of numpy
RESTORE = "It was changed after the run wrote it: restore it, or fit again."
# The key of a file's own digest: the hash of all else that it says.
DIGEST = "content_sha256"
# The key of the number of a file's form.
FORMAT = "format"
NO_KEYS: Mapping[str, Schema] = MappingProxyType({})


class MismatchError(Exception):
    """A value against the schema, in words: its place, and the expected kind."""


class OtherFormatError(Exception):
    """A file in the form of another version; the text is the user's way out of it."""


def read_content(path: Path, schema: Schema, hint: str = RESTORE) -> dict[str, Any]:
    """Return the content of a JSON file; raise a StoreError if it breaks the schema.

    A missing file is a FileNotFoundError: only the caller knows its meaning.
    """
    try:
        content = json.loads(read_file(path).decode())
        schema(content, "")
    except OtherFormatError as problem:
        hint = f"{problem}, or use the version that wrote it."
        told = f"'{path}' was written by another version of automl-admm."
        raise StoreError(told, hint=hint) from problem
    except MismatchError as problem:
        raise StoreError(f"'{path}' is damaged: {problem}.", hint=hint) from problem
    except (ValueError, RecursionError) as problem:
        reason = _reason(problem)
        raise StoreError(f"'{path}' cannot be read: {reason}.", hint=hint) from problem
    return dict(content)


def with_digest(content: Mapping[str, Any]) -> dict[str, Any]:
    """Return a content with its digest, to detect damage and stray edits later.

    It stops no forger: anybody can compute the digest anew.
    """
    # The digest is of the content as it will be read: tuples as lists, paths as text.
    plain: dict[str, Any] = json.loads(json.dumps(content, default=str))
    return plain | {DIGEST: _digest(plain)}


def demand_format(
    content: Any, number: int, *, key: str = FORMAT, again: str = "Fit again"
) -> None:
    """Raise if the number of an object's form is another one; `again` says how to replace it."""
    if isinstance(content, dict) and content.get(key) != number:
        raise OtherFormatError(again)


def demand_digest(content: Mapping[str, Any]) -> None:
    """Raise if a content does not match its digest."""
    if content.get(DIGEST) != _digest(content):
        raise MismatchError(f"its content is not what its {DIGEST} says")


def _digest(content: Mapping[str, Any]) -> str:
    rest = {key: value for key, value in content.items() if key != DIGEST}
    # Other programs may write the keys in another order.
    return hashlib.sha256(json.dumps(rest, sort_keys=True).encode()).hexdigest()


def read_file(path: Path) -> bytes:
    """Return the bytes of a file; raise a StoreError for an unreadable or special file."""
    try:
        # Reading a FIFO would wait for ever.
        if path.exists() and not path.is_file():
            raise StoreError(f"'{path}' is no file.", hint=RESTORE)
        return path.read_bytes()
    except FileNotFoundError:
        raise
    except NotADirectoryError as problem:
        hint = "Name the folder of the run."
        raise StoreError(f"'{path.parent}' is a file, and no folder.", hint=hint) from problem
    except OSError as problem:
        raise StoreError(f"'{path}' cannot be read: {problem.strerror}.") from problem


def _reason(problem: Exception) -> str:
    if isinstance(problem, RecursionError):
        return "it is nested too deeply"
    if isinstance(problem, UnicodeDecodeError):
        return "it is no text in UTF-8"
    return reason_of(problem).rstrip(".")


def anything(value: Any, where: str) -> None:
    """Let any value through."""
    del value, where


def text(value: Any, where: str) -> None:
    """Demand a text fit to write and print, without halves of characters."""
    _demand(isinstance(value, str), value, where, "a text")
    _demand(no_file_keeps(value) is None, value, where, "a text of whole characters")


def cell(value: Any, where: str) -> None:
    """Demand a text as a table has it: what is damaged in a table is so in what tells of it."""
    _demand(isinstance(value, str), value, where, "a text")


def moment(value: Any, where: str) -> None:
    """Demand a moment in ISO 8601, with its offset from UTC."""
    text(value, where)
    try:
        is_moment = datetime.fromisoformat(value).tzinfo is not None
    except ValueError:
        is_moment = False
    _demand(is_moment, value, where, "a moment such as 2026-11-22T09:30:00+00:00")


def flag(value: Any, where: str) -> None:
    """Demand true or false."""
    _demand(isinstance(value, bool), value, where, "true or false")


def whole(least: int = 0, most: int = LARGEST_WHOLE) -> Schema:
    """Return the schema of whole numbers from `least` to `most`."""
    upwards = f"to {most}" if most < LARGEST_WHOLE else "upwards"
    expected = f"a whole number from {least} {upwards}"

    def check(value: Any, where: str) -> None:
        is_whole = isinstance(value, int) and not isinstance(value, bool)
        _demand(is_whole and least <= value <= most, value, where, expected)

    return check


def real(value: Any, where: str) -> None:
    """Demand a float; NaN and infinity stand for failed measurements."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    _demand(is_number and _is_float(value), value, where, "a number")


def number(value: Any, where: str) -> None:
    """Demand a finite number."""
    real(value, where)
    _demand(math.isfinite(value), value, where, "a finite number")


def within(low: float, high: float) -> Schema:
    """Return the schema of numbers between two bounds."""
    expected = f"a number from {low:g} to {high:g}"

    def check(value: Any, where: str) -> None:
        number(value, where)
        _demand(low <= value <= high, value, where, expected)

    return check


def nullable(schema: Schema) -> Schema:
    """Return the schema for a value or null."""

    def check(value: Any, where: str) -> None:
        if value is not None:
            schema(value, where)

    return check


def either(expected: str, *schemas: Schema) -> Schema:
    """Return the schema for a value valid by one of several; `expected` describes it."""

    def check(value: Any, where: str) -> None:
        _demand(any(is_let_through(one, value) for one in schemas), value, where, expected)

    return check


def one_of(*values: object) -> Schema:
    """Return the schema for one of these values."""
    listed = " or ".join(repr(value) for value in values)

    def check(value: Any, where: str) -> None:
        # To Python True is 1 and 1.0.
        is_known = any(type(value) is type(known) and value == known for known in values)
        _demand(is_known, value, where, listed)

    return check


def list_of(schema: Schema) -> Schema:
    """Return the schema for lists of valid items."""

    def check(value: Any, where: str) -> None:
        _demand(isinstance(value, list), value, where, "a list")
        for place, item in enumerate(value):
            schema(item, f"{where}[{place}]")

    return check


def mapping_of(schema: Schema) -> Schema:
    """Return the schema for objects with any keys and valid values."""

    def check(value: Any, where: str) -> None:
        _demand(isinstance(value, dict), value, where, "an object")
        for key, item in value.items():
            text(key, f"{where}: a key")
            schema(item, _below(where, key))

    return check


def record(required: Mapping[str, Schema], optional: Mapping[str, Schema] = NO_KEYS) -> Schema:
    """Return the schema of objects with these keys; the optional ones may be missing."""
    schemas = {**required, **optional}

    def check(value: Any, where: str) -> None:
        _demand(isinstance(value, dict), value, where, "an object")
        for key, schema in schemas.items():
            if key in value:
                schema(value[key], _below(where, key))
            elif key in required:
                raise MismatchError(f"'{_below(where, key)}' is missing")

    return check


def _below(where: str, key: str) -> str:
    return f"{where}.{key}" if where else key


def _is_float(value: float) -> bool:
    try:
        float(value)
    except OverflowError:
        return False
    return True


def is_let_through(schema: Schema, value: Any) -> bool:
    """Return True if a value is as a schema says."""
    try:
        schema(value, "")
    except MismatchError:
        return False
    return True


def _demand(is_met: bool, value: object, where: str, expected: str) -> None:  # noqa: FBT001
    if not is_met:
        named = f"'{where}' is" if where else "it is"
        raise MismatchError(f"{named} {_shown(value)}, and {expected} was expected")


def _shown(value: object) -> str:
    if isinstance(value, int) and abs(value) > LARGEST_WHOLE:
        return "a number that is too large"
    shown = " ".join(reprlib.repr(value).split())
    # A forged value must not steer the terminal of whoever reads the message.
    return shown.encode("ascii", "backslashreplace").decode()
