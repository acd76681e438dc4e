"""What a run makes of its own table when it reads it again, from this file or another kind."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

Run = Callable[..., Any]

SEARCH = (
    *("--grammar", "tiny", "--cv=2", "--max-evaluations", "3", "--theta-solver", "random"),
    *("--executor", "inline", "--target", "late", "--sensitive", "site"),
)
LIMITS = ("--constraint", "fpr <= 0.4", "--constraint", "auc_gap[site] <= 0.5", "--certify", "0.9")


def flights(rows: int = 900) -> pd.DataFrame:
    """Truth values with and without gaps, also as the target; groups that look like numbers."""
    rng = np.random.default_rng(4)
    frame = pd.DataFrame({"storm": rng.random(rows) < 0.5, "full": rng.random(rows) < 0.5})
    frame["full"] = frame["full"].astype(object).where(rng.random(rows) < 0.9)
    frame["gate"] = rng.choice(["01", "1", "NA", "B2"], rows)
    frame["load"] = np.where(rng.random(rows) < 0.02, np.nan, rng.integers(0, 9, rows))
    frame["site"] = rng.choice(["007", "19"], rows)
    score = 3.0 * frame["storm"] + 2.0 * (frame["full"] == True) + (frame["gate"] == "01")  # noqa: E712
    frame["late"] = score + rng.normal(size=rows) > 2.5
    return frame


def write(frame: pd.DataFrame, path: Path) -> Path:
    if path.suffix == ".csv":
        frame.to_csv(path, index=False)
    else:
        frame.to_parquet(path, index=False)
    return path


@pytest.mark.fault(
    "F61",
    injected="a certified run on True and False with gaps; verify reads its table again, as CSV "
    "and as Parquet, all of it and the rows set aside alone",
    expected="the same rows: the data agree",
)
@pytest.mark.parametrize("first", ["flights.csv", "flights.parquet"])
def test_verify_finds_the_rows_of_the_run(
    run: Run, tmp_path: Path, first: str, seen: Callable[[str], None]
) -> None:
    frame = flights()
    done = run("fit", write(frame, tmp_path / first), *SEARCH, *LIMITS, "--out", "out")
    assert done.code == 0, done.err
    places = json.loads((tmp_path / "out" / "certification-rows.json").read_text())["places"]
    few = frame.iloc[places]
    files = [tmp_path / first, write(frame, tmp_path / "again.csv")]
    files += [write(frame, tmp_path / "again.parquet"), write(few, tmp_path / "few.csv")]
    for path in files:
        done = run("verify", "out", path)
        assert done.code == 0, f"{path.name}: {done.out} {done.err}"
        assert "the data agree: CERTIFIED" in done.out
    seen(f"after {first}: {len(files)} files, the data agree: CERTIFIED")


def test_a_run_goes_on_with_the_same_table_of_another_kind(run: Run, tmp_path: Path) -> None:
    frame = flights(300)
    csv = write(frame, tmp_path / "flights.csv")
    assert run("fit", csv, *SEARCH, "--out", "out").code == 0
    parquet = write(frame, tmp_path / "flights.parquet")
    done = run("resume", "out", parquet, "--max-evaluations", "+1")
    assert done.code == 0, done.err
    changed = frame.assign(storm="perhaps")
    done = run("resume", "out", write(changed, csv), "--max-evaluations", "+1")
    assert done.code == 3
    assert "flights.csv, line 2: column 'storm' holds 'perhaps'" in done.err
    allowed = ("--max-evaluations", "+1", "--allow-changed")
    done = run("resume", "out", csv, *allowed)
    assert done.code == 0, done.err
