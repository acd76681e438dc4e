"""What a solver may propose, and what is said of that which it may not."""

from __future__ import annotations

import numpy as np
import pytest

from automl_admm.core.space import (
    Candidate,
    Choice,
    Condition,
    Order,
    Parameter,
    SearchSpace,
    Selection,
)
from automl_admm.core.subproblems import SelectionSubproblem
from automl_admm.search.guard.proposal_checks import (
    BoxGround,
    Fault,
    TableGround,
    admit_candidate,
)

SPACE = SearchSpace(
    (Choice("kind", ("x", "y")), Order("steps", ("a", "b", "c"), precedence=((2, 0),)))
)
CHOICES = SearchSpace(
    (Choice("s", ("a", "b")),),
    (Parameter("x", 0.0, 1.0), Parameter("k", 1, 9, kind="int", when=Condition("s", ("b",)))),
)
GROUND = TableGround.of(SelectionSubproblem(SPACE, SPACE.complete({})))

FORM = "which is no Selection: give what SearchSpace.complete returns"


def proposed(*steps: str) -> Selection:
    return Selection((("kind", "x"), ("steps", steps)))


def test_only_permutations_that_keep_a_precedence_count():
    assert GROUND.size == 2 * 3


def test_a_permutation_that_keeps_a_precedence_is_admitted():
    for steps in ("cab", "cba", "bca"):
        assert GROUND.admit(proposed(*steps)) == proposed(*steps)


def test_texts_of_numpy_become_plain_ones():
    drawn = Selection((("kind", np.str_("x")), ("steps", tuple(np.array(list("cab"))))))
    kind, steps = dict(GROUND.admit(drawn).picks).values()
    assert {type(kind), *map(type, steps)} == {str}


@pytest.mark.parametrize("steps", ["abc", "acb", "bac", "ca", "cabx", ""])
def test_any_other_is_no_selection_of_the_space(steps):
    with pytest.raises(Fault, match="no selection of the space"):
        GROUND.admit(proposed(*steps))


def test_a_dict_of_picks_is_told_the_form_that_is_due():
    with pytest.raises(Fault, match=r"\('c', 'a', 'b'\)}, " + FORM):
        GROUND.admit(dict(proposed(*"cab").picks))


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


def of_choices(theta=(0.25,), fidelity=1.0, **picks):
    return Candidate(Selection(tuple({"s": "a", **picks}.items())), theta, fidelity)


@pytest.mark.parametrize(
    "given",
    [
        of_choices(),
        of_choices(np.array([0.25])),
        of_choices([np.float64(0.25)], np.float32(1.0)),
        of_choices(fidelity=1),
    ],
)
def test_a_candidate_of_the_space_is_admitted_as_plain_floats(given):
    found = admit_candidate(given, CHOICES, 0.1)
    assert found == of_choices()
    assert {type(found.theta[0]), type(found.fidelity)} == {float}


@pytest.mark.parametrize("fidelity", [0.0, -1, 5.0, np.nan, None, "1", 0.05])
def test_a_fidelity_must_be_one_of_those_allowed(fidelity):
    with pytest.raises(Fault, match=r"asked for the fidelity .*, where 0\.1 to 1 are allowed"):
        admit_candidate(of_choices(fidelity=fidelity), CHOICES, 0.1)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (of_choices(s="zzz"), "which is no selection of the space"),
        (of_choices(q="b"), "which is no selection of the space"),
        (Candidate(Selection(()), (0.25,)), "which is no selection of the space"),
        (Candidate("a", (0.25,)), f"proposed 'a', {FORM}"),
        (of_choices((7.0,)), "outside [0, 1]: 7.0 at index 0 of 1 numbers"),
        (of_choices((-3.0,)), "outside [0, 1]: -3.0 at index 0 of 1 numbers"),
        (of_choices((np.nan,)), "not finite: nan at index 0 of 1 numbers"),
        (of_choices(("0.5",)), "proposed ('0.5',), which is no point"),
        (of_choices(None), "proposed a point of shape (), not (1,)"),
        (of_choices((0.5, 0.5)), "proposed a point of shape (2,), not (1,)"),
        (of_choices((0.5,), s="b"), "proposed a point of shape (1,), not (2,)"),
    ],
)
def test_a_candidate_outside_the_space_is_shown(given, says):
    with pytest.raises(Fault) as fault:
        admit_candidate(given, CHOICES, 0.1)
    assert str(fault.value).endswith(says)
