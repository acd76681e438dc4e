"""A run in the form of another tool, by an exporter that somebody else's plugin brings."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]
STORED_RUN = Path(__file__).parents[1] / "runs" / "stored_run" / "stacked"
EXPORTER = """
from pathlib import Path
from automl_admm.plugin_api import ExporterPlugin, hookimpl

class MyStop(BaseException):
    pass

def write(run, target):
    if target == "broken":
        raise OSError("the server\\nis away")
    if target == "full":
        raise OSError(28, "No space left on device", target)
    if target == "own":
        raise MyStop("enough\\nfor today.")
    if target == "mute":
        return None
    space = run.info.space
    for one in run.log:
        assert set(space.values(one.candidate)) >= {p.name for p in space.parameters if not p.when}
    best = run.info.score_of(run.best.loss)
    Path(target).write_text(f"{run.state} {run.best.number} {best:.4f} {run.feasible}")
    return f"{len(run.log)} evaluations in {target}"

@hookimpl
def exporters():
    yield ExporterPlugin(name="notes", summary="notes", target="FILE", write=write)
"""


@pytest.fixture
def folder(tmp_path: Path, install: Callable[[str], None]) -> Path:
    install(EXPORTER)
    return Path(shutil.copytree(STORED_RUN, tmp_path / "RUN"))


def test_an_exporter_is_given_the_run_with_its_space(run: Run, folder: Path) -> None:
    board = run("leaderboard", folder, "-n", "1").out
    done = run("export", folder, "--to", "notes:notes.txt")
    assert done.code == 0, done.err
    count = len(run("store", "export", folder, "--format", "jsonl").out.splitlines())
    assert done.out == f"{count} evaluations in notes.txt\n"
    state, number, score, feasible = Path("notes.txt").read_text().split()
    assert (state, feasible) == ("done", "True")
    row = next(line.split() for line in board.splitlines() if line.startswith(f"{number} "))
    assert score == row[1]


def test_a_space_that_means_something_else_by_now_is_refused(run: Run, folder: Path) -> None:
    path = folder / "run.json"
    content = json.loads(path.read_text())
    content["settings"]["max_depth"] = 1
    content["column_kinds"] = []
    content["settings"]["grammar_text"] = "%import components (gaussian_nb)\nstart: gaussian_nb\n"
    path.write_text(json.dumps(content))
    done = run("export", folder, "--to", "notes:notes.txt")
    assert done.code == 7
    assert "cannot be made again" in done.err
    assert not Path("notes.txt").exists()


@pytest.mark.parametrize(
    ("options", "code", "said"),
    [
        ((), 2, "say one of --onnx FILE and --to NAME:TARGET."),
        (("--to", "notes:x", "--onnx", "y"), 2, "say one of --onnx FILE and --to NAME:TARGET."),
        (("--to", "notes:x", "--data", "y.csv"), 2, "--data goes with --onnx alone"),
        (("--to", "notes"), 2, "'notes' does not say where to write. Write notes:FILE"),
        (("--to", "note:x"), 2, "no exporter named 'note'. Did you mean 'notes'?"),
        (("--to", "notes:broken"), 2, "failed: OSError: the server"),
        (("--to", "notes:own"), 2, "failed: MyStop: enough for today."),
        (("--to", "notes:full"), 8, "no room left: 'full' No space left on device."),
        (("--to", "notes:mute"), 2, "returned None, no line of text."),
    ],
)
def test_a_wrong_request_is_one_line(
    run: Run, folder: Path, options: tuple[str, ...], code: int, said: str
) -> None:
    done = run("export", folder, *options)
    assert said in done.err
    assert done.err.count("\n") == 1
    assert done.code == code


def test_a_folder_without_a_run_is_one_line(run: Run, folder: Path) -> None:
    done = run("export", folder.parent / "nowhere", "--to", "notes:x")
    assert done.code == 7
    assert "holds no run.json" in done.err
