"""The pipe for the result of a child: one frame, its length first.

No file is read for a result, so a component cannot fake one with a FIFO or a report in the folder
of its task. Two frames are no result either.
"""

from __future__ import annotations

import fcntl
import os
import resource
import struct
from contextlib import suppress

from automl_admm.execution.task_report import RESULT_LIMIT

LENGTH = struct.Struct("!Q")
CHUNK = 1 << 20
LARGEST = RESULT_LIMIT + LENGTH.size
# A component that closes descriptors begins at the lowest ones.
HIGHEST = 65_536


class Mailbox:
    """The server's end of the pipe of one child; it never waits."""

    def __init__(self) -> None:
        self._reader, writer = os.pipe()
        os.set_blocking(self._reader, False)
        self.writer = _high(writer)
        self._content = bytearray()
        self.is_open = True

    def fileno(self) -> int:
        """The descriptor to poll."""
        return self._reader

    def hand_over(self) -> None:
        """Close the child's end; the child has its own copy by now."""
        os.close(self.writer)

    def read(self) -> None:
        """Read the bytes at hand; stop listening after too many."""
        while self.is_open:
            try:
                chunk = os.read(self._reader, CHUNK)
            except BlockingIOError:
                return
            self._content += chunk
            # More than a result can have: a child that floods the pipe must not fill our memory.
            if not chunk or len(self._content) > LARGEST:
                self.close()

    def content(self) -> bytes | None:
        """Return the content, if it is exactly one frame."""
        head = bytes(self._content[: LENGTH.size])
        told = self._content[LENGTH.size :]
        if len(head) < LENGTH.size or LENGTH.unpack(head)[0] != len(told):
            return None
        return bytes(told)

    def close(self) -> None:
        """Stop listening."""
        if self.is_open:
            self.is_open = False
            os.close(self._reader)


def write_frame(descriptor: int, content: bytes) -> None:
    """Tell a result; the server reads meanwhile, however long it is."""
    left = memoryview(LENGTH.pack(len(content)) + content)
    while left:
        left = left[os.write(descriptor, left) :]


def _high(descriptor: int) -> int:
    """Return the descriptor under a high number, or unchanged if none is free."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    # Half-way, because near the limit no number may be free.
    least = min(soft if soft > 0 else HIGHEST, HIGHEST) // 2
    with suppress(OSError):
        moved = fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, least)
        os.close(descriptor)
        return moved
    return descriptor
