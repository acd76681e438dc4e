"""How a run was asked for, as plain data in `run.json`, and back again to go on with it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from automl_admm.errors import ConfigurationError, StoreError
from automl_admm.runner.config import RunConfig
from automl_admm.store.folder import RunFolder

PLAIN = (
    "max_depth",
    "task",
    "max_evaluations",
    "theta_solver",
    "z_solver",
    "strategy",
    "executor",
    "workers",
    "default_workers",
    "test_size",
    "certify",
    "certify_fraction",
    "group_thresholds",
    "evaluation_seconds",
    "memory_bytes",
    "min_fidelity",
    "seed",
    "title",
    "source",
)
# These may be given as Python objects, which only the program that has them can give again.
OBJECTS = ("scoring", "cv")


def describe_request(config: RunConfig) -> dict[str, Any]:
    """What was asked for; `only_python` names what plain data cannot say."""
    said: dict[str, Any] = {name: getattr(config, name) for name in PLAIN}
    objects = {name: getattr(config, name) for name in OBJECTS}
    said |= {name: value for name, value in objects.items() if _is_plain(value)}
    only_python = [name for name, value in objects.items() if not _is_plain(value)]
    if not all(isinstance(constraint, str) for constraint in config.constraints):
        only_python.append("constraints")
    seconds = config.seconds
    return said | {
        "budget_seconds": None if seconds is None else seconds + config.seconds_used,
        "constraints": [c for c in config.constraints if isinstance(c, str)],
        "looks": None if config.looks is None else str(config.looks),
        "extra_plugins": sorted(config.extra_plugins),
        "only_python": only_python,
    }


def _is_plain(value: object) -> bool:
    return value is None or isinstance(value, str | int | float)


def read_request(folder: RunFolder, changed: Mapping[str, Any]) -> RunConfig:
    """The settings of a run that is to go on, with those that are `changed`.

    The grammar is the copy in the run's folder, unless another one is named.
    """
    content = folder.read(folder.settings)
    said = content.get("request")
    if not isinstance(said, dict):
        raise StoreError(
            f"the run in '{folder.path}' does not say how it was asked for.",
            hint="It is of an older version of automl-admm, which could not be resumed.",
        )
    objects = [*said["only_python"], *said["extra_plugins"]]
    if objects:
        raise ConfigurationError(
            f"the run in '{folder.path}' was given Python objects: {', '.join(objects)}.",
            hint="Fit again from Python with the same work_dir and warm_start=True.",
        )
    # What a run of an older version does not say is as it is by default.
    known = {name: said[name] for name in (*PLAIN, *OBJECTS, "budget_seconds") if name in said}
    settings = known | {
        "constraints": tuple(said["constraints"]),
        "starts": tuple(content["settings"]["starts"]),
        "looks": None if said["looks"] is None else Path(said["looks"]),
        "grammar": folder.grammar,
        "folder": folder.path,
        "resumed": True,
    }
    return RunConfig(**(settings | dict(changed)))
