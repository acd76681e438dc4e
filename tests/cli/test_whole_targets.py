"""A quantity in whole numbers: the run knows its own rows again from any file and type."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from certified_rows import ASKED, ROWS, fit, fit_in_python, told, written

TENTHS = (ROWS["y"] + 0.1).astype("float32")
# The types of a column with a role.
ROLES = {"group": "float32", "weight": "float16", "time": "float32", "sensitive": "float32"}


def typed(kind: str) -> pd.DataFrame:
    return ROWS.assign(y=ROWS["y"].astype(kind))


def with_one_beyond(file: Path, column: str, beyond: float = 1e40) -> Path:
    """Write the rows of a file as pandas widens them beside a number of more than 32 bits."""
    rows = pd.read_parquet(file)
    more = rows.iloc[[0]].assign(**{column: beyond})
    return written(pd.concat([rows, more], ignore_index=True), file.with_name("beyond.parquet"))


def with_more(kind: str) -> pd.DataFrame:
    """Return rows with one column more, of tenths that the type rounds."""
    return ROWS.assign(more=(np.arange(len(ROWS)) % 350 + 0.1).astype(kind))


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Certified runs on whole numbers in text, on numbers with a point, and on 32 bits.

    In the others the feature `a` or a column with another role has 32 bits or 16.
    """
    folder = tmp_path_factory.mktemp("runs")
    files = {
        "whole": written(ROWS, folder / "whole.csv"),
        "point": written(typed("float64"), folder / "point.csv"),
        "small": written(typed("int32"), folder / "small.parquet"),
        "narrow": written(typed("float32"), folder / "narrow.parquet"),
        "tenths": written(ROWS.assign(y=TENTHS), folder / "tenths.parquet"),
        "feature": written(ROWS.astype({"a": "float32"}), folder / "feature.parquet"),
    }
    for name, file in files.items():
        fit(file, folder / name)
    for role, kind in ROLES.items():
        name = written(with_more(kind), folder / f"{role}.parquet")
        fit(name, folder / role, f"--{role}", "more")
    return folder


@pytest.mark.parametrize("file", ["whole.csv", "point.csv", "small.parquet", "narrow.parquet"])
@pytest.mark.parametrize("run", ["whole", "point", "small", "narrow"])
def test_a_certificate_is_verified_from_any_form(
    runs: Path, run: str, file: str, capsys: Any
) -> None:
    code, said = told(capsys, "verify", runs / run, runs / file)
    assert code == 0, said
    assert "the data agree: CERTIFIED" in said


def test_rows_of_the_run_are_known_without_a_certificate(tmp_path: Path, capsys: Any) -> None:
    """They are counted by `evaluate`, and refused as rows to calibrate on or to watch."""
    file, run = written(ROWS, tmp_path / "rows.csv"), tmp_path / "run"
    words = ("fit", file, "--target", "y", "--task", "regression", *ASKED, "--out", run)
    assert told(capsys, *words, "--constraint", "errors_above_5 <= 30 %")[0] == 0
    floats = written(typed("float64").sample(frac=1.0, random_state=0), tmp_path / "mixed.csv")
    for given in (file, floats):
        code, said = told(capsys, "evaluate", run, given, "--json")
        assert code == 0, said
        assert json.loads(said)["learned_rows"] is not None
        words = ("--intervals", "90%", "--calibrate", given, "-o", tmp_path / "out.csv")
        assert told(capsys, "predict", run, given, *words)[0] == 3
        assert told(capsys, "monitor", run, given)[0] == 3


@pytest.mark.parametrize("kind", ["float32", "Float32"])
def test_groups_of_python_are_known_beside_a_number_beyond_their_type(
    tmp_path: Path, kind: str, capsys: Any
) -> None:
    """The model has a feature of the same name and of another type."""
    wide, groups = with_more("float64"), with_more("float32")["more"].astype(kind)
    fit_in_python(wide, tmp_path / "run", groups=groups)
    later = with_one_beyond(written(with_more("float32"), tmp_path / "rows.parquet"), "more")
    code, said = told(capsys, "verify", tmp_path / "run", later, "--fresh")
    assert code == 3
    assert "400 of the 401 rows" in said


def test_a_run_in_python_is_verified_from_a_file(tmp_path: Path, capsys: Any) -> None:
    fit_in_python(typed("int16"), tmp_path / "run")
    code, said = told(capsys, "verify", tmp_path / "run", written(ROWS, tmp_path / "rows.csv"))
    assert code == 0, said


def test_later_rows_may_have_quantities_that_are_not_whole(runs: Path, capsys: Any) -> None:
    later = ROWS.assign(a=ROWS["a"] + 0.001, y=ROWS["y"] + 0.25)
    file = written(later, runs / "later.csv")
    code, said = told(capsys, "evaluate", runs / "whole", file, "--json")
    assert code == 0, said
    scored = json.loads(said)
    code, said = told(capsys, "evaluate", runs / "point", file, "--json")
    assert json.loads(said)["score"] == pytest.approx(scored["score"], abs=1e-6)


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize("size", [1e18, 1e40])
@pytest.mark.parametrize("run", ["whole", "small", "narrow", "point"])
def test_a_later_quantity_may_be_beyond_the_type_of_the_run(
    runs: Path, tmp_path: Path, run: str, size: float, capsys: Any
) -> None:
    later = ROWS.assign(a=ROWS["a"] + 0.001, y=ROWS["y"].astype(float) * size)
    file = written(later, tmp_path / "later.csv")
    code, said = told(capsys, "evaluate", runs / run, file, "--json")
    assert code == 0, said
    assert json.loads(said)["score"] < 0


@pytest.mark.parametrize(
    ("run", "column"),
    [("tenths", "y"), ("feature", "a"), ("small", "y"), *((role, "more") for role in ROLES)],
)
def test_rows_of_the_run_are_known_beside_a_number_beyond_its_type(
    runs: Path, run: str, column: str, capsys: Any
) -> None:
    """They are no fresh rows, and are counted by `evaluate`."""
    later = with_one_beyond(runs / f"{run}.parquet", column)
    code, said = told(capsys, "verify", runs / run, later, "--fresh")
    assert code == 3
    assert "400 of the 401 rows" in said
    code, said = told(capsys, "evaluate", runs / run, later, "--json")
    assert code == 0, said
    learned = json.loads((runs / run / "run.json").read_text())["data"]["rows"]
    assert json.loads(said)["learned_rows"] == learned
