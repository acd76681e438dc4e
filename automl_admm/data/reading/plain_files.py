"""Plain files: a data file unpacked and in UTF-8, as parsers take it.

A file that is so already is taken as it stands. Of another a temporary copy is made, line by line
the same, so that mistakes in it have the lines of the source.
"""

from __future__ import annotations

import codecs
import math
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

import psutil

from automl_admm.core.errors import NO_ROOM, DataError, DiskFullError
from automl_admm.data.reading.dialects import likely_separator
from automl_admm.data.reading.encodings import (
    HINT,
    Encoding,
    find_encoding,
    has_utf8_mark,
    is_utf8_name,
    say_beside,
    told_by_bytes,
)
from automl_admm.data.reading.file_options import NO_OPTIONS, FileOptions
from automl_admm.data.reading.formats import CSV, binary_form, check_file, format_of
from automl_admm.data.reading.line_ends import (
    has_any_return_alone,
    has_returns_alone,
    with_newlines,
)
from automl_admm.data.reading.named_encoding import NamedEncoding
from automl_admm.data.reading.streams import arriving, is_stream, title_of
from automl_admm.data.reading.text_blocks import UTF_8, Clock, blocks_of
from automl_admm.data.reading.tidying import tidying_of
from automl_admm.data.reading.unpacking import PACKED_SUFFIXES, packing_of, unpacked

BLOCK = 1 << 20
LOOKED_AT = 4096
# A copy may take this part of the free room, on the disk and later in memory.
PART_OF_DISK, PART_OF_MEMORY = 0.8, 0.5
GIGABYTE = 1e9
LIKE_UTF_8 = ", though its bytes look like UTF-8: leave out --encoding if its letters are garbled"


def never_late() -> bool:
    """Return False: there is no deadline."""
    return False


@dataclass(frozen=True, slots=True)
class PlainFile:
    """A file for a parser.

    `title` and `name` are those of its source, which had `source_size` bytes; 0 if nobody knows.
    `size` is the number of its own bytes, or of those there would be had the time not ended before
    its end; then `is_whole` is False. `found` are words on the source. `is_tidied` is True for CSV
    rewritten without comments and the like.
    """

    path: Path
    title: str
    source_size: int
    size: int
    is_whole: bool = True
    found: tuple[str, ...] = ()
    is_tidied: bool = False

    @property
    def name(self) -> str:
        """The name of the source, without its folder."""
        return Path(self.title).name

    @property
    def content(self) -> int | None:
        """The number of its bytes if it is a copy; None for the source itself."""
        return None if str(self.path) == self.title else self.size


class _Copies:
    """A temporary folder for copies, made with the first of them."""

    def __init__(self, title: str, enough: float = math.inf) -> None:
        self._title, self._enough = title, enough
        self._stack = ExitStack()
        self._folder: Path | None = None
        self._paths: list[Path] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *problem: object) -> None:
        self._stack.close()

    def write(self, name: str, blocks: Iterable[bytes], is_late: Clock) -> tuple[Path, bool]:
        """Write blocks to a file; return it, and False if the time ended before the blocks."""
        if self._folder is None:
            made = tempfile.TemporaryDirectory(prefix="automl-admm-tmp-")
            self._folder = Path(self._stack.enter_context(made))
        path, written = self._folder / name, 0
        on_disk, in_memory = _room_on_disk(self._folder), _room_in_memory()
        self._paths.append(path)
        with path.open("wb") as copy:
            for block in blocks:
                # A block at least is there, and a short file is whole however late it is.
                if written and (is_late() or written >= self._enough):
                    return path, False
                if written + len(block) > in_memory:
                    raise _too_large(self._title, in_memory)
                if written + len(block) > on_disk:
                    raise _no_room_for(self._title, self._folder)
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
                said = said.replace(str(path), self._title)
            if said == problem.message:
                raise
            raise DataError(said, hint=problem.hint) from problem


@contextmanager
def local_file(source: Path, is_late: Clock = never_late) -> Iterator[PlainFile]:
    """Return a file with the bytes of a source: itself, or a copy of a stream until it is late."""
    title = title_of(source)
    if not is_stream(source):
        check_file(source)
        size = source.stat().st_size
        yield PlainFile(source, title, size, size)
        return
    with _Copies(title) as copies, copies.named():
        with _refused(title):
            path, is_whole = copies.write(Path(title).name, arriving(source, is_late), is_late)
        size = path.stat().st_size
        if not size:
            raise DataError(f"{title} is empty.")
        yield PlainFile(path, title, size if is_whole else 0, size, is_whole)


@contextmanager
def plain_copy(
    local: PlainFile,
    options: FileOptions = NO_OPTIONS,
    is_late: Clock = never_late,
    enough: float = math.inf,
) -> Iterator[PlainFile]:
    """Make a file plain until it is late, or there are enough bytes of it.

    Mistakes found in a copy are told of the source.
    """
    # A sign takes four bytes in one encoding, and one in UTF-8.
    with _Copies(local.title, 4 * enough) as copies, copies.named():
        with _refused(local.title):
            plain = _unpack(local, copies, is_late)
            if binary_form(plain.path) is None:
                plain = _in_utf8(plain, copies, options, is_late)
                if format_of(plain.path) == CSV:
                    plain = _with_newlines(plain, copies, options, is_late)
                    plain = _tidy(plain, copies, options, is_late)
        yield plain


@contextmanager
def plain_file(
    source: Path, options: FileOptions = NO_OPTIONS, enough: float = math.inf
) -> Iterator[PlainFile]:
    """Make a source plain, or enough bytes of it."""
    with local_file(source) as local, plain_copy(local, options, enough=enough) as plain:
        yield plain


@contextmanager
def _refused(title: str) -> Iterator[None]:
    """Turn what the system refuses while copies are made into one line."""
    try:
        yield
    except OSError as problem:
        if problem.errno in NO_ROOM:
            raise _no_room_for(title, tempfile.gettempdir()) from problem
        raise DataError(f"{title} cannot be read: {problem.strerror or problem}.") from problem


def _unpack(local: PlainFile, copies: _Copies, is_late: Clock) -> PlainFile:
    with local.path.open("rb") as file:
        packing = packing_of(file.read(LOOKED_AT))
        if packing is None:
            return local
        if packing == "zip" and not local.is_whole:
            raise not_in_time(local.title)
        file.seek(0)
        with unpacked(file, packing, local.title) as content:
            blocks = _blocks(content, is_whole=local.is_whole)
            path, is_whole = copies.write(plain_name(local.name), blocks, is_late)
            # The part of the packed bytes that were used tells how long the rest would be.
            part = 1.0 if is_whole else min(max(file.tell(), 1) / local.size, 1.0)
    return replace(
        local,
        path=path,
        size=round(path.stat().st_size / part),
        is_whole=local.is_whole and is_whole,
        found=(packing,),
    )


def not_in_time(title: str) -> DataError:
    """Return the error of a stream whose first part is of no use."""
    return DataError(
        f"{title} did not end in the time for reading, and its first part alone cannot be read.",
        hint="Give a longer --budget, or save it to a file first.",
    )


def _blocks(content: Any, *, is_whole: bool) -> Iterator[bytes]:
    """Return blocks of unpacked bytes; those of a stream that is cut off end there."""
    while True:
        try:
            block = content.read(BLOCK)
        except EOFError:
            if is_whole:
                raise
            return
        if not block:
            return
        yield block


def plain_name(name: str) -> str:
    """Return the name of a file without the suffix of its compression."""
    path = Path(name)
    # A copy of a copy stands beside it, under another name.
    return path.stem if path.suffix.lower() in PACKED_SUFFIXES else f"{name}.unpacked"


def _in_utf8(plain: PlainFile, copies: _Copies, options: FileOptions, is_late: Clock) -> PlainFile:
    """Return a text file in UTF-8; a copy, if it is not written so."""
    encoding, said = _encoding_of(plain, options, is_late)
    plain = replace(plain, found=(*plain.found, *said))
    if encoding.is_plain:
        return plain
    blocks = _recoded(plain.path, encoding.name, is_whole=plain.is_whole)
    return _rewritten(plain, copies, ".txt", blocks, is_late)


def _rewritten(
    plain: PlainFile, copies: _Copies, suffix: str, blocks: Iterable[bytes], is_late: Clock
) -> PlainFile:
    """Write other content to a copy; one that was cut short keeps the size of the file."""
    path, is_whole = copies.write(f"{plain.path.name}{suffix}", blocks, is_late)
    size = path.stat().st_size if is_whole else plain.size
    return replace(plain, path=path, size=size, is_whole=plain.is_whole and is_whole)


def _encoding_of(
    plain: PlainFile, options: FileOptions, is_late: Clock
) -> tuple[Encoding, tuple[str, ...]]:
    """Return the encoding of a text, and what a user should know of it."""
    if options.encoding is not None:
        return _as_named(plain, options.encoding, options, is_late)
    before, title, is_whole = options.encoding_before, str(plain.path), plain.is_whole
    found = find_encoding(plain.path, title, is_late, is_whole=is_whole, before=before)
    options.note(found.name)
    if before is None:
        return found, () if found.is_plain else (str(found),)
    if found.is_either and options.must_be_sure:
        name = before.name
        raise DataError(
            f"{plain.path} can be read in {name}, as in training, and as UTF-8, with other text.",
            hint=f"Name it: --encoding {name} or --encoding utf-8. Or save the table as Parquet.",
        )
    return found, say_beside(found, before.name, plain.path)


def _as_named(
    plain: PlainFile, named: str, options: FileOptions, is_late: Clock
) -> tuple[Encoding, tuple[str, ...]]:
    """Return the encoding named by the user, and words on it if the bytes tell another one."""
    if is_utf8_name(named):
        options.note(UTF_8)
        return Encoding(named), () if Encoding(named).is_plain else (named,)
    told = told_by_bytes(blocks_of(plain.path, is_late), named)
    if told is not None:
        options.note(told)
    return Encoding(named), (f"{named}{LIKE_UTF_8 if told == UTF_8 else ''}",)


def _with_newlines(
    plain: PlainFile, copies: _Copies, options: FileOptions, is_late: Clock
) -> PlainFile:
    """Return a CSV file whose rows end with newlines; a copy, if some do not."""
    if not has_any_return_alone(plain.path, is_late):
        return plain
    # After another sign a quote opens no cell.
    sign = options.separator or likely_separator(plain.path)
    if not has_returns_alone(plain.path, is_late, sign):
        return plain
    return _rewritten(plain, copies, ".csv", with_newlines(plain.path, sign), is_late)


def _tidy(plain: PlainFile, copies: _Copies, options: FileOptions, is_late: Clock) -> PlainFile:
    """Return a CSV file without comments and the like; a copy, if it has them."""
    tidying = tidying_of(plain.path, options)
    if tidying is None:
        return plain
    copy = _rewritten(plain, copies, ".csv", tidying.blocks(plain.path), is_late)
    return replace(copy, found=(*plain.found, tidying.said), is_tidied=True)


def _recoded(path: Path, encoding: str, *, is_whole: bool) -> Iterator[bytes]:
    """Return the text of a file in UTF-8, block by block.

    A file that is not whole may end within a sign.
    """
    decoder = codecs.getincrementaldecoder(encoding)()
    line = 1
    with path.open("rb") as file:
        if NamedEncoding(encoding).has_ascii and has_utf8_mark(path):
            file.seek(len(codecs.BOM_UTF8))
        while True:
            block = file.read(BLOCK)
            try:
                text = decoder.decode(block, final=is_whole and not block)
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


def _room_on_disk(folder: Path) -> int:
    """Return the number of bytes that a copy may have on the disk."""
    return int(PART_OF_DISK * shutil.disk_usage(folder).free)


def _room_in_memory() -> int:
    """Return the number of bytes that a copy may have in memory, later."""
    return int(PART_OF_MEMORY * psutil.virtual_memory().available)


def _no_room_for(title: str, folder: Path | str) -> DiskFullError:
    return DiskFullError(
        f"no room left in '{folder}' for a copy of {title}, unpacked and in UTF-8.",
        hint="Free some, or set TMPDIR to a folder with room.",
    )


def _too_large(title: str, room: int) -> DataError:
    return DataError(
        f"{title} becomes more than {room / GIGABYTE:.3g} GB, and this machine has no room for "
        "that.",
        hint="Save its rows in several files, and give one of them.",
    )
