"""The built-in commands as a plugin: one file a command, imported when the command is built.

Begin with `fit`. Commands parse words and print; the work itself belongs in `runs/`. Code that two
commands share lives in `cli/shared/`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from importlib import import_module
from typing import TYPE_CHECKING

from automl_admm.plugins.records import CommandPlugin
from automl_admm.plugins.specs import hookimpl

if TYPE_CHECKING:
    import click

SUMMARIES = {
    "compare": "compare runs: settings, data, results, winners",
    "components": "list the components for grammars",
    "constraints": "list the quantities that you can limit",
    "docs": "show the documentation, or explain a diagnostic",
    "evaluate": "measure the model of a run on labelled rows",
    "explain": "explain one evaluation of a run, or why nothing is within its limits",
    "export": "write the model of a run as ONNX, or the run for another tool",
    "fit": "search for the best pipeline within limits",
    "grammar": "check, show, count, sample and parse the pipelines of a grammar",
    "inspect": "show the kind of every column of a table, as `fit` would read it",
    "leaderboard": "show the evaluations of a run, best first",
    "monitor": "test the limits of a model in use on rows as they arrive",
    "metrics": "list what a search can be scored by",
    "plugins": "list, show and check the installed plugins",
    "predict": "predict with the pipeline of a run",
    "report": "write the report of a run as one page",
    "resume": "go on with an interrupted run, or give a run more time",
    "store": "check, repair and export the evaluations of a run",
    "verify": "compute the certificate of a run again, or test it on fresh rows",
}


@hookimpl
def commands() -> Iterable[CommandPlugin]:
    """Return a record for every command of this folder."""
    for name, summary in SUMMARIES.items():
        yield CommandPlugin(name=name, summary=summary, factory=_factory(name))


def _factory(name: str) -> Callable[[], click.Command]:
    def build() -> click.Command:
        command: click.Command = import_module(f"automl_admm.cli.commands.{name}").command
        return command

    return build
