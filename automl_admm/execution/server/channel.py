"""Short messages between the executor and its fork server: one line of JSON each."""

from __future__ import annotations

import json
import math
import select
import socket
from collections.abc import Mapping, Sequence
from typing import Any

CHUNK = 65_536
LONGEST_POLL = 2**31 - 1  # milliseconds, 24 days: a C int
Message = dict[str, Any]


class Channel:
    """One end of a socket pair."""

    def __init__(self, end: socket.socket) -> None:
        self._end = end
        self._rest: list[bytes] = []
        self._outbox = bytearray()

    def fileno(self) -> int:
        """The descriptor to poll."""
        return self._end.fileno()

    @property
    def has_mail(self) -> bool:
        """Return True if posted messages wait."""
        return bool(self._outbox)

    def send(self, message: Mapping[str, Any]) -> None:
        """Send a message; raises OSError when the other end is gone."""
        self._end.sendall(_line(message))

    def post(self, message: Mapping[str, Any]) -> None:
        """Send a message without waiting for the other end to read; `flush` sends the rest."""
        self._outbox += _line(message)
        self.flush()

    def flush(self) -> None:
        """Send posted messages, as far as the other end has room."""
        while self._outbox:
            try:
                sent = self._end.send(self._outbox, socket.MSG_DONTWAIT)
            except BlockingIOError:
                return
            del self._outbox[:sent]

    def receive(self, timeout: float | None) -> list[Message]:
        """Return received messages, none after the timeout; EOFError if the other end is gone."""
        if not wait_readable([self.fileno()], timeout):
            return []
        try:
            chunk = self._end.recv(CHUNK)
        except ConnectionError:
            chunk = b""
        if not chunk:
            raise EOFError
        # Joined only at a line's end: joining each chunk is quadratic for a long report.
        self._rest.append(chunk)
        if b"\n" not in chunk:
            return []
        *lines, rest = b"".join(self._rest).split(b"\n")
        self._rest = [rest]
        return [json.loads(line) for line in lines]

    def close(self) -> None:
        """Hang up."""
        self._end.close()


def _line(message: Mapping[str, Any]) -> bytes:
    return json.dumps(message).encode() + b"\n"


def wait_readable(
    descriptors: Sequence[int], timeout: float | None, writable: Sequence[int] = ()
) -> list[int]:
    """Wait until one of the descriptors can be read, at most `timeout` seconds, or 24 days.

    It ends, too, when one in `writable` can be written. By poll, because select takes no descriptor
    above 1023.

    >>> import os
    >>> reader, writer = os.pipe()
    >>> wait_readable([reader], timeout=0.0)
    []
    """
    poll = select.poll()
    for descriptor in descriptors:
        poll.register(descriptor, select.POLLIN)
    for descriptor in writable:
        poll.register(descriptor, select.POLLIN | select.POLLOUT)
    milliseconds = None
    if timeout is not None:
        milliseconds = math.ceil(min(1000 * max(timeout, 0.0), LONGEST_POLL))
    found = poll.poll(milliseconds)
    # A hang-up counts as readable: reading it tells the end.
    return [descriptor for descriptor, event in found if event != select.POLLOUT]
