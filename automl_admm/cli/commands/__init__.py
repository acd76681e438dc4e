"""The built-in commands as a plugin; what a command needs is imported when it is built."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from importlib import import_module
from typing import TYPE_CHECKING

from automl_admm.plugins.records import CommandPlugin
from automl_admm.plugins.specs import hookimpl

if TYPE_CHECKING:
    import click

SUMMARIES = {
    "components": "list what grammars can be made of",
    "constraints": "list what limits can be set on",
    "fit": "search for the best pipeline within limits",
    "grammar": "check, show, count, sample and parse the pipelines of a grammar",
    "leaderboard": "show what a run has tried",
    "plugins": "list what is installed",
    "predict": "predict with the pipeline of a run",
    "resume": "go on with a run that was interrupted, or is to have more time",
    "store": "check, repair and export the evaluations of a run",
    "verify": "compute the certificate of a run again, or test it on fresh rows",
}


@hookimpl
def commands() -> Iterable[CommandPlugin]:
    """Every file of this folder that is named after a command."""
    for name, summary in SUMMARIES.items():
        yield CommandPlugin(name=name, summary=summary, factory=_factory(name))


def _factory(name: str) -> Callable[[], click.Command]:
    def build() -> click.Command:
        command: click.Command = import_module(f"automl_admm.cli.commands.{name}").command
        return command

    return build
