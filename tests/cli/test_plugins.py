from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from program import run_python

from automl_admm.cli.shared import plugin_check
from automl_admm.cli.shared.plugin_check import subjects_of
from automl_admm.plugins.loading import RECORDS, PluginInfo, load_plugins
from automl_admm.plugins.specs import hookimpl
from automl_admm.testing.subjects import CONTRACTS

Run = Callable[..., "object"]
Install = Callable[[str], None]

BROKEN = '''
import numpy as np
from automl_admm import NoOptions, ThetaSolverPlugin, ZSolverPlugin, hookimpl


class Broken:
    """Proposes the same point outside the box, and never anything else."""

    def begin(self, subproblem):
        self.dimension = len(getattr(subproblem, "parameters", ()))

    def ask(self, count, pending):
        return [np.full(self.dimension, 2.0)] * count

    def tell(self, observations):
        pass


@hookimpl
def theta_solvers():
    yield ThetaSolverPlugin(name="broken", summary="bad", factory=lambda options: Broken())
'''
INTERRUPTING = BROKEN.replace(
    "def begin(self, subproblem):",
    """def begin(self, subproblem):
        raise KeyboardInterrupt""",
)
LEAVING = INTERRUPTING.replace("raise KeyboardInterrupt", "import os; os._exit(3)")


class Heard:
    """A plugin that observes, and provides nothing."""

    @hookimpl
    def run_started(self, info: object) -> None: ...


@pytest.fixture(autouse=True)
def forked_check(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ask in a fork, many times cheaper than an interpreter; one test asks in that."""
    if "new_interpreter" not in request.fixturenames:
        monkeypatch.setattr(plugin_check, "subprocess", SimpleNamespace(run=run_forked))


def run_forked(
    line: list[str], *, env: dict[str, str], **more: Any
) -> subprocess.CompletedProcess[str]:
    del more
    return run_python("-m", *line[line.index("-m") + 1 :], env=env)


@pytest.fixture
def new_interpreter() -> None:
    """Ask in an interpreter, as everybody does."""


UNREADABLE = "import a_module_that_is_not_there"


def test_it_lists_what_is_installed(run: Run) -> None:
    for words in (("plugins",), ("plugins", "list")):
        ended = run(*words)
        assert ended.code == 0
        assert "builtin-theta" in ended.out
    infos = json.loads(run("plugins", "list", "--json").out)
    assert infos == json.loads(run("plugins", "--json").out)
    assert (
        "gp" in next(i for i in infos if i["name"] == "builtin-theta")["provides"]["theta_solvers"]
    )


def test_it_shows_the_options_of_one(run: Run) -> None:
    ended = run("plugins", "show", "trust-region")
    assert ended.code == 0
    assert ended.out.startswith("theta solver trust-region, from automl-admm ")
    assert [line.split() for line in ended.out.splitlines()[-2:]] == [
        ["design", "int", "8"],
        ["radius", "float", "0.2"],
    ]


def test_it_shows_all_of_a_name(run: Run) -> None:
    lines = run("plugins", "show", "random").out.splitlines()
    assert [line.partition(",")[0] for line in lines if ", from " in line] == [
        "theta solver random",
        "z solver random",
    ]
    assert run("plugins", "show", "pca").out.startswith("component pca, from automl-admm")


def test_a_name_that_is_not_there(run: Run) -> None:
    ended = run("plugins", "show", "trust-regoin")
    assert (ended.code, ended.out) == (2, "")
    assert ended.err == "error: no plugin named 'trust-regoin'. Did you mean 'trust-region'?\n"
    ended = run("plugins", "check", "gpp")
    assert ended.code == 2
    assert ended.err == "error: no plugin named 'gpp'. Did you mean 'gp'?\n"


def test_a_name_stands_for_all_that_has_it_or_that_the_plugin_provides() -> None:
    plugins = load_plugins({"mine": Heard()})
    assert subjects_of(plugins, "pca") == [
        ("components:classification", "pca"),
        ("components:regression", "pca"),
    ]
    assert subjects_of(plugins, "gp:initial=3") == [("theta_solvers", "gp:initial=3")]
    assert ("constraints", "auc") in subjects_of(plugins, "builtin-constraints")
    assert subjects_of(plugins, "mine") == [("observing", "mine")]


@pytest.mark.usefixtures("new_interpreter")
def test_a_script_may_say_no_progress_of_any_kind(run: Run) -> None:
    ended = run("plugins", "check", "tiny", "--no-progress")
    assert ended.code == 0, ended.out + ended.err
    assert "promises kept, 0 broken" in ended.out + ended.err


def test_options_are_for_what_has_them(run: Run) -> None:
    ended = run("plugins", "check", "pca:n=3")
    assert ended.err == "error: 'pca' is a component, and takes no options.\n"


def test_a_limit_is_checked_and_told_as_json(run: Run) -> None:
    ended = run("plugins", "check", "error", "--json")
    assert ended.code == 0, ended.err
    told = json.loads(ended.out)
    assert told["request"] == "error"
    states = {promise["promise"]: promise["state"] for promise in told["promises"]}
    assert states["its value is a number in its range"] == "kept"
    assert states["a fact is equal on any rows"] == "not asked"


def test_a_plugin_that_cannot_be_loaded_is_not_checked(run: Run, install: Install) -> None:
    install(UNREADABLE)
    name = next(i.name for i in load_plugins(quietly=True).infos if i.state.startswith("failed"))
    ended = run("plugins", "check", name)
    assert ended.code == 2
    assert f"plugin '{name}' cannot be loaded: " in ended.err


def test_one_of_our_packages_that_is_not_here_is_named(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AUTOML_ADMM_PLUGINS", "")
    for word in ("show", "check"):
        assert "automl-admm-smac brings it" in run("plugins", word, "smac").err


def test_options_are_not_shown_of_a_request(run: Run) -> None:
    ended = run("plugins", "show", "gp:points=9")
    assert (ended.code, ended.out) == (2, "")
    says = "'plugins show' takes a name without options, not 'gp:points=9'."
    assert ended.err == f"error: {says} Write: automl-admm plugins show gp\n"


def _row(name: str, infos: list[PluginInfo], run: Run, monkeypatch: pytest.MonkeyPatch) -> str:
    """Return the line of a plugin in a listing of these."""
    loaded = replace(load_plugins(sources=()), infos=infos)
    monkeypatch.setattr("automl_admm.cli.commands.plugins.installed", lambda: loaded)
    return next(line for line in run("plugins").out.splitlines() if line.startswith(name))


def test_events_that_a_plugin_hears_are_listed_and_so_is_one_without_hooks(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    infos = load_plugins({"mine": Heard(), "idle": object()}, sources=()).infos
    assert _row("mine", infos, run, monkeypatch).endswith("active  hears: run_started")
    assert _row("idle", infos, run, monkeypatch).endswith(
        "active  nothing: none of its functions is marked @hookimpl"
    )


def test_a_long_reason_stands_in_the_last_column(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    infos = [
        PluginInfo("bad", "bad 1.0", f"failed: {'x' * 200}"),
        PluginInfo("good", "g 1", "active"),
    ]
    assert _row("bad", infos, run, monkeypatch).split() == [
        "bad",
        "bad",
        "1.0",
        "failed",
        "x" * 200,
    ]
    assert len(_row("good", infos, run, monkeypatch)) < 90


def test_a_wrong_option_is_told_before_all(run: Run) -> None:
    ended = run("plugins", "check", "gp:inital=3")
    assert ended.code == 2
    assert "Did you mean 'initial'?" in ended.err


def test_a_good_solver_keeps_all_promises_of_both_kinds_beside_a_plugin_that_is_broken(
    run: Run, install: Install
) -> None:
    install(UNREADABLE)
    ended = run("plugins", "check", "random", "--no-progress")
    assert ended.code == 0, ended.out
    assert ended.out.splitlines()[-1].endswith("promises kept, 0 broken")
    rows = [re.split(r"  +", line) for line in ended.out.splitlines()[1:-1]]
    assert {row[0] for row in rows} == {"theta solver", "z solver"}
    assert {row[3] for row in rows} == {"kept"}


def test_a_broken_solver_is_shown_with_reasons(run: Run, install: Install) -> None:
    install(BROKEN)
    ended = run("plugins", "check", "broken")
    assert ended.code == 1
    lines = {re.split(r"  +", line)[2]: line for line in ended.out.splitlines()[1:-1]}
    assert "kept" in lines["ask for nothing"]
    assert "broken" in lines["stays inside"]
    assert "a point outside [0, 1]: [2.0, 2.0, 2.0, 2.0]" in lines["stays inside"]
    assert "AssertionError" not in ended.out
    assert "of what random points lose" in lines["progress"]
    assert ended.out.splitlines()[-1].startswith("broken: ")


def test_a_solver_that_interrupts_breaks_every_promise_and_not_the_check(
    run: Run, install: Install
) -> None:
    install(INTERRUPTING)
    ended = run("plugins", "check", "broken")
    assert ended.code == 1
    assert "it raised KeyboardInterrupt" in ended.out
    assert ended.out.splitlines()[-1].startswith("broken: ")


def test_a_solver_that_ends_the_check_is_not_passed_over(run: Run, install: Install) -> None:
    install(LEAVING)
    ended = run("plugins", "check", "broken")
    assert ended.code == 2
    assert "the check of 'broken' broke off (exit 3): nothing was said." in ended.err


def test_the_check_needs_no_pytest() -> None:
    code = (
        "import sys, automl_admm.testing.check, automl_admm.testing.contracts; "
        "sys.exit('pytest' in sys.modules)"
    )
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True)


def test_every_hook_of_records_has_a_contract() -> None:
    assert set(CONTRACTS) == {*RECORDS, "observing"}


def test_an_observer_is_checked_with_its_options_and_leaves_no_file(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    ended = run("plugins", "check", "jsonl:path=own.jsonl")
    assert ended.code == 0, ended.out + ended.err
    assert "promises kept, 0 broken" in ended.out + ended.err
    assert list(tmp_path.iterdir()) == []


def test_a_wrong_option_of_an_observer_is_told_before_the_check(run: Run) -> None:
    ended = run("plugins", "check", "jsonl:file=own.jsonl")
    assert ended.code == 2
    assert "jsonl" in ended.err
    assert len(ended.err.splitlines()) == 1
