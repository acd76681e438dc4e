"""Values, exceptions and exit codes in the words of a message: the one place for them."""

from __future__ import annotations

import reprlib
import shlex
import signal
from typing import Any

import numpy as np

LONGEST = 160
LONGEST_ERROR = 500


class _Words(reprlib.Repr):
    """Write numpy's scalars as the numbers and texts that users gave, also within lists."""

    def __init__(self) -> None:
        super().__init__()
        self.maxstring = self.maxother = self.maxlong = LONGEST

    def repr1(self, x: Any, level: int) -> str:
        if isinstance(x, np.datetime64 | np.timedelta64 | np.longdouble):
            # `item` would change their type or lose digits.
            return str(x)
        return super().repr1(x.item() if isinstance(x, np.generic) else x, level)

    def repr_int(self, x: int, level: int) -> str:
        """Write a number; Python writes none of thousands of digits."""
        try:
            return super().repr_int(x, level)
        except ValueError:
            return "a whole number of thousands of digits"

    def repr_instance(self, x: Any, level: int) -> str:
        """Write an object by its own text; any code may stand behind that, and it may raise."""
        del level
        try:
            return repr(x)
        except Exception:  # noqa: BLE001 - a failing repr is no reason to stop
            return f"a {type(x).__name__}"


_words = _Words()


def say_value(value: object) -> str:
    """Return a value on one line as a user would write it: 1 and 'a', not np.int64(1).

    >>> say_value(np.float64(0.5))
    '0.5'
    """
    line = " ".join(_words.repr(value).split())
    return line if len(line) <= LONGEST else f"{line[:LONGEST]}…"


def as_argument(path: object) -> str:
    """Return a path as one word of a shell command; one with a leading dash is no option.

    >>> as_argument("my run"), as_argument("-run")
    ("'my run'", './-run')
    """
    text = str(path)
    return shlex.quote(f"./{text}" if text.startswith("-") else text)


def resume_command(folder: object) -> str:
    """Return the command to continue the run in a folder.

    >>> resume_command("my run")
    "automl-admm resume 'my run'"
    """
    return f"automl-admm resume {as_argument(folder)}"


def has_half_character(text: str) -> bool:
    """Return True if a text has half of a character, a lone surrogate: no file keeps it."""
    return not text.isascii() and any("\ud800" <= sign <= "\udfff" for sign in text)


def no_file_keeps(text: str) -> str | None:
    r"""Return what no file of a run keeps of a text; None if it keeps all.

    >>> no_file_keeps("a"), no_file_keeps("a\0")
    (None, 'a zero character')
    """
    if has_half_character(text):
        return "half of a character"
    return "a zero character" if "\0" in text else None


def say_count(number: int, thing: str) -> str:
    """Return a number of things in words.

    >>> say_count(1, "row"), say_count(2, "row")
    ('1 row', '2 rows')
    """
    return f"{number} {thing}" if number == 1 else f"{number} {thing}s"


def say_error(error: BaseException, limit: int = LONGEST_ERROR) -> str:
    """Return the kind and the text of an exception on one line, without a full stop.

    >>> say_error(ValueError("no row."))
    'ValueError: no row'
    """
    kind, text = type(error).__name__, " ".join(text_of(error).split()).rstrip(".")
    return shorten(f"{kind}: {text}" if text else kind, limit)


def reason_of(error: BaseException) -> str:
    """Return the first line of an exception's text with a full stop; without text, its kind."""
    said = text_of(error).strip().splitlines()
    return f"{said[0].rstrip('.')}." if said else f"{type(error).__name__}."


def text_of(error: BaseException) -> str:
    """Return the text of an exception; any code may stand behind that, and it may raise."""
    try:
        return str(error)
    except Exception:  # noqa: BLE001 - a failing __str__ must not hide the exception itself
        return "(its text cannot be had)"


def say_exit(code: int) -> str:
    """Return the end of a process in words; a negative code is a signal, as in Popen."""
    if code >= 0:
        return f"exit {code}"
    try:
        return f"signal {signal.Signals(-code).name}"
    except ValueError:
        return f"signal {-code}"


def shorten(text: str, limit: int) -> str:
    """Keep the head and the tail of a text of more than `limit` characters."""
    if len(text) <= limit:
        return text
    mark = " … "
    head = 2 * limit // 3
    return text[:head] + mark + text[len(text) - (limit - head - len(mark)) :]
