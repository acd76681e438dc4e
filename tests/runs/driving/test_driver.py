from __future__ import annotations

import math
import os
import signal
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from automl_admm.core.errors import PluginError, StoreError
from automl_admm.core.evaluations import Evaluation, Status
from automl_admm.core.limits import Limit
from automl_admm.core.protocols import Finished, Task
from automl_admm.core.run import Stop, StopReason
from automl_admm.core.space import Candidate, Parameter, SearchSpace, Selection
from automl_admm.runs.driving.budget import Budget, Reserve
from automl_admm.runs.driving.cost_model import CostModel, Foresight
from automl_admm.runs.driving.desk import Desk
from automl_admm.runs.driving.dispatch import Dispatcher
from automl_admm.runs.driving.driver import Driver
from automl_admm.runs.driving.interrupts import Deferral
from automl_admm.runs.driving.logbook import Past
from automl_admm.search.protocol import WAIT, Proposal, Search, SearchProblem
from automl_admm.store.memory import MemoryStore

React = Callable[[Task], Finished]


def numbered(number: float) -> Candidate:
    return Candidate(Selection(()), (number,))


def succeed(task: Task) -> Finished:
    (loss,) = task.arguments["candidate"].theta
    return Finished(task.number, Status.SUCCESS, {"loss": loss, "constraints": []}, seconds=0.1)


@dataclass
class FakeExecutor:
    """Ends a task each time it is waited for, the oldest first."""

    workers: int = 1
    react: React = succeed
    running: list[Task] = field(default_factory=list)
    seen: list[Task] = field(default_factory=list)
    killed: list[int] = field(default_factory=list)
    on_wait: Callable[[], None] = lambda: None

    def submit(self, task: Task) -> None:
        assert len(self.running) < self.workers, "more tasks than workers"
        self.running.append(task)
        self.seen.append(task)

    def wait(self, timeout: float | None = None) -> Sequence[Finished]:
        self.on_wait()
        if timeout == 0.0:
            return []
        return [self.react(self.running.pop(0))] if self.running else []

    def kill(self, number: int) -> None:
        self.killed.append(number)
        self.react = lambda task: Finished(task.number, Status.CANCELLED)

    def close(self) -> None:
        self.running.clear()


LINE = SearchSpace((), (Parameter("x", 0.0, 1.0),))


def desk(executor: FakeExecutor, **changes: Any) -> Desk:
    return Desk(
        Dispatcher(executor),
        MemoryStore(),
        changes.pop("budget", Budget()),
        changes.pop("tell", lambda hook, **arguments: []),
        **changes,
    )


def driving(desk: Desk, *limits: Limit) -> Driver:
    problem = SearchProblem(
        LINE,
        key=lambda candidate: str(candidate.theta),
        starts=(numbered(0.0),),
        limits=limits,
        text=lambda candidate: f"text {candidate.theta}",
    )
    return Driver(problem, desk)


def proposing(*numbers: float, seen: list[Evaluation] | None = None) -> Search:
    for number in numbers:
        results = yield Proposal(numbered(number), "test")
        if seen is not None:
            seen.extend(results)


def test_everything_proposed_is_evaluated_stored_and_told() -> None:
    seen: list[Evaluation] = []
    table = desk(FakeExecutor())
    driver = driving(table)
    assert driver.run(proposing(3.0, 1.0, 2.0, seen=seen)) == Stop(StopReason.EXHAUSTED)
    assert [e.loss for e in seen] == [3.0, 1.0, 2.0]
    assert [e.loss for e in table.store.read()] == [3.0, 1.0, 2.0]
    assert driver.log.best is not None
    assert driver.log.best.loss == 1.0


def test_a_search_that_waits_for_nothing_ends_with_what_is_known() -> None:
    def waiting() -> Search:
        yield Proposal(numbered(0.5), "test")
        while True:
            yield WAIT

    stop = driving(desk(FakeExecutor())).run(waiting())
    told = "the search waits for results, but nothing is being evaluated"
    assert stop == Stop(StopReason.FAILED_STRATEGY, told)


def test_the_same_thing_is_never_evaluated_twice() -> None:
    seen: list[Evaluation] = []
    executor = FakeExecutor()
    driver = driving(desk(executor))
    driver.run(proposing(1.0, 1.0, 1.0, seen=seen))
    assert len(executor.seen) == 1
    assert [e.loss for e in seen] == [1.0, 1.0, 1.0]


def broken_off(*numbers: float) -> Search:
    yield from proposing(*numbers)
    raise PluginError("it failed.")


def test_a_failing_strategy_ends_the_search_with_what_is_known() -> None:
    driver = driving(desk(FakeExecutor()))
    stop = driver.run(broken_off(2.0, 1.0))
    assert stop == Stop(StopReason.FAILED_STRATEGY, "it failed")
    assert stop.warning is not None
    assert driver.log.best is not None
    assert driver.log.best.loss == 1.0
    with pytest.raises(PluginError, match=r"^it failed\.$"):
        driving(desk(FakeExecutor())).run(broken_off())


class LockedStore(MemoryStore):
    """Takes so many evaluations, and is locked by another program after them."""

    def __init__(self, room: int) -> None:
        super().__init__()
        self.room = room
        self.refusals = 0

    def append(self, evaluation: Evaluation) -> None:
        if len(self.read()) == self.room:
            self.refusals += 1
            raise StoreError("another program holds a lock on it.", hint="Close it.")
        super().append(evaluation)


def test_a_store_that_is_lost_ends_the_search_with_what_it_has() -> None:
    store = LockedStore(room=2)
    driver = driving(replace(desk(FakeExecutor()), store=store))
    stop = driver.run(proposing(3.0, 2.0, 1.0, 0.0))
    told = "another program holds a lock on it. Close it"
    assert stop == Stop(StopReason.LOST_STORE, told)
    assert driver.log.best is not None
    assert (driver.log.best.loss, driver.log.evaluations) == (2.0, list(store.read()))


def test_a_lost_store_is_asked_once_though_others_end_after_it() -> None:
    store = LockedStore(room=1)
    driver = driving(replace(desk(FakeExecutor(workers=3)), store=store))
    assert driver.run(proposing(3.0, 2.0, 1.0, 0.0)).reason is StopReason.LOST_STORE
    assert (store.refusals, len(driver.log.evaluations)) == (1, 1)


def test_a_store_that_takes_nothing_ends_the_run() -> None:
    with pytest.raises(StoreError, match="holds a lock"):
        driving(replace(desk(FakeExecutor()), store=LockedStore(room=0))).run(proposing(1.0))


def test_what_is_running_is_not_started_again() -> None:
    seen: list[Evaluation] = []
    executor = FakeExecutor(workers=3)

    def search() -> Search:
        for _ in range(3):
            seen.extend((yield Proposal(numbered(1.0), "test")))
        while len(seen) < 3:
            seen.extend((yield WAIT))

    driving(desk(executor)).run(search())
    assert len(executor.seen) == 1
    assert len(seen) == 3


def test_it_stops_at_the_number_of_evaluations_and_waits_for_the_last() -> None:
    executor = FakeExecutor(workers=2)
    driver = driving(desk(executor, budget=Budget(max_evaluations=5)))
    assert driver.run(proposing(*range(100))) == Stop(StopReason.EVALUATIONS)
    assert len(driver.log.evaluations) == len(executor.seen) == 5


def test_it_stops_at_the_deadline_less_the_reserve() -> None:
    now = [0.0]

    def tick() -> None:
        now[0] += 1.0

    executor = FakeExecutor(on_wait=tick)
    budget = Budget(deadline=10.0, reserve=Reserve(3.0), clock=lambda: now[0])
    driver = driving(desk(executor, budget=budget))
    assert driver.run(proposing(*range(100))) == Stop(StopReason.BUDGET)
    assert now[0] <= 8.0
    assert [task.seconds for task in executor.seen[:2]] == [7.0, 6.0]


def test_a_limit_of_one_evaluation_is_handed_on() -> None:
    executor = FakeExecutor()
    driving(desk(executor, budget=Budget(evaluation_seconds=2.5))).run(proposing(1.0))
    assert executor.seen[0].seconds == 2.5


class Forgetful(FakeExecutor):
    """Gives no result back, and lets time pass."""

    now = 0.0

    def wait(self, timeout: float | None = None) -> Sequence[Finished]:
        self.now += 1.0
        return []


def test_an_executor_that_gives_nothing_back_is_named() -> None:
    executor = Forgetful()
    budget = Budget(deadline=5.0, clock=lambda: executor.now)
    table = replace(desk(executor, budget=budget), dispatch=Dispatcher(executor, "executor 'mine'"))
    driver = driving(table)
    driver.run(proposing(1.0))
    (lost,) = driver.log.evaluations
    assert lost.status is Status.LOST
    assert lost.message.startswith("executor 'mine' told no end of it")


class Failing(FakeExecutor):
    """Fails at every wait, and counts them."""

    def wait(self, timeout: float | None = None) -> Sequence[Finished]:
        self.on_wait()
        raise RuntimeError("no node")


def test_an_executor_that_has_failed_is_not_asked_again() -> None:
    asked: list[None] = []
    executor = Failing(on_wait=lambda: asked.append(None))
    table = replace(desk(executor), dispatch=Dispatcher(executor, "executor 'mine'"))
    driver = driving(table)
    with pytest.raises(PluginError, match="RuntimeError: no node") as told:
        driver.run(proposing(1.0))
    assert (len(asked), executor.killed) == (1, [])
    assert told.value.__context__ is told.value.__cause__
    (lost,) = driver.log.evaluations
    assert (lost.status, lost.message) == (Status.LOST, "executor 'mine' failed while it ran")


def test_what_nobody_killed_is_tried_again_and_lost() -> None:
    executor = FakeExecutor(react=lambda task: Finished(task.number, Status.CANCELLED))
    driver = driving(desk(executor))
    driver.run(proposing(1.0))
    (lost,) = driver.log.evaluations
    assert (lost.status, len(executor.seen)) == (Status.LOST, 2)
    assert lost.message.startswith("the executor cancelled it, and the run had not killed it")


@pytest.mark.parametrize("result", [{"loss": "much"}, {"loss": 1.0, "constraints": None}])
def test_a_result_that_is_no_evaluation_is_invalid(result: dict[str, Any]) -> None:
    react: React = lambda task: Finished(task.number, Status.SUCCESS, result)  # noqa: E731
    driver = driving(desk(FakeExecutor(react=react)))
    driver.run(proposing(1.0))
    (invalid,) = driver.log.evaluations
    assert invalid.status is Status.INVALID
    assert invalid.message.startswith("the result is no evaluation: ")


def test_killed_by_the_budget_is_cancelled_not_timed_out() -> None:
    def time_out(task: Task) -> Finished:
        return Finished(task.number, Status.TIMEOUT, message="limit")

    budget = Budget(deadline=1e9, clock=lambda: 0.0)
    driver = driving(desk(FakeExecutor(react=time_out), budget=budget))
    driver.run(proposing(1.0))
    assert driver.log.evaluations[0].status is Status.CANCELLED
    driver = driving(desk(FakeExecutor(react=time_out), budget=Budget(evaluation_seconds=1.0)))
    driver.run(proposing(1.0))
    assert driver.log.evaluations[0].status is Status.TIMEOUT


@pytest.mark.parametrize(
    ("result", "says"),
    [
        ({"loss": math.nan, "constraints": [1.0]}, "the loss is nan"),
        ({"loss": math.inf, "constraints": [1.0]}, "the loss is inf"),
        ({"loss": 1.0, "constraints": [math.nan]}, "constraint 'size' is nan"),
        ({"loss": 1.0, "constraints": []}, "0 constraint values for 1 limit"),
    ],
)
def test_a_value_that_is_no_number_is_invalid_never_a_success(result: dict, says: str) -> None:
    executor = FakeExecutor(react=lambda task: Finished(task.number, Status.SUCCESS, result))
    driver = driving(desk(executor), Limit("size", 2.0))
    driver.run(proposing(1.0))
    assert driver.log.evaluations[0].status is Status.INVALID
    assert driver.log.evaluations[0].message == says
    assert driver.log.best is None


def test_observers_hear_of_everything_and_may_stop_it() -> None:
    heard: list[str] = []

    def tell(hook: str, **arguments: Any) -> list[bool]:
        heard.append(hook)
        return [arguments["evaluations"] >= 2] if hook == "should_stop" else []

    executor = FakeExecutor()
    driver = driving(desk(executor, tell=tell))
    assert driver.run(proposing(*range(10))) == Stop(StopReason.PLUGIN)
    assert len(executor.seen) == 2
    assert heard.count("evaluation_started") == heard.count("evaluation_finished") == 2


def test_an_interrupt_ends_it_well_and_kills_what_runs() -> None:
    calls = [0]

    def interrupt() -> None:
        calls[0] += 1
        if calls[0] == 3:
            raise KeyboardInterrupt

    executor = FakeExecutor(on_wait=interrupt)
    driver = driving(desk(executor))
    assert driver.run(proposing(*range(10))) == Stop(StopReason.INTERRUPT)
    assert executor.killed == [3]
    assert len([e for e in driver.log.evaluations if e.ok]) == 2


def known(number: int, value: float, status: Status = Status.SUCCESS) -> Evaluation:
    candidate = numbered(value)
    return Evaluation(number, str(candidate.theta), candidate, status, value)


def test_what_was_known_before_counts_and_answers() -> None:
    seen: list[Evaluation] = []
    executor = FakeExecutor()
    before = (known(1, 1.0), known(2, 2.0))
    driver = driving(desk(executor, past=Past(before), budget=Budget(max_evaluations=3)))
    assert driver.log.best is before[0]
    assert driver.run(proposing(2.0, 1.0, 3.0, 4.0, seen=seen)) == Stop(StopReason.EVALUATIONS)
    assert [task.arguments["candidate"] for task in executor.seen] == [numbered(3.0)]
    assert [e.loss for e in seen] == [2.0, 1.0, 3.0]
    assert [e.number for e in driver.log.evaluations] == [1, 2, 3]


def losing(times: int) -> React:
    left = [times]

    def react(task: Task) -> Finished:
        if left[0]:
            left[0] -= 1
            return Finished(task.number, Status.LOST, message="the machine went away")
        return succeed(task)

    return react


@pytest.mark.parametrize(
    ("times", "status"), [(1, Status.SUCCESS), (2, Status.LOST)], ids=["once", "twice"]
)
def test_what_is_lost_is_tried_once_more(times: int, status: Status) -> None:
    executor = FakeExecutor(react=losing(times))
    table = desk(executor)

    def search() -> Search:
        results = yield Proposal(numbered(1.0), "test")
        while not results:
            results = yield WAIT

    driving(table).run(search())
    assert [task.number for task in executor.seen] == [1, 1]
    assert [e.status for e in table.store.read()] == [status]


@pytest.mark.parametrize("workers", [1, 2])
def test_what_is_tried_again_keeps_its_worker(workers: int) -> None:
    executor = FakeExecutor(workers=workers, react=losing(1))
    seen: list[Evaluation] = []
    budget = Budget(max_evaluations=4)
    driver = driving(desk(executor, budget=budget))
    assert driver.run(proposing(1.0, 2.0, 3.0, 4.0, 5.0, seen=seen)) == Stop(StopReason.EVALUATIONS)
    assert sorted(e.loss for e in driver.log.evaluations) == [1.0, 2.0, 3.0, 4.0]


def test_termination_is_told_from_an_interrupt() -> None:
    def terminate() -> None:
        os.kill(os.getpid(), signal.SIGTERM)

    def as_interrupt(number: int, frame: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, as_interrupt)
    try:
        table = desk(FakeExecutor(on_wait=terminate), interrupts=Deferral(enabled=True))
        assert driving(table).run(proposing(1.0, 2.0)) == Stop(StopReason.TERMINATION)
    finally:
        signal.signal(signal.SIGTERM, before)


def test_what_cannot_finish_is_not_started_and_the_search_ends() -> None:
    now = [0.0]

    def work(task: Task) -> Finished:
        now[0] += 8.0
        result = {"loss": 1.0, "constraints": []}
        return Finished(task.number, Status.SUCCESS, result, seconds=8.0)

    seen: list[Evaluation] = []
    executor = FakeExecutor(react=work)
    budget = Budget(deadline=28.0, clock=lambda: now[0])
    table = desk(executor, budget=budget, foresight=Foresight(CostModel(LINE), budget))
    driver = driving(table)
    alike = [number / 100 for number in range(100)]
    assert driver.run(proposing(*alike, seen=seen)) == Stop(StopReason.BUDGET)
    assert len(executor.seen) == len(driver.log.evaluations) == 3
    skipped = [evaluation for evaluation in seen if evaluation.status is Status.SKIPPED]
    assert skipped
    assert "s are left" in skipped[0].message
    assert len(table.store.read()) == 3


def test_nothing_is_skipped_before_something_has_succeeded() -> None:
    def fail(task: Task) -> Finished:
        return Finished(task.number, Status.TIMEOUT, seconds=50.0)

    executor = FakeExecutor(react=fail)
    budget = Budget(deadline=10.0, evaluation_seconds=1.0, clock=lambda: 0.0)
    driver = driving(desk(executor, budget=budget, foresight=Foresight(CostModel(LINE), budget)))
    driver.run(proposing(0.1, 0.2, 0.3))
    assert len(executor.seen) == 3


def test_several_workers_are_not_kept_waiting_while_the_search_thinks() -> None:
    executor = FakeExecutor(workers=2)
    busy: list[int] = []

    def search() -> Search:
        for number in range(5):
            busy.append(len(executor.running))
            yield Proposal(numbered(float(number)), "test")

    driving(desk(executor)).run(search())
    assert busy == [0, 1, 2, 2, 2]


@pytest.mark.parametrize("workers", [1, 2])
def test_a_worker_that_joins_gets_work_before_another_has_ended(workers: int) -> None:
    class Growing(FakeExecutor):
        """Ends nothing before a worker that has joined is busy, too."""

        def wait(self, timeout: float | None = None) -> Sequence[Finished]:
            waits.append(timeout)
            assert len(waits) < 20, "the new worker gets nothing"
            self.workers = workers + 1 if timeout else self.workers
            return super().wait(timeout) if len(self.seen) > workers else []

    waits: list[float | None] = []
    driver = driving(desk(Growing(workers), budget=Budget(max_evaluations=workers + 1)))
    driver.run(proposing(*range(10)))
    assert [e.status for e in driver.log.evaluations] == [Status.SUCCESS] * (workers + 1)


def test_what_ends_while_a_search_waits_for_room_is_not_started_again() -> None:
    executor = FakeExecutor(workers=2)
    seen: list[Evaluation] = []
    driving(desk(executor)).run(proposing(1.0, 2.0, 1.0, 1.0, seen=seen))
    assert [task.arguments["candidate"].theta for task in executor.seen] == [(1.0,), (2.0,)]


def test_what_was_lost_together_is_tried_again_alone() -> None:
    beside: list[int] = []

    def lose_the_first_two(task: Task) -> Finished:
        beside.append(len(executor.running))
        if len(beside) <= 2:
            return Finished(task.number, Status.LOST, message="the machine went away")
        return succeed(task)

    executor = FakeExecutor(workers=2, react=lose_the_first_two)
    driver = driving(desk(executor, budget=Budget(max_evaluations=2)))
    driver.run(proposing(1.0, 2.0, 3.0))
    assert [task.number for task in executor.seen] == [1, 2, 1, 2]
    assert all(evaluation.ok for evaluation in driver.log.evaluations)
    assert beside == [1, 0, 0, 0]
