"""`predict --intervals`: the ends of intervals, by rows that the run never had."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from automl_admm.cli.main import main

SEARCH = ("--grammar", "tiny", "--cv=2", "--max-evaluations", "1", "--executor", "inline")

READERS = {
    "csv": pd.read_csv,
    "parquet": pd.read_parquet,
    "jsonl": lambda file: pd.read_json(file, lines=True, precise_float=True),
}


def call(*words: object) -> int:
    with pytest.raises(SystemExit) as ended:
        main([str(word) for word in words])
    return int(ended.value.code or 0)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a run on 80 rows, and tables of more rows."""
    place = tmp_path_factory.mktemp("intervals")
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.normal(size=400), "b": rng.normal(size=400)})
    frame["y"] = frame["a"] + rng.laplace(size=400)
    parts = {"train": (0, 80), "known": (80, 240), "new": (240, 400), "few": (80, 84)}
    for name, (first, last) in parts.items():
        frame[first:last].to_csv(place / f"{name}.csv", index=False)
    assert call("fit", place / "train.csv", "--target", "y", *SEARCH, "--out", place / "run") == 0
    return place


def test_intervals_hold_about_their_share_of_new_rows(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = place / "out.csv"
    words = ("--intervals", "90%", "--calibrate", place / "known.csv", "-o", out)
    assert call("predict", place / "run", place / "new.csv", *words) == 0
    assert "holds at least 90 % of new rows on average, by the 160" in capsys.readouterr().err
    found, truth = pd.read_csv(out), pd.read_csv(place / "new.csv")["y"]
    assert list(found) == ["prediction", "lower", "upper"]
    assert np.allclose((found["lower"] + found["upper"]) / 2, found["prediction"])
    assert 0.8 < np.mean((found["lower"] <= truth) & (truth <= found["upper"])) < 0.98


@pytest.mark.parametrize("ending", ["csv", "parquet", "jsonl"])
def test_prices_of_two_values_lie_within_the_intervals_of_the_file(
    place: Path, tmp_path: Path, ending: str
) -> None:
    """Two in five have just the error of the width."""
    rng = np.random.default_rng(2)
    for name, count in (("train", 300), ("known", 200), ("new", 400)):
        prices = pd.DataFrame({"shop": rng.choice(["u", "v"], count), "y": 2.6})
        prices.loc[rng.permutation(count) % 5 < 2, "y"] = 0.3
        prices.to_csv(tmp_path / f"{name}.csv", index=False)
    run, out = tmp_path / "run", tmp_path / f"out.{ending}"
    assert call("fit", tmp_path / "train.csv", "--target", "y", *SEARCH, "--out", run) == 0
    words = ("--intervals", "90%", "--calibrate", tmp_path / "known.csv", "-o", out)
    assert call("predict", run, tmp_path / "new.csv", *words) == 0
    found, truth = READERS[ending](out), pd.read_csv(tmp_path / "new.csv")["y"]
    assert np.mean((found["lower"] <= truth) & (truth <= found["upper"])) > 0.85


def test_rows_given_several_times_are_told(
    place: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pd.concat([pd.read_csv(place / "known.csv")] * 5).to_csv(tmp_path / "five.csv", index=False)
    words = ("--intervals", "90%", "--calibrate", tmp_path / "five.csv")
    assert call("predict", place / "run", place / "new.csv", *words) == 0
    assert "640 of the 800 rows of" in capsys.readouterr().err


@pytest.fixture(scope="module")
def visits(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a run on patients of 10 visits each, and tables of other patients."""
    place = tmp_path_factory.mktemp("visits")
    rng, patients = np.random.default_rng(1), np.repeat(np.arange(240), 10)
    frame = pd.DataFrame({"a": rng.normal(size=2400), "patient": patients})
    frame["y"] = frame["a"] + 3 * rng.normal(size=240)[patients] + 0.1 * rng.normal(size=2400)
    parts = {"train": (0, 20), "known": (20, 60), "few": (60, 68), "new": (68, 240)}
    for name, (first, last) in parts.items():
        frame[10 * first : 10 * last].to_csv(place / f"{name}.csv", index=False)
    frame[:80].drop(columns="patient").to_csv(place / "nobody.csv", index=False)
    words = ("--target", "y", "--group", "patient", *SEARCH, "--out", place / "run")
    assert call("fit", place / "train.csv", *words) == 0
    return place


def test_rows_of_groups_are_told_and_counted_by_group(
    visits: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ("--intervals", "90%", "--calibrate", visits / "known.csv", "-o", visits / "out.csv")
    assert call("predict", visits / "run", visits / "new.csv", *words) == 0
    told = capsys.readouterr().err
    assert "holds at least 90 % of new rows in new groups on average, by the 400 in 40" in told
    found, truth = pd.read_csv(visits / "out.csv"), pd.read_csv(visits / "new.csv")["y"]
    assert np.mean((found["lower"] <= truth) & (truth <= found["upper"])) > 0.85


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ("few.csv", "8 groups are too few for intervals that hold 90 % of new ones; it takes 9."),
        ("nobody.csv", "has no column 'patient', which the run was told of"),
    ],
)
def test_rows_of_few_groups_or_of_unknown_ones_give_no_intervals(
    visits: Path, table: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ("--intervals", "90%", "--calibrate", visits / table)
    assert call("predict", visits / "run", visits / "new.csv", *words) == 3
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--intervals", "90%", "--calibrate", "train.csv"), "the model learned from 64 of these"),
        (("--intervals", "90%", "--calibrate", "few.csv"), "4 rows are too few"),
        (("--intervals", "90%"), "need both"),
        (("--calibrate", "known.csv"), "need both"),
        (("--intervals", "90", "--calibrate", "known.csv"), "Write it like 90%"),
        (("--intervals", "nan", "--calibrate", "known.csv"), "no share between 0 and 1"),
    ],
)
def test_what_would_give_wrong_intervals_is_refused_in_a_line(
    place: Path,
    words: tuple[str, ...],
    message: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(place)
    assert call("predict", "run", "new.csv", *words) in (2, 3)
    told = capsys.readouterr()
    assert message in told.err
    assert told.out == ""
