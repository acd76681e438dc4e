"""The built-in commands and exporters as a plugin; each is imported when it is asked for.

Begin with `fit`. Commands parse words and print; the work itself belongs in `runs/`. Code that two
commands share lives in `cli/shared/`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING

from automl_admm.plugins.records import CommandPlugin, ExporterPlugin
from automl_admm.plugins.specs import hookimpl

if TYPE_CHECKING:
    import click

    from automl_admm.core.run import SavedRun

SUMMARIES = {
    "compare": "compare runs: settings, data, results, winners",
    "components": "list the components for grammars",
    "constraints": "list the quantities that you can limit",
    "docs": "show the documentation, or explain a diagnostic",
    "evaluate": "measure the model of a run on labelled rows",
    "explain": "explain one evaluation of a run, or why nothing is within its limits",
    "export": "write the model as ONNX, the certificate for others, or the run for another tool",
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


EXPORTERS = {
    "certificate": (
        "the certificate as a page, and a statement to sign",
        "FOLDER",
        "automl_admm.report.audit.exporting",
        "write_audit",
    ),
    "modelcard": (
        "a model card in the form of Hugging Face",
        "README.md",
        "automl_admm.report.model_card",
        "write_card",
    ),
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


@hookimpl
def exporters() -> Iterable[ExporterPlugin]:
    """Return a record for every form that runs are exported in."""
    for name, (summary, target, module, function) in EXPORTERS.items():
        yield ExporterPlugin(
            name=name, summary=summary, target=target, write=partial(_write, module, function)
        )


def _write(module: str, function: str, run: SavedRun, target: str) -> str:
    said: str = getattr(import_module(module), function)(run, target)
    return said
