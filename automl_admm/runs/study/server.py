"""A study for several processes: one process owns it, and answers the others.

One writer keeps the store simple and the search single: a search is a generator in memory, which
no file can share. The messages are those of `multiprocessing.connection`: pickled, and only after
both sides have proven that they know the same key.
"""

from __future__ import annotations

import os
import pickle
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from multiprocessing import AuthenticationError, current_process
from multiprocessing.connection import (
    Client,
    Connection,
    Listener,
    answer_challenge,
    deliver_challenge,
)
from multiprocessing.reduction import ForkingPickler
from typing import TYPE_CHECKING, Any, Self

from automl_admm.core.admm_state import AdmmState
from automl_admm.core.errors import AutomlAdmmError, ConfigurationError
from automl_admm.core.messages import say_error, say_value
from automl_admm.runs.study.trial import Trial, TrialResult

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

    from automl_admm.runs.study.study import Study

METHODS = frozenset({"ask", "tell", "enqueue", "add_observations"})
PROPERTIES = {name: name for name in ("best", "pending", "results", "ended", "admm_state")}
LAST_PORT = 65535
LOST = "Is the process with the study still running, and is its server open?"


class StudyServer:
    """Answers other processes until it is closed; each connection has a thread of its own.

    Children of this process know its `authkey`, so they need the `address` alone.
    """

    def __init__(self, study: Study, address: Any, authkey: bytes | None) -> None:
        self.authkey = _key(authkey)
        self._study = study
        _demand_port(address)
        try:
            # Without the key: a stranger who says nothing must not keep the others waiting.
            self._listener = Listener(address, backlog=64)
        except (OSError, ValueError, TypeError) as problem:
            message = f"no server can be opened at {say_value(address)}: {say_error(problem)}."
            raise ConfigurationError(message) from problem
        self.address = self._listener.address
        self._is_open = True
        self._thread = threading.Thread(target=self._accept, name="study-server", daemon=True)
        self._thread.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Take no more connections; those that are open go on until their other side ends."""
        if not self._is_open:
            return
        self._is_open = False
        # Nothing wakes a thread that waits for a connection but a connection.
        with suppress(OSError, EOFError):
            Client(self.address).close()
        self._thread.join()
        self._listener.close()

    def _accept(self) -> None:
        while self._is_open:
            with suppress(OSError, EOFError):  # a worker that died while it connected
                connection = self._listener.accept()
                arguments = (self._study, connection, self.authkey)
                threading.Thread(target=_answer_all, args=arguments, daemon=True).start()


def _answer_all(study: Study, connection: Connection, authkey: bytes) -> None:
    """Answer one connection until its end; nothing of it is read before it has proven the key."""
    with suppress(OSError, EOFError, AuthenticationError), connection:
        deliver_challenge(connection, authkey)
        answer_challenge(connection, authkey)
        while True:
            connection.send(_answer(study, connection.recv_bytes()))


def _answer(study: Study, request: bytes) -> tuple[bool, Any]:
    """Return True and the answer, or False and the kind, the message and the hint of an error."""
    try:
        name, given, named = _read(request)
        if name in METHODS:
            return True, getattr(study, name)(*given, **named)
        return True, getattr(study, PROPERTIES[name])
    except AutomlAdmmError as error:
        hint = None if error.hint is None else str(error.hint)
        return False, (isinstance(error, ConfigurationError), error.message, hint)
    except Exception as error:  # noqa: BLE001 - the other side is told of whatever it is
        return False, (False, f"{say_error(error)}.", None)


def _read(request: bytes) -> tuple[str, Sequence[Any], Mapping[str, Any]]:
    try:
        name, given, named = pickle.loads(request)  # noqa: S301 - of one who knows the key
    except Exception as problem:
        raise ConfigurationError(
            f"the process with the study cannot read the call: {say_error(problem)}.",
            hint="Give what it can import.",
        ) from problem
    return name, given, named


class RemoteStudy:
    """A study in another process, for `ask` and `tell`; use it in one thread at a time.

    A fork of this process has a connection of its own: of one, each would read the other's answers.
    """

    def __init__(self, address: Any, authkey: bytes | None) -> None:
        _demand_port(address)
        self._address, self._authkey = address, _key(authkey)
        self._connection, self._is_cut_off = self._connect(), False
        self._process = os.getpid()

    def _connect(self) -> Connection:
        try:
            return Client(self._address, authkey=self._authkey)
        except (OSError, EOFError, AuthenticationError, ValueError, TypeError) as problem:
            message = f"no study answers at {say_value(self._address)}: {say_error(problem)}."
            raise ConfigurationError(message, hint=LOST) from problem

    def ask(self, n: int | None = None) -> Any:
        """Return the next trial, None if there is none; with `n` a list of at most so many."""
        return self._call("ask", n)

    def tell(
        self,
        trial: Trial | int,
        loss: Any = None,
        limits: Mapping[str, float] | None = None,
        *,
        failed: Any = None,
        seconds: float | None = None,
    ) -> None:
        """Tell the result of a trial."""
        # An exception of the user's may not be pickled.
        if isinstance(failed, BaseException):
            failed = say_error(failed)
        self._call("tell", trial, loss, limits, failed=failed, seconds=seconds)

    def enqueue(self, point: Mapping[str, Any]) -> None:
        """Let a point come next."""
        self._call("enqueue", point)

    def add_observations(self, source: Any) -> int:
        """Add results from elsewhere; return the number of new ones."""
        return int(self._call("add_observations", source))

    @property
    def best(self) -> TrialResult | None:
        """The best result so far."""
        found: TrialResult | None = self._call("best")
        return found

    @property
    def pending(self) -> tuple[Trial, ...]:
        """The trials asked for and not told."""
        return tuple(self._call("pending"))

    @property
    def results(self) -> tuple[TrialResult, ...]:
        """All results."""
        return tuple(self._call("results"))

    @property
    def ended(self) -> str | None:
        """The reason why there are no more trials; None as long as there may be."""
        found: str | None = self._call("ended")
        return found

    @property
    def admm_state(self) -> AdmmState | None:
        """The latest state of ADMM."""
        found: AdmmState | None = self._call("admm_state")
        return found

    def __iter__(self) -> Iterator[Trial]:
        while (trial := self.ask()) is not None:
            yield trial

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the connection."""
        self._connection.close()
        self._is_cut_off = False

    def _call(self, name: str, *given: Any, **named: Any) -> Any:
        try:
            request = ForkingPickler.dumps((name, given, named))
        except Exception as problem:
            message = (
                f"the call cannot be sent to the process with the study: {say_error(problem)}."
            )
            raise ConfigurationError(message, hint="Give what can be pickled.") from problem
        try:
            is_answer, found = self._exchange(request)
        except (OSError, EOFError) as problem:
            message = f"the study does not answer: {say_error(problem)}."
            raise AutomlAdmmError(message, hint=LOST) from problem
        if is_answer:
            return found
        is_ours, message, hint = found
        raise (ConfigurationError if is_ours else AutomlAdmmError)(message, hint=hint)

    def _exchange(self, request: ReadableBuffer) -> Any:
        """Send a request and return its answer; connect anew after a fork, or a call cut off."""
        is_forked = self._process != os.getpid() and not self._connection.closed
        if self._is_cut_off or is_forked:
            self._connection, self._is_cut_off = self._connect(), False
            self._process = os.getpid()
        try:
            self._connection.send_bytes(request)
            return self._connection.recv()
        except BaseException:
            # The answer that is still to come would be taken for that of the next request.
            self._is_cut_off = not self._connection.closed
            self._connection.close()
            raise


def _demand_port(address: Any) -> None:
    """Raise unless a port is from 0 to 65535: Python's own error would leave a socket open."""
    port = address[1] if isinstance(address, tuple) and len(address) == 2 else 0
    if isinstance(port, int) and not 0 <= port <= LAST_PORT:
        hint = f"A port is a number from 0 to {LAST_PORT}."
        raise ConfigurationError(f"{say_value(address)} is no address.", hint=hint)


def _key(authkey: bytes | None) -> bytes:
    if authkey is None:
        return bytes(current_process().authkey)
    if not isinstance(authkey, bytes) or not authkey:
        raise ConfigurationError(f"authkey must be bytes, not {type(authkey).__name__}.")
    return authkey
