"""The promises of an observer: it hears of any run, quickly, and raises nothing."""

from __future__ import annotations

import inspect
import math
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from automl_admm.core.admm_state import AdmmState
from automl_admm.core.evaluations import Evaluation, Status
from automl_admm.core.run import RunInfo, RunResult, Stop, StopReason
from automl_admm.core.space import SearchSpace
from automl_admm.plugins.event_hooks import EVENT_HOOKS
from automl_admm.search.starts import default_start
from automl_admm.testing.saved_runs import BEST, EVALUATIONS, LIMITS, SPACE

Event = tuple[str, Mapping[str, Any]]


class ObserverContract:
    """The promises of an observer: subclass it, and return an object with its hooks in `make`.

    A module with hooks is one, too. A call may take `seconds`: the search waits for it.
    """

    seconds: ClassVar[float] = 5.0

    def make(self) -> Any:
        """Return a fresh observer."""
        raise NotImplementedError

    def hear(self, events: Iterator[Event]) -> dict[str, list[Any]]:
        """Tell an observer of events one by one, and return its answers by hook."""
        observer, answers = self.make(), dict[str, list[Any]]()
        for hook, arguments in events:
            listener = getattr(observer, hook, None)
            if listener is None:
                continue
            begun = time.monotonic()
            answers.setdefault(hook, []).append(_called(listener, arguments))
            spent = time.monotonic() - begun
            assert spent <= self.seconds, f"{hook} took {spent:.1f} s"
        return answers

    def test_it_listens(self) -> None:
        """Have one hook at least, and take no arguments but those of the hook."""
        observer = self.make()
        found = {hook: getattr(observer, hook) for hook in EVENT_HOOKS if hasattr(observer, hook)}
        assert found, "it has no hook of an observer"
        told = dict(_events(EVALUATIONS))
        for hook, listener in found.items():
            strange = set(inspect.signature(listener).parameters) - set(told[hook])
            assert not strange, f"{hook} has no argument '{min(strange)}'"

    def test_it_hears_a_whole_run(self) -> None:
        """Hear a run with evaluations of every ending: it raises nothing, and is quick."""
        self.hear(_events(EVALUATIONS))

    def test_it_hears_every_failure(self) -> None:
        """Hear of an evaluation with each status there is."""
        failures = [
            replace(BEST, number=place, status=status, loss=math.nan, constraints=(), message="why")
            for place, status in enumerate(Status, start=1)
            if status is not Status.SUCCESS
        ]
        self.hear(_events(failures, best=None))

    def test_it_hears_a_run_without_a_result(self) -> None:
        """Hear a run that ends before its first evaluation, without limits, budget or folder."""
        info = RunInfo("nothing", SearchSpace())
        self.hear(_events((), info, best=None))

    def test_it_hears_a_run_that_goes_on(self) -> None:
        """Hear a resumed run, whose earlier evaluations are known."""
        self.hear(_events(EVALUATIONS[4:], replace(_info(), known=EVALUATIONS[:4])))

    def test_it_hears_several_runs(self) -> None:
        """Hear one run after the other: a program may search twice."""
        self.hear(iter([*_events(EVALUATIONS), *_events(EVALUATIONS[:2])]))

    def test_it_stops_a_run_by_true_alone(self) -> None:
        """Answer `should_stop` by True, False or None."""
        for answer in self.hear(_events(EVALUATIONS)).get("should_stop", ()):
            assert answer is None or isinstance(answer, bool), f"should_stop answered {answer!r}"


def _info() -> RunInfo:
    return RunInfo(
        "credit", SPACE, LIMITS, budget_seconds=60.0, loss_name="roc_auc", best_score=1.0
    )


def _events(
    evaluations: Sequence[Evaluation], info: RunInfo | None = None, best: Evaluation | None = BEST
) -> Iterator[Event]:
    """Yield what an observer of a run is told, in order."""
    told = {"info": info or _info()}
    yield "run_started", told
    yield "should_stop", {**told, "evaluations": 0, "incumbent": None}
    for done, evaluation in enumerate(evaluations, start=1):
        number, text = evaluation.number, evaluation.text
        yield "evaluation_started", {**told, "number": number, "text": text}
        yield "evaluation_finished", {**told, "evaluation": evaluation}
        yield "should_stop", {**told, "evaluations": done, "incumbent": best}
    yield "iteration_finished", {**told, "state": _state(best)}
    reason = "proposed the same point twice"
    yield (
        "solver_replaced",
        {**told, "solver": "theta solver 'gp' (automl-admm 1)", "reason": reason},
    )
    stop = Stop(StopReason.EVALUATIONS)
    result = RunResult(best, best is not None, tuple(evaluations), stop, 60.0, told["info"].limits)
    yield "run_finished", {**told, "result": result}


def _state(best: Evaluation | None) -> AdmmState:
    start, zeros = default_start(SPACE), np.zeros(len(SPACE.parameters))
    theta = np.array(start.theta)
    duals = np.zeros(len(LIMITS))
    return AdmmState(
        1, start.selection, theta, theta, zeros, duals, duals, duals, 1.0, 1.0,
        primal_residual=0.5, dual_residual=0.1, incumbent=best, evaluations=7, seconds=3.0,
    )  # fmt: skip


def _called(listener: Any, arguments: Mapping[str, Any]) -> Any:
    """Call a hook with those arguments that it takes, as the core does."""
    wanted = inspect.signature(listener).parameters
    return listener(**{name: value for name, value in arguments.items() if name in wanted})
