"""Limits on either side of one name, limits broken on rows held out, and those beyond proof."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from automl_admm import AutoMLClassifier

SEARCH = ("--grammar", "tiny", "--theta-solver", "random", "--executor", "inline")
BETWEEN = ("--constraint", "selection_rate >= 0.2", "--constraint", "selection_rate <= 0.8")


@pytest.fixture
def credit(tmp_path: Path) -> Path:
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({"income": rng.normal(size=900), "debt": rng.normal(size=900)})
    signal = 2.5 * frame["income"] - 2.5 * frame["debt"] + 0.8 * rng.normal(size=900)
    frame["bad"] = np.where(signal > 0.0, "yes", "no")
    path = tmp_path / "credit.csv"
    frame.to_csv(path, index=False)
    return path


def test_both_are_kept_everywhere(run: Any, credit: Path, tmp_path: Path) -> None:
    command = ("fit", credit, "--target", "bad", *BETWEEN, "--certify", "0.95", *SEARCH)
    done = run(*command, "--cv=2", "--max-evaluations", "2", "--out", "out")
    assert done.code == 0, done.err
    for limit in ("selection_rate >= 0.2", "selection_rate <= 0.8"):
        assert f"{limit}: " in done.out
    certificate = json.loads((tmp_path / "out" / "certificate.json").read_text())
    limits = [finding["limit"] for finding in certificate["findings"]]
    assert limits == ["selection_rate >= 0.2", "selection_rate <= 0.8"]
    manifest = json.loads((tmp_path / "out" / "model.json").read_text())
    assert list(manifest["constraints"]) == limits
    done = run("resume", "out", "--max-evaluations", "+1")
    assert done.code == 0, done.err
    done = run("verify", "out", credit)
    assert done.code == 0, done.out


def test_no_number_is_within_a_range_that_is_empty(run: Any, credit: Path) -> None:
    empty = ("--constraint", "fpr >= 0.4", "--constraint", "fpr <= 0.3")
    done = run("fit", credit, "--target", "bad", *empty, *SEARCH)
    assert done.code == 2
    assert "no number is within both 'fpr >= 0.4' and 'fpr <= 0.3'" in done.err


def test_a_limit_that_is_broken_on_rows_held_out_is_told_at_the_end(run: Any, credit: Path) -> None:
    """The rows held out have a rate of their own; a limit between the two is broken there."""
    search = ("--cv=2", "--max-evaluations", "1", "--seed", "1", *SEARCH)
    first = run("fit", credit, "--target", "bad", "--constraint", "error <= 0.5", *search, "--json",
                "--out", "a")  # fmt: skip
    (found,) = json.loads(first.out)["constraints"]
    low, high = sorted((found["validation"], found["held_out"]))
    assert low < high
    side = "<=" if found["validation"] == low else ">="
    limit = ("--constraint", f"error {side} {(low + high) / 2}")
    done = run("fit", credit, "--target", "bad", *limit, *search, "--json", "--out", "b")
    assert done.code == 0, done.err
    assert json.loads(done.out)["constraints"][0]["holds_held_out"] is False
    last = done.err.strip().splitlines()[-1]
    assert last.startswith("warning: error ")
    assert "is BROKEN on the 180 rows held out" in last


def test_what_no_rows_can_certify_is_refused_before_rows_are_set_aside(
    run: Any, tmp_path: Path
) -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.normal(size=200)})
    frame["y"] = frame["a"] + rng.normal(size=200)
    frame.to_csv("numbers.csv", index=False)
    limit = ("--constraint", "neg_mean_absolute_error >= -9", "--certify", "0.95")
    done = run("fit", "numbers.csv", "--target", "y", "--grammar", "regression", *limit)
    assert done.code == 2
    assert "there can be no certificate: nothing can certify neg_mean_absolute" in done.err
    assert not (tmp_path / "automl-runs").exists()


@pytest.mark.parametrize(
    ("limit", "rows"),
    [
        ("fnr <= 0.3", "1 positive rows"),
        ("recall >= 0.7", "1 positive rows"),
        ("fnr_gap[sex] <= 0.3", "1 positive rows in group 'f'"),
        ("precision >= 0.7", None),  # how many rows it rests on hangs on the pipeline
        ("fpr <= 0.5", None),
    ],
)
def test_what_so_few_rows_cannot_certify_is_refused_before_rows_are_set_aside(
    run: Any, tmp_path: Path, limit: str, rows: str | None
) -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.normal(size=300), "sex": np.resize(["f", "m"], 300)})
    rare = np.isin(np.arange(300), [10, 20, 31])  # two of them women
    frame.assign(buys=np.where(rare, "yes", "no")).to_csv("rare.csv", index=False)
    settings = ("--metric", "accuracy", "--cv=2", "--max-evaluations", "1", "--grammar", "tiny")
    asked = ("--constraint", limit, "--certify", "0.95", "--executor", "inline")
    done = run("fit", "rare.csv", "--target", "buys", *asked, *settings, "--out", "o")
    told = f"not even a pipeline without an error could prove {limit} on {rows}. Leave out"
    if rows is None:
        assert "there can be no certificate" not in done.err
        return
    assert done.code == 2
    assert done.err.count("\n") == 1
    assert f"there can be no certificate: {told} the limit or --certify" in done.err
    assert not (tmp_path / "o").exists()


COSTS_OF_ONE_FIT = (
    *("fit_seconds <= 100", "memory_mb <= 9000", "serve_mb <= 9000"),
    *("energy_j <= 9", "energy_j{watts=25} <= 9"),
)


@pytest.mark.parametrize("limit", COSTS_OF_ONE_FIT)
def test_a_cost_of_one_fit_is_not_promised_a_certificate(
    limit: str, run: Any, table: Path, tmp_path: Path
) -> None:
    done = run("fit", table, "--target", "buys", "--constraint", limit, "--certify", "0.95")
    assert done.code == 2
    assert f"there can be no certificate: nothing can certify {limit}" in done.err
    assert not (tmp_path / "automl-runs").exists()


@pytest.mark.parametrize("feature", ["debt", "target"])
def test_a_target_without_a_name_is_called_target_unless_a_feature_is(
    feature: str, run: Any, credit: Path, tmp_path: Path
) -> None:
    frame = pd.read_csv(credit).rename(columns={"debt": feature})
    model = AutoMLClassifier(
        grammar="tiny", theta_solver="random", executor="inline", cv=2, max_evaluations=2,
        certify=0.9, constraints=["fpr <= 0.9"], work_dir=tmp_path / "kept",
    )  # fmt: skip
    model.fit(frame.drop(columns="bad"), frame["bad"].to_numpy())
    if feature != "target":
        frame = frame.rename(columns={"bad": "target"})
    frame.to_parquet(tmp_path / "again.parquet")
    done = run("verify", tmp_path / "kept", tmp_path / "again.parquet")
    if feature != "target":
        assert done.code in (0, 5)
        assert "the data agree" in done.out + done.err
        assert run("evaluate", tmp_path / "kept", tmp_path / "again.parquet").code == 0
        more = ("--max-evaluations", "+1", "--executor", "inline")
        assert run("resume", tmp_path / "kept", tmp_path / "again.parquet", *more).code in (0, 5)
        return
    assert done.code == 7
    assert "does not say which column is the target: its y had no name" in done.err
    assert "name='label'" in done.err
