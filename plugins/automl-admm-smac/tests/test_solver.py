from __future__ import annotations

import json
import logging
import math
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from automl_admm_smac import ForestOptions, SmacOptions, build_forest, build_process
from automl_admm_smac.solver import instructive
from automl_admm_smac.terrain import Terrain
from automl_admm_smac.trials import Trials
from forked_questions import run_forked

from automl_admm.plugin_api import (
    Array,
    AtFidelity,
    Condition,
    Observation,
    Parameter,
    ThetaSolver,
    unwrap,
)
from automl_admm.testing.contracts import box_problem, observed

LINE = (Parameter("x", 0, 1),)
CONDITIONAL = (
    Parameter("model", 0, 2, kind="category", values=("tree", "line", "net")),
    Parameter("depth", 1, 9, kind="int", when=Condition("model", ("tree",))),
    Parameter("rate", 1e-4, 1.0, log=True, when=Condition("model", ("line", "net"))),
    Parameter("x", 0, 1),
)
FINITE = (
    Parameter("model", 0, 1, kind="category", values=("tree", "line")),
    Parameter("depth", 1, 3, kind="int", when=Condition("model", ("tree",))),
)
PROPOSALS_OF_ANOTHER_PROCESS = """
import json
from test_solver import CONDITIONAL, search
from automl_admm_smac import ForestOptions, build_forest
print(json.dumps([list(p) for p in search(build_forest(ForestOptions()), CONDITIONAL, 10)]))
"""


def search(solver: ThetaSolver, parameters: tuple[Parameter, ...], rounds: int) -> list[Array]:
    solver.begin(box_problem(parameters, seed=5))
    points: list[Array] = []
    for _ in range(rounds):
        for point, _ in map(unwrap, solver.ask(1, [])):
            solver.tell([observed(point, float(np.sum(point)))])
            points.append(point)
    return points


def test_nothing_hangs_on_the_hash_seed() -> None:
    here = search(build_forest(ForestOptions()), CONDITIONAL, 10)
    # A fork has the random hash seed of its server; in its folder it finds this module.
    line = [sys.executable, "-c", PROPOSALS_OF_ANOTHER_PROCESS]
    done = run_forked(line, cwd=Path(__file__).parent)
    assert done.returncode == 0, done.stderr
    assert np.array_equal(np.array(json.loads(done.stdout)), np.array(here))
    assert done.stderr == ""


@pytest.mark.parametrize("lowest", [1.0, 0.1])
def test_leaves_no_trace(
    lowest: float,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    root, smac = logging.getLogger(), logging.getLogger("smac")
    before = (root.level, list(root.handlers), smac.level, list(smac.handlers))
    solver = build_forest(ForestOptions(retrain_after=2))
    solver.begin(replace(box_problem(FINITE), lowest_fidelity=lowest))
    for _ in range(12):
        for point, fidelity in map(unwrap, solver.ask(1, [])):
            solver.tell([replace(observed(point, 1.0), fidelity=fidelity)])
    assert (root.level, list(root.handlers), smac.level, list(smac.handlers)) == before
    assert list(tmp_path.iterdir()) == []
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("failed", [False, True])
@pytest.mark.parametrize("lowest", [1.0, 0.1])
def test_a_finite_box_is_tried_out_and_no_point_twice(lowest: float, failed: bool) -> None:
    solver = build_forest(ForestOptions(retrain_after=2))
    solver.begin(replace(box_problem(FINITE, evaluations=99), lowest_fidelity=lowest))
    whole: list[bytes] = []
    for _ in range(40):
        for point, fidelity in map(unwrap, solver.ask(1, [])):
            told = observed(point, float(np.sum(point)), failed=failed)
            solver.tell([replace(told, fidelity=fidelity)])
            if fidelity == 1.0:
                whole.append(Terrain(FINITE).key(point))
    assert len(whole) == len(set(whole)) == 4
    assert solver.ask(1, []) == []


def test_what_failed_before_any_success_is_told_with_the_first(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Nothing can be learnt from failures alone."""
    solver, told = build_forest(ForestOptions()), list[bool]()
    solver.begin(box_problem(FINITE))
    monkeypatch.setattr(Trials, "tell", lambda self, known: told.append(known.is_lost))
    first, second, third = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0]])
    solver.tell([observed(first, 1.0, failed=True)])
    assert told == []
    solver.tell([observed(second, 50.0)])
    solver.tell([observed(third, 1.0, failed=True)])
    assert told == [False, True, True]


def test_what_is_pending_is_not_proposed_again() -> None:
    solver = build_forest(ForestOptions())
    solver.begin(box_problem(FINITE))
    asked = solver.ask(3, [])
    (last,) = solver.ask(2, [unwrap(proposal)[0] for proposal in asked])
    solver.tell([observed(unwrap(last)[0], 1.0)])
    assert solver.ask(1, [unwrap(proposal)[0] for proposal in asked]) == []


def test_what_smac_was_not_told_is_known_all_the_same() -> None:
    grid = (Parameter("n", 1, 20, kind="int"),)
    history = [observed(np.array([place / 19]), place / 19) for place in range(17)]
    solver = build_forest(ForestOptions(points=8))
    solver.begin(box_problem(grid, history))
    proposed = [round(float(unwrap(p)[0][0]) * 19) for p in solver.ask(4, [])]
    assert sorted(proposed) == [17, 18, 19]


def test_the_loss_is_what_is_minimised() -> None:
    points = np.linspace(0.0, 1.0, 11)
    history = [
        Observation(np.array([x]), loss=(x - 0.8) ** 2, objective=x, seconds=1 - x) for x in points
    ]
    for solver in (build_forest(ForestOptions()), build_process(SmacOptions())):
        solver.begin(box_problem(LINE, history))
        proposed = [float(unwrap(p)[0][0]) for p in solver.ask(5, [])]
        assert min(abs(x - 0.8) for x in proposed) < 0.1


def test_failures_are_avoided() -> None:
    points = np.linspace(0.0, 1.0, 21)
    history = [observed(np.array([x]), 1.0 - x, failed=x > 0.6) for x in points if x != 0.5]
    spoilt = [replace(o, loss=math.nan) if o.failed else o for o in history]
    solver = build_forest(ForestOptions())
    solver.begin(box_problem(LINE, spoilt))
    proposed = [float(unwrap(p)[0][0]) for p in solver.ask(6, [])]
    assert np.median(proposed) < 0.65


@pytest.mark.parametrize("build", [build_forest, build_process])
def test_failures_that_were_told_early_are_avoided(build: Callable[..., ThetaSolver]) -> None:
    """What failed after a success of 0 costs little, until others lose 30 and more."""
    solver = build(ForestOptions(initial=1))
    solver.begin(replace(box_problem(LINE), start=np.array([1.0])))
    solver.tell([observed(np.array([1.0]), 0.0)])
    for x in np.linspace(0.0, 0.4, 8):
        solver.tell([observed(np.array([x]), 0.0, failed=True)])
    for x in np.linspace(0.5, 0.9, 8):
        solver.tell([observed(np.array([x]), 30.0 + 10.0 * x)])
    proposed = [float(unwrap(p)[0][0]) for p in solver.ask(6, [])]
    assert np.median(proposed) > 0.5


def test_hyperband_promotes_no_failure_before_a_success() -> None:
    """Also one that failed when nothing else was known, and later ones lose more than it cost."""
    solver = build_forest(ForestOptions())
    solver.begin(replace(box_problem(LINE), start=np.array([0.1]), lowest_fidelity=0.1))
    promoted: list[float] = []
    for _ in range(14):
        ((point, fidelity),) = map(unwrap, solver.ask(1, []))
        if 0.2 < fidelity < 0.5:
            promoted.append(float(point[0]))
        told = observed(point, 50.0 - 10.0 * float(point[0]), failed=bool(point[0] < 0.5))
        solver.tell([replace(told, fidelity=fidelity)])
    assert len(promoted) == 3
    assert min(promoted) >= 0.5


@pytest.mark.parametrize("build", [build_forest, build_process])
@pytest.mark.parametrize("scale", [1.7e308, 1e100, 1e20])
def test_losses_near_the_largest_number(build: Callable[..., ThetaSolver], scale: float) -> None:
    solver = build(ForestOptions(initial=1))
    losses = [scale, -scale, *np.linspace(-scale / 2, scale / 2, 7).tolist(), scale]
    history = [observed(np.array([x / 9]), loss) for x, loss in enumerate(losses)]
    solver.begin(box_problem(LINE, [*history, observed(np.array([0.95]), 1.0, failed=True)]))
    for _ in range(3):
        (proposal,) = solver.ask(1, [])
        solver.tell([observed(unwrap(proposal)[0], scale)])


def test_the_best_and_the_latest_are_told() -> None:
    history = [observed(np.array([place]), abs(place - 10.0)) for place in range(100)]
    kept = [int(o.point[0]) for o in instructive(history, 8)]
    assert kept == [8, 9, 10, 11, 96, 97, 98, 99]
    assert len(instructive(history[:8], 8)) == 8


def test_hyperband_promotes_the_best_third() -> None:
    solver = build_forest(ForestOptions())
    known = [observed(np.array([0.5]), 1.0), observed(np.array([0.9]), 1.0)]
    solver.begin(replace(box_problem(LINE, known), lowest_fidelity=0.1))
    asked: dict[float, list[float]] = {}
    for _ in range(13):
        (proposal,) = solver.ask(1, [])
        point, fidelity = unwrap(proposal)
        assert isinstance(proposal, AtFidelity) == (fidelity < 1.0)
        asked.setdefault(round(fidelity, 2), []).append(float(point[0]))
        solver.tell([replace(observed(point, float(point[0])), fidelity=fidelity)])
    assert [(fidelity, len(points)) for fidelity, points in asked.items()] == [
        (0.11, 9), (0.33, 3), (1.0, 1),
    ]  # fmt: skip
    assert sorted(asked[0.33]) == sorted(asked[0.11])[:3]
    assert asked[1.0] == [min(asked[0.11])]
    assert not {0.5, 0.9} & {*asked[0.11]}


def test_hyperband_can_be_told_late_and_out_of_order() -> None:
    solver = build_forest(ForestOptions())
    solver.begin(replace(box_problem(LINE), lowest_fidelity=0.3))
    waiting: list[Array] = []
    proposals = [unwrap(proposal) for proposal in solver.ask(12, waiting)]
    assert len(proposals) == 12
    for point, fidelity in reversed(proposals):
        solver.tell([replace(observed(point, float(point[0])), fidelity=fidelity)])
    assert len(solver.ask(2, [])) == 2


def test_fidelities_stay_within_what_is_allowed() -> None:
    for lowest in (1e-6, 1 / 9, 1 / 3, 0.34, 0.99):
        solver = build_forest(ForestOptions())
        solver.begin(replace(box_problem(LINE), lowest_fidelity=lowest))
        assert all(lowest <= unwrap(p)[1] <= 1.0 for p in solver.ask(4, []))


def test_hyperband_only_where_it_is_wanted() -> None:
    for solver in (build_forest(ForestOptions(hyperband=False)), build_process(SmacOptions())):
        solver.begin(replace(box_problem(LINE), lowest_fidelity=0.1))
        assert all(unwrap(proposal)[1] == 1.0 for proposal in solver.ask(4, []))


@pytest.mark.parametrize("wrong", [{"initial": 0}, {"retrain_after": 0}, {"points": 7}])
def test_options_out_of_range(wrong: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="must be at least"):
        ForestOptions(**wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize("random", [-0.1, 1.1, math.nan])
def test_a_share_out_of_range(random: float) -> None:
    with pytest.raises(ValueError, match="random must be between 0 and 1"):
        ForestOptions(random=random)


def test_an_older_smac_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("automl_admm_smac.version", lambda name: "2.3.1")
    with pytest.raises(ImportError, match=r"2\.4 or newer, not 2\.3\.1"):
        build_forest(ForestOptions())
