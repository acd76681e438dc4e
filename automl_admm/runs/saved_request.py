"""The request of a run as plain data in `run.json`, written and read again to go on with it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from automl_admm.core.errors import ConfigurationError, StoreError
from automl_admm.core.messages import reason_of
from automl_admm.data.splits import HOLDOUT
from automl_admm.runs.config import RunConfig
from automl_admm.runs.option_record import Kind, Option
from automl_admm.runs.options import AUTO, OPTIONS, WHOLE
from automl_admm.store.json_content import (
    RESTORE,
    MismatchError,
    Schema,
    either,
    flag,
    list_of,
    mapping_of,
    nullable,
    number,
    one_of,
    real,
    text,
    whole,
    within,
)
from automl_admm.store.run_folder import RunFolder

# Fields that belong to one session; the next session is told its own.
OF_A_SESSION = frozenset(
    {
        *("origin", "resumed", "seconds_used", "changes_allowed"),
        *("begun", "interrupts", "server"),
    }
)
# Options that stand elsewhere in the folder, or belong to one session.
UNSAVED = frozenset(option.name for option in OPTIONS if not option.is_saved)
# Values of these kinds may be Python objects, which only the user's program can give again.
OBJECTS = tuple(option.name for option in OPTIONS if option.kind in (Kind.SCORER, Kind.FOLDS))
# Fields on which the course of a certified run does not depend.
WITHOUT_EFFECT = frozenset(
    {"title", "source", "looks", "on_infeasible", "portion", "found_encoding", "searched_rows"}
)
NUMBER_OR_TEXT = either("a number or a text", number, text)
# A target of Python may be of truth values, which are no numbers here.
LABEL = either("a label of the target", real, text, flag)


def _whole_budget(config: RunConfig) -> float | None:
    return None if config.seconds is None else config.seconds + config.seconds_used


# Fields with a written form of their own.
WRITERS: Mapping[str, Callable[[RunConfig], Any]] = MappingProxyType(
    {
        "time_budget": _whole_budget,
        "constraints": lambda config: [c for c in config.constraints if isinstance(c, str)],
        "extra_plugins": lambda config: sorted(config.extra_plugins),
    }
)
READERS: Mapping[str, Callable[[Any], Any]] = MappingProxyType(
    {
        "constraints": tuple,
        "observers": tuple,
        "looks": lambda said: None if said is None else Path(said),
        "extra_plugins": dict.fromkeys,
    }
)
# All other fields go to `run.json` as they are and come back from there; so does a new option.
PLAIN = tuple(
    field.name
    for field in fields(RunConfig)
    if field.name not in {*OF_A_SESSION, *UNSAVED, *OBJECTS, *WRITERS}
)


def describe_request(config: RunConfig) -> dict[str, Any]:
    """Return the request as plain data; `only_python` names Python objects."""
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
    """Return the settings of a saved run, some of them `changed`, to go on with it.

    The grammar is the copy in the run's folder unless `changed` names another one.
    """
    content = folder.read(folder.settings)
    said = content["request"]
    objects = [*said["only_python"], *said["extra_plugins"]]
    if objects:
        raise ConfigurationError(
            f"the run in '{folder.path}' was given Python objects: {', '.join(objects)}.",
            hint="Fit again from Python with them, the same work_dir and warm_start=True.",
        )
    if changed.get("grammar") is None and not folder.grammar.exists():
        raise StoreError(f"'{folder.path}' holds no {folder.grammar.name}.", hint=RESTORE)
    check_request(said, folder.settings)
    # An option that is newer than the run has its default.
    known = {name: said[name] for name in (*PLAIN, *OBJECTS, *WRITERS) if name in said}
    settings = known | {name: read(known[name]) for name, read in READERS.items() if name in known}
    settings |= {
        "starts": tuple(content["settings"]["starts"]),
        "grammar": folder.grammar,
        "work_dir": folder.path,
        "resumed": True,
    }
    try:
        before = RunConfig(**settings)
    except (ConfigurationError, TypeError, ValueError) as problem:
        reason = f"'{folder.settings}' is damaged: {reason_of(problem)}"
        raise StoreError(reason, hint=RESTORE) from problem
    return replace(before, **changed)


def kept_cv(config: RunConfig) -> Any:
    """Return the way to split: a run goes on with the folds that it had.

    The default for other limits may be another one.
    """
    before = config.run_before() if config.cv is None else None
    if before is None:
        return config.cv
    settings = before["settings"]
    folds = int(settings["folds"])
    if folds == 1:
        return HOLDOUT
    # Few rows are dealt several times, whatever the limits.
    return folds if settings["split"] == f"{folds} folds" else None


def held_back(config: RunConfig) -> frozenset[str]:
    """Return the optional components that a run began without, and so goes on without.

    They come in where changes are allowed.
    """
    before = None if config.changes_allowed else config.run_before()
    return frozenset() if before is None else frozenset(before["components_left_out"])


def _schema_of(option: Option) -> Schema:
    """Return the schema of an option's value in `run.json`, by its kind."""
    schemas: Mapping[Kind, Schema] = {
        Kind.SECONDS: number,
        Kind.BYTES: number,
        Kind.WHOLE: whole(option.least),
        Kind.SHARE: within(0.0, 1.0),
        Kind.FLAG: flag,
        Kind.CHOICE: one_of(*option.choices),
        Kind.PART: text,
        Kind.PARTS: list_of(text),
        Kind.SCORER: text,
        Kind.LABEL: LABEL,
        Kind.LIMITS: list_of(text),
        Kind.COLUMNS: mapping_of(text),
        Kind.FOLDS: NUMBER_OR_TEXT,
        Kind.NAME: text,
        Kind.COST: text,
        Kind.COSTS: mapping_of(number),
    }
    schema = schemas[option.kind]
    # A dataclass keeps the default of a field as an attribute of the class.
    return nullable(schema) if getattr(RunConfig, option.name) is None else schema


def check_request(said: Mapping[str, Any], path: Path) -> None:
    """Raise if a value of the request in the file at `path` is not of its option's kind."""
    for option in OPTIONS:
        if not option.is_saved or option.name not in said:
            continue
        try:
            _schema_of(option)(said[option.name], f"request.{option.name}")
        except MismatchError as problem:
            raise StoreError(f"'{path}' is damaged: {problem}.", hint=RESTORE) from problem


def way_of(config: RunConfig, *more: str) -> str:
    """Return the hash of all that decides a run's course; empty if a repeated run may differ.

    `more` are the texts on which the course depends besides the settings: the data, the grammar,
    the starts, the software. The title and the folder of a run make no difference. A Python object
    is known by its name alone, and may be another one in the next run.
    """
    said = describe_request(config)
    if not config.is_repeatable or said["only_python"] or config.extra_plugins:
        return ""
    asked = {name: said[name] for name in said if name not in WITHOUT_EFFECT}
    if asked.get("refit") in (AUTO, WHOLE):  # without a deadline both are as it was
        del asked["refit"]
    if not asked.get("last_look"):  # nor was there a last look
        asked.pop("last_look", None)
    asked["min_fidelity"] = config.least_fidelity  # as it was when the default was a number
    content = json.dumps([asked, *more], sort_keys=True, default=str)
    return hashlib.sha256(content.encode()).hexdigest()
