from __future__ import annotations

import math
from collections import Counter

import pytest

from automl_admm.builtin.z import PolicyOptions
from automl_admm.builtin.z.policy import DerivationPolicy
from automl_admm.core.space import Choice, Condition, Order, SearchSpace, Selection
from automl_admm.core.subproblems import Observation, SelectionSubproblem

SPACE = SearchSpace(
    (
        Choice("model", ("tree", "line", "net")),
        Choice("width", ("1", "2", "3"), when=Condition("model", ("net",))),
        Order("steps", ("a", "b", "c"), precedence=((0, 2),)),
    )
)


def told(loss: float, **picks: object) -> Observation[Selection]:
    return Observation(SPACE.complete(picks), loss, loss, failed=not math.isfinite(loss))


def policy(**options: float) -> DerivationPolicy:
    given = PolicyOptions(**options)  # type: ignore[arg-type]
    solver = DerivationPolicy(given.elite, given.rate, given.batch)
    solver.begin(SelectionSubproblem(SPACE, SPACE.complete({})))
    return solver


def drawn(solver: DerivationPolicy, name: str) -> Counter[object]:
    return Counter(solver._derive().get(name) for _ in range(400))


def test_a_step_of_the_policy_is_the_formula() -> None:
    solver = policy(elite=0.25, rate=0.5, batch=4)
    solver.tell([told(1.0, model="tree"), told(2.0, model="line"), told(3.0, model="net")])
    assert solver._policy == {}
    solver.tell([told(9.0, model="net", width="2")])
    # The elite of four is the best one: 0.5 · 1/3 + 0.5 · 1, and 0.5 · 1/3 + 0.5 · 0.
    assert solver._policy["model", "tree", 0] == pytest.approx(2 / 3)
    assert solver._policy["model", "line", 0] == pytest.approx(1 / 6)
    assert solver._policy["steps", "a", 0] == pytest.approx(2 / 3)
    # The elite has no width: the policy of that decision is what it was.
    assert ("width", "2", 0) not in solver._policy


def test_the_policy_follows_the_elite_and_nothing_dies_out() -> None:
    solver = policy(elite=0.5, rate=0.9, batch=2)
    good = told(1.0, model="net", width="2", steps=("b", "a", "c"))
    for _ in range(4):
        solver.tell([good, told(5.0, model="tree")])
    models = drawn(solver, "model")
    assert models["net"] > 320
    assert models["tree"] > 0
    assert models["line"] > 0
    assert drawn(solver, "steps").most_common(1)[0][0] == ("b", "a", "c")
    assert all(order.index("a") < order.index("c") for order in drawn(solver, "steps"))  # type: ignore[attr-defined]


def test_failures_are_no_elite() -> None:
    solver = policy(batch=2)
    solver.tell([told(math.inf, model="net"), told(math.inf, model="line")])
    assert solver._policy == {}


def test_a_resumed_search_has_a_policy_and_another_space_begins_anew() -> None:
    solver = DerivationPolicy(0.5, 0.5, 2)
    known = (told(1.0, model="net", width="1"), told(2.0, model="tree"))
    solver.begin(SelectionSubproblem(SPACE, SPACE.complete({}), history=known))
    # The policy was moved by what is known: it is that of a search that was told of it.
    assert solver._policy["model", "net", 0] == pytest.approx(2 / 3)
    other = SearchSpace((Choice("model", ("tree", "oak")),))
    solver.begin(SelectionSubproblem(other, other.complete({})))
    assert solver._policy == {}


@pytest.mark.parametrize("wrong", [{"elite": 0.0}, {"rate": 1.5}, {"batch": 0}])
def test_options_are_checked(wrong: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="must"):
        PolicyOptions(**wrong)  # type: ignore[arg-type]
