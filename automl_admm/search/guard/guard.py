"""Guard every call of a solver, so that no solver can take a run down.

A solver that breaks its promises (see `core.protocols`) is asked again a few times, then reported
by name and replaced for the rest of the run. A correct one is not changed in any way: its proposals
pass bit for bit.
"""

from __future__ import annotations

import ctypes
import logging
import math
import time
from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Any, Generic, TypeVar

from automl_admm.core.errors import SHELL_HINT, AutomlAdmmError, ConfigurationError
from automl_admm.core.messages import say_value
from automl_admm.core.protocols import ThetaSolver, ZSolver
from automl_admm.core.space import Array, Selection
from automl_admm.core.subproblems import AtFidelity, Observation
from automl_admm.search.guard.proposal_checks import (
    BoxGround,
    Fault,
    Ground,
    TableGround,
    Trail,
    admit_fidelity,
)

logger = logging.getLogger(__name__)

PointT = TypeVar("PointT")

# All in seconds, except the share and the counts. A call is slow after LONGEST_CALL or a quarter of
# the time left, never before SHORT_CALL; GRACE lets a late call end; SLICE bounds the delay of an
# interrupt, and counts as LONGEST_SLICE at most.
LONGEST_CALL = 120.0
SHARE_OF_TIME_LEFT = 0.25
SHORT_CALL = 5.0
GRACE = 0.5
SLICE = 0.25
LONGEST_SLICE = 1.0
# A call cut off sooner than this by the deadline gets no warning: it had no fair chance.
WORTH_TELLING = 1.0
FAULTS_IN_A_ROW = 3
FAULTS_IN_A_RUN = 10
# With fewer known points an empty answer in an untried box is a fault, not the end of a search.
FEW_KNOWN = 8
# The name of the threads in which solvers are made and called.
SOLVER = "solver"


# --- calls that can be walked away from ----------------------------------------------------------


_Answer = SimpleQueue[tuple[Any, BaseException | None]]
_Requests = SimpleQueue[tuple[Callable[[], Any], _Answer] | None]


def nothing() -> None:
    """Do nothing: there is nothing to prepare in the thread."""


class Helper:
    """A daemon thread that makes calls for a caller with limited patience.

    `prepare` is called in the thread before each call. Handing a call over takes some 30 µs.
    Compiled code that holds the interpreter's lock for ever blocks the waiting thread too.
    """

    def __init__(self, prepare: Callable[[], None] = nothing, name: str = SOLVER) -> None:
        self._prepare = prepare
        self._name = name
        self._requests: _Requests = SimpleQueue()
        self._thread: Thread | None = None
        self._running: _Answer | None = None
        self._is_late = False

    def call(
        self,
        function: Callable[[], Any],
        timeout: float,
        is_hurried: Callable[[], bool] | None = None,
    ) -> tuple[Any, BaseException | None]:
        """Return the function's result or its exception; raise `Empty` if the time runs out.

        It also runs out soon after `is_hurried` has become true.
        """
        if self._thread is None:
            # A daemon: a call that never returns must not keep the process alive.
            arguments = (self._requests, self._prepare)
            thread = Thread(target=_serve, args=arguments, daemon=True, name=self._name)
            try:
                thread.start()
            except RuntimeError as error:
                reason = f"the thread of a {self._name} cannot be started: {error}."
                raise AutomlAdmmError(reason, hint=SHELL_HINT) from error
            self._thread = thread
        # A queue for each call, so that a late answer can never be taken for the next one.
        answer: _Answer = SimpleQueue()
        self._running = answer
        self._requests.put((function, answer))
        try:
            outcome = _await(answer, timeout, is_hurried)
        except Empty:
            self._is_late = True
            raise
        self._running = None
        return outcome

    def stop(self) -> None:
        """End the thread; a call still running is broken off at its next line of Python.

        A call that was only interrupted may finish first: an exception from outside can hit a
        finaliser, and Python would print it.
        """
        if self._thread is None:
            return
        self._requests.put(None)
        if self._is_under_way() and self._thread.ident is not None:
            ctypes.pythonapi.PyThreadState_SetAsyncExc(
                ctypes.c_ulong(self._thread.ident), ctypes.py_object(SystemExit)
            )
        self._thread = None

    def _is_under_way(self) -> bool:
        """Return True if the last call still runs after a moment's grace."""
        if self._running is None:
            return False
        try:
            self._running.get(timeout=0.0 if self._is_late else GRACE)
        except Empty:
            return True
        return False


def _await(
    answer: _Answer, timeout: float, is_hurried: Callable[[], bool] | None
) -> tuple[Any, BaseException | None]:
    """Return the answer; wait in slices, so that no signal waits for the whole time.

    Python runs signal handlers between two steps of its own code. A signal just before a blocking
    wait would be handled after it: Ctrl-C would seem dead for up to `timeout` seconds.
    """
    left = timeout
    while is_hurried is None or not is_hurried():
        begun = time.monotonic()
        with suppress(Empty):
            return answer.get(timeout=max(min(left, SLICE), 0.0))
        # The slice just waited was the last one.
        if left <= SLICE:
            raise Empty
        # After Ctrl-Z and `fg` a slice has taken minutes, in which the call stood still, too.
        left -= min(time.monotonic() - begun, LONGEST_SLICE)
    return answer.get(timeout=min(max(left, 0.0), GRACE))


def _serve(requests: _Requests, prepare: Callable[[], None]) -> None:
    with suppress(SystemExit):
        while (request := requests.get()) is not None:
            function, answer = request
            try:
                prepare()
                answer.put((function(), None))
            except BaseException as problem:  # noqa: BLE001 - whoever waits is told, whatever it is
                answer.put((None, problem))


# --- the guard -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Post:
    """A solver's post in a run: its holder, its stand-in and its deadline.

    `title` names the solver and its provider. `stand_in` makes its replacement. `report` receives
    the title and the reason. `prepare` is called in the solver's thread before each call.
    """

    title: str
    stand_in: Callable[[], Any]
    report: Callable[[str, str], object]
    prepare: Callable[[], None]
    deadline: float | None
    clock: Callable[[], float]

    def patience(self) -> float:
        """Return the seconds allowed for a call: two minutes, or a quarter of the time left.

        Five seconds are never too long, unless the deadline comes first.
        """
        if self.deadline is None:
            return LONGEST_CALL
        left = max(self.deadline - self.clock(), GRACE)
        return min(LONGEST_CALL, left, max(left * SHARE_OF_TIME_LEFT, SHORT_CALL))

    def is_over(self) -> bool:
        """Return True after the deadline: a call broken off then is nobody's fault."""
        return self.deadline is not None and self.clock() >= self.deadline


class Guard(Generic[PointT]):
    """A wrapper around a solver that keeps the promises of the protocol.

    A fault in `begin`, a call that hangs and a stuck solver end its service at once; any other
    fault does if it comes three times in a row or ten times in a run. The stand-in begins with the
    present sub-problem and all observations since. A `ConfigurationError` in the first `begin` is
    no fault but a refusal of a space the solver was not made for: it passes to the user.
    """

    def __init__(self, solver: Any, ground_of: Callable[[Any], Ground[PointT]], post: Post) -> None:
        self._solver = solver
        self._ground_of = ground_of
        self._post = post
        self._helper = Helper(post.prepare)
        self._stand_in: Any = None
        self._trail = Trail()
        self._row: Counter[str] = Counter()
        self._faults = 0
        self._has_begun = False
        self._subproblem: Any = None

    def begin(self, subproblem: Any) -> None:
        """Start on a sub-problem."""
        self._subproblem = subproblem
        self._told: list[Observation[PointT]] = []
        self._ground = self._ground_of(subproblem)
        if self._stand_in is not None:
            self._stand_in.begin(subproblem)
            return
        self._trail.enter(self._ground.size, map(self._key_of, subproblem.history))
        try:
            # A lambda: a missing method then raises inside the guarded call.
            self._call("begin", lambda: self._solver.begin(subproblem))
        except Fault as fault:
            if isinstance(fault.__cause__, ConfigurationError) and not self._has_begun:
                raise fault.__cause__ from None
            self._replace(fault)
        self._has_begun = True

    def ask(self, count: int, pending: Sequence[PointT]) -> Sequence[PointT | AtFidelity[PointT]]:
        """Return proposals checked against the sub-problem."""
        while self._stand_in is None:
            try:
                return self._ask(count, pending)
            except Fault as fault:
                self._weigh("ask", fault)
        found: Sequence[PointT] = self._stand_in.ask(count, pending)
        return found

    def tell(self, observations: Sequence[Observation[PointT]]) -> None:
        """Pass observations on."""
        self._told.extend(observations)
        if self._stand_in is not None:
            self._stand_in.tell(observations)
            return
        self._trail.known.update(map(self._key_of, observations))
        try:
            self._call("tell", lambda: self._solver.tell(observations))
            self._row["tell"] = 0
        except Fault as fault:
            self._weigh("tell", fault)

    def close(self) -> None:
        """End the thread."""
        self._helper.stop()

    def _ask(self, count: int, pending: Sequence[PointT]) -> Sequence[PointT | AtFidelity[PointT]]:
        proposed = self._call("ask", partial(_listed, self._solver, count, pending))
        # Pending points may be all a solver wants for now; only without them is silence a fault.
        is_early = self._ground.size == math.inf or len(self._trail.known) < FEW_KNOWN
        is_early = is_early and self._trail.has_room
        if count and not proposed and not pending and is_early:
            raise Fault("proposed nothing, although most of its box is untried")
        admitted = [self._admit(item) for item in proposed]
        if self._trail.is_stuck:
            raise Fault("proposed the same point again and again", is_final=True)
        # Only whole answers end a row of faults, so one bad point in each still counts.
        self._row["ask"] = 0
        return admitted

    def _admit(self, proposed: Any) -> PointT | AtFidelity[PointT]:
        if not isinstance(proposed, AtFidelity):
            point = self._ground.admit(proposed)
            self._trail.note((self._ground.key(point), 1.0))
            return point
        point = self._ground.admit(proposed.point)
        fidelity = admit_fidelity(proposed.fidelity, self._subproblem.lowest_fidelity)
        self._trail.note((self._ground.key(point), fidelity))
        return AtFidelity(point, fidelity)

    def _call(self, method: str, function: Callable[[], Any]) -> Any:
        """Call in the helper's thread; every exception becomes a fault."""
        patience = self._post.patience()
        try:
            result, problem = self._helper.call(function, patience)
        except Empty:
            # At the deadline the call was cut off by us: replace the solver without blaming it.
            is_over = self._post.is_over()
            if is_over and patience >= WORTH_TELLING:
                told = "%s was still in %s after %.3g s when the time ran out"
                logger.warning(told, self._post.title, method, patience)
            reason = f"did not come back from {method} within {patience:.3g} s"
            raise Fault(reason, is_final=True, is_silent=is_over) from None
        if problem is not None:
            reason = f"raised {say_value(problem)} in {method}"
            raise Fault(reason, is_final=method == "begin") from problem
        return result

    def _key_of(self, observation: Observation[PointT]) -> Hashable:
        return self._ground.key(observation.point), observation.fidelity

    def _weigh(self, method: str, fault: Fault) -> None:
        """Count a fault; replace the solver after enough of them."""
        self._row[method] += 1
        self._faults += 1
        logger.debug("%s %s", self._post.title, fault, exc_info=fault)
        is_enough = self._row[method] >= FAULTS_IN_A_ROW or self._faults >= FAULTS_IN_A_RUN
        if fault.is_final or is_enough:
            self._replace(fault)

    def _replace(self, fault: Fault) -> None:
        self._helper.stop()
        self._stand_in = self._post.stand_in()
        # The stand-in must not repeat points already paid for.
        history = (*self._subproblem.history, *self._told)
        self._stand_in.begin(replace(self._subproblem, history=history))
        if not fault.is_silent:
            told = "%s %s; random proposals take its place until the run ends"
            logger.warning(told, self._post.title, fault)
            self._post.report(self._post.title, str(fault))


def _listed(solver: Any, count: int, pending: Sequence[Any]) -> list[Any]:
    """List a solver's proposals, at most `count` of them."""
    return list(islice(solver.ask(count, pending), count))


def guard_theta(solver: ThetaSolver, post: Post) -> Guard[Array]:
    """Guard a θ-solver."""
    return Guard(solver, BoxGround.of, post)


def guard_z(solver: ZSolver, post: Post) -> Guard[Selection]:
    """Guard a z-solver."""
    return Guard(solver, TableGround.of, post)
