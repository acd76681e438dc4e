"""A study for several processes: one process owns it, and answers the others.

One writer keeps the store simple and the search single: a search is a generator in memory, which
no file can share. The messages are those of `multiprocessing.connection`: pickled, and only after
both sides have proven that they know the same key.
"""

from __future__ import annotations

import pickle
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from multiprocessing import AuthenticationError, Pipe
from multiprocessing.connection import (
    Client,
    Connection,
    Listener,
    answer_challenge,
    deliver_challenge,
    wait,
)
from multiprocessing.reduction import ForkingPickler
from typing import TYPE_CHECKING, Any, Self

from automl_admm.core.admm_state import AdmmState
from automl_admm.core.errors import AutomlAdmmError, ConfigurationError
from automl_admm.core.messages import say_error, say_value
from automl_admm.runs.study.connections import Connections, demand_port, key_of
from automl_admm.runs.study.trial import Trial, TrialResult

if TYPE_CHECKING:
    from automl_admm.runs.study.study import Study

METHODS = frozenset({"ask", "tell", "enqueue", "add_observations"})
PROPERTIES = {name: name for name in ("best", "pending", "results", "ended", "admm_state")}
# As an error of `_answer`; also the farewell to those who ask nothing.
CLOSED = (False, (False, "the server of the study is closed.", "Wait for its next one, or end."))


class StudyServer:
    """Answers other processes until it is closed; each connection has a thread of its own.

    Children of this process know its `authkey`, so they need the `address` alone.
    """

    def __init__(
        self, study: Study, demand_open: Callable[[], None], address: Any, authkey: bytes | None
    ) -> None:
        self.authkey = key_of(authkey)
        self._study, self._demand_open = study, demand_open
        demand_port(address)
        try:
            # Without the key: a stranger who says nothing must not keep the others waiting.
            self._listener = Listener(address, backlog=64)
        except (OSError, ValueError, TypeError) as problem:
            message = f"no server can be opened at {say_value(address)}: {say_error(problem)}."
            raise ConfigurationError(message) from problem
        self.address = self._listener.address
        self._is_open = True
        self._closing, self._bell = Pipe(duplex=False)  # nobody reads it: all threads hear it
        self._thread = threading.Thread(target=self._accept, name="study-server", daemon=True)
        self._thread.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Take no more connections and no more calls; one that was begun is answered."""
        if not self._is_open:
            return
        self._is_open = False
        self._bell.send_bytes(b"")
        # Nothing wakes a thread that waits for a connection but a connection.
        with suppress(OSError, EOFError):
            Client(self.address).close()
        self._thread.join()
        self._listener.close()

    def _accept(self) -> None:
        while self._is_open:
            with suppress(OSError, EOFError):  # a worker that died while it connected
                arguments = (self._listener.accept(),)
                threading.Thread(target=self._answer_all, args=arguments, daemon=True).start()

    def _answer_all(self, connection: Connection) -> None:
        """Answer one connection until its end; it proves the key before anything of it is read."""
        with suppress(OSError, EOFError, AuthenticationError), connection:
            deliver_challenge(connection, self.authkey)
            answer_challenge(connection, self.authkey)
            while self._is_asked(connection):
                connection.send(self._answer(connection.recv_bytes()))
            if connection.poll():  # a question that came too late
                connection.recv_bytes()
            connection.send(CLOSED)

    def _is_asked(self, connection: Connection) -> bool:
        """Wait for a question, or the end of a connection; return False if the server is closed."""
        wait([connection, self._closing])
        return self._is_open

    def _answer(self, request: bytes) -> tuple[bool, Any]:
        """Return True and the answer, or False and the kind, message and hint of an error."""
        try:
            name, given, named = _read(request)
            if name in METHODS:
                return True, getattr(self._study, name)(*given, **named)
            self._demand_open()
            return True, getattr(self._study, PROPERTIES[name])
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
    """A study in another process, for `ask` and `tell` from any number of threads.

    A fork of this process, and a process that it is sent to, connect anew.
    """

    def __init__(self, address: Any, authkey: bytes | None) -> None:
        self._connections = Connections(address, authkey)
        self._connections.open()

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
        self._connections.close()

    def _call(self, name: str, *given: Any, **named: Any) -> Any:
        try:
            request = ForkingPickler.dumps((name, given, named))
        except Exception as problem:
            message = (
                f"the call cannot be sent to the process with the study: {say_error(problem)}."
            )
            raise ConfigurationError(message, hint="Give what can be pickled.") from problem
        answer = _opened(self._connections.exchange(request))
        if answer == CLOSED:  # nothing was carried out, and the next server may be there
            self._connections.drop_idle()
            answer = _opened(self._connections.exchange(request))
        is_answer, found = answer
        if is_answer:
            return found
        is_ours, message, hint = found
        raise (ConfigurationError if is_ours else AutomlAdmmError)(message, hint=hint)


def _opened(answer: bytes) -> Any:
    try:
        return pickle.loads(answer)  # noqa: S301 - of one who knows the key
    except Exception as problem:
        message = f"the answer of the study cannot be read: {say_error(problem)}."
        raise AutomlAdmmError(message, hint="Both processes need the same version.") from problem
