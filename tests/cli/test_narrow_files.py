"""Rows of a run are known where another file has their numbers in a narrower or a wider type."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from certified_rows import ROWS, fit, fit_in_python, told, written

ROLES = ("feature", "group", "weight", "time", "sensitive")


def with_more(*kinds: str) -> pd.DataFrame:
    """Return rows with one column more, of tenths, in the types that it had one after another."""
    more = pd.Series(np.arange(len(ROWS)) % 50 + 0.1)
    for kind in kinds:
        more = more.astype(kind)
    return ROWS.assign(more=more)


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Certified runs on numbers of 64 bits, one for each role of their column."""
    folder = tmp_path_factory.mktemp("runs")
    file = written(with_more("float64"), folder / "rows.parquet")
    for role in ROLES:
        as_role = () if role == "feature" else (f"--{role}", "more")
        fit(file, folder / role, *as_role)
    return folder


def check_known(capsys: Any, run: Path, later: Path) -> None:
    code, said = told(capsys, "verify", run, later, "--fresh")
    assert code == 3, said
    assert "400 of the 400 rows" in said
    code, said = told(capsys, "evaluate", run, later, "--json")
    assert code == 0, said
    learned = json.loads((run / "run.json").read_text())["data"]["rows"]
    assert json.loads(said)["learned_rows"] == learned


@pytest.mark.parametrize("kind", ["float16", "float32"])
@pytest.mark.parametrize("role", ROLES)
def test_rows_are_known_in_a_narrower_type(
    runs: Path, tmp_path: Path, role: str, kind: str, capsys: Any
) -> None:
    check_known(capsys, runs / role, written(with_more(kind), tmp_path / "later.parquet"))


@pytest.mark.parametrize("role", ["sample_weight", "time"])
def test_a_feature_made_wide_is_known_beside_a_narrow_column_of_its_name(
    tmp_path: Path, role: str, capsys: Any
) -> None:
    narrow, wide = with_more("float32"), with_more("float32", "float64")
    run = fit_in_python(wide, tmp_path / "run", **{role: narrow["more"]})
    files = {"narrow.parquet": narrow, "wide.parquet": wide, "rows.csv": narrow}
    for name, rows in files.items():
        check_known(capsys, run, written(rows, tmp_path / name))


@pytest.mark.parametrize("own", [("float64",), ("float32", "float64"), ("float32",)])
@pytest.mark.parametrize("of_time", [("float64",), ("float32", "float64"), ("float32",)])
def test_two_columns_are_known_whatever_type_each_had(
    tmp_path: Path, own: tuple[str, ...], of_time: tuple[str, ...], capsys: Any
) -> None:
    run = fit_in_python(
        with_more(*own), tmp_path / "run", time=with_more(*of_time)["more"].rename("when")
    )
    for later in (("float64",), ("float32", "float64"), ("float32",)):
        rows = with_more(*later).assign(when=with_more(*later)["more"])
        check_known(capsys, run, written(rows, tmp_path / "later.parquet"))


def test_a_look_knows_its_rows_in_another_type(runs: Path, tmp_path: Path, capsys: Any) -> None:
    later = with_more("float32").assign(a=ROWS["a"] + 0.001)
    first = written(later, tmp_path / "first.parquet")
    assert told(capsys, "monitor", runs / "feature", first)[0] == 0
    again = later.assign(more=with_more("float64")["more"]).sample(frac=1.0, random_state=0)
    code, said = told(capsys, "monitor", runs / "feature", written(again, tmp_path / "b.parquet"))
    assert code == 3
    assert "has the rows of look 1 again" in said
