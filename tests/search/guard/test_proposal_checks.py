"""What a solver may propose, and what is said of that which it may not."""

from __future__ import annotations

import numpy as np
import pytest

from automl_admm.core.space import Choice, Order, SearchSpace, Selection
from automl_admm.core.subproblems import SelectionSubproblem
from automl_admm.search.guard.proposal_checks import BoxGround, Fault, TableGround

SPACE = SearchSpace(
    (Choice("kind", ("x", "y")), Order("steps", ("a", "b", "c"), precedence=((2, 0),)))
)
GROUND = TableGround.of(SelectionSubproblem(SPACE, SPACE.complete({})))


def proposed(*steps: str) -> Selection:
    return Selection((("kind", "x"), ("steps", steps)))


def test_only_permutations_that_keep_a_precedence_count():
    assert GROUND.size == 2 * 3


def test_a_permutation_that_keeps_a_precedence_is_admitted():
    for steps in ("cab", "cba", "bca"):
        assert GROUND.admit(proposed(*steps)) == proposed(*steps)


@pytest.mark.parametrize("steps", ["abc", "acb", "bac", "ca", "cabx", ""])
def test_any_other_is_no_selection_of_the_space(steps):
    with pytest.raises(Fault, match="no selection of the space"):
        GROUND.admit(proposed(*steps))


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        (1.0 + 1e-6, "outside [0, 1]: 1.000001 at index 7 of 8 numbers"),
        (-1e-6, "outside [0, 1]: -1e-06 at index 7 of 8 numbers"),
        (np.inf, "not finite: inf at index 7 of 8 numbers"),
    ],
)
def test_the_coordinate_that_is_wrong_is_shown(wrong, says):
    with pytest.raises(Fault) as fault:
        BoxGround(8, np.inf).admit([1.0] * 7 + [wrong])
    assert str(fault.value).endswith(says)
