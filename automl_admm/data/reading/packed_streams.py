"""Packed streams in a row, read to the end of their file: bzip2 and xz.

Python's own readers take what begins like no stream for the end, so rows behind damage were lost.
"""

from __future__ import annotations

import bz2
import io
import lzma
from collections.abc import Callable
from functools import partial
from typing import Any, BinaryIO

BLOCK = 1 << 16
# How streams begin.
BZIP2, XZ = b"BZh", b"\xfd7zXZ\x00"


def open_bzip2(source: BinaryIO) -> io.BufferedReader:
    """Open streams of bzip2; zeros may follow, as behind gzip."""
    return io.BufferedReader(_Streams(source, bz2.BZ2Decompressor, BZIP2, 1))


def open_xz(source: BinaryIO) -> io.BufferedReader:
    """Open streams of xz; zeros may follow each, a multiple of four."""
    begin = partial(lzma.LZMADecompressor, lzma.FORMAT_XZ)
    return io.BufferedReader(_Streams(source, begin, XZ, 4))


class _Streams(io.RawIOBase):
    """The content of streams with one `start`, each unpacked by an object that `begin` makes."""

    def __init__(
        self, source: BinaryIO, begin: Callable[[], Any], start: bytes, padded_to: int
    ) -> None:
        self._source = source
        self._begin = begin
        self._start = start
        self._padded_to = padded_to
        self._stream = begin()
        self._packed = b""
        self._is_over = False

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Unpack into a buffer; 0 bytes are the end of the last stream."""
        while self._goes_on():
            packed = self._next() if self._stream.needs_input else b""
            block = self._stream.decompress(packed, len(buffer))
            if block:
                buffer[: len(block)] = block
                return len(block)
        return 0

    def _next(self) -> bytes:
        packed, self._packed = self._packed or self._source.read(BLOCK), b""
        if not packed:
            raise EOFError("it ends within a stream")
        return packed

    def _goes_on(self) -> bool:
        """Begin the next stream where one has ended; False at the end of the file."""
        if self._stream.eof and not self._is_over:
            self._packed = self._behind_zeros(self._stream.unused_data)
            self._is_over = not self._packed
            if self._packed:
                self._check_start()
                self._stream = self._begin()
        return not self._is_over

    def _check_start(self) -> None:
        """Raise for what is no stream: a decompressor waits for more of it."""
        seen = self._packed[: len(self._start)]
        if not self._start.startswith(seen):
            raise EOFError("something follows its last stream")

    def _behind_zeros(self, packed: bytes) -> bytes:
        zeros = 0
        packed = packed or self._source.read(BLOCK)
        while packed:
            rest = packed.lstrip(b"\0")
            zeros += len(packed) - len(rest)
            if rest:
                break
            packed = self._source.read(BLOCK)
        if zeros % self._padded_to:
            raise EOFError("its padding is cut off")
        return packed.lstrip(b"\0")
