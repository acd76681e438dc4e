"""Sensitive dates: whichever type a file has for them, a run knows its rows and its groups."""

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
    *("--grammar", "tiny", "--cv=0.25", "--max-evaluations", "1", "--executor", "inline"),
    *("--target", "late", "--sensitive", "opened", "--metric", "balanced_accuracy"),
)
LIMITS = ("--constraint", "recall >= 0.2", "--constraint", "fpr_gap[opened] <= 0.9")


def trips(rows: int, seed: int) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    opened = pd.Timestamp("2020-01-31") + pd.to_timedelta(rng.integers(0, 3, rows) * 400, unit="D")
    frame = pd.DataFrame({"far": rng.normal(size=rows), "opened": opened})
    frame["late"] = np.where(frame["far"] + rng.normal(size=rows) > 0, "yes", "no")
    return frame


def write(frame: pd.DataFrame, path: Path) -> Path:
    """Write dates as such to Parquet, as text to CSV, and with the day first to `.dmy.csv`."""
    if path.suffix == ".parquet":
        frame.to_parquet(path, index=False)
    else:
        style = "%d.%m.%Y" if ".dmy" in path.name else None
        frame.to_csv(path, index=False, date_format=style)
    return path


FILES = ("trips.parquet", "trips.csv", "trips.dmy.csv")


@pytest.mark.parametrize("first", FILES)
def test_a_run_knows_its_rows_and_groups_in_every_file(
    run: Run, tmp_path: Path, first: str
) -> None:
    """As dates and as texts they were other rows: its own were tested as fresh, and certified."""
    frame, later = trips(900, 1), trips(400, 2)
    made = run("fit", write(frame, tmp_path / first), *SEARCH, *LIMITS, "--certify=0.9", "--out=o")
    assert made.code == 0, made.err
    looks = []
    for name in FILES:
        own = write(frame, tmp_path / f"own-{name}")
        assert "the data agree: CERTIFIED" in run("verify", "o", own).out
        some = write(frame[::2], tmp_path / f"some-{name}")
        not_fresh = run("verify", "o", some, "--fresh")
        assert not_fresh.code == 3
        assert "450 of the 450 rows" in not_fresh.err
        told = run("evaluate", "o", write(later, tmp_path / f"later-{name}"), "--json")
        looks.append(json.loads(told.out)["constraints"])
        assert "new" not in told.err
    assert looks[0] == looks[1] == looks[2]
    assert run("monitor", "o", tmp_path / "later-trips.parquet").code == 0
    again = run("monitor", "o", tmp_path / "later-trips.csv")
    assert again.code == 3
    assert "has the rows of look 1 again" in again.err
    strange = later.assign(opened=later["opened"].astype(str).replace("2020-01-31", "soon"))
    refused = run("evaluate", "o", write(strange, tmp_path / "strange.csv"))
    assert refused.code == 3
    assert "column 'opened' holds 'soon'" in refused.err


def test_groups_of_dates_are_named_by_the_day(run: Run, tmp_path: Path) -> None:
    made = run("fit", write(trips(900, 1), tmp_path / FILES[0]), *SEARCH, *LIMITS, "--out=o")
    assert made.code == 0, made.err
    assert "sensitive 'opened': dates such as" in made.out + made.err
    new = trips(300, 3)
    new["opened"] += pd.Timedelta(hours=6)
    told = run("evaluate", "o", write(new, tmp_path / "new.parquet"))
    assert "2020-01-31 06:00:00" in told.err
