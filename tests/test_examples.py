"""Every example runs as a user would run it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[1] / "examples"
EXAMPLES = sorted([*FOLDER.glob("*.py"), *FOLDER.glob("embed/*.py")])
PAGE = FOLDER.parent / "docs" / "how_to" / "embed.md"


def test_there_are_examples() -> None:
    assert EXAMPLES


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example_runs(path: Path, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error", path],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()
    assert not list(tmp_path.iterdir()), "an example must not leave files behind"


def test_the_page_on_embedding_shows_each_of_its_scripts() -> None:
    page, scripts = PAGE.read_text(encoding="utf-8"), sorted(FOLDER.glob("embed/*.py"))
    assert len(scripts) == 5
    assert [one.name for one in scripts if f"../../examples/embed/{one.name})" not in page] == []
