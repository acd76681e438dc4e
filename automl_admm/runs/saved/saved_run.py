"""A run folder read as one record, for tools that show runs in a form of their own."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from os import PathLike
from pathlib import Path
from typing import Any

from automl_admm.core.errors import GrammarError, StoreError
from automl_admm.core.evaluations import is_feasible
from automl_admm.core.ranking import best_of
from automl_admm.core.run import RunInfo, RunState, SavedRun
from automl_admm.core.space import SearchSpace
from automl_admm.grammar import compile_text
from automl_admm.plugins.contexts import GAPS, TableFact
from automl_admm.plugins.given_parts import GivenParts
from automl_admm.plugins.loading import load_plugins
from automl_admm.plugins.records import ComponentPlugin
from automl_admm.runs.given_objects import components_of
from automl_admm.runs.prepare.assembly import components_for
from automl_admm.runs.session.changes import hash_space
from automl_admm.runs.session.model_run import of_other_session
from automl_admm.runs.session.run_log import read_log
from automl_admm.store.run_folder import RunFolder


def read_saved_run(
    path: str | PathLike[str], components: Iterable[ComponentPlugin] = ()
) -> SavedRun:
    """Read the run in a folder: finished, killed, or going on in another process.

    `components` are records that the run was given as objects.

    A folder that is none, is damaged, or whose components are not installed raises an error in one
    line.

    >>> read_saved_run("nowhere")
    Traceback (most recent call last):
    automl_admm.core.errors.StoreError: 'nowhere' holds no run.json. Name the folder that …
    """
    folder = RunFolder(Path(path))
    content = folder.read(folder.settings)
    log, settings = read_log(folder), content["settings"]
    best = best_of(log.evaluations, log.limits)
    info = RunInfo(
        title=str(content.get("title") or folder.path.name),
        space=_space(folder, content, components_of(components)),
        limits=log.limits,
        seed=settings["seed"],
        workers=settings["workers"],
        budget_seconds=settings.get("budget_seconds"),
        max_evaluations=settings.get("max_evaluations"),
        folder=folder.path,
        loss_name=settings["metric"],
        best_score=float(settings["metric_best"]),
        known=log.evaluations,
    )
    feasible = best is not None and is_feasible(best, log.limits)
    manifest = folder.read(folder.model_manifest) if folder.model_manifest.exists() else None
    if manifest is not None and not of_other_session(manifest, content):
        # The final fit may be of one class for all rows, or a makeshift, where no evaluation was.
        feasible = bool(manifest["feasible"])
    return SavedRun(info, RunState(content.get("state", "done")), best, feasible, content)


def _space(
    folder: RunFolder, content: Mapping[str, Any], given: tuple[ComponentPlugin, ...]
) -> SearchSpace:
    """Return the space that was searched; raise if the grammar means another one by now."""
    try:
        return _space_again(folder, content, given)
    except GrammarError as problem:
        # Its message shows each place in the grammar, in lines of their own.
        first = str(problem).partition("\n")[0]
        raise StoreError(
            f"the space of the run in '{folder.path}' cannot be made again: {first}.",
            hint="Install its components, or give their records: read_run(path, components=[…]).",
        ) from problem


def _space_again(
    folder: RunFolder, content: Mapping[str, Any], given: tuple[ComponentPlugin, ...]
) -> SearchSpace:
    settings = content["settings"]
    parts = {"components": GivenParts("components", {"components": given})} if given else {}
    plugins = load_plugins(parts)
    held = content["components_left_out"]
    components, elsewhere, _ = components_for(settings["task"], plugins, held)
    gaps = [GAPS] if content["has_gaps"] else []
    space = compile_text(
        settings["grammar_text"],
        str(folder.grammar),
        components,
        elsewhere,
        max_depth=settings["max_depth"],
        grammars=plugins.grammars,
        facts=frozenset[TableFact]([*gaps, *content["column_kinds"]]),
    ).pipelines.space
    if hash_space(space) == settings["space_sha256"]:
        return space
    raise StoreError(
        f"the space of the run in '{folder.path}' cannot be made again: its grammar means "
        "another one with the components that are installed.",
        hint="Install the versions that run.json names.",
    )
