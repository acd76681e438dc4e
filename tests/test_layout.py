"""The tests lie where the package has a folder of the same name."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
# Folders whose subject is not one package: contracts of all plugins, faults of whole runs, the
# scripts of benchmarks/, and the modules that tests share.
CROSS_CUTTING = {"contracts", "faults", "benchmarks", "helpers"}


def folders() -> list[str]:
    """List the folders below tests/ with Python files, as paths relative to it."""
    found = {path.parent.relative_to(ROOT / "tests").as_posix() for path in files()}
    return sorted(found - {"."})


def files() -> list[Path]:
    return [path for path in (ROOT / "tests").rglob("*.py") if "__pycache__" not in path.parts]


def test_every_folder_of_tests_is_a_package_or_cuts_across_all() -> None:
    strangers = [
        folder
        for folder in folders()
        if folder not in CROSS_CUTTING and not (ROOT / "automl_admm" / folder).is_dir()
    ]
    assert strangers == []


def test_no_cross_cutting_folder_is_named_that_is_not_there() -> None:
    assert set(folders()) >= CROSS_CUTTING


def test_every_package_has_tests() -> None:
    packages = {path.parent.name for path in (ROOT / "automl_admm").glob("*/__init__.py")}
    assert packages - {folder.split("/")[0] for folder in folders()} == set()


def test_helpers_are_imported_without_patching_the_module_path() -> None:
    """`syspath_prepend` is for modules that a test itself writes."""
    patched = re.compile(r"sys\.path\.insert|setattr\(sys, .path.")
    plugins = ROOT.glob("plugins/*/tests/**/*.py")
    texts = {path: path.read_text(encoding="utf-8") for path in (*files(), *plugins)}
    assert [str(path) for path, text in texts.items() if patched.search(text)] == []
