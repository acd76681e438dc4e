"""A library that is missing, too old, or cannot be loaded is one line, and no component."""

from __future__ import annotations

from dataclasses import replace
from importlib.machinery import ModuleSpec
from pathlib import Path
from typing import Any

import pytest
from automl_admm_boost import libraries
from automl_admm_boost.declared import declare
from automl_admm_boost.libraries import LIBRARIES, find_problem

from automl_admm.plugin_api import BuildContext, PluginError

LIGHTGBM = LIBRARIES[0]


def test_what_is_there_is_no_problem() -> None:
    assert find_problem(LIGHTGBM) == ""


def test_one_that_is_missing_says_how_to_get_it() -> None:
    missing = replace(LIGHTGBM, package="there_is_no_such_package")
    told = "LightGBM is not installed: pip install 'lightgbm>=4.5'"
    assert find_problem(missing) == told


@pytest.mark.parametrize(
    ("version", "is_too_old"),
    [("3.3.5", True), ("4.4.99", True), ("4.5", False), ("4.5.0rc1", False), ("10.0", False)],
)
def test_one_that_is_too_old_says_so(
    version: str, is_too_old: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(libraries, "version_of", lambda name: version)
    told = f"LightGBM {version} is older than 4.5: pip install 'lightgbm>=4.5'"
    assert find_problem(LIGHTGBM) == (told if is_too_old else "")


def test_one_that_cannot_be_loaded_says_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "lib_lightgbm.so").write_bytes(b"no library")
    spec = ModuleSpec("lightgbm", None, is_package=True)
    spec.submodule_search_locations = [str(tmp_path)]
    monkeypatch.setattr(libraries, "find_spec", lambda name: spec)
    assert find_problem(LIGHTGBM).startswith("LightGBM cannot be loaded: ")
    assert "\n" not in find_problem(LIGHTGBM)


def test_a_component_without_its_library_is_listed_and_refuses_to_be_built() -> None:
    records: list[Any] = list(declare(LIGHTGBM, missing="gone"))
    assert [(record.name, record.missing) for record in records] == [("lightgbm", "gone")] * 2
    with pytest.raises(PluginError, match="gone"):
        records[0].factory({}, BuildContext("classification"))
