"""An option with one value is not given two."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
import pytest

from automl_admm.cli.main import program
from automl_admm.cli.shared.repeated_options import SingleValued, refuse_repeats

FIT = ("fit", "people.csv", "--target", "buys")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ((*FIT, "--weight", "w", "--weight", "age"), "--weight takes one value and is given 'w'"),
        ((*FIT, "--group", "w", "--group", "age"), "--group"),
        ((*FIT, "--time=w", "--time", "age"), "--time"),
        ((*FIT, "--target", "age"), "--target takes one value and is given 'buys' and 'age'."),
        ((*FIT, "--metric", "f1", "--metric", "roc_auc"), "--metric"),
        ((*FIT, "--seed", "1", "--seed", "2", "--seed", "1"), "'1' and '2' and '1'"),
        ((*FIT, "--task", "auto", "--task", "regression"), "--task"),
        (("resume", "run", "--budget", "1s", "--budget", "2s"), "--budget"),
        (("inspect", "people.csv", "--target", "a", "--target", "b"), "--target"),
        (("predict", "run", "people.csv", "-o", "a.csv", "--output", "b.csv"), "-o"),
        (("grammar", "sample", "tiny", "-n", "1", "-n", "2"), "-n"),
    ],
)
def test_two_values_of_one_option_are_refused_in_one_line(
    run: Any, tmp_path: Path, arguments: tuple[str, ...], says: str
) -> None:
    done = run(*arguments)
    assert done.code == 2, done.err
    assert says in done.err
    assert "Keep one." in done.err
    assert done.err.count("\n") == 1
    assert not list(tmp_path.iterdir())


def test_the_same_value_twice_is_one_value(run: Any) -> None:
    done = run("grammar", "sample", "tiny", "-n", "1", "-n", "1")
    assert done.code == 0, done.err
    assert len(done.out.splitlines()) == 1


def test_no_option_of_a_command_takes_the_last_value_in_silence() -> None:
    context = click.Context(program)
    commands = [program.get_command(context, name) for name in program.list_commands(context)]
    while commands:
        command = commands.pop()
        assert command is not None
        if isinstance(command, click.Group):
            commands += command.commands.values()
        options = [one for one in command.params if isinstance(one, click.Option)]
        single = [one for one in options if not (one.multiple or one.is_flag or one.count)]
        assert all(isinstance(one, SingleValued) for one in single), command.name


def test_a_default_and_a_value_of_the_environment_are_taken_as_ever() -> None:
    option = click.Option(["--size"], default=3, envvar="SIZE_OF_IT")
    pair = click.Option(["--pair"], nargs=2, type=int)
    command = click.Command("one", params=[option, pair], callback=lambda **given: given)
    refuse_repeats(command)
    assert command.main([], standalone_mode=False)["size"] == 3
    given = command.main(["--pair", "1", "2", "--size", "4"], standalone_mode=False)
    assert given == {"size": 4, "pair": (1, 2)}
    with command.make_context("one", [], resilient_parsing=True) as context:
        assert context.params["pair"] is None
