"""The program `automl-admm`: find the command; turn errors into one line and an exit code."""

from __future__ import annotations

import errno
import logging
import re
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any, NoReturn

import click

from automl_admm import __version__
from automl_admm.cli.shared.installed import installed
from automl_admm.cli.shared.repeated_options import refuse_repeats
from automl_admm.cli.shared.screen import (
    DISK_FULL,
    NO_READER,
    OutputError,
    flush,
    give_up_output,
    on_screen,
    say,
)
from automl_admm.cli.signals import INTERRUPTED, Interrupts
from automl_admm.core.errors import NO_ROOM, AutomlAdmmError, StoreError, suggest
from automl_admm.plugins.factories import expect, make
from automl_admm.plugins.foreign_calls import naming_failures
from automl_admm.plugins.loading import Plugins, is_ours, tell_skipped
from automl_admm.plugins.records import CommandPlugin
from automl_admm.plugins.registry import Registry
from automl_admm.progress.visible_text import in_a_line
from automl_admm.runs.options import FLAGS

# The number of a mistake in a grammar, a limit or a pipeline's text.
CODE = re.compile(r"error\[([A-Z]\d{3})\]")
LOGGER = logging.getLogger("automl_admm")


class PluginGroup(click.Group):
    """The group of all commands; plugins provide them."""

    @cached_property
    def plugins(self) -> Plugins:
        """Installed plugins; the commands themselves report the skipped ones."""
        return installed(quietly=True)

    @property
    def registry(self) -> Registry[CommandPlugin]:
        """Records of the commands, by name."""
        return self.plugins.commands

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands, from their records: to build all of them takes seconds."""
        del ctx
        # A skipped plugin may be the one with the command that the user looks for.
        tell_skipped(self.plugins)
        with formatter.section("Commands"):
            formatter.write_dl([(one.name, in_a_line(one.summary)) for one in self.registry])

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of all commands."""
        del ctx
        return [record.name for record in self.registry]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command:
        """Build the command with this name; a broken command comes as a `BrokenCommand`."""
        del ctx
        if cmd_name not in self.registry:
            tell_skipped(self.plugins)
            names = [record.name for record in self.registry]
            raise click.UsageError(f"no command '{cmd_name}'. {suggest(cmd_name, names)}")
        try:
            return self._built(cmd_name)
        except AutomlAdmmError as problem:
            return BrokenCommand(cmd_name, problem)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; an error in one of another package is told with its name."""
        try:
            return super().invoke(ctx)
        except (click.ClickException, click.Abort, click.exceptions.Exit, OutputError, SystemExit):
            raise
        except BaseException:
            name = ctx.invoked_subcommand
            if name is None or name not in self.registry or is_ours(self.registry, name):
                raise
            with naming_failures(self.registry.title(name)):
                raise

    def _built(self, name: str) -> click.Command:
        title = self.registry.title(name)
        command: click.Command = make(title, self.registry.get(name).factory)
        expect(title, "click command", command, is_one=isinstance(command, click.Command))
        refuse_repeats(command)
        return command


class BrokenCommand(click.Command):
    """A command that could not be made: a call raises the reason, and completion passes it by."""

    def __init__(self, name: str, problem: AutomlAdmmError) -> None:
        super().__init__(name)
        self.problem = problem

    def make_context(self, *arguments: Any, **more: Any) -> NoReturn:
        """Raise the reason, also for `--help`."""
        del arguments, more
        raise self.problem


@click.group(
    cls=PluginGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, prog_name="automl-admm")
def program() -> None:
    """Find the most accurate pipeline within the limits you set."""


def main(arguments: Sequence[str] | None = None, begun: float | None = None) -> NoReturn:
    """Run the command line and exit with its documented code.

    `begun` is the start of the program on the monotonic clock; commands find it as the object of
    their context.
    """
    interrupts = Interrupts()
    with on_screen(), printing_warnings():
        try:
            with interrupts:
                code = _run(arguments, time.monotonic() if begun is None else begun)
                flush()
        except (KeyboardInterrupt, click.Abort):
            code = _say("interrupted", INTERRUPTED)
        except OutputError as problem:
            code = _give_up(problem)
    # SIGTERM and SIGHUP came as a KeyboardInterrupt too, but have codes of their own.
    sys.exit(interrupts.exit_code if code == INTERRUPTED else code)


def _run(arguments: Sequence[str] | None, begun: float) -> int:
    """Run a command and return its exit code."""
    try:
        code = program.main(
            list(arguments) if arguments is not None else None,
            prog_name="automl-admm",
            standalone_mode=False,  # errors are raised, to be told below in one line
            obj=begun,
        )
    except click.ClickException as problem:
        # One line: click gives each choice of a missing option a line of its own.
        return _say(" ".join(problem.format_message().split()), problem.exit_code or 2)
    except AutomlAdmmError as problem:
        return _say(problem.on_command_line(FLAGS), problem.exit_code)
    except OSError as problem:
        return _say_of_system(problem)
    return code if isinstance(code, int) else 0


def _give_up(problem: OutputError) -> int:
    """Drop the output and return the exit code; a reader that has enough is no error to tell."""
    if problem.exit_code != NO_READER:
        _say(f"the result cannot be printed: {problem.reason}.", problem.exit_code)
    give_up_output()
    return problem.exit_code


def _say(message: str, code: int) -> int:
    """Print an error to stderr, one line except for a grammar's list of mistakes."""
    say(f"error: {message}", err=True)
    for code_of_mistake in dict.fromkeys(CODE.findall(message)):
        say(f"More: automl-admm docs {code_of_mistake}", err=True)
    return code


def _say_of_system(problem: OSError) -> int:
    """Print an error of the system in one line, such as a missing folder or a full disk."""
    if problem.errno == errno.ENOENT and problem.filename is None and not _has_folder():
        reason = "the working folder was removed. Change into another one."
        return _say(reason, StoreError.exit_code)
    named = "" if problem.filename is None else f" '{problem.filename}'"
    reason = problem.strerror or type(problem).__name__
    if problem.errno in NO_ROOM:
        return _say(f"no room left:{named} {reason}. Free some and go on.", DISK_FULL)
    return _say(f"the system refuses{named}: {reason}.", StoreError.exit_code)


def _has_folder() -> bool:
    try:
        Path.cwd()
    except FileNotFoundError:
        return False
    return True


class LogLines(logging.Handler):
    """A handler that prints warnings, unless a display of progress shows them."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Leave a warning to a display."""
        from automl_admm.progress.observer import Warnings  # a display is here only in a run

        del record
        return not any(isinstance(handler, Warnings) for handler in LOGGER.handlers)

    def emit(self, record: logging.LogRecord) -> None:
        """Print a warning."""
        try:
            say(f"warning: {in_a_line(record.getMessage())}", err=True)
        except Exception:  # noqa: BLE001 - as every handler: no line of a log ends a command
            self.handleError(record)


@contextmanager
def printing_warnings() -> Iterator[None]:
    """Print the warnings of the package's log while a command runs."""
    lines = LogLines(logging.WARNING)
    LOGGER.addHandler(lines)
    try:
        yield
    finally:
        LOGGER.removeHandler(lines)
