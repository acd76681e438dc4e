"""Optuna for automl-admm: the θ-solvers `optuna` and `optuna-gp`, and runs as studies."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from automl_admm.plugin_api import (
    AutomlAdmmError,
    ExporterPlugin,
    SavedRun,
    ThetaSolver,
    ThetaSolverPlugin,
    hookimpl,
)

if TYPE_CHECKING:
    import optuna

__all__ = [
    "ParzenOptions",
    "ProcessOptions",
    "TorchMissingError",
    "export_study",
    "exporters",
    "theta_solvers",
]


class TorchMissingError(AutomlAdmmError, ValueError):
    """Optuna's Gaussian process was asked for, and torch is not there."""

    exit_code = 2


@dataclass(frozen=True, slots=True)
class ParzenOptions:
    """Options of `optuna`.

    `initial` points come before the estimators (None: a quarter of the budget, at least 5 and at
    most 10); what is known of the box counts. Of `candidates` drawn points the best is proposed.
    """

    initial: int | None = None
    candidates: int = 24

    def __post_init__(self) -> None:
        if self.initial is not None and self.initial < 1:
            raise ValueError("initial must be at least 1")
        if self.candidates < 1:
            raise ValueError("candidates must be at least 1")


@dataclass(frozen=True, slots=True)
class ProcessOptions:
    """Options of `optuna-gp`.

    `initial` is as for `optuna`. Of what is known when a sub-problem begins, the model is told the
    best and the latest, `points` in all; and so again when it has been told twice as many.
    """

    initial: int | None = None
    points: int = 128

    def __post_init__(self) -> None:
        if self.initial is not None and self.initial < 1:
            raise ValueError("initial must be at least 1")
        if self.points < 8:
            raise ValueError("points must be at least 8")


def build_parzen(options: ParzenOptions) -> ThetaSolver:
    """Optuna's multivariate TPE."""
    from automl_admm_optuna.samplers import Parzen
    from automl_admm_optuna.solver import OptunaTheta

    return OptunaTheta(Parzen(options.initial, options.candidates))


def build_process(options: ProcessOptions) -> ThetaSolver:
    """Optuna's Gaussian process; raises where torch is missing, which Optuna needs for it."""
    if find_spec("torch") is None:
        raise TorchMissingError("the θ-solver 'optuna-gp' needs torch:", hint="pip install torch")
    from automl_admm_optuna.samplers import Process
    from automl_admm_optuna.solver import OptunaTheta

    return OptunaTheta(Process(options.initial, options.points))


@hookimpl
def theta_solvers() -> Iterator[ThetaSolverPlugin]:
    """`optuna` and `optuna-gp`."""
    yield ThetaSolverPlugin(
        name="optuna",
        summary="Optuna's multivariate TPE, with limits as its constraints",
        factory=build_parzen,
        options=ParzenOptions,
        joint="conditional",
    )
    yield ThetaSolverPlugin(
        name="optuna-gp",
        summary="Optuna's Gaussian process, with a model of each limit; needs torch",
        factory=build_process,
        options=ProcessOptions,
    )


def export_study(run: SavedRun, storage: Any) -> optuna.Study:
    """Return the study of a run in a storage of Optuna's, new or brought up to date.

    Read a run by `automl_admm.plugin_api.read_run`; the storage may be None, for one in memory.
    """
    from automl_admm_optuna.studies import export_study as export

    return export(run, storage)[0]


def _write(run: SavedRun, target: str) -> str:
    from automl_admm_optuna.studies import write_study

    return write_study(run, target)


@hookimpl
def exporters() -> Iterator[ExporterPlugin]:
    """Provide runs as studies."""
    yield ExporterPlugin(
        name="optuna",
        summary="a study of Optuna, for its plots and optuna-dashboard",
        target="sqlite:///study.db",
        write=_write,
    )
