"""A model in use on rows with weights or in groups: each look draws its rows as all looks do."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from automl_admm import AutoMLClassifier, monitor

Run = Callable[..., Any]
HEAVY = 20.0
FEATURES = ["x", "z"]


def rows(count: int, seed: int, heavy: float, *, turned: bool = True) -> pd.DataFrame:
    """Make rows, a share of which weighs more; the model is wrong on these alone."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(rng.normal(size=(count, 2)), columns=FEATURES)
    is_heavy = rng.random(count) < heavy
    frame["w"] = np.where(is_heavy, HEAVY, 1.0)
    frame["y"] = ((frame["x"] > 0) ^ (is_heavy & turned)).astype(int)
    return frame


def fitted(folder: Path, frame: pd.DataFrame, **roles: Any) -> Path:
    AutoMLClassifier(
        grammar="tiny",
        cv=2,
        max_evaluations=1,
        executor="inline",
        random_state=0,
        constraints=["error <= 0.3"],
        work_dir=folder / "RUN",
    ).fit(frame[FEATURES], frame["y"], **roles)
    return folder / "RUN"


@pytest.fixture(scope="module")
def weighted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    known = rows(400, 0, heavy=0.05, turned=False)
    return fitted(tmp_path_factory.mktemp("weighted"), known, sample_weight=known["w"])


@pytest.fixture
def folder(weighted: Path, tmp_path: Path) -> Path:
    shutil.copytree(weighted, tmp_path / "RUN")
    return tmp_path / "RUN"


def look(run: Run, folder: Path, frame: pd.DataFrame, code: int = 0) -> dict[str, Any]:
    frame.to_csv("rows.csv", index=False)
    done = run("monitor", folder, "rows.csv", "--json")
    assert done.code == code, done.err
    told: dict[str, Any] = json.loads(done.out)
    return told


def test_small_looks_weigh_rows_as_a_large_one_does(folder: Path) -> None:
    """Most of the small looks have no heavy row at all, and all of their rows weigh the same."""
    lots = [rows(10, seed, heavy=0.05) for seed in range(1, 31)]
    for lot in lots:
        one = monitor(folder, lot).limits[0]
    whole = pd.concat(lots)
    is_wrong = (whole["w"] > 1).astype(float)
    true = np.average(is_wrong, weights=whole["w"])
    assert true > 0.4
    assert one.pooled == pytest.approx(true, abs=0.2)
    assert one.state != "holds"


@pytest.mark.parametrize("order", ["light first", "heavy first"])
def test_a_file_for_each_weight_counts_by_it(run: Run, folder: Path, order: str) -> None:
    light, heavy = rows(950, 1, heavy=0.0), rows(50, 2, heavy=1.0)
    lots = [light, heavy] if order == "light first" else [heavy, light]
    monitor(folder, lots[0])
    told = look(run, folder, lots[1], code=6)
    assert told["limits"][0]["pooled"] == pytest.approx(0.51, abs=0.1)
    assert told["limits"][0]["lower"] > 0.3
    assert (told["pooled_rows"], told["not_counted"]) == (1000, [])


def test_rows_that_were_drawn_stay_so_at_each_look(run: Run, folder: Path) -> None:
    look(run, folder, rows(300, 1, heavy=0.0))
    heavy = look(run, folder, rows(10, 2, heavy=1.0), code=6)
    before = heavy["limits"][0]
    light = rows(1, 3, heavy=0.0)
    after = monitor(folder, light).limits[0]
    assert after.pooled == pytest.approx(before["pooled"], rel=0.11)


def test_the_rows_of_one_patient_count_as_one(run: Run, tmp_path: Path) -> None:
    """Wrong on one patient of many visits: with a file for each, visits must not count."""
    known = rows(300, 0, heavy=0.0)
    visits = pd.Series(np.arange(300) // 30, name="patient")
    folder = fitted(tmp_path, known, groups=visits)
    for number in range(4):
        lot = rows(30, 10 + number, heavy=0.0).assign(patient=number)
        told = look(run, folder, lot)
    assert told["limits"][0]["pooled"] == 0.0
    assert told["limits"][0]["upper"] > 0.3
    assert told["limits"][0]["state"] == "open"
    alone = rows(30, 20, heavy=0.0)
    few = monitor(folder, alone.assign(patient=np.arange(30))).limits[0]
    assert few.upper > 0.3


def test_a_look_without_labels_knows_no_weight(run: Run, folder: Path) -> None:
    scaled = [rows(200, seed, heavy=0.1) for seed in (1, 2)]
    look(run, folder, scaled[0].drop(columns=["y", "w"]))
    told = look(run, folder, scaled[1], code=6)
    assert told["limits"][0]["pooled"] > 0.3


def test_weights_in_another_unit_are_told_with_the_cure(run: Run, folder: Path) -> None:
    """Each weight is divided by their sum: nearly no row is drawn, so no limit would be tested."""
    frame = rows(400, 1, heavy=0.5)
    told = look(run, folder, frame.assign(w=frame["w"] / frame["w"].sum()))
    (said,) = told["not_counted"]
    assert said.startswith("the largest weight of these rows is 0.00")
    assert f"and of the fit 20: so {told['drawn']} of 400 rows of this look count." in said
    assert "another unit" in said
    assert "look-0001.json' and give the rows again" in said
    (folder / "monitoring" / "look-0001.json").unlink()
    again = look(run, folder, frame, code=6)
    assert again["not_counted"] == []
    assert 0 < again["drawn"] < 400


def test_a_mistyped_weight_is_told_at_its_look_and_later(run: Run, folder: Path) -> None:
    look(run, folder, rows(300, 1, heavy=0.0))
    typed = rows(300, 2, heavy=0.0)
    typed.loc[0, "w"] = 2e7
    (said,) = look(run, folder, typed)["not_counted"]
    assert said.startswith("the largest weight of these rows is 2e+07, and of the fit 20: so ")
    assert "look-0002.json' and give the rows again, corrected" in said
    later = look(run, folder, rows(400, 3, heavy=0.8))
    (said,) = later["not_counted"]
    assert "and of look 2 2e+07: so 0 of 400 rows of this look count." in said
    assert "if the mistake is in look 2, delete it and all looks after it" in said
    assert later["drawn"] == 0


def test_the_number_of_drawn_rows_is_printed(run: Run, folder: Path) -> None:
    rows(400, 1, heavy=0.0).to_csv("rows.csv", index=False)
    done = run("monitor", folder, "rows.csv")
    (first, *_) = done.out.splitlines()
    assert first.startswith("look 1: 400 rows, ")
    assert first.endswith(" of them drawn, 400 labelled in all looks")


def test_a_row_that_is_not_drawn_is_told(folder: Path) -> None:
    found = [monitor(folder, rows(1, seed, heavy=0.0)) for seed in range(3)]
    assert {(one.drawn, len(one.not_counted)) for one in found} <= {(0, 1), (1, 0)}
    (said,) = next(one for one in found if one.drawn == 0).not_counted
    assert said.startswith("0 of 1 row of this look count")


def test_groups_without_weights_have_no_unit_to_mistake(run: Run, tmp_path: Path) -> None:
    """One group of the fit has 150 rows: of 60 small groups hardly a row is drawn, as it is."""
    known = rows(450, 0, heavy=0.0)
    customers = pd.Series(["big"] * 150 + [f"c{place % 60}" for place in range(300)])
    folder = fitted(tmp_path, known, groups=customers.rename("customer"))
    small = rows(60, 1, heavy=0.0).assign(customer=[f"n{place}" for place in range(60)])
    told = look(run, folder, small)
    (said,) = told["not_counted"]
    assert said == (
        f"the largest group of these rows has 1 row, and of the fit 150: so {told['drawn']} of 60 "
        "rows of this look count, as rows of small groups are seldom drawn"
    )
    large = rows(16_000, 2, heavy=0.0).assign(customer="huge")
    (said,) = look(run, folder, large)["not_counted"]
    assert said.startswith("the largest group of these rows has 16000 rows, and of the fit 150: so")
    assert said.endswith("hardly a row of other looks, as rows of small groups are seldom drawn")
