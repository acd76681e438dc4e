"""A check that a solver keeps quiet: it is a guest in another program and folder."""

from __future__ import annotations

import io
import logging
import os
import tempfile
from collections.abc import Iterator
from contextlib import chdir, contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path


class _Ear(logging.Handler):
    """A handler that collects logged messages."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.heard: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Collect one message."""
        self.heard.append(record.getMessage())


@contextmanager
def silence() -> Iterator[None]:
    """Assert that nothing is printed, logged as a warning, or left in the working folder."""
    root, ear, said = logging.getLogger(), _Ear(), io.StringIO()
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        level, handlers = root.level, list(root.handlers)
        root.addHandler(ear)
        try:
            with redirect_stdout(said), redirect_stderr(said):
                yield
            # Compared before `finally` puts the logger back.
            is_as_before = root.level == level and root.handlers == [*handlers, ear]
        finally:
            root.setLevel(level)
            root.handlers[:] = handlers
        left = [path.name for path in Path().iterdir()]
    assert said.getvalue() == "", f"it printed {said.getvalue()[:80]!r}"
    assert ear.heard == [], f"it logged {ear.heard[0]!r}"
    assert is_as_before, "it changed the root logger"
    assert left == [], f"it left {left} in the working folder"


@contextmanager
def silent_streams() -> Iterator[None]:
    """Assert that nothing is written to the streams of the process, from native code either."""
    with tempfile.TemporaryFile() as said:
        kept = [os.dup(number) for number in (1, 2)]
        for number in (1, 2):
            os.dup2(said.fileno(), number)
        try:
            yield
        finally:
            for number, copy in zip((1, 2), kept, strict=True):
                os.dup2(copy, number)
                os.close(copy)
        said.seek(0)
        heard = said.read()
    assert heard == b"", f"it printed {heard[:80]!r}"
