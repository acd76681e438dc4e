"""SMAC for automl-admm: the θ-solvers `smac` and `smac-gp`, and runs in files of SMAC."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import version

from automl_admm.plugin_api import (
    ExporterPlugin,
    SavedRun,
    ThetaSolver,
    ThetaSolverPlugin,
    hookimpl,
)

__all__ = ["ForestOptions", "SmacOptions", "exporters", "theta_solvers"]


@dataclass(frozen=True, slots=True)
class SmacOptions:
    """Options of `smac-gp`.

    `initial` points come before the model (None: a quarter of the budget, at most 10); what is
    known of the box counts. The model is fitted again after `retrain_after` proposals (None: each
    time where the budget is at most 64 evaluations, else after 8). Of what is known when a
    sub-problem begins, SMAC is told the best and the latest, `points` in all.
    """

    initial: int | None = None
    retrain_after: int | None = None
    points: int = 128

    def __post_init__(self) -> None:
        if self.initial is not None and self.initial < 1:
            raise ValueError("initial must be at least 1")
        if self.retrain_after is not None and self.retrain_after < 1:
            raise ValueError("retrain_after must be at least 1")
        if self.points < 8:
            raise ValueError("points must be at least 8")


@dataclass(frozen=True, slots=True)
class ForestOptions(SmacOptions):
    """Options of `smac`: those of `smac-gp`, and whether it may use cheaper evaluations.

    Where a run allows them (`min_fidelity` below 1), SMAC's Hyperband chooses the fidelity, and
    the model is fitted again after 8 proposals unless `retrain_after` says otherwise. A share
    `random` of the proposals after the initial ones is drawn, not chosen by the model.
    """

    points: int = 256
    hyperband: bool = True
    random: float = 0.2

    def __post_init__(self) -> None:
        # super() without arguments fails here: `slots` makes another class of this one.
        SmacOptions.__post_init__(self)
        if not 0.0 <= self.random <= 1.0:
            raise ValueError("random must be between 0 and 1")


def require_smac() -> None:
    """Raise if SMAC is older than 2.4: then its forest is compiled, and all else differs, too."""
    found = version("smac")
    if tuple(map(int, found.split(".")[:2])) < (2, 4):
        raise ImportError(f"needs SMAC 2.4 or newer, not {found}: pip install --upgrade smac")


def build_forest(options: ForestOptions) -> ThetaSolver:
    """SMAC with a random forest, and with Hyperband where less than a whole evaluation will do."""
    require_smac()
    from automl_admm_smac.solver import SmacTheta

    return SmacTheta(options, "forest", hyperband=options.hyperband, random=options.random)


def build_process(options: SmacOptions) -> ThetaSolver:
    """SMAC with a Gaussian process."""
    require_smac()
    from automl_admm_smac.solver import SmacTheta

    return SmacTheta(options, "process", hyperband=False)


@hookimpl
def theta_solvers() -> Iterator[ThetaSolverPlugin]:
    """`smac` and `smac-gp`."""
    yield ThetaSolverPlugin(
        name="smac",
        summary="SMAC with a random forest; Hyperband where cheaper evaluations are allowed",
        factory=build_forest,
        options=ForestOptions,
        joint="conditional",
    )
    yield ThetaSolverPlugin(
        name="smac-gp",
        summary="SMAC with a Gaussian process, for up to about 15 parameters",
        factory=build_process,
        options=SmacOptions,
    )


def _write(run: SavedRun, target: str) -> str:
    require_smac()
    from automl_admm_smac.run_history import write_history

    return write_history(run, target)


@hookimpl
def exporters() -> Iterator[ExporterPlugin]:
    """Provide runs as folders of SMAC3."""
    yield ExporterPlugin(
        name="smac",
        summary="SMAC3's scenario, configuration space and run history, for DeepCAVE",
        target="FOLDER",
        write=_write,
    )
