"""Rows that are alike by nature, as in an outage, of one day or of one customer, are a look."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from automl_admm import AutoMLClassifier, LimitWarning, monitor
from automl_admm.core.errors import DataError

Run = Callable[..., Any]


def fitted(folder: Path, frame: pd.DataFrame, used: list[str], **more: Any) -> Path:
    search = AutoMLClassifier("tiny", cv=2, max_evaluations=1, executor="inline", random_state=0)
    search.set_params(constraints=["recall >= 0.01"], certify=0.9, work_dir=folder / "RUN")
    search.fit(frame[used], frame["buys"], **more)
    return folder / "RUN"


def sensors(rows: int, seed: int, blank: float) -> pd.DataFrame:
    """Make measurements, of which a share has no value in any column."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.normal(size=(rows, 3)), columns=list("abc"))
    y = np.where(X["a"] + rng.normal(size=rows) > 0, "yes", "no")
    X.loc[rng.random(rows) < blank, :] = np.nan
    return X.assign(buys=y)


@pytest.fixture(scope="module")
def sensed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return fitted(tmp_path_factory.mktemp("sensed"), sensors(1500, 1, 0.004), list("abc"))


@pytest.fixture
def folder(sensed: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(sensed, tmp_path / "RUN"))


def learned_from(folder: Path, frame: pd.DataFrame) -> pd.DataFrame:
    places = json.loads((folder / "certification-rows.json").read_text())["places"]
    return frame.drop(index=places)


def test_an_outage_is_a_look_and_counts_at_the_next(run: Run, folder: Path) -> None:
    sensors(400, 2, 0.3).to_csv(folder.parent / "1.csv", index=False)
    done = run("monitor", folder, folder.parent / "1.csv")
    assert done.code == 0, done.err
    assert (
        "equal rows that the model learned from. New rows may equal so many by chance" in done.err
    )
    assert "before them" not in done.err
    assert run("verify", folder, folder.parent / "1.csv", "--fresh").code == 0
    with pytest.warns(LimitWarning, match="rows equal rows of an earlier look"):
        found = monitor(folder, sensors(400, 3, 0.3))
    assert found.not_counted == ()
    assert found.limits[0].pooled != found.limits[0].value


@pytest.mark.parametrize("own", [60, 300])
def test_rows_of_the_fit_are_known_in_an_outage(folder: Path, own: int) -> None:
    some = learned_from(folder, sensors(1500, 1, 0.004))[:own]
    with pytest.raises(DataError, match="equal rows that the model learned from"):
        monitor(folder, pd.concat([some, sensors(500 - own, 4, 0.3)]))


def shop(rows: int, seed: int, days: Any) -> pd.DataFrame:
    """Make visits of few values, on a day or on each of many."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"a": rng.integers(0, 3, rows), "c": rng.choice(["x", "y"], rows)})
    frame["buys"] = np.where(frame["a"] + rng.normal(size=rows) > 1, "yes", "no")
    return frame.assign(day=pd.Timestamp("2024-01-01") + pd.to_timedelta(days, unit="D"))


def test_the_evening_of_a_day_is_a_look_after_its_morning(run: Run, tmp_path: Path) -> None:
    old = shop(1500, 1, np.arange(1500) // 15)
    folder = fitted(tmp_path, old, ["a", "c"], time=old["day"])
    for seed, day in ((2, 101), (3, 101), (4, 102)):
        shop(300, seed, np.full(300, day)).to_csv(tmp_path / f"{seed}.csv", index=False)
        done = run("monitor", folder, tmp_path / f"{seed}.csv")
        assert done.code == 0, done.err
        assert "before them" not in done.err
        assert ("rows equal rows of an earlier look" in done.err) == (seed == 3)


def customers(week: int) -> pd.DataFrame:
    """Return those of a week, most of whom come in many weeks."""
    rng, each = np.random.default_rng(99), np.arange(1500)
    all_ = pd.DataFrame(
        {"a": rng.integers(18, 70, 1500), "b": rng.integers(1000, 9000, 1500), "id": each}
    )
    rng = np.random.default_rng(week)
    some = all_[rng.random(1500) < 0.4]
    return some.assign(buys=np.where((some["a"] > 45) ^ (rng.random(len(some)) < 0.3), "yes", "no"))


@pytest.mark.parametrize("is_grouped", [True, False])
def test_customers_of_every_week_are_told_and_refused_if_the_fit_has_one(
    tmp_path: Path, *, is_grouped: bool
) -> None:
    for weeks in (1, 6):
        old = pd.concat(map(customers, range(weeks)), ignore_index=True)
        place = tmp_path / f"{weeks} weeks"
        folder = fitted(place, old, ["a", "b"], **({"groups": old["id"]} if is_grouped else {}))
        if weeks == 1:
            with pytest.raises(DataError, match="unchanged since, are what the model learned from"):
                monitor(folder, customers(20))
            continue
        for week in (20, 21):
            with pytest.warns(LimitWarning) as told:
                assert monitor(folder, customers(week)).learned
            assert "of the same objects, unchanged since the fit" in str(told[0].message)
