"""Data that come as a stream: from stdin, or from an address (https, s3)."""

from __future__ import annotations

import os
import queue
import re
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from automl_admm.core.errors import DataError
from automl_admm.core.messages import reason_of
from automl_admm.data.reading.unpacking import PACKED_SUFFIXES

STDIN = Path("-")
ADDRESS = re.compile(r"(?P<scheme>[a-z][a-z0-9+.-]+):/", re.IGNORECASE)
BLOCK = 1 << 20
WAITING = 0.1  # seconds between two looks at the clock while nothing comes
# So many blocks may have come before they are used.
AHEAD = 8
EXTRAS: Mapping[str, str] = MappingProxyType(
    {"s3": "'automl-admm[s3]'", "http": "'automl-admm[remote]'", "https": "'automl-admm[remote]'"}
)


def is_stream(source: Path) -> bool:
    """Return True for stdin and for addresses."""
    return source == STDIN or ADDRESS.match(str(source)) is not None


def title_of(source: Path) -> str:
    """Return the name of a source for messages and records: no secrets of an address."""
    if source == STDIN:
        return "stdin"
    if not is_stream(source):
        return str(source)
    parts = urlsplit(address_of(source))
    # Keys stand before the @, or in what is signed after the question mark.
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))


def table_name(source: Path) -> str:
    """Return the name of a table: that of its file without suffixes."""
    path = Path(title_of(source))
    return Path(path.stem).stem if path.suffix.lower() in PACKED_SUFFIXES else path.stem


def source_of(source: Path) -> str:
    """Return the source as a run keeps it."""
    if source == STDIN:
        return str(STDIN)
    return title_of(source) if is_stream(source) else str(source.resolve())


def address_of(source: Path) -> str:
    """Return the address; as a path it has lost one of its slashes."""
    return re.sub(":/+", "://", str(source), count=1)


def arriving(source: Path, is_late: Callable[[], bool]) -> Iterator[bytes]:
    """Return the blocks of a stream, and empty ones while nothing comes.

    A thread waits for them: nothing else can wait no longer than until the deadline.
    """
    coming: queue.Queue[bytes | Exception] = queue.Queue(AHEAD)
    threading.Thread(target=_bring, args=(source, coming), name="reading", daemon=True).start()
    has_come = False
    while True:
        try:
            block = coming.get(timeout=WAITING)
        except queue.Empty:
            if not has_come and is_late():
                raise DataError(
                    f"{title_of(source)} gave nothing in the time for reading.",
                    hint="Give a longer --budget, or save it to a file first.",
                ) from None
            yield b""
            continue
        if isinstance(block, Exception):
            raise block
        if not block:
            return
        has_come = True
        yield block


def _bring(source: Path, coming: queue.Queue[bytes | Exception]) -> None:
    try:
        for block in _blocks_of_stdin() if source == STDIN else _blocks_of_address(source):
            coming.put(block)
        coming.put(b"")
    except DataError as problem:
        coming.put(problem)
    except Exception as problem:  # noqa: BLE001 - any library may be behind an address
        # Libraries put the address into their messages, keys and all.
        reason = reason_of(problem).replace(address_of(source), title_of(source))
        told = DataError(f"{title_of(source)} cannot be read: {reason}")
        told.__cause__ = problem
        coming.put(told)


def _blocks_of_stdin() -> Iterator[bytes]:
    # Not through sys.stdin: a thread that waits in there is in the way of the program's end.
    number = sys.stdin.fileno()
    while block := os.read(number, BLOCK):
        yield block


def _blocks_of_address(source: Path) -> Iterator[bytes]:
    with _opened(source) as stream:
        while block := stream.read(BLOCK):
            yield block


def _opened(source: Path) -> Any:
    scheme = urlsplit(address_of(source)).scheme.lower()
    try:
        import fsspec

        return fsspec.open(address_of(source), "rb").open()
    except ImportError as problem:
        extra = EXTRAS.get(scheme)
        hint = f"pip install {extra}" if extra else "pip install fsspec, and what it names."
        raise DataError(
            f"{title_of(source)} is an address: a package to read '{scheme}' is missing.", hint=hint
        ) from problem
    except ValueError as problem:
        if "rotocol" not in str(problem):
            raise
        raise DataError(
            f"'{scheme}' in {title_of(source)} is no known kind of address."
        ) from problem
