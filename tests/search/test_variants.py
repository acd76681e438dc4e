"""Variants of the best candidates: when they come, which they are, and what the search hears."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import count

import pytest

from automl_admm.core.admm_state import AdmmState
from automl_admm.core.evaluations import Evaluation, Status
from automl_admm.core.limits import Limit
from automl_admm.core.space import Candidate, Choice, Parameter, SearchSpace
from automl_admm.search.protocol import WAIT, Event, Proposal, Search, SearchProblem
from automl_admm.search.variants import MOST, ORIGIN, with_variants

SPACE = SearchSpace(
    (Choice("kind", ("a", "b")), Choice("weighed", ("no", "one", "two"))),
    (Parameter("x", 0, 1),),
)


def candidate(kind: str, x: float, weighed: str = "no") -> Candidate:
    return SPACE.candidate(SPACE.complete({"kind": kind, "weighed": weighed}), [x])


def variants(of: Candidate) -> Sequence[Candidate]:
    if of.selection.get("weighed") != "no":
        return ()
    kind, x = str(of.selection.get("kind")), float(of.theta[0])
    return [candidate(kind, x, weighed) for weighed in ("one", "two")]


PROBLEM = SearchProblem(
    SPACE,
    repr,
    (candidate("a", 0.0),),
    evaluations=12,
    variants=variants,
    model=lambda one: str(one.selection.get("kind")),
)


def told(number: int, one: Candidate, values: tuple[float, ...] = ()) -> Evaluation:
    loss = float(one.theta[0])
    return Evaluation(number, repr(one), one, Status.SUCCESS, loss, values, 0.1)


def plain(candidates: Sequence[Candidate], heard: list[Evaluation], waits: bool = False) -> Search:
    """A search that proposes these one after another, and notes what it hears."""
    for one in candidates:
        heard += yield Proposal(one, "search")
        if waits:
            heard += yield WAIT


def run(
    search: Search, most: int = 99, values: tuple[float, ...] = ()
) -> list[tuple[str, Candidate]]:
    """Answer each proposal at once, until the search or the evaluations end."""
    asked: list[tuple[str, Candidate]] = []
    event: Event | None = next(search, None)
    for number in count(1):
        results = []
        if isinstance(event, Proposal):
            if len(asked) == most:
                search.close()
                break
            asked.append((event.origin, event.candidate))
            results = [told(number, event.candidate, values)]
        try:
            event = search.send(results)
        except StopIteration:
            break
    return asked


def drawn() -> Iterator[Candidate]:
    """Of a and b by turns, ever better ones."""
    for place in range(30):
        yield candidate("ab"[place % 2], 0.9 - 0.02 * place)


def test_they_come_after_two_thirds_and_of_the_best_of_each_model() -> None:
    asked = run(with_variants(plain(list(drawn()), []), PROBLEM), most=12)
    origins = [origin for origin, _ in asked]
    assert origins == ["search"] * 8 + [ORIGIN] * 4
    made = [one for _, one in asked[8:]]
    best = [list(drawn())[7], list(drawn())[6]]
    assert made == [one for each in best for one in variants(each)]


def test_the_search_hears_of_all_of_them_once_and_goes_on() -> None:
    heard: list[Evaluation] = []
    asked = run(with_variants(plain(list(drawn()), heard, waits=True), PROBLEM))
    assert len(asked) == 34
    assert [one.candidate for one in heard] == [one for _, one in asked]
    assert asked[-1][0] == "search"


def test_what_is_known_or_under_way_is_not_asked_for() -> None:
    """The search has tried one by itself, and another is not answered yet."""
    best = list(drawn())[7]
    one, two = variants(best)
    own = [*list(drawn())[:6], best, one, two, *list(drawn())[8:]]
    asked = run(with_variants(plain(own, []), PROBLEM), most=12)
    assert [origin for origin, _ in asked[:9]] == ["search"] * 8 + [ORIGIN]
    assert asked[8][1] == two
    late = replace(PROBLEM, evaluations=13)
    asked = run(with_variants(plain(own, []), late), most=13)
    assert two not in [one for origin, one in asked if origin == ORIGIN]


def test_a_resumed_search_does_not_ask_for_them_again() -> None:
    first = run(with_variants(plain(list(drawn()), []), PROBLEM), most=12)
    known = tuple(told(place, one) for place, (_, one) in enumerate(first, start=1))
    later = list(drawn())[8:11]
    resumed = replace(
        PROBLEM, known=known, variants=lambda one: variants(one) if one in seen else ()
    )
    seen = [one for _, one in first]
    asked = run(with_variants(plain(later, []), resumed))
    assert [one for _, one in asked if one in seen] == []


def test_those_excluded_by_a_limit_beforehand_are_not_evaluated() -> None:
    limited = replace(
        PROBLEM,
        limits=(Limit("size", 1.0),),
        cheap={"size": lambda one: 5.0 if one.selection.get("weighed") == "two" else 0.0},
    )
    asked = run(with_variants(plain(list(drawn()), []), limited), most=12, values=(0.0,))
    made = [one.selection.get("weighed") for origin, one in asked if origin == ORIGIN]
    assert made == ["one"] * 4


def test_by_time_they_come_at_half_of_it_and_are_few() -> None:
    ticks = count()
    timed = replace(PROBLEM, evaluations=None, deadline=20.0, clock=lambda: float(next(ticks)))
    origins = [origin for origin, _ in run(with_variants(plain(list(drawn()), []), timed))]
    assert origins.count(ORIGIN) == MOST
    assert 5 <= origins.index(ORIGIN) <= 11


@pytest.mark.parametrize("evaluations", [1, 2, 3, 5])
def test_a_search_of_few_evaluations_is_left_alone(evaluations: int) -> None:
    few = replace(PROBLEM, evaluations=evaluations)
    asked = run(with_variants(plain(list(drawn()), []), few), most=evaluations)
    assert {origin for origin, _ in asked} == {"search"}


def test_without_variants_it_is_the_search_itself() -> None:
    search = plain([], [])
    assert with_variants(search, replace(PROBLEM, variants=None)) is search


def test_a_search_that_is_closed_closes_the_one_inside() -> None:
    closed: list[bool] = []

    def inner() -> Search:
        try:
            while True:
                yield WAIT
        finally:
            closed.append(True)

    search = with_variants(inner(), PROBLEM)
    next(search)
    search.close()
    assert closed == [True]


def test_an_error_of_the_search_comes_through() -> None:
    def inner() -> Search:
        yield WAIT
        raise ZeroDivisionError

    search = with_variants(inner(), PROBLEM)
    next(search)
    with pytest.raises(ZeroDivisionError):
        search.send([])


def test_other_events_pass() -> None:
    state = object.__new__(AdmmState)

    def inner() -> Search:
        yield state

    assert next(with_variants(inner(), PROBLEM)) is state
