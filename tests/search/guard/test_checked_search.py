"""A strategy that breaks its conversation with the driver ends in one line."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

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
        (proposes_values, "it yielded Proposal("),
        (proposes_outside, "it proposed a candidate that is not in the space: ValueError"),
    ],
)
def test_a_mistake_is_one_line_that_names_the_strategy(make: Callable[[], Any], says: str) -> None:
    events = checked_search("it", make(), PROBLEM)
    with pytest.raises(PluginError) as error:
        exhaust(events)
    assert says in str(error.value)
    assert "\n" not in str(error.value)


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
