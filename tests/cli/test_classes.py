"""Limits on several classes, the whole way: fit, certificate, other formats and processes."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from automl_admm.cli.main import main

LIMITS = (
    "recall{class=2} >= 0.5",
    "macro_recall >= 0.5",
    "max_fpr{class} <= 0.4",
    "confusion{true=1,predicted=3} <= 0.4",
    "f1_gap{class=1}[sex] <= 0.9",
)
NAMES = (
    'recall{class="2"} >= 0.5',
    "macro_recall >= 0.5",
    "max_fpr{class} <= 0.4",
    'confusion{true="1",predicted="3"} <= 0.4',
    'f1_gap{class="1"}[sex] <= 0.9',
)


def table() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    y = rng.choice([1, 2, 3], 600, p=[0.5, 0.3, 0.2])
    frame = pd.DataFrame({"a": y == 1, "b": y == 2}, dtype=float) + rng.normal(size=(600, 2)) / 5
    return frame.assign(sex=rng.choice(["f", "m"], 600), kind=y)


@pytest.fixture(scope="module")
def fitted(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A certifying run, once for all tests."""
    folder = tmp_path_factory.mktemp("classes")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setenv("XDG_STATE_HOME", str(folder / "state"))
        table().to_csv("cars.csv", index=False)
        limits = [part for limit in LIMITS for part in ("--constraint", limit)]
        asked = ["fit", "cars.csv", "--target", "kind", "--sensitive", "sex", *limits]
        search = ["--grammar", "tiny", "--cv=2", "--max-evaluations=1", "--executor", "inline"]
        with pytest.raises(SystemExit) as ended:
            main([*asked, *search, "--certify", "0.9", "--quiet", "--out", "out"])
        assert ended.value.code == 0
        yield folder


@pytest.fixture
def folder(fitted: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy that a test may change."""
    shutil.copytree(fitted, tmp_path / "copy")
    monkeypatch.chdir(tmp_path / "copy")
    return tmp_path / "copy"


def test_the_certificate_names_every_class_and_is_verified(run: Any, folder: Path) -> None:
    found = json.loads((folder / "out/certificate.json").read_text())["findings"]
    assert tuple(one["limit"] for one in found) == NAMES
    assert {one["verdict"] for one in found} == {"certified"}
    assert "rows of class '2'" in found[0]["counts"]
    assert "Chernoff" in found[1]["method"]
    done = run("verify", "out", "cars.csv")
    assert done.code == 0, done.err
    assert "the data agree: CERTIFIED" in done.out


def test_labels_may_be_text_in_another_format(run: Any, folder: Path) -> None:
    table().astype({"kind": str}).to_parquet("cars.parquet")
    for command in ("evaluate", "verify"):
        done = run(command, "out", "cars.parquet")
        assert done.code == 0, done.err
    assert 'recall{class="2"}' in run("evaluate", "out", "cars.parquet").out


def test_rows_without_a_class_have_no_value_for_it(run: Any, folder: Path) -> None:
    frame = table()
    frame[frame["kind"] != 2].to_csv("few.csv", index=False)
    done = run("evaluate", "out", "few.csv", "--json")
    assert done.code == 0, done.err
    values = {one["limit"]: one for one in json.loads(done.out)["constraints"]}
    assert values[NAMES[0]]["value"] is None
    assert values[NAMES[1]]["value"] is None
    assert values[NAMES[3]]["value"] is not None


def test_a_resumed_run_and_its_pages_keep_the_names(run: Any, folder: Path) -> None:
    board = run("leaderboard", "out")
    assert board.code == 0, board.err
    assert 'recall{class="2"}' in board.out
    done = run("resume", "out", "cars.csv", "--max-evaluations", "+1")
    assert done.code == 0, done.err
    saved = json.loads((folder / "out/run.json").read_text())
    assert [one["name"] for one in saved["settings"]["limits"]] == [
        name.rpartition(" ")[0].rpartition(" ")[0] for name in NAMES
    ]
    assert run("report", "out").code == 0
    assert "recall{class=&quot;2&quot;}" in (folder / "out/report.html").read_text()


def test_a_class_of_three_rows_is_told_before_the_search(run: Any, tmp_path: Path) -> None:
    frame = table()
    frame.loc[frame.index[:3], "kind"] = 9
    frame.to_csv("rare.csv", index=False)
    asked = ("fit", "rare.csv", "--target", "kind", "--grammar", "tiny", "--out", "rare")
    done = run(*asked, "--constraint", "recall{class=9} >= 0.5", "--cv", "5")
    assert done.code == 3
    assert "limit 'recall{class=\"9\"}': it has no rows of class '9' in fold" in done.err
    done = run(*asked, "--constraint", "recall{class=9} >= 0.5", "--certify", "0.9")
    assert done.code == 2
    assert "could prove recall{class=\"9\"} >= 0.5 on 1 rows of class '9'" in done.err
    assert not (tmp_path / "rare").exists()


def test_weights_for_a_limit_are_shipped_certified_and_verified(
    run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(0)
    y = rng.choice(["often", "seldom", "other"], 1200, p=[0.6, 0.1, 0.3])
    signs = pd.DataFrame({"a": y == "seldom", "b": y == "other"}, dtype=float)
    frame = (1.2 * signs + rng.normal(size=(1200, 2)) / 1.5).assign(kind=y)
    frame.to_csv("rare.csv", index=False)
    limit = ("--constraint", 'recall{class="seldom"} >= 0.6', "--certify", "0.9")
    search = ("--grammar", "tiny", "--cv=2", "--max-evaluations=1", "--executor", "inline")
    done = run("fit", "rare.csv", "--target", "kind", *limit, *search, "--out", "out")
    assert done.code == 0, done.err
    assert "weighs classes" in done.out
    weights = json.loads((tmp_path / "out/model.json").read_text())["class_weights"]
    assert max(weights, key=weights.__getitem__) == "seldom"
    again = run("verify", "out", "rare.csv")
    assert again.code == 0, again.err
    assert "the data agree: CERTIFIED" in again.out
    assert run("predict", "out", "rare.csv", "-o", "told.csv").code == 0
    told = pd.read_csv("told.csv")["prediction"]
    assert np.mean(told[y == "seldom"] == "seldom") >= 0.6
    assert "weighs classes: " in run("leaderboard", "out").out
