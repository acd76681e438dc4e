"""A search in steps: taken by `ask` one at a time, or by a driver for a while.

It is the same search throughout, so `ask`, `tell` and `optimize` may follow each other.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from functools import partial

from automl_admm.core.admm_state import AdmmState
from automl_admm.core.evaluations import Evaluation
from automl_admm.core.space import Candidate
from automl_admm.execution.shared_state import BLAS_THREADS
from automl_admm.execution.threads import thread_pools
from automl_admm.search.protocol import WAIT, Event, Proposal, Search, Wait

ENQUEUED = "enqueued"


class Conversation:
    """Own a search: its results not yet sent, and the candidates that come before its own.

    The user's candidates in `first` come first, then those in `left` by earlier drivers. Those
    given to a driver without an answer are `unanswered`. `state` is the latest state of ADMM;
    `is_over` is True once the search has nothing left to try.
    """

    def __init__(self) -> None:
        self.first: deque[Candidate] = deque()
        self.left: deque[Candidate] = deque()
        self.unanswered: list[Candidate] = []
        self.state: AdmmState | None = None
        self.is_over = False
        self._search: Search | None = None
        self._is_resumed = self._is_waiting = False
        self._unsent: list[Evaluation] = []
        self._threads = thread_pools()

    @property
    def has_begun(self) -> bool:
        """True once there is a search."""
        return self._search is not None

    @property
    def has_waiting(self) -> bool:
        """True if candidates come before those of the search."""
        return bool(self.first or self.left)

    @property
    def is_idle(self) -> bool:
        """True if the search waits for a result, and there is none to send."""
        return self._is_waiting and not self._unsent and not self.has_waiting

    def begin(self, search: Search) -> None:
        """Take on a search; results of before are known to it already."""
        self._search = search
        self._unsent.clear()

    def hear(self, evaluation: Evaluation) -> None:
        """Keep a result to send to the search at the next step."""
        self._unsent.append(evaluation)

    def step(self) -> Event | None:
        """Return the next event, of the waiting candidates first; None after the end."""
        if self.has_waiting:
            return Proposal((self.first or self.left).popleft(), ENQUEUED)
        if self.is_over or self._search is None:
            return None
        try:
            event = self._resume(self._search)
        except StopIteration:
            self.is_over = True
            return None
        except BaseException:
            # An interrupt while a solver thinks ends a generator for good: begin another.
            self.forget()
            raise
        self._is_waiting = isinstance(event, Wait)
        if isinstance(event, AdmmState):
            self.state = event
        return event

    def forget(self) -> None:
        """Let go of the search, for another to begin with all known results."""
        self._search, self._is_resumed, self._is_waiting = None, False, False

    def _resume(self, search: Search) -> Event:
        # As in a driver: the small matrices of a solver are fastest on one thread.
        with BLAS_THREADS.within(partial(self._threads.limit, limits=1)):
            if not self._is_resumed:
                self._is_resumed = True
                return next(search)
            results, self._unsent = self._unsent, []
            return search.send(results)

    def lent(self, begun: Sequence[Candidate] = ()) -> Search:
        """Go on as a search for a driver, with the candidates in `begun` before all others."""
        waiting, self.unanswered = deque(begun), list(begun)
        while True:
            if not self.unanswered:
                # A driver ends here, if it is to: a proposal left to a later one would be made
                # without the results that come in between.
                self._answer((yield WAIT))
            event = Proposal(waiting.popleft(), ENQUEUED) if waiting else self.step()
            if event is None:
                return
            if isinstance(event, Proposal) and event.candidate not in self.unanswered:
                self.unanswered.append(event.candidate)
            self._answer((yield event))

    def _answer(self, results: Sequence[Evaluation]) -> None:
        self._unsent.extend(results)
        answered = [one.candidate for one in results]
        self.unanswered = [one for one in self.unanswered if one not in answered]

    def close(self) -> None:
        """End the search and the threads of its solvers."""
        if self._search is not None:
            self._search.close()
        self.is_over = True
