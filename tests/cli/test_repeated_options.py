"""An option that says what is learned is not given two values."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
import pytest

from automl_admm.cli.main import program
from automl_admm.cli.shared.repeated_options import QUESTION, SingleValued, refuse_repeats

FIT = ("fit", "people.csv", "--target", "buys")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ((*FIT, "--weight", "w", "--weight", "age"), "--weight takes one value and is given 'w'"),
        ((*FIT, "--group", "w", "--group", "age"), "--group"),
        ((*FIT, "--time=w", "--time", "age"), "--time"),
        ((*FIT, "--target", "age"), "--target takes one value and is given 'buys' and 'age'."),
        ((*FIT, "--metric", "f1", "--metric", "roc_auc"), "--metric"),
        ((*FIT, "--time", "1", "--time", "2", "--time", "1"), "'1' and '2' and '1'"),
        ((*FIT, "--positive", "yes", "--positive", "no"), "--positive takes one value"),
        ((*FIT, "--cost", "fn=5,fp=1", "--cost", "fn=1,fp=5"), "--cost takes one value"),
        (("inspect", "people.csv", "--target", "a", "--target", "b"), "--target"),
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


@pytest.mark.parametrize("command", [("inspect",), ("fit", "--dry-run", "--target", "buys")])
def test_two_kinds_of_one_column_are_refused_in_one_line(
    run: Any, table: Path, command: tuple[str, ...]
) -> None:
    done = run(*command, table, "--column", "age=number", "--column", "age=drop")
    assert done.code == 2, done.out
    assert "--column gives 'age' the kinds number and drop. Keep one." in done.err
    again = run(*command, table, "--column", "age=number", "--column", "age=number")
    assert again.code == 0, again.err


def test_the_same_value_twice_is_one_value(run: Any) -> None:
    done = run(*FIT, "--target", "buys")
    assert "people.csv" in done.err
    assert "Keep one." not in done.err


def test_the_last_value_of_a_setting_wins(run: Any) -> None:
    done = run("grammar", "sample", "tiny", "-n", "1", "-n", "2")
    assert done.code == 0, done.err
    assert len(done.out.splitlines()) == 2


def test_no_command_takes_the_last_of_what_is_asked_in_silence() -> None:
    context = click.Context(program)
    commands = [program.get_command(context, name) for name in program.list_commands(context)]
    while commands:
        command = commands.pop()
        assert command is not None
        if isinstance(command, click.Group):
            commands += command.commands.values()
        options = [one for one in command.params if isinstance(one, click.Option)]
        single = [one for one in options if not QUESTION.isdisjoint(one.opts) and not one.multiple]
        assert all(isinstance(one, SingleValued) for one in single), command.name


def test_a_default_and_a_value_of_the_environment_are_taken_as_ever() -> None:
    option = click.Option(["--target", "size"], default=3, type=int, envvar="SIZE_OF_IT")
    pair = click.Option(["--group", "pair"], nargs=2, type=int)
    command = click.Command("one", params=[option, pair], callback=lambda **given: given)
    refuse_repeats(command)
    assert command.main([], standalone_mode=False)["size"] == 3
    given = command.main(["--group", "1", "2", "--target", "4"], standalone_mode=False)
    assert given == {"size": 4, "pair": (1, 2)}
    with command.make_context("one", [], resilient_parsing=True) as context:
        assert context.params["pair"] is None
