"""A strategy that breaks its conversation with the driver ends in one line."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from decimal import getcontext, localcontext
from threading import current_thread
from typing import Any

import numpy as np
import pytest

from automl_admm.core.errors import ConfigurationError, PluginError
from automl_admm.core.evaluations import Evaluation, Status
from automl_admm.core.space import Candidate, Parameter, SearchSpace, Selection
from automl_admm.search.guard.checked_search import checked_search
from automl_admm.search.protocol import WAIT, Proposal, Search, SearchProblem
from automl_admm.search.starts import default_start

SPACE = SearchSpace(parameters=(Parameter("x", 0.0, 1.0),))
START = default_start(SPACE)
PROBLEM = SearchProblem(SPACE, lambda one: repr(SPACE.projected(one)), starts=(START,))


def raises() -> Iterator[Any]:
    yield Proposal(START, "start")
    raise ZeroDivisionError("a share of nothing")


def exits() -> Iterator[Any]:
    yield Proposal(START, "start")
    raise SystemExit(0)


def refuses() -> Iterator[Any]:
    yield Proposal(START, "start")
    raise ConfigurationError("no.")


def waits() -> Iterator[Any]:
    while True:
        yield WAIT


def says_a_number() -> Iterator[Any]:
    yield 3


def proposes_values() -> Iterator[Any]:
    yield Proposal({"x": 1.0}, "values")  # type: ignore[arg-type]


def proposes_outside() -> Iterator[Any]:
    yield Proposal(Candidate(Selection(()), (0.1, 0.2)), "outside")


def proposes_a_part() -> Iterator[Any]:
    yield Proposal(replace(START, fidelity=0.5), "part")


def names_nobody() -> Iterator[Any]:
    yield Proposal(START, None)  # type: ignore[arg-type]


def next_or_none(events: Search, results: list[Evaluation]) -> Any:
    try:
        return events.send(results)
    except StopIteration:
        return None


def says_nothing() -> Iterator[Any]:
    yield Proposal(START, "start")
    yield None


def exhaust(events: Search) -> None:
    next(events)
    while True:
        events.send([])


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (raises, "it failed: ZeroDivisionError: a share of nothing."),
        (exits, "it failed: SystemExit: 0."),
        (waits, "it waits for results, but nothing is being evaluated."),
        (says_a_number, "it yielded 3, no Proposal, WAIT or AdmmState."),
        (says_nothing, "it yielded None, no Proposal, WAIT or AdmmState."),
        (proposes_values, "it yielded Proposal("),
        (names_nobody, "it yielded Proposal("),
        (proposes_outside, "it proposed a point of shape (2,), not (1,)."),
        (proposes_a_part, "fidelity 0.5, where only whole evaluations are allowed."),
    ],
)
def test_a_mistake_is_one_line_that_names_the_strategy(make: Callable[[], Any], says: str) -> None:
    events = checked_search("it", make(), PROBLEM)
    with pytest.raises(PluginError) as error:
        exhaust(events)
    assert says in str(error.value)
    assert "\n" not in str(error.value)


def test_a_proposal_reaches_the_driver_in_plain_numbers() -> None:
    def draws() -> Iterator[Any]:
        yield Proposal(Candidate(Selection(()), np.array([0.25])), "draw")  # type: ignore[arg-type]

    events = checked_search("it", draws(), PROBLEM)
    assert next(events) == Proposal(Candidate(Selection(()), (0.25,)), "draw")


def test_what_a_strategy_sets_for_its_context_holds_in_its_next_steps() -> None:
    def precise() -> Iterator[Any]:
        with localcontext(prec=3), np.errstate(all="ignore"):
            yield Proposal(START, "start")
            assert getcontext().prec == 3
            yield Proposal(START, "start")

    events = checked_search("it", precise(), PROBLEM)
    next(events)
    events.send([])
    with pytest.raises(StopIteration):
        events.send([])


def test_its_thread_is_prepared_before_each_step() -> None:
    seen: list[str] = []
    events = checked_search("it", waits(), PROBLEM, lambda: seen.append(current_thread().name))
    next(events)
    assert seen == ["strategy"]
    events.close()


def test_an_error_of_ours_passes() -> None:
    events = checked_search("it", refuses(), PROBLEM)
    next(events)
    with pytest.raises(ConfigurationError, match=r"^no\.$"):
        events.send([])


def test_waiting_for_what_is_evaluated_is_no_mistake() -> None:
    def patient() -> Iterator[Any]:
        results = yield Proposal(START, "start")
        while not results:
            results = yield WAIT

    events = checked_search("it", patient(), PROBLEM)
    next(events)
    for _ in range(20_000):
        assert events.send([]) is WAIT
    with pytest.raises(StopIteration):
        events.send([Evaluation(1, PROBLEM.key(START), START, Status.SUCCESS, 0.5)])


def test_a_strategy_that_proposes_what_is_known_for_ever_comes_to_an_end(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def repeats() -> Iterator[Any]:
        while True:
            yield Proposal(START, "again")

    events = checked_search("it", repeats(), PROBLEM)
    answer = Evaluation(1, PROBLEM.key(START), START, Status.SUCCESS, 0.5)
    next(events)
    answered = sum(1 for _ in iter(lambda: next_or_none(events, [answer]), None))
    assert answered == 10_001
    assert "it proposed nothing new 10000 times in a row: the search is over" in caplog.text


@pytest.mark.parametrize("begun", [False, True])
def test_a_strategy_that_hangs_is_left_at_the_deadline(
    begun: bool,
    caplog: pytest.LogCaptureFixture,
) -> None:
    cleaned: list[str] = []

    def hangs() -> Iterator[Any]:
        try:
            if begun:
                yield Proposal(START, "start")
            while True:
                time.sleep(0.01)
        finally:
            cleaned.append("up")

    until = time.monotonic() + 0.2
    timed = replace(PROBLEM, deadline=until, clock=time.monotonic)
    events = checked_search("it", hangs(), timed)
    if begun:
        next(events)
    assert (events.send([]) if begun else next(events)) is WAIT
    assert time.monotonic() < until + 5.0
    assert "it was still thinking when the time ran out" in caplog.text
    assert events.send([]) is WAIT
    events.close()
    while not cleaned:
        time.sleep(0.01)


def test_a_strategy_is_closed_where_it_stands_and_its_last_words_are_not_heard() -> None:
    ended: list[str] = []

    def talks() -> Iterator[Any]:
        try:
            yield Proposal(START, "start")
        finally:
            ended.append("closed")
            raise ValueError("no more")

    events = checked_search("it", talks(), PROBLEM)
    next(events)
    events.close()
    assert ended == ["closed"]
