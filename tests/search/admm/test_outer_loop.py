from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
import pytest

from automl_admm.core.admm_state import AdmmState
from automl_admm.core.errors import ConfigurationError
from automl_admm.core.evaluations import Evaluation, Status
from automl_admm.core.limits import Limit
from automl_admm.core.ranking import best_of
from automl_admm.core.space import (
    Candidate,
    Choice,
    Condition,
    Order,
    Parameter,
    SearchSpace,
    Selection,
)
from automl_admm.core.subproblems import Observation, ThetaSubproblem
from automl_admm.search.admm.outer_loop import admm
from automl_admm.search.admm.settings import AdmmSettings, Precision
from automl_admm.search.protocol import Proposal, SearchProblem, Wait
from automl_admm.search.starts import default_start

SPACE = SearchSpace(
    decisions=(Choice("kind", ("round", "square")), Order("order", ("a", "b"))),
    parameters=(
        Parameter("radius", 0, 10, default=9, when=Condition("kind", ("round",))),
        Parameter("sides", 0, 10, kind="int", default=9, when=Condition("kind", ("square",))),
    ),
)
PRECISION = Precision(first=8, step=4, last=16)


class UniformTheta:
    """A θ-solver as plain as can be, which keeps what it was handed for the tests to look at."""

    def __init__(self) -> None:
        self.begun: list[ThetaSubproblem] = []
        self.told: list[Observation] = []
        self.told_before: list[int] = []

    def begin(self, subproblem: ThetaSubproblem) -> None:
        self.begun.append(subproblem)
        self.told_before.append(len(self.told))
        self._rng = np.random.default_rng(subproblem.seed)

    def ask(self, count: int, pending: object) -> list[np.ndarray]:
        return [self._rng.random(len(self.begun[-1].parameters)) for _ in range(count)]

    def tell(self, observations: list[Observation]) -> None:
        self.told.extend(observations)


class UniformZ(UniformTheta):
    def ask(self, count: int, pending: object) -> list[Selection]:
        return [self.begun[-1].space.sample(self._rng) for _ in range(count)]


class Silent(UniformTheta):
    def ask(self, count: int, pending: object) -> list:
        return []


def loss_of(values: dict) -> float:
    """Best: square, 3 sides, order b a."""
    place = abs(values.get("radius", values.get("sides", 0)) - 3) / 10
    return (
        place
        + (0.5 if values["kind"] == "round" else 0.0)
        + (0.2 if values["order"][0] == "a" else 0.0)
    )


def evaluate(
    candidate: Candidate, number: int, g: Callable[[dict], float] | None = None
) -> Evaluation:
    values = SPACE.values(candidate)
    return Evaluation(
        number,
        key_of(candidate),
        candidate,
        Status.SUCCESS,
        loss_of(values),
        (g(values),) if g else (),
        0.1,
    )


def key_of(candidate: Candidate) -> str:
    return repr(sorted(SPACE.values(candidate).items()))


def problem(**changes: object) -> SearchProblem:
    return replace(SearchProblem(SPACE, key_of, (default_start(SPACE),)), **changes)


def states(
    search: Iterator, evaluations: int, react: Callable[[Candidate, int], Evaluation] = evaluate
) -> tuple:
    """Drive a search by hand with one worker."""
    seen: list[AdmmState] = []
    log: dict[str, Evaluation] = {}
    event = next(search)
    while len(log) < evaluations:
        results = []
        if isinstance(event, AdmmState):
            seen.append(event)
        elif isinstance(event, Proposal):
            key = key_of(event.candidate)
            log.setdefault(key, react(event.candidate, len(log) + 1))
            results = [replace(log[key], candidate=event.candidate)]
        try:
            event = search.send(results)
        except StopIteration:
            break
    return seen, list(log.values())


def test_it_finds_the_planted_optimum() -> None:
    _, log = states(
        admm(problem(), UniformTheta(), UniformZ(), AdmmSettings(precision=PRECISION)), 150
    )
    values = SPACE.values(best_of(log, ()).candidate)
    assert values["kind"] == "square"
    assert values["order"] == ("b", "a")
    assert values["sides"] == 3


def test_state_keeps_theta_near_its_integer_copy() -> None:
    seen, _ = states(
        admm(problem(), UniformTheta(), UniformZ(), AdmmSettings(precision=PRECISION)), 150
    )
    for state in seen:
        assert state.delta[1] * 10 == pytest.approx(round(state.delta[1] * 10))
        assert 0.0 <= state.theta.min() <= state.theta.max() <= 1.0
    assert seen[-1].incumbent is not None
    assert [state.iteration for state in seen] == list(range(len(seen)))


def test_precision_grows_and_history_is_handed_over_repriced() -> None:
    theta, z = UniformTheta(), UniformZ()
    seen, log = states(admm(problem(), theta, z, AdmmSettings(precision=PRECISION)), 120)
    assert [task.evaluations for task in z.begun[:4]] == [8, 12, 16, 16]
    # An excursion begins at the precision of the first sub-problems.
    assert [task.evaluations for task in theta.begun[:4]] == [8, 12, 8, 16]
    last = theta.begun[-1]
    assert last.history
    same = [e for e in log if e.candidate.selection == seen[-1].selection]
    priced = [(o.loss - last.known_cost(o.point)[0], o.objective) for o in last.history]
    units = [loss / objective for loss, objective in priced if objective > 0]
    assert units == pytest.approx([units[0]] * len(units))
    assert len(same) > 0


def test_a_z_solver_is_told_of_all_that_is_known_at_the_prices_of_today() -> None:
    z = UniformZ()
    _, log = states(admm(problem(), UniformTheta(), z, AdmmSettings(precision=PRECISION)), 120)
    for task in z.begun[1:]:
        told = [*task.history, *task.elsewhere]
        units = [o.loss / o.objective for o in told if o.objective > 0]
        assert units == pytest.approx([units[0]] * len(units))
        others = [o.point for o in task.elsewhere]
        assert len(others) == len(set(others))
    known = {e.candidate.selection for e in log}
    assert {o.point for o in (*z.begun[-1].history, *z.begun[-1].elsewhere)} == known
    assert any(
        {o.point for o in task.elsewhere} - {o.point for o in task.history} for task in z.begun
    )


def test_solvers_never_hear_of_parameters_that_are_not_active() -> None:
    theta = UniformTheta()
    states(admm(problem(), theta, UniformZ(), AdmmSettings(precision=PRECISION)), 100)
    assert {tuple(p.name for p in task.parameters) for task in theta.begun} <= {
        ("radius",),
        ("sides",),
    }


def test_a_limit_raises_its_multiplier_until_it_holds() -> None:
    limits = (Limit("sides", 2.0),)

    def react(candidate: Candidate, number: int) -> Evaluation:
        return evaluate(candidate, number, lambda values: values.get("radius", values.get("sides")))

    settings = AdmmSettings(rho=0.01, precision=PRECISION)
    search = admm(problem(limits=limits), UniformTheta(), UniformZ(), settings)
    seen, log = states(search, 200, react)
    best = best_of(log, limits)
    assert best.constraints[0] <= 2.0
    assert best.loss == pytest.approx(0.1, abs=0.02)
    assert max(float(state.constraint_duals[0]) for state in seen) > 0.0


def test_integers_are_held_less_and_less() -> None:
    theta = UniformTheta()
    settings = AdmmSettings(rho=6.0, precision=PRECISION)
    seen, _ = states(admm(problem(), theta, UniformZ(), settings), 80)
    assert [state.integer_rho for state in seen[:3]] == [6.0, 3.0, 2.0]
    pairs = zip(theta.begun, seen, strict=False)
    held = [
        (float(task.known_cost.weight.max()), state.integer_rho)
        for task, state in pairs
        if any(parameter.is_integer for parameter in task.parameters)
    ]
    assert len(held) > 1
    assert all(weight == rho for weight, rho in held)


def test_a_failure_costs_more_than_the_worst_success() -> None:
    theta = UniformTheta()

    def react(candidate: Candidate, number: int) -> Evaluation:
        done = evaluate(candidate, number)
        return replace(done, status=Status.CRASHED, loss=math.nan) if number % 3 == 0 else done

    states(admm(problem(), theta, UniformZ(), AdmmSettings(precision=PRECISION)), 60, react)
    tasks = [task.history for task in theta.begun[2:]]
    seen = [history for history in tasks if len({o.failed for o in history}) == 2]
    assert seen
    for history in seen:
        worst = max(o.loss - theta.begun[0].known_cost(o.point)[0] for o in history if not o.failed)
        assert min(o.loss for o in history if o.failed) > worst - 1e-9
    assert all(math.isfinite(o.loss) for o in theta.told)


def test_it_ends_when_nothing_new_is_left() -> None:
    seen, log = states(admm(problem(), Silent(), Silent(), AdmmSettings(patience=3)), 10)
    assert len(seen) == 3
    assert len(log) == 1


def test_workers_may_answer_late_and_out_of_order() -> None:
    search = admm(problem(), UniformTheta(), UniformZ(), AdmmSettings(precision=PRECISION))
    event, running, done = next(search), [], []
    while len(done) < 80:
        results = []
        if isinstance(event, Proposal):
            running.append(event.candidate)
        if len(running) >= 4 or isinstance(event, Wait):
            results = [evaluate(running.pop(), len(done) + 1)]
            done += results
        event = search.send(results)
    assert best_of(done, ()).loss < 0.2


def test_it_does_not_end_while_something_is_being_evaluated() -> None:
    space = SearchSpace((Choice("a", ("x", "y")),))

    def key(candidate: Candidate) -> str:
        return str(candidate.selection.get("a"))

    search = admm(
        SearchProblem(space, key, (default_start(space),)),
        Silent(),
        UniformZ(),
        AdmmSettings(patience=2),
    )
    event, running, done = next(search), [], {}
    while True:
        results = []
        if isinstance(event, Proposal) and key(event.candidate) in done:
            results = [done[key(event.candidate)]]
        elif isinstance(event, Proposal):
            running.append(event.candidate)
        elif isinstance(event, Wait):
            candidate = running.pop()
            found = Evaluation(1, key(candidate), candidate, Status.SUCCESS, 1.0)
            done[found.key] = found
            results = [found]
        try:
            event = search.send(results)
        except StopIteration:
            break
    assert set(done) == {"x", "y"}
    assert not running


def test_units_are_measured_on_successes_and_multipliers_wait_for_them() -> None:
    def react(candidate: Candidate, number: int) -> Evaluation:
        done = evaluate(candidate, number, lambda values: 9.0)
        failed = replace(done, status=Status.ERROR, loss=math.nan, constraints=())
        return failed if number < 30 else replace(done, loss=1e6 * done.loss)

    settings = AdmmSettings(precision=PRECISION)
    search = admm(problem(limits=(Limit("g", 2.0),)), UniformTheta(), UniformZ(), settings)
    seen, _ = states(search, 150, react)
    early = [state for state in seen if state.evaluations < 30]
    assert early
    assert all(not state.constraint_duals.any() for state in early)
    assert seen[-1].constraint_duals[0] > 0.0


def test_a_late_result_of_z_min_overturns_its_choice() -> None:
    theta = UniformTheta()
    search = admm(problem(), theta, UniformZ(), AdmmSettings(precision=PRECISION))
    held: list[Candidate] = []
    overturned_at = 0

    def worse_if_round(candidate: Candidate, number: int) -> Evaluation:
        done = evaluate(candidate, number)
        return replace(done, loss=done.loss + 5.0 * (SPACE.values(candidate)["kind"] == "round"))

    event = next(search)
    for number in range(1, 60):
        results = []
        if isinstance(event, Proposal):
            is_square = SPACE.values(event.candidate)["kind"] == "square"
            if event.origin == "z" and is_square:
                held.append(event.candidate)
            else:
                results = [worse_if_round(event.candidate, number)]
            if event.origin == "theta" and theta.begun[-1].iteration == 1 and not overturned_at:
                assert held
                overturned_at = len(theta.begun)
                results += [worse_if_round(candidate, 100) for candidate in held]
        event = search.send(results)
        if overturned_at and len(theta.begun) > overturned_at:
            break
    lost, won = theta.begun[overturned_at - 1 : overturned_at + 1]
    assert lost.iteration == won.iteration == 1
    assert lost.parameters[0].name == "radius"
    assert won.parameters[0].name == "sides"


def test_same_seed_same_search() -> None:
    logs = [states(admm(problem(seed=4), UniformTheta(), UniformZ()), 60)[1] for _ in range(2)]
    assert [e.key for e in logs[0]] == [e.key for e in logs[1]]
    other = states(admm(problem(seed=5), UniformTheta(), UniformZ()), 60)[1]
    assert [e.key for e in other] != [e.key for e in logs[0]]


def test_seconds_end_a_subproblem_too() -> None:
    now = [0.0]
    theta = UniformTheta()
    timed = problem(deadline=100.0, clock=lambda: now[0])

    def react(candidate: Candidate, number: int) -> Evaluation:
        now[0] += 4.0
        return evaluate(candidate, number)

    states(admm(timed, theta, UniformZ(), AdmmSettings(precision=Precision(16, 16, 128))), 8, react)
    # An eighth of the 96 seconds that are left after the start: three evaluations of four seconds.
    assert theta.told_before[:2] == [0, 3]


def test_precision_refuses_nonsense() -> None:
    with pytest.raises(ConfigurationError):
        Precision(first=0)
    with pytest.raises(ConfigurationError):
        Precision(first=32, last=16)


BARE = SearchSpace(
    (Choice("kind", ("bare", "tuned")), Order("order", ("a", "b", "c", "d", "e"))),
    (Parameter("x", 0, 1, default=0.5, when=Condition("kind", ("tuned",))),),
)


class WithoutPoints(UniformTheta):
    """It draws in a box, and has nothing to ask for where there are no parameters."""

    def ask(self, count: int, pending: object) -> list[np.ndarray]:
        return super().ask(count, pending) if self.begun[-1].parameters else []


class UniformArms(UniformTheta):
    def ask(self, count: int, pending: object) -> list[Selection]:
        return [self.begun[-1].space.sample(self._rng) for _ in range(count)]


def test_theta_min_without_parameters_does_not_wait_for_pending_selections() -> None:
    """All good selections have no parameters: each θ-min there is to end at once."""
    bare = SearchProblem(BARE, lambda c: repr(BARE.values(c)), (default_start(BARE),))
    search = admm(bare, WithoutPoints(), UniformArms(), AdmmSettings(precision=PRECISION))
    running: deque[Evaluation] = deque()
    iterations = 0
    event = next(search)
    while len(running) < 40:
        assert not isinstance(event, Wait)
        iterations += isinstance(event, AdmmState)
        if isinstance(event, Proposal):
            loss = 1.0 if event.candidate.selection.get("kind") == "tuned" else 0.0
            key = bare.key(event.candidate)
            running.append(Evaluation(1, key, event.candidate, Status.SUCCESS, loss))
        # As with four workers, three are pending at any time.
        is_late = isinstance(event, Proposal) and len(running) > 3
        event = search.send([running[-4]] if is_late else [])
    assert iterations >= 2
