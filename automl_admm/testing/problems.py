"""The sub-problems of the contracts, small and with a known optimum."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from automl_admm.core.limits import Limit
from automl_admm.core.space import (
    Array,
    Choice,
    Condition,
    Order,
    Parameter,
    SearchSpace,
    Selection,
)
from automl_admm.core.subproblems import (
    AtFidelity,
    Observation,
    Quadratic,
    SelectionSubproblem,
    ThetaSubproblem,
)
from automl_admm.search.protocol import PointT, unwrap

BUDGET = 24

# A real axis, a log scale, a wide grid and a switch.
MIXED = (
    Parameter("x", 0, 1),
    Parameter("y", 1e-3, 10, log=True),
    Parameter("n", 1, 50, kind="int"),
    Parameter("switch", 0, 1, kind="int"),
)
# Without `slope` there are seven points: four of `tree`, two of `line`, and `none`.
TREE = (
    Parameter("model", 0, 2, kind="category", values=("tree", "line", "none")),
    Parameter("depth", 1, 4, kind="int", default=3, when=Condition("model", ("tree",))),
    Parameter(
        "loss", 0, 1, kind="category", values=("l1", "l2"), when=Condition("model", ("line",))
    ),
    Parameter("slope", 0.1, 10, log=True, when=Condition("loss", ("l2",))),
)
GRIDS = TREE[:3]
LIMITS = (Limit("weight", 0.4, extreme=0.0), Limit("recall", 0.3, at_least=True, extreme=1.0))

TABLE = SearchSpace(
    decisions=(
        Choice("scaler", ("none", "standard", "robust", "quantile")),
        Choice("model", ("tree", "line", "net", "near")),
        Choice("kernel", ("rbf", "poly", "linear"), when=Condition("model", ("line",))),
        Order("steps", ("a", "b", "c")),
    )
)
# Eight of the 24 permutations have b before both a and c; the written one is not among them.
BOUND = SearchSpace(
    decisions=(
        Choice("model", ("line", "tree")),
        Order("steps", ("a", "b", "c", "d"), Condition("model", ("line",)), ((1, 0), (1, 2))),
        Choice("last", ("yes", "no")),
    )
)
FURNITURE = SearchSpace(
    decisions=(
        Choice("shape", ("round", "square", "flat")),
        Choice("finish", ("raw", "oiled"), when=Condition("shape", ("square", "flat"))),
        Order("steps", ("cut", "sand", "glue")),
    ),
    parameters=(
        Parameter("width", 1, 10),
        Parameter("depth", 0.01, 1, log=True, when=Condition("shape", ("round",))),
        Parameter("layers", 1, 6, kind="int", when=Condition("shape", ("flat",))),
        Parameter("grit", 8, 800, kind="int", log=True),
    ),
)
# Six stools: of ash oiled or not, or of oak; each with three or four legs.
STOOLS = SearchSpace(
    decisions=(
        Choice("wood", ("ash", "oak")),
        Choice("oiled", ("yes", "no"), when=Condition("wood", ("ash",))),
    ),
    parameters=(Parameter("legs", 3, 4, kind="int"),),
)
# The share of each label in the loss, and the raw values of both limits of the table.
WEIGHTS = {"standard": 0.1, "robust": 0.3, "quantile": 0.4, "none": 0.5, "line": 0.0, "tree": 0.3}


def points_of(proposals: Iterable[PointT | AtFidelity[PointT]]) -> list[PointT]:
    """Return the points of proposals, all of a whole evaluation: no less was allowed."""
    found = [unwrap(proposal) for proposal in proposals]
    for _, fidelity in found:
        assert fidelity == 1.0, f"it asked for a fidelity of {fidelity:g} where 1 is the lowest"
    return [point for point, _ in found]


def box_problem(
    parameters: Sequence[Parameter],
    history: Sequence[Observation[Array]] = (),
    *,
    seed: int = 0,
    evaluations: int | None = BUDGET,
) -> ThetaSubproblem:
    """Return a box without a known cost, started in its middle."""
    nothing = np.zeros(len(parameters))
    return ThetaSubproblem(
        parameters=tuple(parameters),
        start=np.full(len(parameters), 0.5),
        known_cost=Quadratic(nothing, nothing),
        history=tuple(history),
        evaluations=evaluations,
        seed=seed,
    )


def limited_box(history: Sequence[Observation[Array]]) -> ThetaSubproblem:
    """Return a box with two limits, one of them cheap, and with a known cost of the integers."""
    known_cost = Quadratic(np.full(4, 0.3), np.array([0.0, 0.0, 1.0, 1.0]))
    cheap = (lambda point: box_constraints(point)[0], None)
    problem = box_problem(MIXED, history)
    return replace(problem, known_cost=known_cost, limits=LIMITS, cheap=cheap)


def box_constraints(point: Array) -> tuple[float, float]:
    """Return the raw values of the two limits: about half of the box is within each."""
    return float(point[0]), float(0.5 * (point[1] + point[2]))


def observed(
    point: Array, loss: float, *, failed: bool = False, constraints: tuple[float, ...] = ()
) -> Observation[Array]:
    """Return an observation in the core's form."""
    return Observation(point, loss, math.nan if failed else loss, constraints, 0.1, failed=failed)


def table_loss(selection: Selection) -> float:
    """Return the loss, best at standard, line, poly, and the order b a c: 0.1."""
    picks = dict(selection.picks)
    steps = picks["steps"]
    loss = WEIGHTS.get(str(picks["scaler"]), 0.5) + WEIGHTS.get(str(picks["model"]), 0.4)
    loss += 0.0 if picks.get("kernel") == "poly" else 0.2
    return loss + 0.1 * sum(one != other for one, other in zip(steps, ("b", "a", "c"), strict=True))


def table_problem(
    history: Sequence[Observation[Selection]] = (),
    *,
    seed: int = 0,
    iteration: int = 0,
    evaluations: int | None = BUDGET,
) -> SelectionSubproblem:
    """Return the table of decisions with three choices and an order."""
    return SelectionSubproblem(
        space=TABLE,
        start=TABLE.complete({}),
        history=tuple(history),
        evaluations=evaluations,
        iteration=iteration,
        seed=seed,
    )


def bound_problem(seed: int) -> SelectionSubproblem:
    """Return the decisions with a precedence in their order."""
    return SelectionSubproblem(space=BOUND, start=BOUND.complete({}), evaluations=BUDGET, seed=seed)


def bound_loss(selection: Selection) -> float:
    """Return the loss, best with d at the front."""
    return 0.1 * (selection.get("steps") or "abcd").index("d") + 0.05 * (
        selection.get("last") == "no"
    )


def limited_table(history: Sequence[Observation[Selection]]) -> SelectionSubproblem:
    """Return the table with two limits."""
    return replace(table_problem(history), limits=LIMITS)


def table_constraints(selection: Selection) -> tuple[float, float]:
    """Return the raw values of the two limits."""
    picks = dict(selection.picks)
    return WEIGHTS.get(str(picks["scaler"]), 0.5), WEIGHTS.get(str(picks["model"]), 0.4)


def seen(selection: Selection, *, fidelity: float = 1.0) -> Observation[Selection]:
    """Return an observation of the table in the core's form."""
    loss = table_loss(selection)
    return Observation(selection, loss, loss, (), 0.1 * fidelity, fidelity=fidelity)


def seen_with_limits(selection: Selection) -> Observation[Selection]:
    """Return the same with the raw values of the two limits."""
    return replace(seen(selection), constraints=table_constraints(selection))


def furniture_loss(values: Mapping[str, Any]) -> float:
    """Return the loss: 0.2 if flat, oiled, sanded first, 6 wide, of grit 80, in one layer."""
    loss = 0.1 * (values["width"] - 6.0) ** 2 + 0.2 * values.get("layers", 3)
    loss += float(values["shape"] != "flat") + float(values.get("finish") != "oiled")
    loss += abs(math.log(values["grit"] / 80.0)) / 5.0
    return float(loss + float(values["steps"].index("glue") < values["steps"].index("sand")))
