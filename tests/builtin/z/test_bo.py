from __future__ import annotations

import numpy as np
import pytest

from automl_admm.builtin.z import bo
from automl_admm.builtin.z.bo import RelaxedOptimization
from automl_admm.core.space import Choice, Condition, Order, Parameter, SearchSpace, Selection
from automl_admm.core.subproblems import Observation, SelectionSubproblem

SPACE = SearchSpace(
    (
        Choice("scaler", ("none", "standard", "robust")),
        Choice("model", ("tree", "line", "net")),
        Choice("kernel", ("rbf", "poly"), when=Condition("model", ("line",))),
        Order("steps", ("a", "b", "c")),
    ),
    (Parameter("depth", 1, 9, kind="int", when=Condition("model", ("tree",))),),
)
BEST = {"scaler": "robust", "model": "line", "kernel": "poly", "steps": ("b", "a", "c")}


def loss(point: Selection) -> float:
    return float(sum(point.get(name) != pick for name, pick in BEST.items()))


def begun(*history: Observation[Selection]) -> RelaxedOptimization:
    solver = RelaxedOptimization()
    solver.begin(SelectionSubproblem(SPACE, SPACE.complete({}), history, evaluations=30, seed=4))
    return solver


def test_the_model_finds_the_best_of_72_in_a_third_of_them() -> None:
    solver = begun()
    points: list[Selection] = []
    for _ in range(24):
        points += solver.ask(1, [])
        solver.tell([Observation(points[-1], loss(points[-1]))])
    assert min(map(loss, points)) == 0.0
    assert len(set(points)) == 24


def test_beside_what_is_pending_it_wants_other_good_ones() -> None:
    rng = np.random.default_rng(1)
    points = list(dict.fromkeys(SPACE.sample(rng) for _ in range(30)))
    points = [point for point in points if loss(point) and point != SPACE.complete({})]
    solver = begun(*(Observation(point, loss(point)) for point in points))
    proposals = solver.ask(6, [SPACE.complete(BEST)])[1:]
    assert len({*points, *proposals, SPACE.complete(BEST)}) == len(points) + 6
    assert np.mean([loss(point) for point in proposals]) < np.mean([loss(p) for p in points]) - 0.5


def test_of_itself_it_wants_nothing_that_is_known_or_pending() -> None:
    solver = begun()
    seen: list[Selection] = []
    for _ in range(50):
        pending = [SPACE.sample(np.random.default_rng(len(seen)))]
        proposal = solver._propose(pending, {*seen, *pending})
        if len(seen) > 8:
            assert proposal not in {*seen, *pending}
        seen += [proposal or pending[0]]
        solver.tell([Observation(seen[-1], loss(seen[-1]))])
        assert len(solver._far) == len(set(solver._far))


def test_the_kernel_is_fitted_less_and_less_often(monkeypatch: pytest.MonkeyPatch) -> None:
    fits: list[int] = []
    fit = bo.fit_kernel
    monkeypatch.setattr(bo, "fit_kernel", lambda x, *rest: [fits.append(len(x)), fit(x, *rest)][1])
    solver = begun()
    for _ in range(60):
        point = solver.ask(1, [])[0]
        solver.tell([Observation(point, loss(point))])
    assert fits[:8] == list(range(fits[0], fits[0] + 8))
    assert 20 < len(fits) < 40
    assert np.diff(fits)[-3:].tolist() == [3, 3, 3]


def test_another_space_has_codes_of_its_own() -> None:
    narrow = SearchSpace((Choice("model", ("tree", "line")),))
    wide = SearchSpace((Choice("model", ("tree", "line", "net", "mean")),))
    solver = RelaxedOptimization()
    for space in (narrow, wide):
        names = [space.complete({"model": m}) for m in space.decisions[0].alternatives[:2]]
        told = tuple(Observation(point, float(i)) for i, point in enumerate(names))
        solver.begin(SelectionSubproblem(space, names[0], told, evaluations=9))
        assert solver.ask(1, [])
        assert {len(solver._locate([point])[0]) for point in names} == {
            solver._sample._box.dimension
        }


def test_the_model_learns_what_is_on_record_at_its_latest_price() -> None:
    rng = np.random.default_rng(0)
    points = list(dict.fromkeys(SPACE.sample(rng) for _ in range(20)))
    solver = begun(*(Observation(point, -loss(point)) for point in points))
    priced = tuple(Observation(point, loss(point)) for point in points[:15])
    solver.begin(SelectionSubproblem(SPACE, points[0], priced, seed=5))
    model = solver._sample
    assert len(model) == len(points)
    assert sorted(row[1] for row in model._rows.values()) == sorted(
        [loss(point) for point in points[:15]] + [-loss(point) for point in points[15:]]
    )
