"""Where a run may write: below the folder that was chosen, under a name that is only a name."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from program import run_program

from automl_admm.cli.commands.fit import slug

pytestmark = pytest.mark.timeout(400)

NAPS = ("naps_0", "naps_1", "naps_2", "naps_3")
HEALTHY = ("decision_tree", "gaussian_nb")
NAMES = {
    "a-b": "a/b",
    "CON": "CON",
    "CON-txt": "CON.txt",
    "rf-x": "-rf x",
    "etc-passwd": "../../etc/passwd",
    "run": "...",
    "Kunden_über_40": "Kunden_über_40",
    "x" * 80: "x" * 300,
    "ü" * 40: "ü" * 200,
    "a-b-c": "a\nb\0c",
}


@pytest.mark.fault(
    "F56",
    injected="data named ../../x, a/b, CON, -rf, 300 characters, control characters",
    expected="a plain name of a folder",
)
def test_the_name_of_a_run_is_only_a_name(seen):
    assert {given: slug(given) for given in NAMES.values()} == {v: k for k, v in NAMES.items()}
    seen(", ".join(f"{name!r:.20} → {slug(name):.20}" for name in NAMES.values()))


@given(st.text(max_size=300))
def test_any_name_becomes_the_name_of_a_folder(name):
    found = slug(name)
    assert Path(found).name == found
    assert found not in ("", ".", "..")
    assert found[0] not in "-."
    assert len(found.encode()) <= 80
    assert slug(found) == found


@pytest.mark.fault(
    "F56", injected="a data file named '-x ;$(id).csv'", expected="a run folder of its own"
)
def test_a_run_folder_is_named_after_the_data(table, tmp_path, seen):
    strange = tmp_path / "-x ;$(id).csv"
    strange.write_bytes(table.read_bytes())
    few = ("--grammar", "tiny", "--cv=2", "--max-evaluations", "1", "--executor", "inline", "-q")
    done = run_program("fit", strange, "--target", "buys", *few, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    (made,) = (tmp_path / "automl-runs").iterdir()
    assert made.name.startswith("x-id-")
    assert {path.name for path in tmp_path.iterdir()} == {strange.name, "automl-runs"}
    seen(f"automl-runs/{made.name}")


@pytest.mark.fault(
    "F56", injected="--out ../../x", expected="that folder, and nothing above or beside it"
)
@pytest.mark.fault(
    "F56", injected="--out is a link to a folder", expected="works in what the user linked"
)
def test_a_chosen_folder_is_the_one(fit, tmp_path, seen):
    inner = tmp_path / "one" / "two"
    inner.mkdir(parents=True)
    ended = fit(inner, HEALTHY, out="../../x")
    assert ended.code == 0, ended.err
    assert {path.name for path in tmp_path.iterdir()} == {"one", "x"}
    (tmp_path / "real").mkdir()
    (inner / "link").symlink_to(tmp_path / "real")
    ended = fit(inner, HEALTHY, out="link")
    assert ended.code == 0, ended.err
    assert (tmp_path / "real" / "model.skops").is_file()
    seen("written there and nowhere else")


@pytest.mark.fault(
    "F56",
    injected="--out is a link to nothing, or a folder in use",
    expected="exit 2, nothing lost",
)
def test_a_folder_that_is_not_free(fit, tmp_path, seen):
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    dangling = fit(tmp_path, HEALTHY, out="link")
    (tmp_path / "used").mkdir()
    (tmp_path / "used" / "mine.txt").write_text("mine")
    used = fit(tmp_path, HEALTHY, out="used")
    assert (dangling.code, used.code) == (2, 2)
    assert not (tmp_path / "nowhere").exists()
    assert [path.name for path in (tmp_path / "used").iterdir()] == ["mine.txt"]
    seen(f"exit 2: {dangling.err.strip()[7:]} exit 2: {used.err.strip()[7:]}")


def remove_whole(folder):
    """Remove a folder in which a run writes: `rmtree` leaves what came after it had looked."""
    for _ in range(100):
        shutil.rmtree(folder, ignore_errors=True)
        if not folder.exists():
            return
    raise AssertionError(f"{folder} cannot be removed")


@pytest.mark.fault(
    "F25",
    injected="the run folder, or the working folder with it, is removed while the run goes on",
    expected="exit 7, one line; nothing is claimed to be saved",
)
@pytest.mark.parametrize("removed", ["out", "."])
@pytest.mark.parametrize("executor", ["local", "inline"])
def test_a_run_folder_that_is_removed(begin, tmp_path, seen, removed, executor):
    place = tmp_path / "work"
    place.mkdir()
    run = begin(place, ("gaussian_nb", *NAPS), "--executor", executor)
    run.wait_for_rows(1)
    remove_whole(place / removed)
    ended = run.end()
    assert ended.code == 7, (ended.out, ended.err)
    assert ended.err.count("\n") == 1
    assert "was removed" in ended.err
    assert "saved in" not in ended.out
    assert not (place / "out").exists()
    assert ended.left == []
    seen(f"exit 7: {ended.err.strip()[-60:]}")


@pytest.mark.fault(
    "F25",
    injected="the working folder is removed, the run folder lies elsewhere",
    expected="works",
)
def test_a_working_folder_that_is_removed(begin, tmp_path, seen):
    place = tmp_path / "work"
    place.mkdir()
    run = begin(place, ("gaussian_nb", *NAPS), out=str(tmp_path / "out"))
    run.wait_for_rows(1)
    remove_whole(place)
    ended = run.end()
    assert ended.code == 0, ended.err
    assert (tmp_path / "out" / "model.skops").is_file()
    seen("exit 0, with its model")


@pytest.mark.fault(
    "F25",
    injected="the working folder is gone before the start",
    expected="exit 7, one line; with --out elsewhere it works",
)
def test_a_start_in_a_folder_that_is_gone(table, tmp_path, seen):
    place = tmp_path / "work"
    command = [
        *(sys.executable, "-P", "-m", "automl_admm", "fit", str(table), "--target", "buys", "-q"),
        *("--grammar", "tiny", "--cv=2", "--max-evaluations", "1", "--executor", "inline"),
    ]
    codes = []
    for more in ((), ("--out", str(tmp_path / "out"))):
        place.mkdir()
        done = subprocess.run(
            ["sh", "-c", 'rmdir "$PWD" && exec "$@"', "-", *command, *more],
            cwd=place,
            capture_output=True,
            text=True,
            check=False,
        )
        codes.append(done.returncode)
        assert "Traceback" not in done.stderr
        if not more:
            assert done.stderr.count("\n") == 1
            assert "the working folder was removed" in done.stderr
    assert codes == [7, 0]
    assert (tmp_path / "out" / "model.skops").is_file()
    seen("exit 7 without --out, exit 0 with it")
