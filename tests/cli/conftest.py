"""Running the command line as a user would, in this process or in one of its own."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from program import run_program

from automl_admm.cli.main import main


@dataclass(frozen=True)
class Ended:
    code: int
    out: str
    err: str


Run = Callable[..., Ended]


@pytest.fixture(scope="module", autouse=True)
def quick_searches(quick_servers: None) -> None:
    """Fork servers of runs in this process from one that has imported all."""


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run the program in this process, in an empty folder."""
    monkeypatch.chdir(tmp_path)

    def call(*arguments: str | Path) -> Ended:
        with pytest.raises(SystemExit) as ended:
            main([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return Ended(int(ended.value.code or 0), captured.out, captured.err)

    return call


@pytest.fixture
def install(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> Callable[[str], None]:
    """Lay a distribution with a solver where this process and its children find it."""

    def call(text: str) -> None:
        folder = tmp_path_factory.mktemp("site")
        (folder / "foreign_solver.py").write_text(text)
        about = folder / "foreign_solver-1.0.dist-info"
        about.mkdir()
        name = "Metadata-Version: 2.1\nName: foreign-solver\nVersion: 1.0\n"
        (about / "METADATA").write_text(name)
        (about / "entry_points.txt").write_text("[automl_admm]\nforeign = foreign_solver\n")
        monkeypatch.syspath_prepend(str(folder))
        monkeypatch.setenv("PYTHONPATH", str(folder), prepend=os.pathsep)
        monkeypatch.delitem(sys.modules, "foreign_solver", raising=False)

    return call


@pytest.fixture
def spawn(tmp_path: Path) -> Run:
    """Run the program as a process of its own."""

    def call(*arguments: str | Path, **options: Any) -> Ended:
        done = run_program(*arguments, cwd=tmp_path, **options)
        return Ended(done.returncode, done.stdout, done.stderr)

    return call


@pytest.fixture
def table(people_once: Path, tmp_path: Path) -> Path:
    """A small table with text, gaps and a target of two classes."""
    return Path(shutil.copy(people_once, tmp_path))


@pytest.fixture(scope="session")
def people_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make that table."""
    rng = np.random.default_rng(0)
    rows = 160
    frame = pd.DataFrame(
        {"age": rng.integers(18, 90, rows).astype(float), "height": rng.normal(170, 9, rows)}
    )
    frame["city"] = rng.choice(["Ulm", "Bonn", "Kiel"], rows)
    frame["buys"] = np.where(frame["age"] + 10 * rng.normal(size=rows) > 50, "yes", "no")
    frame.loc[::9, "age"] = np.nan
    path = tmp_path_factory.mktemp("people") / "people.csv"
    frame.to_csv(path, index=False)
    return path
