"""`plugins new` writes packages that keep every promise, and refuses what it cannot write."""

from __future__ import annotations

import compileall
import importlib
import importlib.util
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from automl_admm.cli.shared.plugin_package import KINDS, files_of
from automl_admm.plugins.loading import RECORDS, load_plugins
from automl_admm.testing.check import BROKEN, ask, promises_of

Run = Callable[..., Any]
# Promises that start processes or search for long are asked where a wheel is tried, in .ci/run.
SLOW = (
    *("another_process", "elsewhere", "progress", "success", "kept_of_a_lost", "whole_space"),
    *("better", "memory", "time_limit", "at_a_time", "killed", "closing", "crash", "sent"),
)
LONGEST = "a-name-of-exactly-thirty-chars"


def written(run: Run, name: str, kind: str, folder: Path) -> Path:
    """Write a package and return its folder."""
    ended = run("plugins", "new", name, "--kind", kind, "--out", str(folder))
    assert ended.code == 0, ended.err
    assert f"next: cd {folder}" in ended.out
    return folder


def suite_of(folder: Path) -> Any:
    """Import the tests of a package and return the class of its contract."""
    spec = importlib.util.spec_from_file_location(
        f"tests_{folder.name}", folder / "tests/test_contract.py"
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return next(item for name, item in vars(module).items() if name.startswith("Test"))


@pytest.mark.parametrize("kind", KINDS)
def test_a_new_package_keeps_its_promises(
    kind: str, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = f"fresh-{kind}"
    folder = written(run, name, kind, tmp_path / name)
    assert compileall.compile_dir(folder, quiet=1)
    monkeypatch.syspath_prepend(str(folder / "src"))
    package = importlib.import_module(name.replace("-", "_"))
    assert load_plugins({name: package}).infos[-1].state == "active"
    suite = suite_of(folder)
    if hasattr(suite, "setup_class"):
        suite.setup_class()
    broken = {
        promise: why
        for promise in promises_of(suite)
        if not any(word in promise for word in SLOW)
        for state, why in [ask(suite, promise)]
        if state == BROKEN
    }
    if hasattr(suite, "teardown_class"):
        suite.teardown_class()
    assert broken == {}


def test_new_packages_are_tidy_whatever_their_name(tmp_path: Path) -> None:
    for kind in KINDS:
        for name in ("a", LONGEST):
            for place, text in files_of(name, KINDS[kind]).items():
                path = tmp_path / f"{kind}-{name}" / place
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8")
    for words in (("check",), ("format", "--check")):
        done = subprocess.run(
            [sys.executable, "-m", "ruff", *words, "--no-cache", "."],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr


def test_every_hook_of_records_has_a_template() -> None:
    assert {kind.hook for kind in KINDS.values()} == set(RECORDS)


@pytest.mark.parametrize(
    ("name", "kind", "says"),
    [
        ("Mine", "solver", "'Mine' is no name of a plugin. Use up to 30 lower case letters"),
        ("../mine", "solver", "'../mine' is no name of a plugin."),
        ("a" * 31, "metric", "is no name of a plugin."),
        ("class", "solver", "Python has a 'class'. Choose another, such as my-class."),
        ("json", "command", "Python has a 'json'"),
        ("gp", "solver", "theta solver 'gp' (automl-admm "),
        (
            "numpy",
            "metric",
            "a package 'numpy' is installed here. Choose another name, such as my-nu",
        ),
        ("sklearn", "solver", "a package 'sklearn' is installed here."),
        ("scikit-learn", "solver", "a package 'scikit-learn' is installed here."),
        ("test", "solver", "a package 'test' is installed here."),
        ("local", "solver", "executor 'local' (automl-admm "),
        ("admm", "metric", "strategy 'admm' (automl-admm "),
        ("roc_auc", "metric", "'roc_auc' is a name of scikit-learn "),
        ("balanced-accuracy", "constraint", "'balanced-accuracy' is a name of scikit-learn "),
        ("recall-gap", "constraint", "'recall-gap' is a name of automl-admm "),
        ("standard-scaler", "component", "component 'standard_scaler' (automl-admm "),
    ],
)
def test_a_name_that_cannot_be_is_refused_in_a_line(
    run: Run, tmp_path: Path, name: str, kind: str, says: str
) -> None:
    ended = run("plugins", "new", name, "--kind", kind, "--out", str(tmp_path / "new"))
    assert ended.code == 2
    assert says in ended.err
    assert len(ended.err.splitlines()) == 1
    assert not (tmp_path / "new").exists()


def test_a_folder_that_is_there_is_left_alone(run: Run, tmp_path: Path) -> None:
    ended = run("plugins", "new", "mine", "--kind", "metric", "--out", str(tmp_path))
    assert ended.code == 2
    assert ended.err == f"error: '{tmp_path}' exists already. Choose another folder by --out.\n"
    assert list(tmp_path.iterdir()) == []


def test_a_missing_kind_names_those_there_are_in_one_line(run: Run) -> None:
    ended = run("plugins", "new", "tide")
    assert ended.code == 2
    assert ended.err.count("\n") == 1
    assert all(kind in ended.err for kind in KINDS)


def test_an_unknown_kind_names_those_there_are(run: Run) -> None:
    ended = run("plugins", "new", "mine", "--kind", "solvers")
    assert ended.code == 2
    assert "'z-solver'" in ended.err
