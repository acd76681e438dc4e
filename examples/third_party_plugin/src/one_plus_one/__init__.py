"""Declares what this distribution provides; a factory imports what it needs when it is called."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from automl_admm.plugin_api import (
    BuildContext,
    ComponentPlugin,
    ConstraintPlugin,
    EvaluatedPipeline,
    Parameter,
    ThetaSolverPlugin,
    hookimpl,
)


@dataclass(frozen=True, slots=True)
class Options:
    """Options of `one-plus-one`: the standard deviation of the first steps."""

    step: float = 0.2

    def __post_init__(self) -> None:
        if not 0.0 < self.step <= 0.5:
            raise ValueError("step must lie above 0 and be at most 0.5")


def build_solver(options: Options) -> Any:
    """The solver."""
    from one_plus_one.solver import OnePlusOne

    return OnePlusOne(options)


def columns_used(evaluated: EvaluatedPipeline) -> float:
    """How many columns reach the last step of a fitted pipeline."""
    _, last = evaluated.pipeline.steps[-1]
    return float(last.n_features_in_)


def build_pca(values: Mapping[str, Any], context: BuildContext) -> Any:
    """Principal components, found in batches of rows."""
    del context
    from sklearn.decomposition import IncrementalPCA

    return IncrementalPCA(**values)


@hookimpl
def theta_solvers() -> Iterator[ThetaSolverPlugin]:
    """`one-plus-one`."""
    yield ThetaSolverPlugin(
        name="one-plus-one",
        summary="(1+1)-evolution strategy with the one-fifth rule",
        factory=build_solver,
        options=Options,
    )


@hookimpl
def constraints() -> Iterator[ConstraintPlugin]:
    """`columns_used`."""
    yield ConstraintPlugin(
        name="columns_used",
        summary="how many columns reach the last step",
        function=columns_used,
        lowest=1.0,
        kind="checked",
    )


@hookimpl
def components() -> Iterator[ComponentPlugin]:
    """`batch_pca`."""
    yield ComponentPlugin(
        name="batch_pca",
        summary="principal components, found in batches of rows",
        role="transformer",
        factory=build_pca,
        parameters=(Parameter("n_components", 1, 64, kind="int", log=True, default=8),),
        capped={"n_components": "columns"},
    )
