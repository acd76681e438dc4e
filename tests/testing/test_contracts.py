"""The contracts catch what they are there to catch."""

from __future__ import annotations

import logging
import math
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from automl_admm.builtin.theta.random_points import RandomTheta
from automl_admm.builtin.z.exhaustive import ExhaustiveSelections
from automl_admm.builtin.z.random_selections import UniformSelections
from automl_admm.core.space import Selection
from automl_admm.core.structure.axis_tree import AxisTree
from automl_admm.core.subproblems import AtFidelity
from automl_admm.testing.contracts import ThetaSolverContract, ZSolverContract
from automl_admm.testing.problems import (
    LIMITS,
    TABLE,
    box_constraints,
    seen,
    table_constraints,
    table_loss,
)


class Unseeded(RandomTheta):
    def begin(self, subproblem: Any) -> None:
        super().begin(subproblem)
        self._rng = np.random.default_rng()


class Outside(RandomTheta):
    def ask(self, count: int, pending: Sequence[Any]) -> list[Any]:
        return [1.1 * point for point in super().ask(count, pending)]


class Eager(RandomTheta):
    def ask(self, count: int, pending: Sequence[Any]) -> list[Any]:
        return super().ask(max(count, 1), pending)


class Repeating(RandomTheta):
    def begin(self, subproblem: Any) -> None:
        super().begin(subproblem)
        self.dimension = len(subproblem.parameters)

    def ask(self, count: int, pending: Sequence[Any]) -> list[Any]:
        return [np.full(self.dimension, 0.5)] * count


class Hasty(RandomTheta):
    """Takes a box for used up while there is a point left."""

    def begin(self, subproblem: Any) -> None:
        super().begin(subproblem)
        self.left = AxisTree(subproblem.parameters).size - 1

    def ask(self, count: int, pending: Sequence[Any]) -> list[Any]:
        self.left -= count
        return super().ask(count, pending) if self.left >= 0 else []


class Stacking(RandomTheta):
    """Cannot stand being told nothing."""

    def tell(self, observations: Sequence[Any]) -> None:
        super().tell(observations)
        if not hasattr(self, "seen"):
            self.seen = True
            return
        np.stack([told.point for told in observations])


class Literal(RandomTheta):
    """Cannot stand a number that is none."""

    def tell(self, observations: Sequence[Any]) -> None:
        super().tell(observations)
        for told in observations:
            values = (told.loss, *told.constraints)
            if not all(math.isfinite(value) for value in values):
                raise ValueError(values)


class Timeless(RandomTheta):
    def begin(self, subproblem: Any) -> None:
        super().begin(subproblem)
        self.few = subproblem.evaluations // 4


class Late(RandomTheta):
    """Does not think of a budget of one."""

    def begin(self, subproblem: Any) -> None:
        super().begin(subproblem)
        self.share = 1 / ((subproblem.evaluations or 9) - 1)


class Forgetful(RandomTheta):
    def begin(self, subproblem: Any) -> None:
        super().begin(subproblem)
        self.only = len(subproblem.history) > 1000

    def ask(self, count: int, pending: Sequence[Any]) -> list[Any]:
        return [] if self.only else super().ask(count, pending)


class Talking(RandomTheta):
    def tell(self, observations: Sequence[Any]) -> None:
        sys.stdout.write("one more")


class Alarmed(RandomTheta):
    def tell(self, observations: Sequence[Any]) -> None:
        logging.getLogger("somebody.else").warning("only %d", len(observations))


class Littering(RandomTheta):
    def tell(self, observations: Sequence[Any]) -> None:
        Path("history.csv").write_text(str(len(observations)), encoding="utf-8")


class Overbearing(RandomTheta):
    """Sets the level of everybody's log."""

    def begin(self, subproblem: Any) -> None:
        super().begin(subproblem)
        logging.getLogger().setLevel(logging.CRITICAL)


class Forgiving(RandomTheta):
    """Goes back to what failed, once it has forgotten what it took that for."""

    def begin(self, subproblem: Any) -> None:
        self.near = subproblem.start
        super().begin(subproblem)

    def tell(self, observations: Sequence[Any]) -> None:
        super().tell(observations)
        self.near = next((told.point for told in observations if told.failed), self.near)

    def ask(self, count: int, pending: Sequence[Any]) -> list[Any]:
        return [
            np.clip(self.near + 0.01 * point, 0.0, 1.0) for point in super().ask(count, pending)
        ]


class Credulous(RandomTheta):
    """Goes where the loss is least, whether or not that is a failure's."""

    def begin(self, subproblem: Any) -> None:
        super().begin(subproblem)
        self.tell(subproblem.history)

    def tell(self, observations: Sequence[Any]) -> None:
        self.best = min(observations, key=lambda told: told.loss).point

    def ask(self, count: int, pending: Sequence[Any]) -> list[Any]:
        return [
            np.clip(self.best + 0.01 * point, 0.0, 1.0) for point in super().ask(count, pending)
        ]


@pytest.mark.parametrize(
    ("solver", "broken"),
    [
        (Unseeded, "test_same_seed_same_proposals"),
        (Unseeded, "test_same_proposals_in_another_process"),
        (Outside, "test_stays_inside"),
        (Eager, "test_ask_for_nothing"),
        (Repeating, "test_several_at_a_time_with_pending"),
        (Repeating, "test_no_parameters"),
        (Repeating, "test_a_used_up_box_comes_to_an_end"),
        (Hasty, "test_a_used_up_box_comes_to_an_end"),
        (Unseeded, "test_categories_and_conditions"),
        (Outside, "test_categories_and_conditions"),
        (Stacking, "test_told_nothing"),
        (Literal, "test_unasked_failed_and_out_of_order"),
        (Literal, "test_limits_with_raw_values"),
        (Literal, "test_limits_that_nothing_keeps"),
        (Timeless, "test_seconds_instead_of_evaluations"),
        (Late, "test_budget_of_one"),
        (Forgetful, "test_long_history"),
        (Talking, "test_says_nothing_and_leaves_nothing"),
        (Alarmed, "test_says_nothing_and_leaves_nothing"),
        (Littering, "test_says_nothing_and_leaves_nothing"),
        (Overbearing, "test_says_nothing_and_leaves_nothing"),
        (Credulous, "test_a_failure_is_none_to_be_near_to"),
        (Forgiving, "test_a_failure_stays_worse_than_all_that_succeeds_later"),
        (RandomTheta, "test_progress"),
    ],
)
def test_a_broken_promise_is_found(solver: type[RandomTheta], broken: str) -> None:
    contract = suite(ThetaSolverContract, solver)
    with pytest.raises((AssertionError, ValueError, TypeError, ZeroDivisionError)):
        getattr(contract, broken)()


def test_random_points_keep_all_the_others() -> None:
    contract = suite(ThetaSolverContract, RandomTheta)
    needs_learning = {
        "test_progress",
        "test_a_failure_is_none_to_be_near_to",
        "test_a_failure_stays_worse_than_all_that_succeeds_later",
    }
    for name in promises(ThetaSolverContract) - needs_learning:
        if name != "test_same_proposals_in_another_process":
            getattr(contract, name)()


class Content(ExhaustiveSelections):
    """Takes what is known with other parameters for known."""

    def begin(self, subproblem: Any) -> None:
        super().begin(subproblem)
        self.tell(subproblem.elsewhere)


class Incomplete(UniformSelections):
    def ask(self, count: int, pending: Sequence[Any]) -> list[Any]:
        drawn = super().ask(count, pending)
        return [Selection((*point.picks, ("model", "tree"))) for point in drawn]


class LateZ(UniformSelections):
    def begin(self, subproblem: Any) -> None:
        super().begin(subproblem)
        self.share = 1 / ((subproblem.evaluations or 9) - 1)


class StackingZ(UniformSelections):
    def tell(self, observations: Sequence[Any]) -> None:
        super().tell(observations)
        np.stack([told.loss for told in observations])


class TalkingZ(UniformSelections):
    def tell(self, observations: Sequence[Any]) -> None:
        sys.stdout.write("one more")


class LiteralZ(UniformSelections):
    def tell(self, observations: Sequence[Any]) -> None:
        for told in observations:
            if not all(math.isfinite(value) for value in (told.loss, *told.constraints)):
                raise ValueError(told)


@pytest.mark.parametrize(
    ("solver", "broken"),
    [
        (Incomplete, "test_proposals_are_complete_selections"),
        (Content, "test_what_is_known_elsewhere_may_be_proposed"),
        (LateZ, "test_budget_of_one"),
        (StackingZ, "test_told_nothing"),
        (TalkingZ, "test_says_nothing_and_leaves_nothing"),
        (LiteralZ, "test_unasked_failed_and_out_of_order"),
        (LiteralZ, "test_limits_with_raw_values"),
        (LiteralZ, "test_limits_that_nothing_keeps"),
        (UniformSelections, "test_progress"),
        (ExhaustiveSelections, "test_progress"),
    ],
)
def test_a_broken_promise_of_a_z_solver_is_found(solver: Callable[[], Any], broken: str) -> None:
    with pytest.raises((AssertionError, ValueError, ZeroDivisionError)):
        getattr(suite(ZSolverContract, solver), broken)()


class HalfTheta(RandomTheta):
    def ask(self, count: int, pending: Sequence[Any]) -> list[Any]:
        return [AtFidelity(point, 0.5) for point in super().ask(count, pending)]


class HalfZ(UniformSelections):
    def ask(self, count: int, pending: Sequence[Any]) -> list[Any]:
        return [AtFidelity(point, 0.5) for point in super().ask(count, pending)]


@pytest.mark.parametrize(
    ("contract", "solver", "broken"),
    [
        (ZSolverContract, HalfZ, "test_proposals_are_complete_selections"),
        (ThetaSolverContract, HalfTheta, "test_stays_inside"),
    ],
)
def test_a_part_of_an_evaluation_where_only_whole_ones_are_allowed_is_found(
    contract: type, solver: Callable[[], Any], broken: str
) -> None:
    suite(contract, solver).test_fidelity_where_it_is_allowed()
    with pytest.raises(AssertionError, match=r"a fidelity of 0\.5 where 1 is the lowest"):
        getattr(suite(contract, solver), broken)()


def test_what_repeats_nothing_need_not_repeat_after_a_long_history() -> None:
    suite(ZSolverContract, ExhaustiveSelections).test_long_history()


def test_a_slow_solver_can_ask_for_less() -> None:
    counted: list[int] = []

    class Counting(RandomTheta):
        def ask(self, count: int, pending: Sequence[Any]) -> list[Any]:
            counted.append(count)
            return super().ask(count, pending)

    contract = suite(ThetaSolverContract, Counting, budget=5, rounds=2, seeds=1)
    contract.test_stays_inside()
    contract.test_constant_losses()
    assert len(counted) == 5 + (2 + 2) + 1


def test_the_limits_part_the_sub_problems() -> None:
    rng = np.random.default_rng(0)
    points = [box_constraints(point) for point in rng.random((200, 4))]
    selections = [table_constraints(TABLE.sample(rng)) for _ in range(200)]
    for known in (points, selections):
        for place, limit in enumerate(LIMITS):
            share = np.mean([limit.holds(values[place]) for values in known])
            assert 0.1 < share < 0.95


def test_the_optimum_of_the_table() -> None:
    best = TABLE.complete(
        {"scaler": "standard", "model": "line", "kernel": "poly", "steps": ("b", "a", "c")}
    )
    rng = np.random.default_rng(0)
    assert seen(best).loss == pytest.approx(0.1)
    assert min(table_loss(TABLE.sample(rng)) for _ in range(2000)) == pytest.approx(0.1)


AUTHORS = """
from automl_admm.builtin.z.random_selections import UniformSelections
from automl_admm.testing.contracts import ZSolverContract


class TestMine(ZSolverContract):
    def make(self):
        solver = UniformSelections()
        solver.ask = lambda count, pending: []
        return solver
"""


def test_an_author_is_told_what_was_wrong(tmp_path: Path) -> None:
    (tmp_path / "test_mine.py").write_text(AUTHORS, encoding="utf-8")
    (tmp_path / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    options = ["-p", "no:cacheprovider", "-k", "told_nothing", "test_mine.py"]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", *options],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1, done.stdout
    assert "where 0 = len([])" in done.stdout


def promises(contract: type) -> set[str]:
    return {name for name in dir(contract) if name.startswith("test_")}


def suite(contract: type, solver: Callable[[], Any], **lowered: int) -> Any:
    return type("Suite", (contract,), {"make": lambda self: solver(), **lowered})()
