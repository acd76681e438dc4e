"""A share of a file from `fit` to `verify`: a sorted file, with line breaks in its texts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from program import run_program

from automl_admm.cli.shared import run_command
from automl_admm.data import row_portions
from automl_admm.data.reading import feeding, parquet_rows, pieces, timed_reading

ROWS = 6000


@pytest.fixture
def sorted_file(tmp_path: Path) -> Path:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"income": rng.normal(size=ROWS), "debt": rng.normal(size=ROWS)})
    frame["note"] = rng.choice(['he said "no",\nand left', "a,b", "\n\n", "plain"], ROWS)
    frame["bad"] = np.where(frame["income"] > frame["debt"], "yes", "no")
    path = tmp_path / "credit.csv"
    frame.sort_values("bad").to_csv(path, index=False)
    return path


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> None:
    """There is the time for a part of the file."""
    monkeypatch.setattr(timed_reading, "SHORT_BYTES", 0)
    monkeypatch.setattr(pieces, "LEAST_BYTES", 1000)
    monkeypatch.setattr(feeding, "FEWEST", 80)
    monkeypatch.setattr(run_command, "READING", 1e-9)


def elsewhere(*given: object) -> Any:
    """Run the program in another process, which has all the time."""
    return run_program(*map(str, given))


@pytest.fixture
def sorted_parquet(sorted_file: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(parquet_rows, "BATCH", 200)
    path = sorted_file.with_suffix(".parquet")
    pd.read_csv(sorted_file).to_parquet(path, row_group_size=500)
    return path


@pytest.mark.usefixtures("slow")
@pytest.mark.parametrize("kind", ["sorted_file", "sorted_parquet"])
def test_the_same_rows_are_read_by_resume_and_verify(
    run: Any, kind: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    data, out = request.getfixturevalue(kind), tmp_path / "out"
    began = run(
        *("fit", data, "--target", "bad", "--grammar", "tiny", "--out", out),
        *("--constraint", "fpr <= 0.3", "--certify", "0.95", "--executor", "inline"),
        *("--cv=2", "--max-evaluations", "3", "--budget", "600s", "--theta-solver", "random"),
    )
    assert began.code == 0, began.err
    assert "of the file were read, from all over it" in began.err
    before = json.loads((out / "run.json").read_text())
    assert 300 < before["data"]["rows"] < ROWS

    verified = elsewhere("verify", out, data)
    assert verified.returncode == 0, verified.stderr
    assert "the data agree: CERTIFIED" in verified.stdout

    ended = elsewhere("resume", out, "--max-evaluations", "+1", "--budget", "600s")
    assert ended.returncode == 0, ended.stderr
    after = json.loads((out / "run.json").read_text())
    assert after["data"] == before["data"]
    assert after["request"]["share"] == before["request"]["share"]


@pytest.mark.usefixtures("slow")
@pytest.mark.parametrize("is_longer", [True, False])
def test_a_file_that_changed_is_refused(
    run: Any, sorted_file: Path, tmp_path: Path, *, is_longer: bool
) -> None:
    out = tmp_path / "out"
    began = run(
        *("fit", sorted_file, "--target", "bad", "--grammar", "tiny", "--out", out),
        *("--cv=2", "--max-evaluations", "1", "--budget", "600s", "--executor", "inline", "-q"),
    )
    assert began.code == 0, began.err
    text = sorted_file.read_text()
    sorted_file.write_text(text + text[-60:] if is_longer else text.replace("0", "1"))
    ended = elsewhere("resume", out, "--max-evaluations", "+1", "--budget", "600s")
    assert ended.returncode in (3, 7)
    assert "was begun with something else" in ended.stderr or "line" in ended.stderr


def test_a_portion_of_the_rows_is_taken_again_by_resume_and_verify(
    run: Any, sorted_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(row_portions, "FEW_CELLS", 0)
    monkeypatch.setattr(row_portions, "FEWEST_ROWS", 2500)
    monkeypatch.setattr(row_portions, "PREPARING", 0.0)
    table, out = sorted_file.with_suffix(".parquet"), tmp_path / "out"
    pd.read_csv(sorted_file).to_parquet(table)
    began = run(
        *("fit", table, "--target", "bad", "--grammar", "tiny", "--out", out),
        *("--constraint", "fpr <= 0.3", "--certify", "0.95", "--executor", "inline"),
        *("--cv=2", "--max-evaluations", "3", "--budget", "600s", "--theta-solver", "random"),
    )
    assert began.code == 0, began.err
    assert "2500 of 6000 rows were taken, from all over the table" in began.err
    assert "2500 of 6000, in the time given" in began.out
    before = json.loads((out / "run.json").read_text())
    assert 1000 < before["data"]["rows"] < 2500

    verified = elsewhere("verify", out, table)
    assert verified.returncode == 0, verified.stderr
    assert "the data agree: CERTIFIED" in verified.stdout

    ended = elsewhere("resume", out, "--max-evaluations", "+1", "--budget", "600s")
    assert ended.returncode == 0, ended.stderr
    after = json.loads((out / "run.json").read_text())
    assert after["data"] == before["data"]
    assert after["request"]["portion"] == before["request"]["portion"]
