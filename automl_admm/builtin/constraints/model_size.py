"""The built-in limits on what a model is made of: coefficients, trees, leaves, depth.

They are counted on the model at hand, and once more on the one that ships. A model that is not made
of such parts has no value, and is within no limit on them: a limit on the depth of trees is no way
to a model of neighbours.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

from automl_admm.core.evidence import Estimate, Fact
from automl_admm.pipelines.model_parts import count_parts
from automl_admm.pipelines.predictions.wrappers import with_labels
from automl_admm.plugins.evaluated_pipeline import EvaluatedPipeline
from automl_admm.plugins.model_parts import Count, ModelParts
from automl_admm.plugins.records import ConstraintPlugin


@dataclass(frozen=True, slots=True)
class Counted:
    """A function that counts one kind of part; `what` names it in the reason for no value."""

    count: Callable[[ModelParts], Count]
    what: str

    def __call__(self, evaluated: EvaluatedPipeline) -> Fact | Estimate:
        """Return the number of such parts of the fitted model."""
        model = with_labels(evaluated.pipeline)
        found = self.count(count_parts(model))
        if found is not None:
            return Fact(float(found))
        return Estimate(float("nan"), f"{_name(model)} is not made of {self.what} alone")


def _name(model: Any) -> str:
    """Name the last step of a pipeline, else the model."""
    last = model.steps[-1][1] if hasattr(model, "steps") else model
    return type(last).__name__


def constraints() -> Iterable[ConstraintPlugin]:
    """Yield the limits; all but the depth add up over the members of an ensemble."""
    weights = Counted(attrgetter("coefficients"), "weighted sums")
    yield _plugin("coefficients", "weights other than 0 of a linear model or a network", weights)
    trees = Counted(attrgetter("trees"), "trees")
    yield _plugin("trees", "decision trees of the model", trees)
    leaves = Counted(attrgetter("leaves"), "trees")
    yield _plugin("leaves", "leaves of all its trees", leaves)
    depth = Counted(attrgetter("depth"), "trees")
    summary = "questions that its deepest tree asks about a row"
    yield _plugin("tree_depth", summary, depth, adds_up=False)


def _plugin(
    name: str, summary: str, function: Counted, *, adds_up: bool = True
) -> ConstraintPlugin:
    return ConstraintPlugin(
        name=name,
        summary=summary,
        function=function,
        kind="checked",
        better="smaller",
        adds_up=adds_up,
    )
