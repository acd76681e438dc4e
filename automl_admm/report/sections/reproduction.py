"""The reproduction block: command, seed, versions, hashes, and the commands that follow."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from automl_admm.core.messages import as_argument, say_count
from automl_admm.data.row_roles import NAMES
from automl_admm.report.document import numbers
from automl_admm.report.document.html import Markup, block_of_code, name, tag, together
from automl_admm.report.document.tables import facts, folded, table
from automl_admm.report.sections.section import Section
from automl_admm.report.view import RunView
from automl_admm.runs.option_record import Kind, Option
from automl_admm.runs.options import OPTIONS
from automl_admm.store.file_schemas import TRIED_FIRST

LONGEST_GRAMMAR = 40_000


@dataclass(frozen=True, slots=True)
class Reproduction:
    """Everything to make the run again; `command` is None for a run that only Python can make."""

    command: str | None
    only_python: tuple[str, ...]
    is_repeatable: bool
    seed: int
    source: str | None
    rows: int
    searched_rows: int
    columns: int
    data_sha256: str
    held_out_sha256: str | None
    space_sha256: str
    grammar: str
    versions: dict[str, str]
    plugins: dict[str, str]
    components_left_out: dict[str, str]
    reused: tuple[str, ...]
    priors: str | None
    next_commands: tuple[str, ...]


def measure(view: RunView) -> Reproduction:
    """Gather the settings, the versions and the hashes."""
    request, data = view.content["request"], view.content["data"]
    only_python = (*request.get("only_python", ()), *request.get("extra_plugins", ()))
    source = request.get("source")
    asked, workers = _asked(request), view.settings["workers"]
    return Reproduction(
        command=None if only_python or source is None else _command(view, str(source), asked),
        only_python=tuple(map(str, only_python)),
        is_repeatable=asked["time_budget"] is None and workers == 1,
        seed=view.settings["seed"],
        source=source,
        rows=view.learned_rows,
        searched_rows=view.searched_rows,
        columns=data["columns"],
        data_sha256=data["sha256"],
        held_out_sha256=data["held_out_sha256"],
        space_sha256=view.settings["space_sha256"],
        grammar=view.settings["grammar_text"],
        versions=dict(view.content.get("versions", {})),
        plugins=dict(view.content.get("plugins", {})),
        components_left_out=dict(view.content["components_left_out"]),
        priors=_said_of_priors(view.content.get("priors")),
        reused=tuple(str(one.get("told", "")) for one in view.content.get("reuse", ())),
        next_commands=tuple(_next_commands(view)),
    )


def _said_of_priors(found: Mapping[str, Any] | None) -> str | None:
    """Return what the solvers began with; None if they began with nothing."""
    if found is None:
        return None
    return (
        f"From {found['tables']} other tables (learned on {found['learned']}) the solvers knew "
        f"{found['alternatives']} alternatives and {found['settings']} good settings."
    )


def _asked(request: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of a request, with the workers as the user asked for them."""
    asked = {one.name: request.get(one.name) for one in OPTIONS}
    if request.get("default_workers"):
        asked["n_jobs"] = None
    return asked


def _command(view: RunView, source: str, asked: Mapping[str, Any]) -> str:
    """Return the command of `fit` with the options that it would not assume by itself."""
    settings = view.settings
    words = ["automl-admm", "fit", source]
    if settings["target"] is not None:
        words += ["--target", settings["target"]]
    for column in settings["sensitive"]:
        words += ["--sensitive", column]
    for role in NAMES:
        if settings.get(role) is not None:
            words += [f"--{role}", settings[role]]
    words += ["--grammar", str(view.folder.grammar)]
    for start in dict.fromkeys((*settings["starts"], *view.content.get(TRIED_FIRST, ()))):
        words += ["--start", start]
    for option in OPTIONS:
        if option.flag is not None and option.is_saved:
            words += _words(option, asked[option.name])
    return shlex.join(words)


def _words(option: Option, value: Any) -> list[str]:
    flag = str(option.flag)
    if value is None or value == option.assumed:
        return []
    if option.kind is Kind.FLAG:
        return [flag]
    if isinstance(value, list):  # limits, and observers
        return [word for one in value for word in (flag, str(one))]
    if option.kind in (Kind.COLUMNS, Kind.COSTS) and isinstance(value, dict):
        return [word for pair in value.items() for word in (flag, "=".join(map(str, pair)))]
    if option.kind is Kind.SECONDS and isinstance(value, int | float):
        return [flag, f"{np.format_float_positional(value, trim='-')}s"]
    return [flag, str(value)]


def _next_commands(view: RunView) -> Iterator[str]:
    folder = as_argument(view.folder.path)
    if view.manifest is not None:
        yield f"automl-admm predict {folder} NEW.csv -o predictions.csv"
        yield f"automl-admm evaluate {folder} LABELLED.csv"
    if view.certificate is not None:
        yield f"automl-admm verify {folder}"
    yield f"automl-admm resume {folder} --budget +10m"
    yield f"automl-admm store export {folder} -o log.csv"


def draw(found: Reproduction) -> Markup:
    """Draw the command, the facts, and the versions."""
    searched = numbers.searched(found.searched_rows, found.rows)
    return together(
        _how(found),
        facts(
            [
                ("Seed", found.seed),
                ("Data", None if found.source is None else name(found.source)),
                ("Searched on", f"{searched} rows, {say_count(found.columns, 'column')}"),
                ("Priors", found.priors),
            ]
        ),
        block_of_code("\n".join(_digests(found))),
        tag("h3", "What to do next"),
        block_of_code("\n".join(found.next_commands)),
        *(tag("p", line) for line in found.reused),
        folded("Versions", _pairs("Package", "Version", found.versions)),
        folded("Plugins", _pairs("Plugin", "Comes from", found.plugins)),
        folded("Components left out", _pairs("Component", "Reason", found.components_left_out))
        if found.components_left_out
        else None,
        folded("The grammar", block_of_code(found.grammar[:LONGEST_GRAMMAR])),
    )


def _how(found: Reproduction) -> Markup:
    repeated = "With one worker and no time budget it takes the same course again."
    if not found.is_repeatable:
        repeated = (
            "With a time budget or several workers the course depends on the machine: it is the "
            "same search, not the same evaluations."
        )
    if found.command is not None:
        return together(block_of_code(found.command), tag("p", repeated))
    objects = ", ".join(found.only_python)
    reason = f" with objects that a file cannot hold ({objects})" if objects else ""
    return tag("p", f"The run was asked for from Python{reason}: fit again there. {repeated}")


def _digests(found: Reproduction) -> Iterator[str]:
    """Yield a line for each digest; a column of facts would break it in three."""
    yield f"sha256 of the rows learned from  {found.data_sha256}"
    if found.held_out_sha256 is not None:
        yield f"sha256 of the rows held out      {found.held_out_sha256}"
    yield f"sha256 of the pipelines          {found.space_sha256}"


def _pairs(first: str, second: str, pairs: Mapping[str, str]) -> Markup:
    return table((first, second), ((name(k), name(v)) for k, v in pairs.items()), text_columns=2)


SECTION = Section("reproduction", "Reproduction", Reproduction, measure, draw)
