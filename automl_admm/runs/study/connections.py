"""Connections to the process with a study: one for each call that is under way.

A question and its answer have a connection for themselves, so threads never read each other's
answers. One that was cut off is not used again: the answer that is still to come would be taken for
that of the next question.
"""

from __future__ import annotations

import os
from contextlib import suppress
from multiprocessing import AuthenticationError, current_process
from multiprocessing.connection import Client, Connection
from typing import TYPE_CHECKING, Any

from automl_admm.core.errors import AutomlAdmmError, ConfigurationError
from automl_admm.core.messages import say_error, say_value

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

LAST_PORT = 65535
LOST = "Is the process with the study still running, and is its server open?"
OTHER_KEY = "Give serve and connect the same authkey: only children know that of their parent."


class Connections:
    """The connections of one client; its copy in another process has its own."""

    def __init__(self, address: Any, authkey: bytes | None) -> None:
        demand_port(address)
        self._address, self._given, self._key = address, authkey, key_of(authkey)
        self._is_closed = False
        self._kept: tuple[int, list[Connection]] = (os.getpid(), [])

    def __reduce__(self) -> tuple[type[Connections], tuple[Any, bytes | None]]:
        return Connections, (self._address, self._given)

    def open(self) -> None:
        """Connect once; raise `ConfigurationError` if no study answers."""
        self._idle.append(self._connect())

    def exchange(self, request: ReadableBuffer) -> bytes:
        """Send a request and return its answer."""
        connection = self._take()
        try:
            if not _is_sent(request, connection):  # so nothing was carried out
                connection.close()
                self.drop_idle()
                connection = self._take()
                connection.send_bytes(request)
            answer = connection.recv_bytes()
        except (OSError, EOFError) as problem:
            connection.close()
            message = f"the study does not answer: {say_error(problem)}."
            raise AutomlAdmmError(message, hint=LOST) from problem
        except BaseException:
            connection.close()
            raise
        self._idle.append(connection)
        if self._is_closed:  # meanwhile, by another thread
            self.close()
        return answer

    def close(self) -> None:
        """Let go of the connections; one that waits for an answer goes with it."""
        self._is_closed = True
        self.drop_idle()

    def drop_idle(self) -> None:
        """Close the connections without a call under way; the next call connects anew."""
        with suppress(IndexError):
            while True:
                self._idle.pop().close()

    @property
    def _idle(self) -> list[Connection]:
        """The connections that wait for a question, in this process: a fork begins with none."""
        process, idle = self._kept
        if process != os.getpid():
            idle = []
            self._kept = (os.getpid(), idle)
        return idle

    def _take(self) -> Connection:
        if self._is_closed:
            message = "this connection to the study is closed."
            raise ConfigurationError(message, hint="Open another one with Study.connect.")
        with suppress(IndexError):
            while True:
                found = self._idle.pop()
                if not _is_over(found):
                    return found
                found.close()
        return self._connect()

    def _connect(self) -> Connection:
        try:
            return Client(self._address, authkey=self._key)
        except (OSError, EOFError, AuthenticationError, ValueError, TypeError) as problem:
            message = f"no study answers at {say_value(self._address)}: {say_error(problem)}."
            hint = OTHER_KEY if isinstance(problem, AuthenticationError) else LOST
            raise ConfigurationError(message, hint=hint) from problem


def demand_port(address: Any) -> None:
    """Raise unless a port is from 0 to 65535: Python's own error would leave a socket open."""
    port = address[1] if isinstance(address, tuple) and len(address) == 2 else 0
    if isinstance(port, int) and not 0 <= port <= LAST_PORT:
        hint = f"A port is a number from 0 to {LAST_PORT}."
        raise ConfigurationError(f"{say_value(address)} is no address.", hint=hint)


def key_of(authkey: bytes | None) -> bytes:
    """Return the key to prove: by default that of this process, which its children know."""
    if authkey is None:
        return bytes(current_process().authkey)
    if not isinstance(authkey, bytes) or not authkey:
        raise ConfigurationError(f"authkey must be bytes, not {type(authkey).__name__}.")
    return authkey


def _is_sent(request: ReadableBuffer, connection: Connection) -> bool:
    """Send a request; return False if the other side has closed meanwhile."""
    try:
        connection.send_bytes(request)
    except ConnectionError:
        return False
    return True


def _is_over(connection: Connection) -> bool:
    """Return True if there is something to read though nothing was asked: its end."""
    try:
        return connection.poll()
    except (OSError, EOFError):
        return True
