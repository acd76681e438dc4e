"""Certificates of rows with weights and in groups, made and verified on the command line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from automl_admm.cli.shared.run_command import load
from automl_admm.data.reading.tables import read_table
from automl_admm.runs.config import RunConfig
from automl_admm.runs.pipelines import run_pipelines
from automl_admm.runs.prepare.preparation import prepare
from automl_admm.runs.saved.certified_run import read_certified
from automl_admm.runs.saved.given_table import GivenTable
from automl_admm.store.run_folder import RunFolder

ROLES = {"weight": "w", "group": "site"}


def table(seed: int, rows: int = 1600) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"income": rng.normal(size=rows), "debt": rng.normal(size=rows)})
    signal = 2.5 * frame["income"] - 2.5 * frame["debt"] + 0.8 * rng.normal(size=rows)
    frame["bad"] = np.where(signal > 0.0, "yes", "no")
    frame["w"] = rng.choice([1.0, 2.0], rows)
    frame["site"] = [f"{seed}-{number:03}" for number in rng.permutation(rows) // 2]
    frame.loc[::50, "w"] = 0.0
    return frame


@pytest.fixture(scope="module")
def certified(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("certified")
    table(3).to_csv(place / "rows.csv", index=False)
    read = lambda path, options: (read_table(path), None)  # noqa: E731
    loaded = load(place / "rows.csv", "bad", (), read, ROLES)
    config = RunConfig(
        grammar="tiny",
        cv=2,
        max_evaluations=3,
        theta_solver="random",
        executor="inline",
        constraints=("fpr <= 0.4", "size_mb <= 20"),
        certify=0.9,
        looks=place / "looks.json",
        work_dir=place / "out",
    )
    prepared = prepare(config, loaded.X, loaded.y, loaded.sensitive, loaded.columns)
    assert run_pipelines(prepared).is_certified
    return place


def test_only_independent_rows_count_and_no_group_is_on_both_sides(certified: Path) -> None:
    said = json.loads((certified / "out" / "certificate.json").read_text())
    aside = json.loads((certified / "out" / "certification-rows.json").read_text())
    frame = table(3)
    frame = frame[frame["w"] > 0].reset_index(drop=True)
    tested = np.array(aside["places"])[aside["tested"]]
    assert said["tested"] == len(tested) < said["rows"] == len(aside["places"])
    assert frame["site"][tested].is_unique
    negatives = said["findings"][0]["counts"]["negative rows"]
    assert negatives == (frame["bad"][tested] == "no").sum()
    searched = frame.drop(index=aside["places"])
    assert not set(searched["site"]) & set(frame["site"][aside["places"]])


def test_the_largest_weight_of_a_group_is_known_to_later_rows(certified: Path) -> None:
    frame = table(3)
    largest = frame.groupby("site")["w"].sum().max()
    noted = read_certified(RunFolder(certified / "out"), GivenTable(table(3), "rows.csv"))
    assert noted.content["data"]["largest_total"] == pytest.approx(largest)
    assert noted.largest_total() == pytest.approx(largest)


def test_verify_agrees_and_says_what_was_tested(run: Any, certified: Path) -> None:
    ended = run("verify", certified / "out", certified / "rows.csv")
    assert ended.code == 0, ended.err
    assert "were tested, one row of a group at most" in ended.out
    assert "the data agree: CERTIFIED" in ended.out


def test_verify_of_the_rows_set_aside_alone_says_what_it_cannot_compute(
    run: Any, certified: Path, tmp_path: Path
) -> None:
    aside = json.loads((certified / "out" / "certification-rows.json").read_text())
    frame = table(3)
    frame[frame["w"] > 0].iloc[aside["places"]].to_csv(tmp_path / "aside.csv", index=False)
    ended = run("verify", certified / "out", tmp_path / "aside.csv")
    assert ended.code == 0, ended.err
    assert "not computed again: which rows were tested" in ended.out


@pytest.mark.parametrize("column", ["w", "site"])
def test_a_changed_weight_or_group_is_found(
    run: Any, certified: Path, tmp_path: Path, column: str
) -> None:
    frame = table(3)
    frame.loc[7, column] = {"w": 1.5, "site": "elsewhere"}[column]
    frame.to_csv(tmp_path / "rows.csv", index=False)
    ended = run("verify", certified / "out", tmp_path / "rows.csv")
    assert ended.code == 6
    assert "DIFFERS" in ended.out


def test_a_missing_group_column_is_named(run: Any, certified: Path, tmp_path: Path) -> None:
    table(3).drop(columns="site").to_csv(tmp_path / "rows.csv", index=False)
    ended = run("verify", certified / "out", tmp_path / "rows.csv")
    assert ended.code == 3
    assert ".csv has no column 'site'" in ended.err


def test_fresh_rows_are_drawn_by_the_largest_weight_of_both(
    run: Any, certified: Path, tmp_path: Path
) -> None:
    table(4, 2000).to_csv(tmp_path / "new.csv", index=False)
    ended = run("verify", certified / "out", tmp_path / "new.csv", "--fresh")
    assert ended.code == 0, ended.err
    assert "one row of a group at most" in ended.out
    heavy = table(4, 2000)
    heavy.loc[3, "w"] = 1000.0
    heavy.to_csv(tmp_path / "new.csv", index=False)
    # Beside a row of this weight all others are nearly nothing: hardly a row is left to test.
    assert run("verify", certified / "out", tmp_path / "new.csv", "--fresh").code == 6


def test_too_few_groups_for_a_proof_are_told_before_the_search(run: Any, tmp_path: Path) -> None:
    frame = table(5, 400)
    frame["site"] = np.arange(400) % 12
    frame.to_csv(tmp_path / "rows.csv", index=False)
    ended = run(
        *("fit", tmp_path / "rows.csv", "--target", "bad", "--group", "site", "--certify", "0.95"),
        *("--constraint", "fpr <= 0.1", "--cv=2", "--max-evaluations", "2", "--grammar", "tiny"),
    )
    assert ended.code == 2
    assert "there can be no certificate" in ended.err


def test_zeroed_weights_are_another_look_at_the_same_rows(
    run: Any, certified: Path, tmp_path: Path
) -> None:
    options = ["--target", "bad", "--weight", "w", "--group", "site", "--constraint", "fpr <= 0.4"]
    search = ["--grammar", "tiny", "--cv=2", "--max-evaluations", "2", "--executor", "inline"]
    frame = table(3)
    for look in (1, 2):
        path, out = tmp_path / f"rows-{look}.csv", tmp_path / f"out-{look}"
        frame.to_csv(path, index=False)
        more = [*options, *search, "--certify", "0.9", "--out", out]
        assert run("fit", path, *more).code == 0
        assert json.loads((out / "certificate.json").read_text())["look"] == look
        verified = run("verify", out, path).out
        assert "the data agree" in verified
        assert "no ledger" not in verified
        frame.loc[3:90, "w"] = 0.0
