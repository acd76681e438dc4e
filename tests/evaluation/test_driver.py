from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from automl_admm.evaluation.budget import Budget
from automl_admm.evaluation.driver import Desk, Driver
from automl_admm.problem import Evaluation, Limit, Status
from automl_admm.protocols import Finished, Task
from automl_admm.search import WAIT, Proposal, Search
from automl_admm.space import Candidate, Selection
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


def desk(executor: FakeExecutor, **changes: Any) -> Desk:
    return Desk(
        executor=executor,
        store=MemoryStore(),
        budget=changes.pop("budget", Budget()),
        tell=changes.pop("tell", lambda hook, **arguments: []),
        key=lambda candidate: str(candidate.theta),
        text=lambda candidate: f"text {candidate.theta}",
        **changes,
    )


def proposing(*numbers: float, seen: list[Evaluation] | None = None) -> Search:
    for number in numbers:
        results = yield Proposal(numbered(number), "test")
        if seen is not None:
            seen.extend(results)


def test_everything_proposed_is_evaluated_stored_and_told() -> None:
    seen: list[Evaluation] = []
    table = desk(FakeExecutor())
    driver = Driver(table)
    assert driver.run(proposing(3.0, 1.0, 2.0, seen=seen)) == "nothing left to try"
    assert [e.loss for e in seen] == [3.0, 1.0, 2.0]
    assert [e.loss for e in table.store.read()] == [3.0, 1.0, 2.0]
    assert driver.best is not None
    assert driver.best.loss == 1.0


def test_the_same_thing_is_never_evaluated_twice() -> None:
    seen: list[Evaluation] = []
    executor = FakeExecutor()
    driver = Driver(desk(executor))
    driver.run(proposing(1.0, 1.0, 1.0, seen=seen))
    assert len(executor.seen) == 1
    assert [e.loss for e in seen] == [1.0, 1.0, 1.0]


def test_what_is_running_is_not_started_again() -> None:
    seen: list[Evaluation] = []
    executor = FakeExecutor(workers=3)

    def search() -> Search:
        for _ in range(3):
            seen.extend((yield Proposal(numbered(1.0), "test")))
        while len(seen) < 3:
            seen.extend((yield WAIT))

    Driver(desk(executor)).run(search())
    assert len(executor.seen) == 1
    assert len(seen) == 3


def test_it_stops_at_the_number_of_evaluations_and_waits_for_the_last() -> None:
    executor = FakeExecutor(workers=2)
    driver = Driver(desk(executor, budget=Budget(max_evaluations=5)))
    assert driver.run(proposing(*range(100))) == "evaluations"
    assert len(driver.evaluations) == len(executor.seen) == 5


def test_it_stops_at_the_deadline_less_the_reserve() -> None:
    now = [0.0]

    def tick() -> None:
        now[0] += 1.0

    executor = FakeExecutor(on_wait=tick)
    budget = Budget(deadline=10.0, reserve=lambda best: 3.0, clock=lambda: now[0])
    driver = Driver(desk(executor, budget=budget))
    assert driver.run(proposing(*range(100))) == "budget"
    assert now[0] <= 8.0
    assert [task.seconds for task in executor.seen[:2]] == [7.0, 6.0]


def test_a_limit_of_one_evaluation_is_handed_on() -> None:
    executor = FakeExecutor()
    Driver(desk(executor, budget=Budget(evaluation_seconds=2.5))).run(proposing(1.0))
    assert executor.seen[0].seconds == 2.5


def test_killed_by_the_budget_is_cancelled_not_timed_out() -> None:
    def time_out(task: Task) -> Finished:
        return Finished(task.number, Status.TIMEOUT, message="limit")

    budget = Budget(deadline=1e9, clock=lambda: 0.0)
    driver = Driver(desk(FakeExecutor(react=time_out), budget=budget))
    driver.run(proposing(1.0))
    assert driver.evaluations[0].status is Status.CANCELLED
    driver = Driver(desk(FakeExecutor(react=time_out), budget=Budget(evaluation_seconds=1.0)))
    driver.run(proposing(1.0))
    assert driver.evaluations[0].status is Status.TIMEOUT


@pytest.mark.parametrize(
    ("result", "says"),
    [
        ({"loss": math.nan, "constraints": [1.0]}, "the loss is nan"),
        ({"loss": math.inf, "constraints": [1.0]}, "the loss is inf"),
        ({"loss": 1.0, "constraints": [math.nan]}, "constraint 'size' is nan"),
        ({"loss": 1.0, "constraints": []}, "0 constraint values for 1 limits"),
    ],
)
def test_a_value_that_is_no_number_is_invalid_never_a_success(result: dict, says: str) -> None:
    executor = FakeExecutor(react=lambda task: Finished(task.number, Status.SUCCESS, result))
    driver = Driver(desk(executor, limits=(Limit("size", 2.0),)))
    driver.run(proposing(1.0))
    assert driver.evaluations[0].status is Status.INVALID
    assert driver.evaluations[0].message == says
    assert driver.best is None


def test_observers_hear_of_everything_and_may_stop_it() -> None:
    heard: list[str] = []

    def tell(hook: str, **arguments: Any) -> list[bool]:
        heard.append(hook)
        return [arguments["evaluations"] >= 2] if hook == "should_stop" else []

    executor = FakeExecutor()
    driver = Driver(desk(executor, tell=tell))
    assert driver.run(proposing(*range(10))) == "a plugin"
    assert len(executor.seen) == 2
    assert heard.count("evaluation_started") == heard.count("evaluation_finished") == 2


def test_an_interrupt_ends_it_well_and_kills_what_runs() -> None:
    calls = [0]

    def interrupt() -> None:
        calls[0] += 1
        if calls[0] == 3:
            raise KeyboardInterrupt

    executor = FakeExecutor(on_wait=interrupt)
    driver = Driver(desk(executor))
    assert driver.run(proposing(*range(10))) == "interrupt"
    assert executor.killed == [3]
    assert len([e for e in driver.evaluations if e.ok]) == 2
