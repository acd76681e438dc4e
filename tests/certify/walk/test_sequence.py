"""The order, the walk, and the chance of a false certificate."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import numpy as np

from automl_admm.certify.bounds.rates import upper_rate
from automl_admm.certify.plan.margins import slack_of
from automl_admm.certify.walk.findings import Finding, Verdict
from automl_admm.certify.walk.sequence import Contender, order, walk
from automl_admm.core.evidence import Rate
from automl_admm.core.limits import Limit

FPR = Limit("fpr", 0.05, extreme=0.0)


def _finding(passes: bool) -> Finding:
    verdict = Verdict.CERTIFIED if passes else Verdict.NOT_CERTIFIED
    return Finding(str(FPR), 0.0, 0.0, verdict, "none", is_approximate=False)


def _tester(passing: str) -> tuple[list[str], object]:
    tested: list[str] = []

    def test(contender: Contender) -> Sequence[Finding]:
        tested.append(contender.key)
        return [_finding(True), _finding(contender.key in passing)]

    return tested, test


def test_the_safest_comes_first_and_every_next_one_scores_better() -> None:
    contenders = [
        Contender("a", 0.7, 3.0),
        Contender("b", 0.9, 1.0),
        Contender("c", 0.6, 2.0),  # less safe than a, and worse
        Contender("d", 0.8, 2.0),
        Contender("e", 0.95, -0.1),  # outside
    ]
    for shuffled in itertools.permutations(contenders):
        assert [one.key for one in order(shuffled)] == ["a", "d", "b"]


def test_at_most_ten_are_kept_with_both_ends() -> None:
    many = [Contender(str(k), k / 100, 5 - k / 20) for k in range(90)]
    kept = order(many)
    assert len(kept) == 10
    assert (kept[0].key, kept[-1].key) == ("0", "89")


def test_where_none_seems_inside_the_safest_is_tried_alone() -> None:
    contenders = [Contender("a", 0.9, -1.0), Contender("b", 0.5, -0.5)]
    assert [one.key for one in order(contenders)] == ["b"]
    assert order([]) == ()
    lone = order([Contender("a", 0.9, -math.inf)])
    assert [one.key for one in lone] == ["a"]


def test_the_walk_stops_at_the_first_failure_and_ships_the_best_before_it() -> None:
    ordered = [Contender(key, score, 1.0) for key, score in zip("abcd", (1, 3, 2, 4), strict=True)]
    tested, test = _tester("abd")
    found = walk(ordered, test)
    assert tested == ["a", "b", "c"]
    assert found.chosen.contender.key == "b"
    assert [step.is_certified for step in found.steps] == [True, True, False]


def test_a_first_failure_ends_it_with_nothing_chosen() -> None:
    tested, test = _tester("bcd")
    found = walk([Contender(key, 1.0, 1.0) for key in "abcd"], test)
    assert tested == ["a"]
    assert found.chosen is None
    assert walk([], test).chosen is None


def _run(rng: np.random.Generator, truth: np.ndarray, rows: int, risk: float) -> list[float]:
    """The true rates of what is shipped: by the walk, and by trying the best first."""
    searched, certified = rng.binomial(rows, truth), rng.binomial(rows, truth)
    contenders = [
        Contender(str(k), float(truth[k]), slack_of(FPR, Rate(int(searched[k]), rows), 1.0, risk))
        for k in range(len(truth))
    ]

    def test(contender: Contender) -> Sequence[Finding]:
        return [_finding(upper_rate(certified[int(contender.key)], rows, risk) <= FPR.bound)]

    best_first = sorted(contenders, key=lambda one: -one.score)[:10]
    shipped = walk(order(contenders), test).chosen
    first = next((one for one in best_first if test(one)[0].is_certified), None)
    return [truth[int(one.key)] if one else 0.0 for one in (shipped and shipped.contender, first)]


def test_the_walk_keeps_the_risk_where_trying_the_best_first_does_not() -> None:
    """The worst case: all but a few are truly just outside, and score better for it."""
    rng = np.random.default_rng(0)
    truth = np.r_[np.full(3, 0.03), np.linspace(0.0501, 0.052, 9)]
    shipped = np.array([_run(rng, truth, 400, 0.1) for _ in range(150)])
    false_walk, false_best_first = np.mean(shipped > 0.05, axis=0)
    assert false_walk <= 0.13
    assert false_best_first > 0.3
    assert np.mean(shipped[:, 0] > 0) > 0.4
