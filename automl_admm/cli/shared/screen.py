r"""All printing: no text of data, files or plugins reaches the terminal raw.

Names of columns, labels, texts of pipelines and of exceptions may hold escape sequences (to move
the cursor, recolour, retitle or type into a terminal) and signs to reverse the order of letters.
They are shown as `\x1b` and the like, in tables, progress, errors and warnings alike.
"""

from __future__ import annotations

import codecs
import errno
import json
import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from shutil import get_terminal_size
from textwrap import fill
from typing import Any, TextIO, cast

from rich.table import Table
from rich.text import Text

from automl_admm.core.errors import NO_ROOM
from automl_admm.progress.console import PlainConsole
from automl_admm.progress.visible_text import in_a_line, visible
from automl_admm.store.export import finite_only

LEAST_ROOM = 30
UTF_8 = "utf-8"
DISK_FULL = 8
HUNG_UP = 129
NO_READER = 141


class OutputError(Exception):
    """The result cannot be printed: the disk is full, the terminal is gone, or nobody reads."""

    def __init__(self, problem: OSError) -> None:
        super().__init__(problem.strerror)
        self.reason = problem.strerror or "it is closed"
        self.exit_code = HUNG_UP
        if problem.errno == errno.EPIPE:
            self.exit_code = NO_READER
        elif problem.errno in NO_ROOM:
            self.exit_code = DISK_FULL


def say(text: str, *, err: bool = False) -> None:
    """Print a message; one of a line on stderr breaks between words, if that is a terminal."""
    stream = sys.stderr if err else sys.stdout
    shown = visible(text)
    if err and "\n" not in shown and stream.isatty():
        shown = _between_words(shown, get_terminal_size().columns)
    stream.write(f"{shown}\n")
    stream.flush()


def _between_words(line: str, room: int) -> str:
    if len(line) <= room or room < LEAST_ROOM:
        return line
    return fill(line, room, break_long_words=False, break_on_hyphens=False)


def hand_on(text: str) -> None:
    """Print data for another program, exactly; a terminal is shown them as messages are."""
    stream = sys.stdout
    getattr(stream, "hand_on", stream.write)(text)


def hand_on_json(content: object) -> None:
    """Print data for another program as JSON; NaN and infinities are null."""
    hand_on(json.dumps(finite_only(content), indent=2, allow_nan=False) + "\n")


def cells(values: Iterable[object]) -> list[Text]:
    """Return the cells of a row; nothing in them is markup."""
    return [Text(in_a_line(value)) for value in values]


def grid(*headings: str) -> Table:
    """Return an empty table with these headings."""
    table = Table(box=None, pad_edge=False)
    for heading in headings:
        table.add_column(Text(in_a_line(heading)))
    return table


def plain_console(*, stderr: bool = False) -> PlainConsole:
    """Return a console on a stream of this process."""
    return PlainConsole(_of_console(sys.stderr if stderr else sys.stdout))


class Screen:
    """A stream of this process, with all hidden signs shown."""

    def __init__(self, stream: TextIO, *, is_result: bool, is_closed: bool = False) -> None:
        self.stream = stream
        self._is_result = is_result
        self._is_closed = is_closed
        self._is_raw = is_result and not stream.isatty()

    def write(self, text: str) -> int:
        """Write a text of anybody's."""
        return self.put(text if self._is_raw else visible(text))

    def hand_on(self, text: str) -> None:
        """Write data: in UTF-8, as into a file, unless they go to a terminal."""
        encoding = getattr(self.stream, "encoding", None) or UTF_8
        buffer = getattr(self.stream, "buffer", None)
        is_utf_8 = codecs.lookup(encoding).name == UTF_8
        if not self._is_raw or self._is_closed or is_utf_8 or buffer is None:
            self.write(text)
            return
        with self._told():
            self.stream.flush()
            buffer.write(text.encode(UTF_8, "backslashreplace"))

    def put(self, text: str) -> int:
        """Write a text as it is.

        A failure to write a result ends the program, a failure to write progress does not.
        """
        if self._is_closed and self._is_result:
            raise OutputError(OSError(errno.EBADF, "it is closed"))
        encoding = getattr(self.stream, "encoding", None) or UTF_8
        with self._told():
            self.stream.write(text.encode(encoding, "backslashreplace").decode(encoding))
        return len(text)

    def flush(self) -> None:
        """Flush the stream."""
        with self._told():
            self.stream.flush()

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)

    @contextmanager
    def _told(self) -> Iterator[None]:
        try:
            yield
        except (OSError, ValueError) as problem:  # a stream that was closed raises ValueError
            if self._is_result:
                told = problem if isinstance(problem, OSError) else OSError(errno.EBADF, "closed")
                raise OutputError(told) from problem


class OfConsole:
    """A screen for a console with its own sequences to move the cursor."""

    def __init__(self, screen: Screen) -> None:
        self.write, self._screen = screen.put, screen

    def __getattr__(self, name: str) -> Any:
        return getattr(self._screen, name)


@contextmanager
def on_screen() -> Iterator[None]:
    """Redirect both streams of this process to a screen."""
    before = sys.stdout, sys.stderr
    # The shell may have closed them; then no other file may take their numbers.
    out, err = (
        stream or open(os.devnull, "w")  # noqa: SIM115, PTH123 - it is the process's own
        for stream in before
    )
    sys.stdout = cast("TextIO", Screen(out, is_result=True, is_closed=before[0] is None))
    sys.stderr = cast("TextIO", Screen(err, is_result=False))
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before


def flush() -> None:
    """Flush both streams; raise if a result cannot be written."""
    sys.stdout.flush()
    sys.stderr.flush()


def give_up_output() -> None:
    """Drop the buffered output: the interpreter would complain of it at exit."""
    with suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 1)
        os.close(nowhere)


def _of_console(stream: Any) -> Any:
    return OfConsole(stream) if isinstance(stream, Screen) else stream
