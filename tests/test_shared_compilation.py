"""Each worker compiles its share of the files of tests, and runs none of it."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from shared_compilation import compile_share, files_of

TEST = "raise ValueError('it was run')\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    monkeypatch.setattr(sys, "pycache_prefix", None)
    (tmp_path / "deep").mkdir()
    for name in ("test_a", "deep/test_b", "test_c", "no_test"):
        (tmp_path / f"{name}.py").write_text(TEST)
    return tmp_path


def compiled(folder: Path) -> list[str]:
    return sorted(path.name.partition(".")[0] for path in folder.rglob("*.pyc"))


def test_the_shares_of_all_workers_are_all_files(folder: Path) -> None:
    config: Any = SimpleNamespace(args=[str(folder), str(folder / "test_a.py::test_it")])
    compile_share(config)
    assert compiled(folder) == []  # it is no worker
    config.workerinput = {"workerid": "gw0", "workercount": 2}
    compile_share(config)
    assert compiled(folder) == ["test_b", "test_c"]
    config.workerinput = {"workerid": "gw1", "workercount": 2}
    compile_share(config)
    assert compiled(folder) == ["test_a", "test_b", "test_c"]


def test_pytest_takes_what_was_compiled(folder: Path) -> None:
    config: Any = SimpleNamespace(args=[str(folder)])
    config.workerinput = {"workerid": "gw0", "workercount": 1}
    compile_share(config)
    (hook,) = (one for one in sys.meta_path if type(one).__name__ == "AssertionRewritingHook")
    found: Any = hook
    spec = found.find_spec("test_a", [str(folder)])
    assert spec is not None
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("_pytest.assertion.rewrite._rewrite_test", None)
        module: Any = SimpleNamespace(__spec__=spec, __name__="test_a")
        with pytest.raises(ValueError, match="it was run"):
            found.exec_module(module)


def test_files_have_their_whole_names_as_in_pytest(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder.parent)
    assert files_of([folder.name, "absent"])[0] == folder / "deep" / "test_b.py"
