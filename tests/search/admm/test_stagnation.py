"""A sub-problem that brings nothing ends before its evaluations do."""

from __future__ import annotations

import math
from collections import deque
from typing import Any

import numpy as np
import pytest

from automl_admm.core.admm_state import AdmmState
from automl_admm.core.evaluations import Evaluation, Status
from automl_admm.core.limits import Limit
from automl_admm.core.space import Candidate, Choice, Parameter, SearchSpace, Selection
from automl_admm.core.subproblems import Observation
from automl_admm.search.admm.outer_loop import admm
from automl_admm.search.admm.settings import AdmmSettings, Precision
from automl_admm.search.admm.stagnation import Drought, IterationGains
from automl_admm.search.protocol import Proposal, SearchProblem
from automl_admm.search.starts import default_start

SPACE = SearchSpace((Choice("kind", ("first", "second")),), (Parameter("x", 0, 1),))


def losses(*values: float) -> list[Observation[None]]:
    return [Observation(None, value) for value in values]


def test_it_begins_at_half_the_evaluations_and_never_with_less_than_four() -> None:
    assert [Drought.of(n, ()).patience for n in (1, 8, 16, 128)] == [4, 4, 8, 64]


def test_a_gain_ends_it_and_a_tiny_one_does_not() -> None:
    drought = Drought.of(8, losses(1.0))
    assert not drought.lasts(losses(1.0, 0.999, 2.0))
    assert not drought.lasts(losses(0.9))
    assert not drought.lasts(losses(0.9, 0.9, 0.9))
    assert drought.lasts(losses(0.899))


def test_what_is_pending_had_been_asked_for_before_anything_came_of_it() -> None:
    drought = Drought.of(8, losses(1.0))
    assert not drought.lasts(losses(*[1.0] * 6), pending=3)
    assert drought.lasts(losses(1.0), pending=3)


def test_tiny_gains_add_up() -> None:
    drought = Drought.of(8, losses(1.0))
    assert not drought.lasts(losses(*(1.0 - 0.004 * step for step in range(30))))


def test_what_failed_is_no_gain_and_no_measure() -> None:
    drought = Drought.of(8, [Observation(None, -5.0, failed=True)])
    assert not drought.lasts(losses(1.0))
    assert drought.lasts([Observation(None, -9.0, failed=True)] * 4)


def test_a_part_of_an_evaluation_is_no_gain_and_counts_as_the_part_that_it_is() -> None:
    drought = Drought.of(8, losses(1.0))
    assert not drought.lasts([Observation(None, 0.1, fidelity=0.25)] * 15)
    assert drought.lasts([Observation(None, 0.1, fidelity=0.25)])


def incumbent(loss: float, *constraints: float) -> Evaluation:
    return Evaluation(1, "", default_start(SPACE), Status.SUCCESS, loss, constraints)


def test_iterations_gain_where_small_gains_add_up() -> None:
    progress = IterationGains(())
    assert not progress.has_come(None, 1.0)
    assert progress.has_come(incumbent(1.0), 1.0)
    assert not progress.has_come(incumbent(1.0), 1.0)
    assert not progress.has_come(incumbent(0.994), 1.0)
    assert progress.has_come(incumbent(0.988), 1.0)
    assert not progress.has_come(incumbent(0.9), 10.0)


def test_to_come_nearer_to_the_limits_is_a_gain_whatever_it_costs() -> None:
    progress = IterationGains((Limit("g", 1.0),))
    assert progress.has_come(incumbent(0.0, math.nan), 1.0)
    assert progress.has_come(incumbent(1.0, 2.0), 1.0)
    assert not progress.has_come(incumbent(0.0, 1.999), 1.0)
    assert progress.has_come(incumbent(2.0, 1.5), 1.0)
    assert progress.has_come(incumbent(3.0, 1.0), 1.0)
    assert not progress.has_come(incumbent(3.0, 0.5), 1.0)


class Drawing:
    """A solver of either kind that draws, and counts what it is told in each sub-problem."""

    def __init__(self) -> None:
        self.told: list[int] = []

    def begin(self, subproblem: Any) -> None:
        self.rng = np.random.default_rng(subproblem.seed)
        self.told.append(0)

    def ask(self, count: int, pending: object) -> list[np.ndarray]:
        return [self.rng.random(1) for _ in range(count)]

    def tell(self, observations: list[Observation]) -> None:
        self.told[-1] += len(observations)


class Staying(Drawing):
    def ask(self, count: int, pending: object) -> list[Selection]:
        return [SPACE.sample(self.rng) for _ in range(count)]


@pytest.mark.parametrize(
    ("slope", "changes", "theta_took", "z_took"),
    [
        (0.0, {}, [20, 20, 40], {20}),
        (-1.0, {}, [40, 40, 40], {40}),
        (0.0, {"excursions": False}, [20, 20, 20], {20}),
        (0.0, {"drought": False, "excursions": False}, [40, 40, 40], {40}),
    ],
)
def test_a_flat_sub_problem_takes_half_and_one_that_gains_takes_all(
    slope: float, changes: dict[str, bool], theta_took: list[int], z_took: set[int]
) -> None:
    """Flat, the third θ-min is an excursion, which takes all that it has."""
    theta, z, known, event = Drawing(), Staying(), 0, None
    problem = SearchProblem(
        SPACE, lambda candidate: repr(SPACE.values(candidate)), (default_start(SPACE),)
    )
    settings = AdmmSettings(precision=Precision(40, 0, 40), max_iterations=3, **changes)
    search = admm(problem, theta, z, settings)

    def react(candidate: Candidate) -> Evaluation:
        return Evaluation(known, problem.key(candidate), candidate, Status.SUCCESS, slope * known)

    event = next(search)
    while True:
        results = [react(event.candidate)] if isinstance(event, Proposal) else []
        known += not isinstance(event, AdmmState)
        try:
            event = search.send(results)
        except StopIteration:
            break
    assert theta.told == theta_took
    assert set(z.told) == z_took


def test_late_results_put_the_end_off_by_as_many() -> None:
    """Four are always being evaluated: of a flat loss 20 + 4 are looked at."""
    theta, z = Drawing(), Staying()
    problem = SearchProblem(
        SPACE, lambda candidate: repr(SPACE.values(candidate)), (default_start(SPACE),)
    )
    search = admm(problem, theta, z, AdmmSettings(precision=Precision(40, 0, 40)))
    running: deque[Evaluation] = deque()
    event = next(search)
    while not (isinstance(event, AdmmState) and event.iteration == 1):
        if isinstance(event, Proposal):
            key = problem.key(event.candidate)
            running.append(Evaluation(1, key, event.candidate, Status.SUCCESS, 0.0))
        is_late = len(running) > 4 or not isinstance(event, Proposal)
        event = search.send([running.popleft()] if running and is_late else [])
    assert 23 <= theta.told[1] <= 25
    assert z.told[1] == 21  # there are two selections: one is pending
