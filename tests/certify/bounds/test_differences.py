"""The exact bound of a difference: its risk by enumeration, and that it is worth its while."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from automl_admm.certify.bounds import differences
from automl_admm.certify.bounds.differences import largest_difference, upper_difference_exact
from automl_admm.certify.bounds.rates import Count, lower_rate, upper_difference, upper_rate

counts = st.integers(1, 60).flatmap(lambda n: st.builds(Count, st.integers(0, n), st.just(n)))


@pytest.mark.parametrize(("trials", "others"), [(1, 5), (3, 30), (12, 12), (20, 6)])
@pytest.mark.parametrize("risk", [0.05, 0.2])
def test_whatever_the_two_rates_it_misses_at_most_as_often_as_promised(
    trials: int, others: int, risk: float
) -> None:
    """Every outcome, weighed under rates all over the square: no sampling."""
    bounds = np.array(
        [
            [
                upper_difference_exact(Count(a, trials), Count(b, others), risk)
                for b in range(others + 1)
            ]
            for a in range(trials + 1)
        ]
    )
    rates = np.linspace(0, 1, 26)
    first = stats.binom.pmf(np.arange(trials + 1), trials, rates[:, None])
    second = stats.binom.pmf(np.arange(others + 1), others, rates[:, None])
    worst = max(
        np.outer(first[i], second[j])[bounds < rates[i] - rates[j] - 1e-12].sum()
        for i in range(26)
        for j in range(26)
    )
    assert worst <= risk
    assert worst > 0.6 * risk


@settings(max_examples=40)
@given(counts, counts, st.floats(0.01, 0.2))
def test_it_lies_above_what_was_seen_and_falls_with_the_risk(
    first: Count, second: Count, risk: float
) -> None:
    bound = upper_difference_exact(first, second, risk)
    assert first.rate - second.rate <= bound <= 1
    assert upper_difference_exact(first, second, risk / 2) >= bound - 1e-4


def test_more_events_in_the_first_raise_it() -> None:
    bounds = [upper_difference_exact(Count(a, 40), Count(9, 90), 0.05) for a in range(41)]
    assert np.all(np.diff(bounds) >= -1e-4)
    assert bounds[0] < 0.1
    assert bounds[-1] > 0.9


@pytest.mark.parametrize(
    ("first", "second"), [((5, 50), (25, 500)), ((60, 200), (50, 200)), ((50, 500), (250, 5000))]
)
def test_it_is_far_tighter_than_a_union_and_about_as_tight_as_an_approximate_one(
    first: tuple[int, int], second: tuple[int, int]
) -> None:
    one, other = Count(*first), Count(*second)
    seen = one.rate - other.rate
    exact = upper_difference_exact(one, other, 0.05) - seen
    union = upper_rate(*first, 0.025) - lower_rate(*second, 0.025) - seen
    assert exact < 0.8 * union
    assert exact == pytest.approx(upper_difference(one, other, 0.05) - seen, rel=0.15)


@settings(max_examples=15)
@given(st.lists(counts, min_size=2, max_size=4))
def test_the_largest_is_that_of_all_pairs(found: list[Count]) -> None:
    every = max(upper_difference_exact(*pair, 0.05) for pair in permutations(found, 2))
    assert largest_difference(found, 0.05) == pytest.approx(every, abs=1e-3)


def test_the_same_counts_are_computed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    counts = [Count(31, 417), Count(58, 429), Count(45, 401)]
    found = [largest_difference(counts, 0.05), upper_difference_exact(*counts[:2], 0.05)]

    def refuse(*given: object) -> None:
        raise AssertionError("they were computed again")

    monkeypatch.setattr(differences, "_outcomes", refuse)
    again = [Count(count.events, count.trials) for count in counts]
    assert largest_difference(again, 0.05) == found[0]
    assert upper_difference_exact(*again[:2], 0.05) == found[1]
    with pytest.raises(AssertionError, match="again"):
        largest_difference(again, 0.04)
