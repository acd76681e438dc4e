"""The public class `Study`: a search with `ask` and `tell`, for loops of the user's own."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, Self, overload

from automl_admm.core.errors import ConfigurationError, UnknownNameError
from automl_admm.core.messages import say_count
from automl_admm.core.space import Candidate
from automl_admm.runs.blackbox import BlackBox, check_function, drive_black_box
from automl_admm.runs.cancelling import Cancel, cancellers
from automl_admm.runs.config import RunConfig
from automl_admm.runs.driving.logbook import Past
from automl_admm.runs.signatures import constructs
from automl_admm.runs.study.files import copy_study, open_study, reopen_study
from automl_admm.runs.study.observations import read_observations
from automl_admm.runs.study.optimized import MinimizeResult, summarize
from automl_admm.runs.study.options import StudyCall
from automl_admm.runs.study.owned import OwnedStudy
from automl_admm.runs.study.points import locate
from automl_admm.runs.study.server import RemoteStudy, StudyServer
from automl_admm.runs.study.telling import read_outcome, read_seconds
from automl_admm.runs.study.trial import Trial
from automl_admm.runs.study.trials import Tell, Trials
from automl_admm.runs.validation import check_whole
from automl_admm.search.protocol import Search, SearchProblem


class Study(OwnedStudy):
    """A search over a space that you drive: `ask` for trials, evaluate them, `tell` the results.

    `space` is searched for the smallest loss within the `constraints` (`"weight <= 3"`). `ask()`
    returns a `Trial`, or None at the end of the budget or of the space; `for trial in study` asks
    until then. `study.optimize(f)` evaluates a function as `minimize`
    does. Without `time_budget` and `max_evaluations` there is no end to asking.

    `starts` are points (dicts of values) to evaluate first, and `warm_start` is a source of
    results that `add_observations` takes. With a `work_dir` every trial is on the disk before
    `ask` and `tell` return, and `Study.load(work_dir)` goes on after any kill. The methods may be
    called from several threads; `serve` lets other processes ask and tell. The other parameters
    are those of `minimize`.
    """

    @constructs(StudyCall)
    def __init__(self, call: StudyCall) -> None:
        self._open(open_study(call))

    @classmethod
    def load(cls, folder: str | Path, **changed: Any) -> Self:
        """Go on with the study in a folder, with some arguments of `Study` changed.

        Trials that nobody told are handed out again first. Then come the proposals that the study
        would have made: the search is made again in memory, and takes as long as its solvers took.
        Functions in `cheap` and objects in place of names are not saved: give them again.
        """
        known = {one.name for one in fields(StudyCall)} - {"space", "work_dir", "warm_start"}
        for name in changed:
            if name not in known:
                raise UnknownNameError("argument of a study", name, known)
        study = cls.__new__(cls)
        cls._open(study, reopen_study(folder, changed))
        return study

    def save(self, folder: str | Path) -> None:
        """Write the study into a new folder; with a `work_dir` it is on the disk already."""
        with self._held():
            copy_study(self._saved, self._trials, folder)

    # --- ask and tell ------------------------------------------------------------------------

    @overload
    def ask(self) -> Trial | None: ...

    @overload
    def ask(self, n: None) -> Trial | None: ...

    @overload
    def ask(self, n: int) -> list[Trial]: ...

    def ask(self, n: int | None = None) -> Trial | list[Trial] | None:
        """Return the next trial, None if there is none; with `n` a list of at most so many.

        There is none at the end (`ended` says why), and in a small space if all that is left
        depends on pending trials.
        """
        if n is None:
            return next(iter(self.ask(1)), None)
        check_whole("the number of trials", n)
        found: list[Trial] = []
        with self._held():
            self._begin()
            try:
                while len(found) < n and self.ended is None:
                    asked = self._trials.ask()
                    if asked is None:
                        break
                    found.append(self._trial(asked))
            except BaseException:  # they do not reach the user now
                self._trials.unclaimed.extendleft(trial.number for trial in reversed(found))
                raise
        return found

    def tell(
        self,
        trial: Trial | int,
        loss: float | Mapping[str, float] | None = None,
        limits: Mapping[str, float] | None = None,
        *,
        failed: bool | str | BaseException | None = None,
        seconds: float | None = None,
    ) -> None:
        """Tell the loss of a trial and a value for the name of every limit, or that it failed.

        `loss` may be the mapping that an objective of `minimize` returns. A failed trial has a
        reason in `failed` instead: a text, an exception or True. `seconds` is what the evaluation
        took, by default the time since `ask`.
        """
        with self._held():
            pending = self._trials.find(trial, self._name)
            what = f"trial {pending.number}"
            outcome = read_outcome(what, self._box.problem.limits, loss, limits, failed)
            self._trials.tell_end(pending, outcome, read_seconds(what, seconds))

    def enqueue(self, point: Mapping[str, Any]) -> None:
        """Let a point come next; values left out take their defaults."""
        with self._held():
            candidate = locate(self._box.problem.space, point, fill=True)
            key = self._box.problem.key(candidate)
            if not self._trials.is_new(key):
                raise ConfigurationError("this point was asked for or told before.")
            if self._trials.is_waiting(key):
                raise ConfigurationError("this point waits to be asked for already.")
            self._trials.enqueue(candidate)

    def add_observations(self, source: Any) -> int:
        """Add results from elsewhere; return the number of new ones.

        `source` is the folder of a study, a study, a result of `minimize`, a data frame or a list
        of dicts (a column for each value, each limit and `loss`), an Optuna study, or a runhistory
        of SMAC. The limited quantities of Optuna are user attributes, those of SMAC additional
        info. Results on known points are left out, and none counts as an evaluation of the budget.
        """
        with self._held():
            found = read_observations(source, self._box)
            return sum(self._trials.add(one) for one in found)

    def __iter__(self) -> Iterator[Trial]:
        """Ask until there is no trial."""
        while (trial := self.ask()) is not None:
            yield trial

    def optimize(
        self, objective: BlackBox, evaluations: int | None = None, *, cancel: Cancel | None = None
    ) -> MinimizeResult:
        """Evaluate an objective on proposals, as `minimize` does, and return its result.

        It goes on until the budget of the study ends, for `evaluations` more if they are given, or
        until `cancel` (a `threading.Event`, or a function without arguments) is set or True.
        """
        check_function(objective)
        with self._held():
            if len(self._trials.pending) > len(self._trials.unclaimed):
                told = say_count(len(self.pending), "trial")
                raise ConfigurationError(f"{told} pending.", hint="Tell their results first.")
            self._begun = self._begun or time.monotonic()
            loan = Loan(self._trials)
            try:
                config = _driven(self._box.config, self._trials, evaluations, self._begun)
                watched = replace(config, callbacks=(*config.callbacks, *cancellers(cancel)))
                box, store = replace(self._box, config=watched), self._trials.store
                self._is_lent = True
                run = drive_black_box(box, objective, loan, store, loan.past)
            finally:
                self._is_lent = False
                loan.end()
        return summarize(run, self._box.problem.space, self._box.config)

    # --- several processes -------------------------------------------------------------------

    def serve(self, address: Any = None, authkey: bytes | None = None) -> StudyServer:
        """Let other processes ask and tell: open a server, to be closed or used in a `with`.

        Without an `address` it is a socket on this machine; `("", port)` listens on the network.
        Whoever knows the `authkey` may run code here: keep it secret. By default it is that of
        this process, which its children know.
        """
        self._demand_open()
        return StudyServer(self, self._demand_open, address, authkey)

    @staticmethod
    def connect(address: Any, authkey: bytes | None = None) -> RemoteStudy:
        """Return the study served at an address, for `ask` and `tell` from this process."""
        return RemoteStudy(address, authkey)


def _driven(config: RunConfig, trials: Trials, evaluations: int | None, begun: float) -> RunConfig:
    """Return the settings of a driver: results from elsewhere are in its log, but free."""
    most: float | None = config.max_evaluations
    if evaluations is not None:
        check_whole("evaluations", evaluations)
        most = trials.spent + evaluations
    whole = None if most is None else math.ceil(most + trials.added)
    if config.time_budget is None:  # then the default one is for each call
        begun = time.monotonic()
    return replace(config, max_evaluations=whole, begun=begun)


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
