"""Open a study: in memory, in a new folder, or from a folder with one."""

from __future__ import annotations

import secrets
import time
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, dataclass, fields, replace
from pathlib import Path
from typing import Any

from automl_admm.core.errors import ConfigurationError, StoreError
from automl_admm.core.protocols import Store
from automl_admm.core.space import Candidate
from automl_admm.runs.blackbox import PreparedBox, prepare_black_box
from automl_admm.runs.search_options import SearchOptions
from automl_admm.runs.search_run import check_cheap, teller
from automl_admm.runs.study.journal import Journal, create_journal, read_journal
from automl_admm.runs.study.matching import demand_one_study
from automl_admm.runs.study.observations import read_observations
from automl_admm.runs.study.options import StudyCall, config_of
from automl_admm.runs.study.points import locate
from automl_admm.runs.study.restoring import demand_asks, restore
from automl_admm.runs.study.saved_study import (
    FILE,
    JOURNAL,
    PLAIN,
    SavedStudy,
    demand_writable,
    read_study,
    write_study,
)
from automl_admm.runs.study.trials import Trials
from automl_admm.runs.validation import check_path, several
from automl_admm.store.json_content import RESTORE
from automl_admm.store.memory import MemoryStore
from automl_admm.store.run_folder import RunFolder, create_folder
from automl_admm.store.sqlite.log import SqliteStore

EXECUTOR = "executor"


@dataclass(frozen=True, slots=True)
class Opened:
    """A study ready for use, and the folder that it is kept in, if any."""

    saved: SavedStudy
    trials: Trials
    folder: Path | None = None


def open_study(call: StudyCall) -> Opened:
    """Open a new study; nothing is written before all its arguments are checked."""
    box = _prepare(call)
    saved = _described(secrets.token_hex(8), call, box)
    known = [] if call.warm_start is None else read_observations(call.warm_start, box)
    path = box.config.place
    store, journal = _begin_files(path, saved)
    tell = teller(box.config, box.problem, box.plugins, is_open_ended=True)
    trials = Trials(box, store, journal, tell)
    for one in known:
        trials.add(one)
    return Opened(saved, trials, path)


def reopen_study(folder: str | Path, changed: Mapping[str, Any]) -> Opened:
    """Open the study in a folder, with some arguments changed."""
    check_path("the folder of a study", folder)
    path = Path(folder).absolute()
    saved = read_study(path)
    known = {one.name for one in fields(SearchOptions)}
    for name in saved.options:
        if name not in known:
            reason = f"it has an option '{name}', which no study has"
            raise StoreError(f"'{path / FILE}' is damaged: {reason}.", hint=RESTORE)
    _demand_again(saved, changed)
    kept = {"constraints": saved.limits, "starts": saved.starts, **saved.options}
    call = StudyCall(saved.space, **kept | {"work_dir": path} | dict(changed))
    box = _prepare(call)
    if tuple(box.problem.limits) != saved.limits:
        _demand_same_names(saved, box)
    store = SqliteStore(RunFolder(path).store, write=True)
    try:
        journal = read_journal(path / JOURNAL, saved.space)
        log = store.read()
        demand_one_study(path, box, journal, log, store.interrupted())
        demand_asks(path / JOURNAL, journal, log)
        tell = teller(box.config, box.problem, box.plugins, is_open_ended=True)
        trials = restore(box, store, journal, tell)
        # Cheap functions given to a load are for it alone: none is asked of the next one.
        described = replace(_described(saved.name, call, box), cheap=saved.cheap)
        if described != saved:
            write_study(path, described)
    except BaseException:
        store.close()
        raise
    return Opened(described, trials, path)


def copy_study(saved: SavedStudy, trials: Trials, folder: str | Path) -> None:
    """Write a study into a new folder."""
    check_path("the folder of a study", folder)
    store, journal = _begin_files(Path(folder).absolute(), saved)
    try:
        for evaluation in trials.store.read():
            store.append(evaluation)
        for ask in trials.journal.asks:
            journal.add(ask)
    finally:
        store.close()


def _prepare(call: StudyCall) -> PreparedBox:
    limits = several("constraints", call.constraints)
    config = config_of(call, time.monotonic(), "study")
    box = prepare_black_box(config, call.space, limits, call.cheap or {})
    points = several("starts", call.starts)
    problem = replace(box.problem, starts=_starts(points, box))
    check_cheap(problem, config.deadline)
    box = replace(box, problem=problem)
    box.plan()  # a wrong option of a solver is told now, not at the first `ask`
    return box


def _starts(points: Sequence[Any], box: PreparedBox) -> tuple[Candidate, ...]:
    """Return the points of the user, and the default of the space behind them."""
    given = (locate(box.problem.space, point, fill=True) for point in points)
    found = {box.problem.key(one): one for one in (*given, *box.problem.starts)}
    return tuple(found.values())


def _described(name: str, call: StudyCall, box: PreparedBox) -> SavedStudy:
    """Return the description of a study; seeds and sizes as they were resolved."""
    options: dict[str, Any] = {}
    objects = []
    for one in fields(SearchOptions):
        value = getattr(box.config, one.name)
        if one.name == "callbacks" or _default_of(one) == value:
            continue
        # The name of an object means nothing to another process.
        if isinstance(value, PLAIN) and one.name not in box.config.extra_plugins:
            options[one.name] = value
        else:
            objects.append(one.name)
    # What was left to us is left to us again, for other limits and another machine.
    if call.n_jobs is None:
        options.pop("n_jobs", None)
    if call.executor is None:
        options.pop(EXECUTOR, None)
    elif isinstance(call.executor, str):
        options[EXECUTOR] = call.executor
    return SavedStudy(
        name,
        call.space,
        box.problem.limits,
        tuple(dict(point) for point in several("starts", call.starts)),
        options,
        tuple(call.cheap or ()),
        tuple(objects),
    )


def _default_of(one: Any) -> Any:
    return None if one.default is MISSING else one.default


def _demand_again(saved: SavedStudy, changed: Mapping[str, Any]) -> None:
    """Raise if something is missing that no file can keep."""
    for name in saved.objects:
        if name not in changed:
            raise ConfigurationError(
                f"{name} of this study was given as objects, which no file keeps.",
                hint=f"Give the same again: {name}=….",
            )
    if set(saved.cheap) - set(changed.get("cheap") or ()):
        raise ConfigurationError(
            "this study has cheap functions.", hint="Give them again: cheap={…}."
        )


def _demand_same_names(saved: SavedStudy, box: PreparedBox) -> None:
    """Raise if other quantities are limited: the old results have no values of them."""
    if box.names != tuple(limit.name for limit in saved.limits):
        raise ConfigurationError(
            "the limits are on other quantities than before.",
            hint="Begin a new Study, with warm_start for what still holds.",
        )


def _begin_files(path: Path | None, saved: SavedStudy) -> tuple[Store, Journal]:
    if path is None:
        return MemoryStore(), Journal(None)
    demand_writable(saved.space)
    create_folder(path)
    write_study(path, saved)
    journal = create_journal(path / JOURNAL)
    return SqliteStore(RunFolder(path).store, create=True), journal
