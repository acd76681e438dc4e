"""The search of a study, lent to a driver and taken back with all results."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from automl_admm.core.space import Candidate
from automl_admm.runs.driving.logbook import Past
from automl_admm.runs.study.trials import Tell, Trials
from automl_admm.search.protocol import Search, SearchProblem


class Loan:
    """Lends the search of a study to one driver.

    The driver first evaluates the trials not claimed since the study was read, under their own
    numbers; without a result they are pending again at the end.
    """

    def __init__(self, trials: Trials) -> None:
        self._trials = trials
        self._released = [trials.pending.pop(number) for number in trials.unclaimed]
        trials.unclaimed.clear()

    @property
    def past(self) -> Past:
        """The results and the numbers of before."""
        numbers = {one.key: one.number for one in self._released}
        known, last = self._trials.log.evaluations, self._trials.last_number
        return Past(tuple(known), begun=numbers, last_number=last)

    def search(self, problem: SearchProblem, tell: Tell) -> Search:
        """Return the search for the driver."""
        del tell
        self._trials.begin(problem)
        begun = [candidate for one in self._released for candidate in one.candidates]
        return self._trials.conversation.lent(begun)

    def end(self) -> None:
        """Take the search back, and tell it the results not told by the driver."""
        trials = self._trials
        trials.take_up()
        for one in self._released:
            if trials.log.find(one.key) is None:
                trials.pending[one.number] = one
                trials.unclaimed.append(one.number)
        self._take_back(trials.conversation.unanswered)
        self._released, trials.conversation.unanswered = [], []

    def _take_back(self, candidates: Iterable[Candidate]) -> None:
        """Tell the search the known results; the rest comes before its next proposals."""
        trials, left = self._trials, []
        for candidate in candidates:
            key = trials.box.problem.key(candidate)
            known = trials.log.find(key)
            if known is not None:
                trials.conversation.hear(replace(known, candidate=candidate))
            else:
                left.append(candidate)
        trials.leave(left)
