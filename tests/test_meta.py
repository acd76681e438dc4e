"""The documentation, the hooks and the public names stay in step with the code."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
import subprocess
import sys
from pathlib import Path

import pytest

import automl_admm
from automl_admm.plugins import specs as hookspecs
from automl_admm.plugins.loading import load_plugins
from automl_admm.runs.config import RunConfig

ROOT = Path(__file__).parents[1]
HOOKS = [
    name
    for name, item in vars(hookspecs).items()
    if inspect.isfunction(item) and item.__module__ == hookspecs.__name__
]
MODULES = [
    module.name
    for module in pkgutil.walk_packages(automl_admm.__path__, "automl_admm.")
    if not module.name.startswith("automl_admm.testing") and module.name != "automl_admm.__main__"
]


def page(name: str) -> str:
    """Return the text of a page of the reference."""
    return (ROOT / "docs" / "reference" / f"{name}.md").read_text(encoding="utf-8")


def _as_ruff(name: str) -> tuple[bool, bool, str]:
    return not name.isupper(), name[0].islower(), name


def test_the_public_names_are_sorted_and_resolve() -> None:
    assert automl_admm.__all__ == sorted(automl_admm.__all__, key=_as_ruff)
    for name in automl_admm.__all__:
        assert getattr(automl_admm, name) is not None
    with pytest.raises(AttributeError):
        automl_admm.no_such_name  # noqa: B018


def test_importing_the_package_is_cheap() -> None:
    code = (
        "import sys, automl_admm; from automl_admm import hookimpl, SearchSpace; "
        "heavy = {'sklearn', 'pandas', 'scipy.optimize', 'lark', 'rich'}; "
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_search_over_numbers_imports_nothing_for_tables() -> None:
    code = (
        "import sys; from automl_admm import Parameter, SearchSpace, minimize; "
        "space = SearchSpace(parameters=(Parameter('x', 0.0, 1.0),)); "
        "minimize(lambda x: x['x'], space, max_evaluations=1, random_state=0); "
        "print(sorted({'sklearn', 'pandas'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_listing_plugins_imports_nothing_heavy() -> None:
    code = (
        "import sys; from automl_admm.plugins.loading import load_plugins; load_plugins(); "
        "print(sorted({'sklearn', 'pandas', 'scipy.optimize', 'lark'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("name", MODULES)
def test_every_module_says_what_it_is(name: str) -> None:
    assert (importlib.import_module(name).__doc__ or "").strip()


@pytest.mark.parametrize("name", HOOKS)
def test_every_hook_is_documented_with_an_example_of_itself(name: str) -> None:
    text = inspect.getdoc(getattr(hookspecs, name)) or ""
    assert "Example::" in text
    assert f"def {name}(" in text


@pytest.mark.parametrize("name", HOOKS)
def test_every_hook_is_on_its_page(name: str) -> None:
    assert f"`{name}`" in page("hooks")


def test_every_hook_is_tested() -> None:
    tested = "".join(path.read_text(encoding="utf-8") for path in ROOT.glob("tests/**/*.py"))
    implemented = set(re.findall(r"def (\w+)\(", tested)) | set(re.findall(r'"(\w+)"', tested))
    assert set(HOOKS) <= implemented


def test_every_hook_is_in_the_example_of_a_third_party() -> None:
    sources = (ROOT / "examples" / "third_party_plugin" / "src").rglob("*.py")
    text = "".join(path.read_text(encoding="utf-8") for path in sources)
    assert set(HOOKS) <= set(re.findall(r"^@hookimpl\ndef (\w+)\(", text, re.MULTILINE))


def test_every_command_is_in_the_documentation() -> None:
    texts = [path.read_text(encoding="utf-8") for path in ROOT.glob("docs/**/*.md")]
    for record in load_plugins().commands:
        assert any(f"automl-admm {record.name}" in text for text in texts), record.name


def test_every_exit_code_is_on_its_page() -> None:
    from automl_admm.core import errors

    kinds = [kind for kind in vars(errors).values() if isinstance(kind, type)]
    codes = {kind.exit_code for kind in kinds if issubclass(kind, errors.AutomlAdmmError)} - {1}
    for code in codes:
        assert re.search(rf"^\| {code} \|", page("exit_codes"), re.MULTILINE), code


@pytest.mark.parametrize(
    ("option", "kind", "default"),
    [
        ("--theta-solver", "theta_solvers", RunConfig().theta_solver),
        ("--z-solver", "z_solvers", RunConfig().z_solver),
    ],
)
def test_the_page_names_every_solver_that_ships(option: str, kind: str, default: str) -> None:
    (row,) = re.findall(rf"^\| `{option}` \| (.*?) \|", page("solvers"), flags=re.MULTILINE)
    registry = getattr(load_plugins(), kind)
    ours = {r.name for r in registry if registry.provider(r.name).startswith("automl-admm ")}
    assert set(re.findall(r"`([\w-]+)`", row)) == ours
    assert row.startswith(f"`{default}` (default)")


def test_the_page_names_every_solver_of_our_plugins() -> None:
    registry = load_plugins().theta_solvers
    for record in registry:
        distribution = registry.provider(record.name).split()[0]
        if (ROOT / "plugins" / distribution).is_dir():
            assert f"`{record.name}`" in page("solvers")
