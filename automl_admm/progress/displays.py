"""Displays of a run's progress: none, lines on a stream, a live picture, a cell of a notebook."""

from __future__ import annotations

import html
import multiprocessing
import sys
import threading
import time
from collections import deque
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Protocol

from rich.console import Console, ConsoleOptions, RenderResult
from rich.live import Live
from rich.text import Text

from automl_admm.progress.console import Lenient, PlainConsole
from automl_admm.progress.picture import Frame, picture
from automl_admm.progress.run_so_far import RunSoFar
from automl_admm.progress.signs import UNICODE, Signs
from automl_admm.progress.visible_text import visible

SECONDS_BETWEEN_LINES = 10.0
SECONDS_BETWEEN_UPDATES = 0.5
LINES_IN_A_CELL = 20
# A cell of a notebook is wider and has no lower edge.
FRAME_OF_A_CELL = Frame(110, 40, UNICODE)


class Display(Protocol):
    """A place for the progress of one run."""

    def begin(self) -> None:
        """Make ready."""

    def say(self, line: str) -> None:
        """Show a line that stays."""

    def refresh(self) -> None:
        """Show the present state, if it is time to."""

    def end(self) -> None:
        """Take the picture of the present state away."""


class NoDisplay:
    """A display of nothing."""

    def begin(self) -> None:
        """Do nothing."""

    def say(self, line: str) -> None:
        """Do nothing."""

    def refresh(self) -> None:
        """Do nothing."""

    def end(self) -> None:
        """Do nothing."""


class LineDisplay(NoDisplay):
    """The state as a line every ten seconds."""

    def __init__(self, so_far: RunSoFar, console: PlainConsole) -> None:
        self._so_far = so_far
        self._console = console
        self._last = time.monotonic()

    def say(self, line: str) -> None:
        """Print a line."""
        self._console.print(Text(visible(line)), soft_wrap=True)

    def refresh(self) -> None:
        """Print the state if the last line is old."""
        if time.monotonic() - self._last >= SECONDS_BETWEEN_LINES:
            self._last = time.monotonic()
            self.say(f"{self._so_far.status_line()}   {self._so_far.best_line()}")


class LiveDisplay:
    """A picture at the foot of a terminal, drawn again four times a second.

    With `takes_prints` other prints of the process stand above it, for which rich redirects the
    streams of the whole process: only a program may ask for that, never a library.
    """

    def __init__(self, so_far: RunSoFar, console: PlainConsole, *, takes_prints: bool) -> None:
        self._so_far = so_far
        self._console = console
        self._live = Live(
            get_renderable=self._picture,
            console=console,
            refresh_per_second=4,
            transient=True,
            redirect_stdout=takes_prints,
            redirect_stderr=takes_prints,
        )

    def begin(self) -> None:
        """Start to draw."""
        self._live.start()

    def say(self, line: str) -> None:
        """Print a line above the picture, broken between words."""
        self._console.print(Text(visible(line)))

    def refresh(self) -> None:
        """Do nothing: it draws by itself."""

    def end(self) -> None:
        """Take the picture away."""
        self._live.stop()

    def _picture(self) -> Picture:
        return Picture(self._so_far, self._console.signs)


@dataclass(frozen=True, slots=True)
class Picture:
    """The state of a run, as high and wide as the terminal is at that moment."""

    so_far: RunSoFar
    signs: Signs

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Yield the lines."""
        # The cursor stands on a line of its own below them.
        frame = Frame(options.max_width, console.height - 1, self.signs)
        for line in picture(self.so_far, frame):
            line.no_wrap, line.overflow = True, "crop"
            yield line


class NotebookDisplay:
    """One output of a notebook's cell, updated in place; the last lines said stand above it."""

    def __init__(self, so_far: RunSoFar) -> None:
        self._so_far = so_far
        self._said: deque[str] = deque(maxlen=LINES_IN_A_CELL)
        self._handle: Any = None
        self._last = 0.0
        self._lock = threading.Lock()

    def begin(self) -> None:
        """Make the output of the cell."""
        from IPython.display import display

        self._handle = display(self._page(self._state()), raw=True, display_id=True)

    def say(self, line: str) -> None:
        """Add a line."""
        self._said.append(line)
        self._update(self._state())

    def refresh(self) -> None:
        """Update the output, twice a second at most: each update is a message to the browser."""
        if time.monotonic() - self._last >= SECONDS_BETWEEN_UPDATES:
            self._update(self._state())

    def end(self) -> None:
        """Leave the lines that were said."""
        self._update([])

    def _state(self) -> list[str]:
        return [line.plain.rstrip() for line in picture(self._so_far, FRAME_OF_A_CELL)]

    def _update(self, state: list[str]) -> None:
        # A run is worth more than its picture: the kernel may have lost its browser. The lock is
        # for an observer that was left because it hung: its thread may still come here.
        with self._lock, suppress(Exception):
            self._last = time.monotonic()
            self._handle.update(self._page(state), raw=True)

    def _page(self, state: list[str]) -> dict[str, str]:
        """Return the lines as text, and as a browser shows them."""
        text = "\n".join(visible(line) for line in (*self._said, *state))
        return {"text/plain": text, "text/html": f"<pre>{html.escape(text)}</pre>"}


def display_for(so_far: RunSoFar, stream: Any) -> Display:
    """Return the display for a caller in Python; it changes nothing of the caller's process.

    Two live pictures would draw over each other, so only the main thread of the main process may
    have one; others print lines.
    """
    is_main = threading.current_thread() is threading.main_thread()
    is_alone = is_main and multiprocessing.parent_process() is None
    if is_alone and _is_notebook():
        return NotebookDisplay(so_far)
    console = PlainConsole(Lenient(stream))
    if is_alone and console.can_redraw:
        return LiveDisplay(so_far, console, takes_prints=False)
    return LineDisplay(so_far, console)


def _is_notebook() -> bool:
    """Tell whether this process is the kernel of a notebook, without importing IPython."""
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    return hasattr(shell, "kernel")
