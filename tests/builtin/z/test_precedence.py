"""Orders with a precedence: what enumerates them does so once, what builds them breaks nothing."""

from __future__ import annotations

from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from automl_admm.builtin.z.arms import best_order
from automl_admm.builtin.z.exhaustive import all_selections
from automl_admm.builtin.z.genetic import crossover
from automl_admm.builtin.z.learner import neighbour
from automl_admm.builtin.z.mcts import TreeSearch
from automl_admm.core.space import Candidate, Order, SearchSpace
from automl_admm.core.subproblems import Observation, SelectionSubproblem
from automl_admm.search.joint.conditional import ConditionalSpace
from automl_admm.search.joint.one_hot import RelaxedSpace
from automl_admm.search.protocol import unwrap

ORDER = Order("steps", ("a", "b", "c", "d"), precedence=((1, 0), (1, 2)))
SPACE = SearchSpace((ORDER,))


def test_exhaustive_lists_every_extension_once():
    listed = Counter(selection.get("steps") for selection in all_selections(SPACE))
    assert listed == Counter(ORDER.permutations())
    assert len(listed) == 8


@given(st.lists(st.floats(-5, 5), min_size=16, max_size=16))
def test_the_assignment_is_arranged_and_asks_for_no_position_that_cannot_be(values):
    index = {(item, k): values[4 * n + k] for n, item in enumerate(ORDER.items) for k in range(4)}
    asked = set()

    def omega(arm):
        asked.add(arm[1:])
        return index[arm[1:]]

    assert ORDER.allows(best_order(ORDER, omega))
    assert asked == {
        (item, position) for way in ORDER.permutations() for position, item in enumerate(way)
    }


def test_without_a_precedence_the_assignment_is_the_best_permutation():
    plain = Order("steps", ORDER.items)
    rng = np.random.default_rng(0)
    for _ in range(20):
        omega = {(item, k): rng.random() for item in plain.items for k in range(4)}
        best = max(
            plain.permutations(), key=lambda way: sum(omega[item, k] for k, item in enumerate(way))
        )
        assert best_order(plain, lambda arm, omega=omega: omega[arm[1:]]) == best


@given(st.integers(0, 2**32 - 1))
def test_neighbours_and_children_keep_it(seed):
    rng = np.random.default_rng(seed)
    mother, father = SPACE.sample(rng), SPACE.sample(rng)
    for made in (neighbour(SPACE, mother, rng), crossover(SPACE, mother, father, rng)):
        assert ORDER.allows(made.get("steps"))


def test_the_tree_has_a_leaf_for_every_extension_and_no_other():
    solver = TreeSearch(0.1)
    solver.begin(SelectionSubproblem(SPACE, SPACE.complete({}), seed=0))
    found = set()
    for number in range(40):
        for point, _ in map(unwrap, solver.ask(1, [])):
            found.add(point.get("steps"))
            solver.tell([Observation(point, float(number % 7))])
    assert found == set(ORDER.permutations())


@given(st.lists(st.floats(0, 1), min_size=4, max_size=4))
def test_priorities_decode_to_an_order_that_keeps_it(values):
    for make in (RelaxedSpace, ConditionalSpace):
        relaxed = make(SPACE, (), 1.0)
        candidate = relaxed.candidate(np.array(values))
        assert ORDER.allows(candidate.selection.get("steps"))
        assert relaxed.candidate(relaxed.locate(candidate)) == Candidate(candidate.selection, ())
