from __future__ import annotations

import math
from collections import Counter
from typing import Any

import pytest

from automl_admm import Parameter, minimize
from automl_admm.builtin.z.halving import ETA, Rung, SuccessiveHalving, rungs_between
from automl_admm.core.space import Choice, Condition, Order, SearchSpace, Selection
from automl_admm.core.subproblems import AtFidelity, Observation, SelectionSubproblem
from automl_admm.search.protocol import unwrap

SPACE = SearchSpace(
    (
        Choice("scaler", tuple(f"s{i}" for i in range(6))),
        Choice("model", ("tree", "line", "net", "near")),
        Choice("kernel", ("rbf", "poly", "flat"), when=Condition("model", ("line",))),
        Order("steps", ("a", "b", "c")),
    ),
    (Parameter("model.tree.depth", 1, 9, kind="int", when=Condition("model", ("tree",))),),
)
LOSS = {"tree": 3.0, "line": 1.0, "net": 2.0, "near": 4.0}


def loss_of(selection: Selection) -> float:
    picks = dict(selection.picks)
    steps = picks["steps"]
    far = sum(one != other for one, other in zip(steps, ("c", "b", "a"), strict=True))
    kernel = 0.0 if picks.get("kernel") == "poly" else 0.3
    return LOSS[str(picks["model"])] + 0.1 * int(str(picks["scaler"])[1]) + kernel + 0.2 * far


def begun(
    lowest: float = 0.1,
    *history: Observation[Selection],
    space: SearchSpace = SPACE,
    evaluations: int | None = 24,
) -> SuccessiveHalving:
    solver = SuccessiveHalving()
    start = space.complete({})
    solver.begin(
        SelectionSubproblem(
            space, start, history, evaluations=evaluations, lowest_fidelity=lowest, seed=4
        )
    )
    return solver


def climb(
    solver: SuccessiveHalving, budget: float, told: list[Observation[Selection]] | None = None
) -> list[tuple[Selection, float]]:
    """Ask and tell; at a low fidelity every loss is far too good, and so not to be compared."""
    asked: list[tuple[Selection, float]] = []
    while sum(fidelity for _, fidelity in asked) < budget:
        point, fidelity = unwrap(solver.ask(1, [])[0])
        asked.append((point, fidelity))
        loss = loss_of(point) - 100.0 * (1.0 - fidelity)
        observation = Observation(point, loss, loss, fidelity=fidelity)
        solver.tell([observation])
        if told is not None:
            told.append(observation)
    return asked


def test_rungs_rise_threefold_and_end_with_the_whole() -> None:
    assert rungs_between(0.1) == pytest.approx((0.1, 0.3, 1.0))
    assert rungs_between(1 / 27) == pytest.approx((1 / 27, 1 / 9, 1 / 3, 1.0))
    assert rungs_between(0.5) == (0.5, 1.0)
    assert all(rungs_between(x)[0] == x for x in (0.01, 0.07, 0.9))


def test_a_third_of_a_rung_climbs_the_best_first_and_no_failure() -> None:
    points = [SPACE.complete({"scaler": f"s{i}"}) for i in range(6)]
    rung = Rung(0.1)
    for point, loss in zip(points, (3.0, 1.0, math.inf, 2.0, 5.0, math.inf), strict=True):
        assert len(rung.losses) < 3 or rung.survivor() == points[1]
        rung.losses[point] = loss
    rung.promoted.add(points[1])
    assert rung.survivor() == points[3]
    rung.promoted.add(points[3])
    assert rung.survivor() is None
    assert rung.next_best() == points[0]
    rung.promoted.update((points[0], points[4]))
    assert rung.next_best() is None
    assert Rung(1.0, dict.fromkeys(points, math.inf)).next_best() is None


def test_the_start_is_whole_unless_it_is_known_and_whole_points_come_bare() -> None:
    solver = begun()
    assert solver.ask(1, []) == [SPACE.complete({})]
    known = Observation(SPACE.complete({}), 1.0)
    (first,) = begun(0.1, known).ask(1, [])
    assert isinstance(first, AtFidelity)
    assert first.fidelity == 0.1
    asked = [solver.ask(1, [])[0] for _ in range(3)]
    assert all(isinstance(point, AtFidelity) for point in asked)


def test_each_rung_has_about_a_third_of_the_one_below_and_its_best() -> None:
    solver = begun()
    asked = climb(solver, 24.0)
    counts = Counter(fidelity for _, fidelity in asked[1:])  # but for the start
    assert set(counts) == set(rungs_between(0.1))
    assert counts[0.1] // ETA <= counts[rungs_between(0.1)[1]] <= counts[0.1] // ETA + 2
    by_rung = {f: [loss_of(p) for p, g in asked[1:] if g == f] for f in counts}
    means = [sum(by_rung[f]) / len(by_rung[f]) for f in sorted(by_rung)]
    assert means == sorted(means, reverse=True)
    assert means[0] != means[-1]


def test_no_selection_is_asked_for_twice_at_a_fidelity() -> None:
    asked = climb(begun(), 24.0)
    assert len(set(asked)) == len(asked)


def test_what_is_pending_blocks_nothing() -> None:
    solver = begun()
    points: list[Selection] = []
    for _ in range(20):
        points.append(unwrap(solver.ask(1, points)[0])[0])
    assert len(set(points)) == 20
    solver.tell([Observation(p, loss_of(p), fidelity=0.1) for p in points[1:7]])
    above = [solver.ask(1, points)[0] for _ in range(3)]
    assert [unwrap(point)[1] for point in above] == pytest.approx([0.3, 0.3, 0.1])
    best = sorted(points[1:7], key=loss_of)[:2]
    assert [unwrap(point)[0] for point in above[:2]] == best


def test_half_of_what_enters_are_neighbours_of_the_best() -> None:
    best = SPACE.complete({"model": "net", "scaler": "s3", "steps": ("c", "b", "a")})
    solver = begun(0.1, Observation(best, 0.0), Observation(SPACE.complete({}), 1.0))
    entered = [unwrap(solver.ask(1, [])[0])[0] for _ in range(40)]
    near = [p for p in entered if _differences(p, best) <= 2]  # the kernel comes with the model
    assert 10 <= len(near) <= 34


def _differences(one: Selection, other: Selection) -> int:
    return len(set(one.picks) ^ set(other.picks)) // 2


def test_a_new_sub_problem_compares_nothing_with_rungs_of_the_last() -> None:
    solver = begun()
    climb(solver, 5.0)
    start = SPACE.complete({})
    solver.begin(SelectionSubproblem(SPACE, start, evaluations=16, lowest_fidelity=0.1, seed=5))
    first = [unwrap(solver.ask(1, [])[0]) for _ in range(4)]
    assert first[0] == (start, 1.0)
    assert [fidelity for _, fidelity in first[1:]] == [0.1] * 3


def test_where_nothing_new_is_left_the_rest_climbs_and_then_the_best_is_repeated() -> None:
    space = SearchSpace((Choice("model", ("tree", "line", "net", "near")),))
    solver = begun(0.2, space=space)
    whole: list[Selection] = []
    for _ in range(12):
        point, fidelity = unwrap(solver.ask(1, [])[0])
        loss = LOSS[str(point.get("model"))]
        solver.tell([Observation(point, loss, loss, fidelity=fidelity)])
        whole += [point] if fidelity == 1.0 else []
    assert set(whole[:4]) == {space.complete({"model": label}) for label in LOSS}
    assert set(whole[4:]) == {space.complete({"model": "line"})}


def test_only_failures_do_not_stop_it() -> None:
    solver = begun()
    for _ in range(12):
        point, fidelity = unwrap(solver.ask(1, [])[0])
        solver.tell([Observation(point, 9.0, failed=True, fidelity=fidelity)])
    assert unwrap(solver.ask(1, [])[0])[1] == 0.1


def test_without_fidelity_arms_have_equal_shares_and_the_worse_half_goes() -> None:
    solver = begun(1.0)
    asked = climb(solver, 24.0)
    assert {fidelity for _, fidelity in asked} == {1.0}
    models = [str(point.get("model")) for point, _ in asked]
    assert Counter(models[:12]) == dict.fromkeys(LOSS, 3)
    assert Counter(models[12:]) == {"line": 6, "net": 6}
    assert {str(point.get("model")) for point, _ in climb(solver, 5.0)} == {"line"}


@pytest.mark.parametrize("hopeless", ["", "near"])
def test_without_fidelity_what_a_limit_refused_is_no_pull_and_holds_up_no_round(
    hopeless: str,
) -> None:
    """Of the arm `hopeless` everything is refused, of the others two of three."""
    solver = begun(1.0, evaluations=48)
    pulls: Counter[str] = Counter()
    turn = 0
    while sum(pulls.values()) < 48:
        (point,) = solver.ask(1, [])
        arm, turn = str(point.get("model")), turn + 1
        refused = arm == hopeless or turn % 3 > 0
        pulls[arm] += not refused
        solver.tell([Observation(point, loss_of(point), failed=refused, refused=refused)])
    assert pulls["line"] > 2 * pulls["tree"] > 0
    assert min(pulls[arm] for arm in LOSS if arm != hopeless) >= 4


def test_a_refusal_makes_nobody_climb() -> None:
    solver = begun(0.1)
    for _ in range(2 * ETA):
        point, fidelity = unwrap(solver.ask(1, [])[0])
        solver.tell([Observation(point, 9.0, failed=True, fidelity=fidelity, refused=True)])
    assert all(not rung.losses for rung in solver._climbing._rungs)


def test_without_fidelity_an_arm_that_is_used_up_holds_up_no_round() -> None:
    """Of sixteen evaluations in two rounds each of four arms has two; the tree offers but one."""
    hung = Condition("model", ("line", "net", "near"))
    widths = Choice("width", tuple("abcdefghij"), hung)
    space = SearchSpace((Choice("model", tuple(LOSS)), widths))
    solver = begun(1.0, space=space, evaluations=16)
    models = []
    for _ in range(15):
        point, _ = unwrap(solver.ask(1, [])[0])
        models.append(str(point.get("model")))
        solver.tell([Observation(point, LOSS[models[-1]])])
    assert Counter(models[:7]) == {"tree": 1, "line": 2, "net": 2, "near": 2}
    assert Counter(models[7:]) == {"line": 4, "net": 4}


def test_without_fidelity_a_bracket_outlasts_a_sub_problem_and_then_begins_anew() -> None:
    solver = begun(1.0, evaluations=16)  # 2 rounds: 2 pulls an arm, then 4
    climb(solver, 9.0)
    told: list[Observation[Selection]] = []
    start = SPACE.complete({"model": "net"})
    solver.begin(SelectionSubproblem(SPACE, start, evaluations=16, seed=5))
    climb(solver, 7.0, told)
    assert {str(o.point.get("model")) for o in told} == {"line", "net"}
    climb(solver, 1.0)
    solver.begin(SelectionSubproblem(SPACE, start, tuple(told), evaluations=16, seed=6))
    models = Counter(str(point.get("model")) for point, _ in climb(solver, 8.0))
    assert models == dict.fromkeys(LOSS, 2)


def test_without_fidelity_and_choices_orders_are_searched() -> None:
    space = SearchSpace((Order("steps", ("a", "b", "c")),))
    solver = begun(1.0, space=space, evaluations=None)
    points: list[Any] = []
    for _ in range(6):
        points += solver.ask(1, [])
        solver.tell([Observation(points[-1], 1.0)])
    assert len(set(points)) == 6


def test_minimize_asks_for_a_share_and_the_answer_is_whole() -> None:
    calls: list[float] = []

    def objective(values: dict[str, Any], fidelity: float) -> float:
        calls.append(fidelity)
        kernel = 0.0 if values.get("kernel") == "poly" else 0.3
        depth = 0.01 * values.get("model.tree.depth", 0)
        away = LOSS[values["model"]] + 0.1 * int(values["scaler"][1]) + kernel + depth
        return float(away - 100.0 * (1.0 - fidelity))

    result = minimize(
        objective,
        SPACE,
        max_evaluations=60,  # of more the lowest rung would use the 216 selections up
        theta_solver="random",
        z_solver="halving",
        min_fidelity=0.1,
        random_state=0,
    )
    seen = Counter(round(fidelity, 9) for fidelity in calls)
    assert set(seen) == {0.1, 0.3, 1.0}
    assert seen[0.1] > 2 * seen[0.3] > 0
    assert result.best["model"] == "line"
    assert 1.0 <= result.loss < 1.5
