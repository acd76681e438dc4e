from __future__ import annotations

import numpy as np
import pytest

from automl_admm.core.admm_state import AdmmState
from automl_admm.core.evaluations import Evaluation, Status
from automl_admm.core.limits import Limit
from automl_admm.core.space import Array, Candidate, Parameter, SearchSpace, Selection
from automl_admm.search.admm.outer_loop import admm
from automl_admm.search.admm.pricing import Prices, measure_scales
from automl_admm.search.admm.settings import AdmmSettings, Precision
from automl_admm.search.protocol import Proposal, SearchProblem
from automl_admm.search.starts import default_start

SPACE = SearchSpace(parameters=(Parameter("x", 0.0, 1.0),))


def evaluation(g: float, loss: float = 0.0) -> Evaluation:
    candidate = Candidate(Selection(()), (g,))
    return Evaluation(1, repr(g), candidate, Status.SUCCESS, loss, (g,))


def unit_of(limit: Limit, values: list[float]) -> float:
    scales = measure_scales([evaluation(g) for g in values], (limit,))
    return float(scales.constraints[0])


@pytest.mark.parametrize("at_least", [False, True])
def test_a_measure_that_hardly_varies_has_its_spread_as_the_unit(at_least: bool) -> None:
    limit = Limit("accuracy", 0.95, at_least=at_least)
    assert unit_of(limit, list(np.linspace(0.94, 0.96, 9))) == pytest.approx(0.01)
    # One that varies by more than a tenth of its limit has that tenth.
    assert unit_of(limit, list(np.linspace(0.1, 0.96, 9))) == pytest.approx(0.095)


@pytest.mark.parametrize("bound", [0.0, -3.0])
def test_without_a_positive_limit_a_tenth_of_the_spread_is_the_unit(bound: float) -> None:
    assert unit_of(Limit("g", bound), list(np.linspace(-1.0, 1.0, 9))) == pytest.approx(0.1)


def test_a_measure_that_is_the_same_for_all_has_a_unit_too() -> None:
    limit = Limit("columns", 7.0)
    assert unit_of(limit, [7.0] * 9) == pytest.approx(0.7)
    prices = Prices((limit,), measure_scales([evaluation(7.0)] * 9, (limit,)), np.zeros(1), 1.0)
    assert prices.cost(evaluation(7.0)) == 0.0


class Sweeping:
    """A θ-solver of points in order, and a z-solver of the one selection."""

    def __init__(self) -> None:
        self._left = list(np.linspace(0.0, 1.0, 40))

    def begin(self, subproblem: object) -> None:
        del subproblem

    def ask(self, count: int, pending: object) -> list[Array]:
        del count, pending
        return [np.array([self._left.pop(0)])] if self._left else []

    def tell(self, observations: object) -> None:
        del observations


class Silent(Sweeping):
    def ask(self, count: int, pending: object) -> list[Array]:
        del count, pending
        return []


def test_multipliers_move_after_the_first_iteration_and_their_units_never_change() -> None:
    """The first θ-min makes eight successes: they are the scales of all iterations."""
    limit = Limit("g", 1.0)
    problem = SearchProblem(
        SPACE, key=lambda c: repr(c.theta), starts=(default_start(SPACE),), limits=(limit,)
    )
    search = admm(problem, Sweeping(), Silent(), AdmmSettings(precision=Precision(20, 0, 20)))
    event, seen = next(search), []
    while len(seen) < 3:
        results = []
        if isinstance(event, Proposal):
            # Loss falls as the limit is broken by up to 1 %.
            x = event.candidate.theta[0]
            results = [
                Evaluation(1, repr((x,)), event.candidate, Status.SUCCESS, -x, (1.0 + 0.01 * x,))
            ]
        elif isinstance(event, AdmmState):
            seen.append(event)
        event = search.send(results)
    assert seen[0].constraint_duals[0] > 0.1
    assert [state.scales[0] for state in seen] == [seen[0].scales[0]] * 3
    assert seen[0].scales[0] < 0.01
