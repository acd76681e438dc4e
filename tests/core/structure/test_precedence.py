"""Partial orders against enumeration."""

from __future__ import annotations

import itertools
from math import factorial

from hypothesis import given
from hypothesis import strategies as st

from automl_admm.core.structure.precedence import (
    arrange,
    count_extensions,
    everything_before,
    extensions,
    find_cycle,
    keeps,
)

Pairs = list[tuple[int, int]]


@st.composite
def partial_orders(draw: st.DrawFn) -> tuple[int, Pairs]:
    """A number of places and pairs that keep to a hidden permutation of them."""
    count = draw(st.integers(1, 6))
    hidden = draw(st.permutations(range(count)))
    pairs = (
        draw(st.lists(st.sampled_from([*itertools.combinations(hidden, 2)]), max_size=6))
        if (count > 1)
        else []
    )
    return count, pairs


def enumerated(count: int, pairs: Pairs) -> list[tuple[int, ...]]:
    every = itertools.permutations(range(count))
    return [p for p in every if all(p.index(a) < p.index(b) for a, b in pairs)]


@given(partial_orders())
def test_extensions_are_listed_and_counted_as_they_are_enumerated(case: tuple[int, Pairs]) -> None:
    count, pairs = case
    expected = enumerated(count, pairs)
    assert list(extensions(count, pairs)) == expected
    assert count_extensions(count, pairs) == len(expected)


@given(partial_orders(), st.randoms(use_true_random=False))
def test_any_permutation_is_arranged_and_a_kept_one_stays(case, random) -> None:
    count, pairs = case
    drawn = list(range(count))
    random.shuffle(drawn)
    arranged = arrange(drawn, pairs)
    assert sorted(arranged) == sorted(drawn)
    assert keeps(arranged, pairs)
    assert arrange(arranged, pairs) == arranged
    if keeps(drawn, pairs):
        assert arranged == tuple(drawn)


def test_the_first_that_may_come_comes() -> None:
    assert arrange((3, 1, 0, 2), [(0, 1)]) == (3, 0, 1, 2)
    assert arrange((2, 1, 0, 3), [(0, 1), (1, 2)]) == (0, 1, 2, 3)


@given(partial_orders())
def test_what_follows_from_pairs_holds_in_every_extension(case: tuple[int, Pairs]) -> None:
    count, pairs = case
    listed = enumerated(count, pairs)
    follows = {
        (a, b)
        for a, b in itertools.permutations(range(count), 2)
        if all(p.index(a) < p.index(b) for p in listed)
    }
    before = everything_before(pairs)
    assert {(a, b) for b, known in before.items() for a in known} == follows


def test_a_cycle_is_named_from_its_first_place_on() -> None:
    assert find_cycle([(2, 4), (4, 1), (1, 2), (0, 1)]) == (1, 2, 4, 1)
    assert find_cycle([(3, 3)]) == (3, 3)
    assert find_cycle([(0, 1), (0, 2), (1, 2)]) == ()


def test_the_most_that_may_be_bound_is_counted() -> None:
    assert count_extensions(12, [(0, other) for other in range(1, 12)]) == factorial(11)
    assert count_extensions(900, [(5, 7)]) == factorial(900) // 2
    pairs = [(0, 1), (2, 3), (4, 5), (6, 7), (8, 9), (10, 11)]
    assert count_extensions(12, pairs) == factorial(12) // 2**6
