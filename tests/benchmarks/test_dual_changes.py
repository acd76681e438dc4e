"""Each change of penalties and multipliers does what it says, and is taken back."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from types import SimpleNamespace
from typing import Any

import dual_changes
import numpy as np
import pytest
from admm_parts import Variant
from dual_changes import ALPHA, TWICE, Ascent, to_price_of_log
from priced_problem import SPACE
from shadow_price import CHANGES, EVERY, Job, events_of

from automl_admm.core.admm_state import AdmmState
from automl_admm.core.evaluations import Evaluation, Status
from automl_admm.core.limits import Limit
from automl_admm.core.space import Candidate, Selection
from automl_admm.search.admm import choice, outer_loop, projection
from automl_admm.search.admm.blocks import begin_selection
from automl_admm.search.admm.pricing import Scales

SHIPPED = "ADMM as shipped"


def states_of(name: str) -> list[AdmmState]:
    """Return the states of a run on a priced problem where the first z-min breaks the limit."""
    events = events_of(Job(name, 0.1, 29, 60))
    return [event for event in events if isinstance(event, AdmmState)]


def found(name: str) -> list[str]:
    """Return what a shorter run evaluates."""
    events = events_of(Job(name, 0.1, 29, 30))
    return [event.key for event in events if isinstance(event, Evaluation)]


@pytest.fixture(scope="module")
def shipped() -> AdmmState:
    """The first state of the search as it ships."""
    return states_of(SHIPPED)[0]


@pytest.fixture(scope="module")
def found_as_shipped() -> list[str]:
    """What the search as it ships evaluates."""
    return found(SHIPPED)


@pytest.mark.parametrize("name", CHANGES)
def test_a_change_is_another_search_and_is_taken_back(
    name: str, found_as_shipped: list[str]
) -> None:
    before = [vars(part).copy() for part in (outer_loop, choice, projection, choice.Choice)]
    changed = found(name)
    assert len(set(changed)) == 30
    assert changed == found(name), "the same seed, the same search"
    assert changed != found_as_shipped
    assert [vars(part) for part in (outer_loop, choice, projection, choice.Choice)] == before


def test_a_penalty_moves_by_two_where_one_residual_is_over_ten_times_the_other() -> None:
    balance = dual_changes._balance
    assert balance(0.5, 10.1, 1.0) == 1.0
    assert balance(0.5, 1.0, 10.1) == 0.25
    for primal, dual in ((10.0, 1.0), (1.0, 10.0), (0.0, 0.0), (5.0, np.nan)):
        assert balance(0.5, primal, dual) == 0.5


def test_both_penalties_move_and_the_multipliers_stay_as_they_are(shipped: AdmmState) -> None:
    first, *later = states_of("balanced ρ")
    # Until the end of the first iteration both searches are the same; λ and μ are not scaled by ρ.
    assert first.evaluations == shipped.evaluations
    assert np.array_equal(first.dual, shipped.dual)
    assert np.array_equal(first.constraint_duals, shipped.constraint_duals)
    assert first.constraint_duals[0] > 0.0
    # The limit was broken, and z-min moved it far less: twice ρ. θ̃ is on the grid: half of ρ_t.
    assert (first.rho, first.integer_rho) == (TWICE * shipped.rho, 1.0 / TWICE)
    assert [(one.rho, one.integer_rho) for one in later] == [(2.0, 0.25), (4.0, 0.125)]


def test_the_relaxed_theta_is_what_delta_and_the_multipliers_see(shipped: AdmmState) -> None:
    relaxed = states_of("over-relaxed")[0]
    assert np.array_equal(relaxed.theta, shipped.theta)
    assert not np.array_equal(relaxed.delta, shipped.delta)
    integers = projection.integer_mask(SPACE.parameters) > 0
    # The first δ(t) is that of the defaults, and λ was 0.
    none = np.zeros(len(SPACE.parameters))
    start = projection.nearest_integers(SPACE.parameters, SPACE.default_theta(), none, 1.0)
    beyond = ALPHA * relaxed.theta + (1.0 - ALPHA) * start
    grid = [p.project(x) for p, x in zip(SPACE.parameters, beyond, strict=True)]
    assert relaxed.delta[integers] == pytest.approx(np.array(grid)[integers])
    assert relaxed.dual[integers] == pytest.approx((beyond - relaxed.delta)[integers])
    assert np.abs(relaxed.dual).max() > 0.0 == np.abs(shipped.dual).max()
    # The limit was broken: μ = α ρ r.
    assert relaxed.constraint_duals == pytest.approx(ALPHA * shipped.constraint_duals)


def test_without_steps_it_is_the_search_without_multipliers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    still = partial(dual_changes.each_evaluation, damping=0.0)
    monkeypatch.setitem(EVERY, "μ by evaluation", Variant(change=still))
    one, other = (
        [event.key for event in events_of(Job(name, 0.1, 29, 60)) if isinstance(event, Evaluation)]
        for name in ("μ by evaluation", "μ = λ = 0")
    )
    assert one == other


def test_multipliers_move_between_two_evaluations(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[tuple[int, float]] = []

    def noting(work: Any, state: AdmmState, *given: Any) -> Any:
        seen.append((state.iteration, float(state.constraint_duals[0])))
        return begin_selection(work, state, *given)

    monkeypatch.setattr("dual_changes.begin_selection", noting)
    states = states_of("μ by evaluation")
    first = [dual for iteration, dual in seen if iteration == 0]
    assert first[0] == 0.0
    assert first[-1] > 0.0, "within one z-min"
    # What z-min ends with is kept: no step of ρ r is added to it at the end of the iteration.
    assert states[0].constraint_duals[0] == first[-1]
    assert len({dual for _, dual in seen}) > len(states), "more often than once in an iteration"


def known(*pairs: tuple[float, float]) -> list[Evaluation]:
    """Return evaluations of these losses and measures."""
    one = Candidate(Selection(()), ())
    return [
        Evaluation(n, str(n), one, Status.SUCCESS, loss, (measure,))
        for n, (loss, measure) in enumerate(pairs)
    ]


def ascent(log: Sequence[Evaluation], residual: Any, damping: float, dual: float) -> Ascent:
    """Return the steps on a limit of 1 whose unit is 0.5, with ρ = 2."""
    limits, scales = (Limit("spent", 1.0, extreme=0.0),), Scales(1.0, np.array([0.5]), True)
    work: Any = SimpleNamespace(
        problem=SimpleNamespace(limits=limits),
        scales=scales,
        settings=SimpleNamespace(dual_cap=100.0),
        book=SimpleNamespace(evaluations=log),
    )
    none = np.zeros(0)
    duals = np.array([dual])
    state = AdmmState(0, Selection(()), none, none, none, duals, none, none, 2.0, 1.0)
    return Ascent(work, state, residual, damping)


def test_a_step_is_that_of_the_cheapest_evaluation_and_never_below_zero() -> None:
    log = known((0.0, 1.5), (9.0, 0.5))
    climbing = ascent(log, dual_changes.best_residual, 0.25, 0.0)
    climbing.step(log[-1:])
    # The unit of the limit is 0.5, so the breach is 1: 0.25 · ρ · 1.
    assert climbing.state.constraint_duals == pytest.approx([0.5])
    falling = ascent(known((0.0, 0.5)), dual_changes.best_residual, 5.0, 0.5)
    falling.step(log[-1:])
    assert falling.state.constraint_duals == pytest.approx([0.0])


def test_the_price_of_the_log_is_the_slope_of_its_lower_hull() -> None:
    log = known((1.0, 0.5), (0.0, 1.5), (0.9, 1.0), (5.0, 0.1))
    for dual in (0.0, 3.0):
        whole = ascent(log, to_price_of_log, 1.0, dual)
        whole.step(log[-1:])
        # From (1, −1) to (0, 1) in units of 0.5: half a loss for each.
        assert whole.state.constraint_duals == pytest.approx([0.5])
    outside = ascent(known((1.0, 1.5), (0.0, 2.0)), to_price_of_log, 1.0, 0.0)
    outside.step(log[-1:])
    assert outside.state.constraint_duals == pytest.approx([100.0]), "nothing is within: the cap"
