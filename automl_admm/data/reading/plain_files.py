"""Plain files: a data file unpacked and in UTF-8, as parsers take it.

A file that is so already is taken as it stands. Of another a temporary copy is made, line by line
the same, so that mistakes in it have the lines of the source.
"""

from __future__ import annotations

import codecs
import math
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

from automl_admm.core.errors import NO_ROOM, DataError
from automl_admm.data.reading.encodings import HINT, Encoding, find_encoding
from automl_admm.data.reading.file_options import NO_OPTIONS, FileOptions
from automl_admm.data.reading.formats import binary_form, check_file
from automl_admm.data.reading.unpacking import PACKED_SUFFIXES, packing_of, unpacked

BLOCK = 1 << 20
LOOKED_AT = 4096
# A copy may take this part of the free room, on the disk and later in memory.
PART_OF_DISK, PART_OF_MEMORY = 0.8, 0.5
GIGABYTE = 1e9
Clock = Callable[[], bool]


def never_late() -> bool:
    """Return False: there is no deadline."""
    return False


@dataclass(frozen=True, slots=True)
class PlainFile:
    """A file for a parser.

    `name` is that of its source. `size` is the number of its bytes, or of those there would be had
    the time not ended before its end; then `is_whole` is False. `found` are words on the source.
    """

    path: Path
    name: str
    size: int
    is_whole: bool = True
    found: tuple[str, ...] = ()


class _Copies:
    """A temporary folder for copies, made with the first of them."""

    def __init__(self, source: Path, is_late: Clock, enough: float) -> None:
        self._source, self._is_late, self._enough = source, is_late, enough
        self._stack = ExitStack()
        self._folder: Path | None = None
        self._paths: list[Path] = []

    def close(self) -> None:
        """Remove the folder."""
        self._stack.close()

    def write(self, name: str, blocks: Iterable[bytes]) -> tuple[Path, bool]:
        """Write blocks to a file; return it, and False if the time ended before the blocks."""
        if self._folder is None:
            made = tempfile.TemporaryDirectory(prefix="automl-admm-tmp-")
            self._folder = Path(self._stack.enter_context(made))
        path, room, written = self._folder / name, _room_for(self._folder), 0
        self._paths.append(path)
        with path.open("wb") as copy:
            for block in blocks:
                # A block at least is there, and a short file is whole however late it is.
                if written and (self._is_late() or written >= self._enough):
                    return path, False
                if written + len(block) > room:
                    raise _too_large(self._source, room)
                copy.write(block)
                written += len(block)
        return path, True

    @contextmanager
    def named(self) -> Iterator[None]:
        """Tell a mistake in a copy as one of the source."""
        try:
            yield
        except DataError as problem:
            said = problem.message
            # The name of a later copy begins with that of an earlier one.
            for path in reversed(self._paths):
                said = said.replace(str(path), str(self._source))
            if said == problem.message:
                raise
            raise DataError(said, hint=problem.hint) from problem


@contextmanager
def plain_file(
    source: Path,
    options: FileOptions = NO_OPTIONS,
    is_late: Clock = never_late,
    enough: float = math.inf,
) -> Iterator[PlainFile]:
    """Make a source plain until it is late, or there are enough bytes of it.

    Mistakes found in a copy are told of the source.
    """
    check_file(source)
    # A sign takes four bytes in one encoding, and one in UTF-8.
    copies = _Copies(source, is_late, 4 * enough)
    try:
        with copies.named():
            with _refused(source):
                plain = _unpack(source, copies)
                if binary_form(plain.path) is None:
                    plain = _in_utf8(plain, copies, options, is_late)
            yield plain
    finally:
        copies.close()


@contextmanager
def _refused(source: Path) -> Iterator[None]:
    """Turn what the system refuses while copies are made into one line."""
    try:
        yield
    except OSError as problem:
        if problem.errno in NO_ROOM:
            raise DataError(
                f"{source} has to be unpacked or turned into UTF-8 for a while, and there is no "
                "room left on the disk.",
                hint="Free some, or set TMPDIR to a folder with room.",
            ) from problem
        raise DataError(f"{source} cannot be read: {problem.strerror or problem}.") from problem


def _unpack(source: Path, copies: _Copies) -> PlainFile:
    size = source.stat().st_size
    with source.open("rb") as file:
        packing = packing_of(file.read(LOOKED_AT))
        if packing is None:
            return PlainFile(source, source.name, size)
        file.seek(0)
        with unpacked(file, packing, str(source)) as content:
            path, is_whole = copies.write(plain_name(source), _blocks(content))
            # The part of the packed bytes that were used tells how long the rest would be.
            part = 1.0 if is_whole else min(max(file.tell(), 1) / size, 1.0)
    size = round(path.stat().st_size / part)
    return PlainFile(path, source.name, size, is_whole, (packing,))


def _blocks(content: Any) -> Iterator[bytes]:
    while block := content.read(BLOCK):
        yield block


def plain_name(source: Path) -> str:
    """Return the name of a file without the suffix of its compression."""
    return source.stem if source.suffix.lower() in PACKED_SUFFIXES else source.name


def _in_utf8(plain: PlainFile, copies: _Copies, options: FileOptions, is_late: Clock) -> PlainFile:
    """Return a text file in UTF-8; a copy, if it is not written so."""
    if options.encoding is not None:
        encoding = Encoding(options.encoding)
    else:
        encoding = find_encoding(plain.path, str(plain.path), is_late)
    if encoding.is_plain:
        return plain
    path, is_whole = copies.write(f"{plain.path.name}.txt", _recoded(plain.path, encoding.name))
    return PlainFile(
        path,
        plain.name,
        path.stat().st_size if is_whole else plain.size,
        plain.is_whole and is_whole,
        (*plain.found, str(encoding)),
    )


def _recoded(path: Path, encoding: str) -> Iterator[bytes]:
    """Return the text of a file in UTF-8, block by block."""
    decoder = codecs.getincrementaldecoder(encoding)()
    line = 1
    with path.open("rb") as file:
        while True:
            block = file.read(BLOCK)
            try:
                text = decoder.decode(block, final=not block)
            except UnicodeError as problem:
                at = getattr(problem, "start", 0)
                line += block[:at].count(b"\n")
                raise DataError(
                    f"{path}, line {line}: this is no text in {encoding}.", hint=HINT
                ) from problem
            line += text.count("\n")
            if text:
                yield text.encode()
            if not block:
                return


def _room_for(folder: Path) -> int:
    """Return the number of bytes that a copy may have: on the disk, and later in memory."""
    free = shutil.disk_usage(folder).free
    available = psutil.virtual_memory().available
    return int(min(PART_OF_DISK * free, PART_OF_MEMORY * available))


def _too_large(source: Path, room: int) -> DataError:
    return DataError(
        f"{source} becomes more than {room / GIGABYTE:.3g} GB, and this machine has no room for "
        "that.",
        hint="Save its rows in several files, and give one of them.",
    )
