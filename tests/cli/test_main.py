"""The program with plugins that are broken: one line each, and all else goes on."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

Run = Callable[..., "object"]
Install = Callable[[str, str], None]

COMMANDS = """
import click
from automl_admm import CommandPlugin, hookimpl


class MyStop(BaseException):
    pass


def halts():
    raise MyStop("not today")


def misses():
    raise ModuleNotFoundError("No module named 'rare'")


@hookimpl
def commands():
    yield CommandPlugin(name="deploy", summary="ships", factory=misses)
    yield CommandPlugin(name="nothing", summary="is none", factory=lambda: None)
    yield CommandPlugin(name="greet", summary="greets", factory=lambda: greet)
    yield CommandPlugin(name="fail", summary="fails", factory=lambda: fail)
    yield CommandPlugin(name="halts", summary="is none", factory=halts)


@click.command("greet", short_help="says hello")
def greet():
    click.echo("hello")


@click.command("fail")
@click.option("--by", default="zero")
def fail(by):
    raise {
        "zero": ZeroDivisionError("division by zero"),
        "usage": click.UsageError("not like that"),
        "own": MyStop("enough\\nfor today."),
        "os": FileNotFoundError(2, "No such file or directory", "my.cfg"),
        "full": OSError(28, "No space left on device", "my.log"),
        "interrupt": KeyboardInterrupt(),
        "exit": SystemExit(5),
    }[by]
"""
WHY = "command 'deploy' (mine 1.0) cannot be made: ModuleNotFoundError: No module named 'rare'."


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """Lay a distribution with one plugin where processes that are started find it."""
    site = tmp_path / "site"
    site.mkdir()
    path = os.pathsep.join([str(site), *filter(None, [os.environ.get("PYTHONPATH")])])
    monkeypatch.setenv("PYTHONPATH", path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))

    def lay(name: str, source: str) -> None:
        (site / f"{name}.py").write_text(source)
        about = site / f"{name}-1.0.dist-info"
        about.mkdir()
        (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        (about / "entry_points.txt").write_text(f"[automl_admm]\n{name} = {name}\n")

    return lay


def test_a_command_that_cannot_be_made_spoils_no_help(spawn: Run, install: Install) -> None:
    install("mine", COMMANDS)
    ended = spawn("--help")
    assert (ended.code, ended.err) == (0, "")
    lines = ended.out.split("Commands:")[1].splitlines()
    listed = dict(line.split(maxsplit=1) for line in lines if len(line.split()) > 1)
    assert listed["deploy"] == "ships"
    assert listed["greet"] == "greets"
    assert "leaderboard" in listed


def test_the_list_of_commands_imports_none_of_them() -> None:
    code = (
        "import sys; from click.testing import CliRunner; from automl_admm.cli.main import program;"
        " assert CliRunner().invoke(program, ['--help']).exit_code == 0;"
        " print([name for name in sys.modules if name in ('sklearn', 'pandas')"
        " or name.startswith('automl_admm.cli.commands.')])"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ended.stdout == "[]\n"


def test_commands_that_look_at_a_run_import_no_library_of_models() -> None:
    commands = ("leaderboard", "report", "explain", "compare")
    names = ", ".join(f"automl_admm.cli.commands.{command}" for command in commands)
    heavy = ("sklearn", "pandas", "scipy.stats")
    code = f"import sys, {names}; print([name for name in {heavy} if name in sys.modules])"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ended.stdout == "[]\n"


def test_a_command_that_cannot_be_made_says_why(spawn: Run, install: Install) -> None:
    install("mine", COMMANDS)
    for words in (("deploy",), ("deploy", "--help"), ("deploy", "run", "--fast")):
        ended = spawn(*words)
        assert (ended.code, ended.out, ended.err) == (2, "", f"error: {WHY}\n")
    ended = spawn("nothing")
    assert ended.code == 2
    assert ended.err.endswith("its factory returned None, no click command.\n")
    assert spawn("greet").out == "hello\n"


def test_a_command_that_fails_is_told_in_a_line_with_its_provider(
    spawn: Run, install: Install
) -> None:
    install("mine", COMMANDS)
    failed = "error: command 'fail' (mine 1.0) failed"
    for by, code, told in (
        ("zero", 2, f"{failed}: ZeroDivisionError: division by zero.\n"),
        ("usage", 2, "error: not like that\n"),
        ("own", 2, f"{failed}: MyStop: enough for today.\n"),
        ("os", 2, f"{failed}: FileNotFoundError: [Errno 2] No such file or directory: 'my.cfg'.\n"),
        (
            "full",
            8,
            "error: no room left: 'my.log' No space left on device. Free some and go on.\n",
        ),
        ("interrupt", 130, "error: interrupted\n"),
        ("exit", 5, ""),
    ):
        ended = spawn("fail", "--by", by)
        assert (ended.code, ended.out, ended.err.lstrip("\n")) == (code, "", told)
    told = "error: command 'halts' (mine 1.0) cannot be made: MyStop: not today.\n"
    assert (spawn("halts").code, spawn("halts").err) == (2, told)


def test_a_plugin_that_raises_no_exception_at_its_import_is_skipped(
    spawn: Run, install: Install
) -> None:
    install("torn", "class MyStop(BaseException): pass\nraise MyStop('no')")
    ended = spawn("plugins")
    assert ended.code == 0, ended.err
    assert "MyStop: no" in ended.out + ended.err


@pytest.mark.parametrize("executor", ["inline", "local"])
def test_a_plugin_that_is_skipped_is_told_once(
    spawn: Run, install: Install, table: Path, executor: str
) -> None:
    install("torn", "raise ImportError('first line\\n\\nsecond line')")
    told = "warning: plugin 'torn' (torn 1.0) was skipped: ImportError: first line second line"
    settings = ("--cv=2", "--max-evaluations", "1", "--grammar", "tiny", "--executor", executor)
    ended = spawn("fit", table, "--target", "buys", "--out", "out", *settings)
    assert ended.code == 0, ended.err
    assert [line for line in ended.err.splitlines() if "torn" in line or " line" in line] == [told]


def test_a_command_of_a_plugin_that_is_skipped(spawn: Run, install: Install) -> None:
    install("torn", "raise ImportError('no')")
    ended = spawn("deploy")
    assert ended.code == 2
    skipped, unknown = ended.err.splitlines()
    assert skipped == "warning: plugin 'torn' (torn 1.0) was skipped: ImportError: no"
    assert unknown.startswith("error: no command 'deploy'.")


def test_a_command_that_two_provide_spoils_no_other(spawn: Run, install: Install) -> None:
    for name in ("first", "second"):
        install(name, COMMANDS.replace("deploy", name))
    ended = spawn("--help")
    assert ended.code == 0
    assert "plugin 'second' (second 1.0) was skipped" in ended.err
    ended = spawn("greet")
    assert ended.code == 2
    assert ended.err.startswith("error: command 'greet' is provided twice: first 1.0, second 1.0.")
