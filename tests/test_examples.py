"""Every example runs as a user would run it, all but the first without the imports, in a fork."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from program import run_python

FOLDER = Path(__file__).parents[1] / "examples"
EXAMPLES = sorted([*FOLDER.glob("*.py"), *FOLDER.glob("embed/*.py")])
# As `python -W error PATH` does.
AS_SCRIPT = """
import runpy, sys, warnings
from pathlib import Path
warnings.simplefilter("error")
del sys.argv[0]
sys.path[0] = str(Path(sys.argv[0]).parent)
runpy.run_path(sys.argv[0], run_name="__main__")
"""
PAGE = FOLDER.parent / "docs" / "how_to" / "embed.md"


def test_there_are_examples() -> None:
    assert EXAMPLES


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example_runs(path: Path, tmp_path: Path) -> None:
    done = run_new(path, tmp_path) if path == EXAMPLES[0] else run_forked(path, tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()
    assert not list(tmp_path.iterdir()), "an example must not leave files behind"


def run_new(path: Path, folder: Path) -> subprocess.CompletedProcess[str]:
    line = [sys.executable, "-W", "error", path]
    return subprocess.run(line, cwd=folder, capture_output=True, text=True, check=False)


def run_forked(path: Path, folder: Path) -> subprocess.CompletedProcess[str]:
    return run_python("-c", AS_SCRIPT, path, cwd=folder)


def test_the_page_on_embedding_shows_each_of_its_scripts() -> None:
    page, scripts = PAGE.read_text(encoding="utf-8"), sorted(FOLDER.glob("embed/*.py"))
    assert len(scripts) == 5
    assert [one.name for one in scripts if f"../../examples/embed/{one.name})" not in page] == []
