"""The door for plugins: what it holds, what it costs, and that plugins use no other."""

from __future__ import annotations

import ast
import doctest
import inspect
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest

from automl_admm import plugin_api

ROOT = Path(__file__).parents[1]
# An alias and a marker: Python keeps no docstring of ours for them.
TOLD_AT_THE_HEAD = {"API_VERSION", "Array", "Search", "WAIT", "hookimpl"}
DOORS = ("automl_admm.plugin_api", "automl_admm.testing")
FOLDERS = ("plugins/*/src", "plugins/*/tests", "examples/third_party_plugin")


def files() -> list[Path]:
    """List the Python files of all plugins, their tests, and the example."""
    found = [path for folder in FOLDERS for top in ROOT.glob(folder) for path in top.rglob("*.py")]
    return [path for path in found if ".venv" not in path.parts]


def imported(text: str) -> Iterator[str]:
    """Yield the modules that a file imports, in functions and in scripts that it holds, too."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            module = str(node.module)
            is_top = module == "automl_admm"
            yield from (f"{module}.{alias.name}" for alias in node.names) if is_top else (module,)
        elif isinstance(node, ast.Constant) and "import" in str(node.value):
            lines = str(node.value).splitlines()
            yield from (line.split()[1] for line in lines if line.startswith("from automl_admm"))


def is_allowed(module: str) -> bool:
    inside = module == "automl_admm" or module.startswith("automl_admm.")
    return not inside or any(module == door or module.startswith(f"{door}.") for door in DOORS)


def test_plugins_import_nothing_but_the_door_and_the_test_kit() -> None:
    assert len(files()) > 40
    strangers = [
        f"{path.relative_to(ROOT)}: {module}"
        for path in files()
        for module in imported(path.read_text(encoding="utf-8"))
        if not is_allowed(module)
    ]
    assert strangers == []


@pytest.mark.parametrize(
    "text",
    [
        "from automl_admm.core.space import Array",
        "import automl_admm.search.protocol as p",
        "from automl_admm import minimize",
        "def f():\n    from automl_admm.cli.main import main",
        "SCRIPT = '''\nfrom automl_admm.core.space import Array\n'''",
        "import automl_admm.testing_of_others",
    ],
)
def test_any_other_import_is_found(text: str) -> None:
    assert not all(map(is_allowed, imported(text)))


@pytest.mark.parametrize(
    "text", ["from automl_admm.plugin_api import Array", "from automl_admm import plugin_api"]
)
def test_the_door_is_let_through(text: str) -> None:
    assert all(map(is_allowed, imported(text)))


def test_every_name_is_there_and_listed_once() -> None:
    # `dir` sorts by bytes, the linter puts constants first.
    assert sorted(set(plugin_api.__all__)) == sorted(plugin_api.__all__) == dir(plugin_api)
    for name in plugin_api.__all__:
        assert getattr(plugin_api, name) is not None
    with pytest.raises(AttributeError, match="has no attribute 'hookspec'"):
        plugin_api.hookspec  # noqa: B018


def test_the_door_itself_costs_nothing() -> None:
    heavy = "{'numpy', 'pluggy', 'sklearn', 'pandas', 'scipy', 'skops', 'lark', 'rich', 'psutil'}"
    program = f"import sys, automl_admm.plugin_api; print({heavy} & set(sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout == "set()\n"


def test_declaring_a_plugin_needs_no_scikit_learn() -> None:
    program = (
        "import sys; from automl_admm.plugin_api import hookimpl, ThetaSolverPlugin, AxisTree, "
        "ComponentPlugin; print({'sklearn', 'pandas', 'scipy', 'skops', 'lark'} & set(sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout == "set()\n"


def examples(name: str) -> list[doctest.DocTest]:
    """Find the examples of a name; the public names, `np`, `Path` and a folder are there."""
    given = {one: getattr(plugin_api, one) for one in plugin_api.__all__}
    given |= {"np": np, "Path": Path, "TemporaryDirectory": TemporaryDirectory}
    text = inspect.getdoc(getattr(plugin_api, name)) if name else plugin_api.__doc__
    return [doctest.DocTestParser().get_doctest(str(text), given, name or "door", None, None)]


@pytest.mark.parametrize("name", ["", *sorted({*plugin_api.__all__} - TOLD_AT_THE_HEAD)])
def test_each_name_has_an_example_that_runs(name: str) -> None:
    (test,) = examples(name)
    assert test.examples
    flags = doctest.ELLIPSIS | doctest.IGNORE_EXCEPTION_DETAIL
    failed = doctest.DocTestRunner(optionflags=flags).run(test).failed
    assert failed == 0


def test_names_without_a_docstring_of_their_own_stand_in_the_example_of_the_door() -> None:
    assert all(name in str(plugin_api.__doc__) for name in TOLD_AT_THE_HEAD)


def test_the_page_lists_every_public_name() -> None:
    page = ROOT / "docs" / "reference" / "plugin_api.md"
    table = page.read_text(encoding="utf-8")
    assert {name for name in plugin_api.__all__ if f"`{name}`" not in table} == set()
