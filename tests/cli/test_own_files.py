"""No output takes the place of a file that its run, or the same command, reads."""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

STORED = Path(__file__).parents[1] / "runs" / "stored_run" / "stacked"
Run = Callable[..., Any]
OUTPUTS = (
    ("report", "old", "-o", "old/run.html"),
    ("report", "old", "-o", "old/model.html"),
    ("report", "old", "-o", "old/store.html"),
    ("report", "old", "-o", "old/certificate.html"),
    ("report", "old", "-o", "old/pipeline.py"),
    ("report", "old", "-o", "link/looks.html"),
    ("report", "old", "--watch", "-o", "old/run.html"),
    ("predict", "old", "rows.csv", "-o", "old/model.json"),
    ("predict", "old", "rows.csv", "-o", "old/predictions/1.npz"),
    ("leaderboard", "old", "--csv", "-o", "old/store.sqlite"),
    ("leaderboard", "old", "--json", "-o", "aside.json"),
    ("store", "export", "old", "-o", "old/STORE.BAK"),
    ("export", "old", "--to", "modelcard:old/model.skops"),
    ("export", "old", "--onnx", "old/model.skops"),
    ("grammar", "show", "tiny", "--svg", "old/grammar.lark"),
)
INPUTS = (
    ("report", "old", "--data", "rows.csv", "-o", "rows.csv"),
    ("report", "old", "--data", "rows.json", "-o", "rows.html"),
    ("predict", "old", "rows.csv", "-o", "linked.csv"),
    ("predict", "old", "x.csv", "--calibrate", "rows.csv", "--intervals", "90%", "-o", "rows.csv"),
    ("export", "old", "--onnx", "rows.csv", "--data", "rows.csv"),
    ("grammar", "show", "mine.lark", "--svg", "mine.lark"),
)


@pytest.fixture
def before(tmp_path: Path) -> dict[Path, str]:
    """Make a run, a link to one of its files, and tables; return the digests of all."""
    shutil.copytree(STORED, tmp_path / "old")
    Path("link").symlink_to("old")
    Path("aside.json").symlink_to("old/run.json")
    Path("rows.csv").write_bytes(b"a,b\n1,2\n")
    Path("rows.json").write_bytes(b'[{"a": 1}]')
    shutil.copy(STORED / "grammar.lark", "mine.lark")
    Path("linked.csv").symlink_to("rows.csv")
    return digests(tmp_path)


def digests(folder: Path) -> dict[Path, str]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {path: hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


@pytest.mark.parametrize("line", OUTPUTS, ids=" ".join)
def test_a_file_of_the_run_is_no_output(
    run: Run, before: dict[Path, str], tmp_path: Path, line: tuple[str, ...]
) -> None:
    ended = run(*line)
    assert (ended.code, ended.out) == (2, "")
    assert "would replace a file of the run" in ended.err
    assert len(ended.err.splitlines()) == 1
    assert digests(tmp_path) == before


@pytest.mark.parametrize("line", INPUTS, ids=" ".join)
def test_an_input_is_no_output(
    run: Run, before: dict[Path, str], tmp_path: Path, line: tuple[str, ...]
) -> None:
    ended = run(*line)
    assert (ended.code, ended.out) == (2, "")
    assert "is read for this output, and would be lost" in ended.err
    assert digests(tmp_path) == before


def test_other_names_beside_the_files_of_a_run_are_free(run: Run, tmp_path: Path) -> None:
    shutil.copytree(STORED, tmp_path / "old")
    assert run("report", "old", "-o", "old/audit.html").code == 0
    assert run("leaderboard", "old", "--csv", "-o", "old/board.csv").code == 0
    assert run("store", "export", "old", "-o", "old/store.csv").code == 0
    assert run("leaderboard", "old", "--csv", "-o", "run.json").code == 0


def test_the_folder_that_a_link_lacks_is_named(
    run: Run, before: dict[Path, str], tmp_path: Path
) -> None:
    del before
    Path("dangling.csv").symlink_to("nowhere/x.csv")
    ended = run("predict", "old", "rows.csv", "-o", "dangling.csv")
    assert ended.code == 2
    assert f"there is no folder '{tmp_path / 'nowhere'}'" in ended.err


def test_a_dash_is_the_screen_and_a_page_needs_a_file(run: Run, before: dict[Path, str]) -> None:
    shown = run("leaderboard", "old", "--csv", "-o", "-")
    assert shown.out == run("leaderboard", "old", "--csv").out
    assert run("store", "export", "old", "-o", "-").out == run("store", "export", "old").out
    os.mkfifo("pipe")
    refused = run("report", "old", "-o", "pipe")
    assert refused.code == 2
    assert refused.err.startswith("error: 'pipe' is no file, and the numbers")
    assert digests(Path.cwd()) == before
