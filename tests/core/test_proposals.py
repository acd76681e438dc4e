from __future__ import annotations

import numpy as np

from automl_admm.core.proposals import best_and_latest, one_by_one


def test_each_proposal_knows_those_before_it() -> None:
    seen: list[int] = []

    def propose(waiting):
        seen.append(len(waiting))
        return np.array([0.5])

    assert len(one_by_one(propose, 3, [np.zeros(1)])) == 3
    assert seen == [1, 2, 3]


def test_it_ends_where_nothing_is_left() -> None:
    left = iter([np.zeros(1), None])
    assert len(one_by_one(lambda _: next(left), 5, [])) == 1


def test_the_best_and_the_latest_stay_in_their_order() -> None:
    losses = [0.0, 5.0, 6.0, 7.0, 8.0, 1.0]
    assert best_and_latest("abcdef", losses, 4) == ["a", "d", "e", "f"]
    assert best_and_latest("abc", losses[:3], 3) == ["a", "b", "c"]
    assert best_and_latest("abcd", losses[:4], 1) == ["d"]
