"""Run folders of this format predict, verify and go on, wherever they were made; others do not.

The folders in `stored_run` were made on the table beside them; the predictions of its first rows
are in `expected.csv`. A change that makes such a folder mean another thing needs the next number
of `RUN_FORMAT`, and folders made anew.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pandas as pd
import pytest

from automl_admm.cli.main import main
from automl_admm.store.json_content import FORMAT, with_digest

STORED = Path(__file__).with_name("stored_run")
# Where the tests run with another scikit-learn than the stored run did, it says so.
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.InconsistentVersionWarning")


@pytest.fixture(params=["stacked", "group_thresholds"])
def stored(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    return Path(shutil.copytree(STORED / request.param, tmp_path / "run"))


def run(*arguments: object) -> int:
    with pytest.raises(SystemExit) as ended:
        main([str(argument) for argument in arguments])
    return int(ended.value.code or 0)


def test_a_stored_model_predicts_what_it_predicted(stored: Path, tmp_path: Path) -> None:
    expected = pd.read_csv(stored / "expected.csv")
    rows = tmp_path / "rows.csv"
    pd.read_csv(stored / "data.csv").head(len(expected)).to_csv(rows, index=False)
    assert run("predict", stored, rows, "-o", tmp_path / "out.csv") == 0
    pd.testing.assert_frame_equal(pd.read_csv(tmp_path / "out.csv"), expected)


def test_a_stored_certificate_is_computed_again(
    stored: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("verify", stored, stored / "data.csv") == 0
    assert "the data agree: CERTIFIED" in capsys.readouterr().out


def test_a_stored_run_goes_on(stored: Path, tmp_path: Path) -> None:
    more = ("--max-evaluations", "4", "--executor", "inline", "--on-infeasible", "closest", "-q")
    assert run("resume", stored, stored / "data.csv", *more) == 0
    assert json.loads((stored / "store.json").read_text())["rows"] == 4
    assert run("predict", stored, stored / "data.csv", "-o", tmp_path / "out.csv") == 0


@pytest.mark.parametrize("found", [None, 0, 2])
@pytest.mark.parametrize("command", ["report", "resume", "predict", "verify"])
def test_a_folder_of_another_format_is_refused_in_a_line(
    command: str, found: int | None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = Path(shutil.copytree(STORED / "stacked", tmp_path / "run"))
    for name in ("run.json", "model.json"):
        content = json.loads((folder / name).read_text())
        content = {key: value for key, value in content.items() if key != FORMAT}
        content |= {} if found is None else {FORMAT: found}
        (folder / name).write_text(json.dumps(with_digest(content)))
    data = () if command == "report" else (folder / "data.csv",)
    assert run(command, folder, *data) == 7
    (line,) = capsys.readouterr().err.splitlines()
    assert "was written by another version of automl-admm. Fit again, or use the version" in line
