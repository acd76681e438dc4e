"""Where a run may write: below the folder that was chosen, under a name that is only a name."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from automl_admm.cli.commands.fit import slug

pytestmark = pytest.mark.timeout(400)

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
    done = subprocess.run(
        [
            *(sys.executable, "-m", "automl_admm", "fit", str(strange), "--target", "buys"),
            *("--grammar", "tiny", "--max-evaluations", "1", "--executor", "inline", "-q"),
        ],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
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
