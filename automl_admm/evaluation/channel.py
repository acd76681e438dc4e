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
        self._rest = b""

    def fileno(self) -> int:
        """The descriptor to poll."""
        return self._end.fileno()

    def send(self, message: Mapping[str, Any]) -> None:
        """Send a message; raises OSError when the other end is gone."""
        self._end.sendall(json.dumps(message).encode() + b"\n")

    def receive(self, timeout: float | None) -> list[Message]:
        """The messages that came, none if the time ran out; EOFError when the other end is gone."""
        if not readable([self.fileno()], timeout):
            return []
        try:
            chunk = self._end.recv(CHUNK)
        except ConnectionError:
            chunk = b""
        if not chunk:
            raise EOFError
        *lines, self._rest = (self._rest + chunk).split(b"\n")
        return [json.loads(line) for line in lines]

    def close(self) -> None:
        """Hang up."""
        self._end.close()


def readable(descriptors: Sequence[int], timeout: float | None) -> list[int]:
    """Wait until one of the descriptors can be read, at most `timeout` seconds, or 24 days.

    By poll, because select takes no descriptor above 1023.
    """
    poll = select.poll()
    for descriptor in descriptors:
        poll.register(descriptor, select.POLLIN)
    milliseconds = None
    if timeout is not None:
        milliseconds = math.ceil(min(1000 * max(timeout, 0.0), LONGEST_POLL))
    return [descriptor for descriptor, _ in poll.poll(milliseconds)]
