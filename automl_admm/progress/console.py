"""A console for plain texts."""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress
from typing import Any

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from automl_admm.progress.signs import signs_for


class PlainConsole(Console):
    """A console without markup in texts, and with hidden signs shown."""

    def __init__(self, stream: Any) -> None:
        # A display in a notebook is our own; rich would print its first state for ever.
        super().__init__(
            file=stream, highlight=False, markup=False, emoji=False, force_jupyter=False
        )
        self.signs = signs_for(getattr(stream, "encoding", None), os.environ)

    @property
    def can_redraw(self) -> bool:
        """Tell whether a picture can be drawn over: not in a file, whose colours may be forced."""
        is_tty = getattr(self.file, "isatty", lambda: False)
        return bool(is_tty()) and self.is_terminal and not self.is_dumb_terminal

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        """Render; only the console's own sequences may move the cursor, never those of a text."""
        shown = self.signs.shown
        for segment in super().render(renderable, options):
            yield segment if segment.control else Segment(shown(segment.text), segment.style)


class Lenient:
    """A stream that drops what it cannot write: a full disk under the progress ends no run."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        """Write a text; signs that the stream cannot encode are escaped."""
        encoding = getattr(self._stream, "encoding", None) or "utf-8"
        # A stream that was closed raises ValueError; a program without a console has None for it.
        with suppress(AttributeError, OSError, ValueError):
            self._stream.write(text.encode(encoding, "backslashreplace").decode(encoding))
        return len(text)

    def flush(self) -> None:
        """Flush the stream."""
        with suppress(AttributeError, OSError, ValueError):
            self._stream.flush()

    def isatty(self) -> bool:
        """Tell whether it is a terminal; a closed stream is none."""
        try:
            return bool(self._stream.isatty())
        except (AttributeError, ValueError):
            return False

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)
