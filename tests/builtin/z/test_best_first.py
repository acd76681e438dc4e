from __future__ import annotations

import math

import numpy as np
import pytest

from automl_admm.builtin.z.best_first import BestFirstSearch, branches, complete
from automl_admm.builtin.z.mcts import paths_of
from automl_admm.core.space import Choice, Condition, Order, SearchSpace, Selection
from automl_admm.core.subproblems import Observation, SelectionSubproblem

SPACE = SearchSpace(
    (
        Choice("model", ("tree", "line", "net")),
        Choice("width", ("1", "2"), when=Condition("model", ("net",))),
        Order("steps", ("a", "b", "c", "d"), precedence=((0, 3),)),
    )
)
LOSSES = {"tree": 3.0, "line": 1.0, "net": 2.0}


def told(selection: Selection, loss: float) -> Observation[Selection]:
    return Observation(selection, loss, loss, failed=not math.isfinite(loss))


def search(solver: BestFirstSearch, rounds: int, *, seed: int = 0) -> list[Selection]:
    """Judge by the model alone, so that every completion says the same of its node."""
    solver.begin(SelectionSubproblem(SPACE, SPACE.complete({}), seed=seed))
    found = []
    for _ in range(rounds):
        (selection,) = solver.ask(1, [])
        solver.tell([told(selection, LOSSES[str(selection.get("model"))])])
        found.append(selection)
    return found


def test_labels_that_may_follow_a_path_keep_conditions_and_precedence() -> None:
    assert branches(SPACE, ()) == ("tree", "line", "net")
    assert branches(SPACE, ("net",)) == ("1", "2")
    assert branches(SPACE, ("tree",)) == ("a", "b", "c")
    assert branches(SPACE, ("tree", "a")) == ("b", "c", "d")
    assert branches(SPACE, ("tree", "a", "b", "c")) == ()


def test_a_completion_is_a_selection_below_its_node() -> None:
    rng = np.random.default_rng(0)
    for path in ((), ("net", "2"), ("tree", "b", "a"), ("line", "a", "b", "c")):
        drawn = {complete(SPACE, path, rng) for _ in range(20)}
        assert all(path in set(paths_of(selection)) for selection in drawn)
        assert all(SPACE.complete(dict(one.picks)) == one for one in drawn)
        assert len(drawn) > 1 or len(path) == 4


def test_every_child_is_judged_and_then_the_best_one_is_expanded() -> None:
    found = search(BestFirstSearch(completions=3), 21)
    models = [str(selection.get("model")) for selection in found]
    # The start, the completions of the root and those of its children are at most twelve.
    assert all(models[:12].count(model) >= 3 for model in LOSSES)
    assert set(models[12:18]) == {"line"}
    assert len(set(found)) == len(found)


def test_a_search_goes_on_at_the_next_best_node_when_the_best_is_used_up() -> None:
    solver = BestFirstSearch(completions=3)
    # Twelve orders keep the precedence; "net" has two widths.
    found = search(solver, 12 + 12 + 24)
    assert len(set(found)) == 48
    late = [str(selection.get("model")) for selection in found[21:]]
    assert late.index("net") < late.index("tree")


def test_a_node_of_failures_is_expanded_last() -> None:
    solver = BestFirstSearch(completions=2)
    solver.begin(SelectionSubproblem(SPACE, SPACE.complete({})))
    models = []
    for _ in range(20):
        (selection,) = solver.ask(1, [])
        model = str(selection.get("model"))
        models.append(model)
        solver.tell([told(selection, math.inf if model == "line" else LOSSES[model])])
    assert "line" not in models[10:]


def test_options_are_checked() -> None:
    from automl_admm.builtin.z import BestFirstOptions

    with pytest.raises(ValueError, match="completions must be at least 1"):
        BestFirstOptions(completions=0)
