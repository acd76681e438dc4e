"""The promises of an exporter and of a command: what the command line calls by name."""

from __future__ import annotations

import re
import tempfile
from contextlib import chdir
from dataclasses import replace
from itertools import count
from pathlib import Path

import click
from click.testing import CliRunner

from automl_admm.core.errors import AutomlAdmmError
from automl_admm.core.run import RunState, SavedRun
from automl_admm.plugins.records import CommandPlugin, ExporterPlugin
from automl_admm.testing.saved_runs import EVALUATIONS, sample_run

NUMBERS = count(1)
# The name of a file at the end of a target, without what follows its dot.
NAME = re.compile(r"\w+(?=(\.\w+)?$)")


class ExporterContract:
    """The promises of an exporter: subclass it, and return your record in `make`.

    It writes to what the record shows as `target`, in an empty working folder. Override `target`
    for a server, say one in the memory of your test.
    """

    def make(self) -> ExporterPlugin:
        """Return the record."""
        raise NotImplementedError

    def target(self) -> str:
        """Return a target that nothing was written to; the working folder is empty."""
        # Another one each time: a library may remember a data base of this name.
        return NAME.sub(rf"\g<0>{next(NUMBERS)}", self.make().target, count=1)

    def written(self, run: SavedRun) -> str:
        """Write a run to a fresh target, and return what is said of it."""
        with tempfile.TemporaryDirectory() as folder, chdir(folder):
            place = Path(folder) / "run of a test"
            place.mkdir()
            info = replace(run.info, folder=place)
            return self.make().write(replace(run, info=info), self.target())

    def test_a_run_is_written_and_told_in_a_line(self) -> None:
        """Write evaluations of every ending, and say so in one line.

        A form of models or certificates may refuse a run without one, in one line, too.
        """
        self._check_written_or_refused(sample_run(None))

    def test_a_run_without_evaluations_is_no_obstacle(self) -> None:
        """Write a run that has nothing yet, or refuse it in one line."""
        self._check_written_or_refused(sample_run(None, ()))

    def test_a_run_that_goes_on_is_written(self) -> None:
        """Write a run that has not ended."""
        run = replace(sample_run(None, EVALUATIONS[:2]), state=RunState.RUNNING)
        self._check_written_or_refused(run)

    def _check_written_or_refused(self, run: SavedRun) -> None:
        try:
            self._check_line(self.written(run))
        except AutomlAdmmError as refused:
            self._check_line(str(refused))

    def _check_line(self, said: object) -> None:
        assert isinstance(said, str), f"it returned {said!r}, no line of text"
        assert said.strip(), "it said nothing"
        assert len(said.splitlines()) == 1, "it said more than one line"


class CommandContract:
    """The promises of a command: subclass it, and return your record in `make`."""

    def make(self) -> CommandPlugin:
        """Return the record."""
        raise NotImplementedError

    def test_its_factory_makes_a_command(self) -> None:
        """Make a command of click."""
        assert isinstance(self.make().factory(), click.Command)

    def test_it_explains_itself(self) -> None:
        """Print a help that says what it does."""
        command = self.make().factory()
        ended = CliRunner().invoke(command, ["--help"])
        assert ended.exit_code == 0, ended.output
        assert (command.help or "").strip(), "its function has no docstring"

    def test_a_wrong_option_is_refused_by_code_2(self) -> None:
        """End with exit code 2 for an option that it has not."""
        ended = CliRunner().invoke(self.make().factory(), ["--there-is-no-such-option"])
        assert ended.exit_code == 2, f"it ended with code {ended.exit_code}"
