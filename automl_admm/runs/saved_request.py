"""How a run was asked for, as plain data in `run.json`, and back again to go on with it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from automl_admm.core.errors import ConfigurationError, StoreError, reason_of
from automl_admm.runs.config import RunConfig
from automl_admm.store.json_content import RESTORE
from automl_admm.store.run_folder import RunFolder

# What a session has of its own, and the next one is told anew.
OF_A_SESSION = frozenset(
    {
        "folder",
        "origin",
        "resumed",
        "seconds_used",
        "changes_allowed",
        "observers",
        "begun",
        "interrupts",
        "server",
    }
)
# What is read from somewhere else in the folder.
ELSEWHERE = frozenset({"grammar", "starts"})
# These may be given as Python objects, which only the program that has them can give again.
OBJECTS = ("scoring", "cv")


def _whole_budget(config: RunConfig) -> float | None:
    return None if config.seconds is None else config.seconds + config.seconds_used


# What is written, and read again, in a form of its own.
WRITERS: Mapping[str, Callable[[RunConfig], Any]] = MappingProxyType(
    {
        "budget_seconds": _whole_budget,
        "constraints": lambda config: [c for c in config.constraints if isinstance(c, str)],
        "extra_plugins": lambda config: sorted(config.extra_plugins),
    }
)
READERS: Mapping[str, Callable[[Any], Any]] = MappingProxyType(
    {
        "constraints": tuple,
        "looks": lambda said: None if said is None else Path(said),
        "extra_plugins": dict.fromkeys,
    }
)
# All else goes to `run.json` as it is, and comes back from there: a new setting, too.
PLAIN = tuple(
    field.name
    for field in fields(RunConfig)
    if field.name not in {*OF_A_SESSION, *ELSEWHERE, *OBJECTS, *WRITERS}
)


def describe_request(config: RunConfig) -> dict[str, Any]:
    """What was asked for; `only_python` names what plain data cannot say."""
    said: dict[str, Any] = {name: getattr(config, name) for name in PLAIN}
    objects = {name: getattr(config, name) for name in OBJECTS}
    said |= {name: value for name, value in objects.items() if _is_plain(value)}
    said |= {name: write(config) for name, write in WRITERS.items()}
    only_python = [name for name, value in objects.items() if not _is_plain(value)]
    if not all(isinstance(constraint, str) for constraint in config.constraints):
        only_python.append("constraints")
    return said | {"only_python": only_python}


def _is_plain(value: object) -> bool:
    return value is None or isinstance(value, str | int | float)


def read_request(folder: RunFolder, changed: Mapping[str, Any]) -> RunConfig:
    """The settings of a run that is to go on, with those that are `changed`.

    The grammar is the copy in the run's folder, unless another one is named.
    """
    content = folder.read(folder.settings)
    said = content.get("request")
    if said is None:
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
    known = {name: said[name] for name in (*PLAIN, *OBJECTS, *WRITERS) if name in said}
    settings = known | {name: read(known[name]) for name, read in READERS.items() if name in known}
    settings |= {
        "starts": tuple(content["settings"]["starts"]),
        "grammar": folder.grammar,
        "folder": folder.path,
        "resumed": True,
    }
    try:
        before = RunConfig(**settings)
    except (ConfigurationError, TypeError, ValueError) as problem:
        reason = f"'{folder.settings}' is damaged: {reason_of(problem)}"
        raise StoreError(reason, hint=RESTORE) from problem
    return replace(before, **changed)


def way_of(config: RunConfig, *more: str) -> str:
    """The hash of how a question is asked; empty where a run made again may go another way.

    `more` says what the settings do not: the data, the grammar, the starts. What a run is called
    and where it lies makes no difference.
    """
    if not config.is_repeatable:
        return ""
    said = describe_request(config)
    asked = {
        name: said[name]
        for name in said
        if name not in ("title", "source", "looks", "on_infeasible", "portion")
    }
    content = json.dumps([asked, *more], sort_keys=True, default=str)
    return hashlib.sha256(content.encode()).hexdigest()
