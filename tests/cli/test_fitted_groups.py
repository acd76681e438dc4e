"""Quantile cuts and a least size, from the fit on a CSV to other processes, formats and types."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from automl_admm.store.json_content import with_digest

SEARCH = (
    *("--target", "bad", "--grammar", "tiny", "--cv=2", "--max-evaluations", "1"),
    *("--theta-solver", "random", "--executor", "inline", "--on-infeasible", "closest"),
)


def table(seed: int, rows: int = 900) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"age": rng.integers(18, 60, rows).astype(float)})
    # Many equal values on an edge, some beyond six digits, and missing ones.
    frame.loc[rng.random(rows) < 0.2, "age"] = 30.0
    frame.loc[rng.random(rows) < 0.1, "age"] = np.nan
    frame["pay"] = 1234500.0 + rng.integers(0, 90, rows)
    frame["sex"] = rng.choice(["f", "m", "x"], rows, p=[0.5, 0.49, 0.01])
    frame["income"] = rng.normal(size=rows)
    frame["bad"] = np.where(2 * frame["income"] + rng.normal(size=rows) > 0, "yes", "no")
    return frame


def limits_of(folder: str) -> list[dict[str, Any]]:
    return json.loads(Path(folder, "run.json").read_text())["settings"]["limits"]


def test_a_proof_by_quantiles_is_verified_from_another_format(
    run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    frame = table(1)
    frame.to_csv("rows.csv", index=False)
    given = ("--constraint", "fpr_gap[age:q4,least=30] <= 0.6", "--certify", "0.9", "--out", "out")
    done = run("fit", "rows.csv", *given, "--constraint", "max_fnr[pay:q3] <= 0.6", *SEARCH)
    assert done.code == 0, done.err
    assert "age:q4 is cut at 30, " in done.err
    places = json.loads(Path("out/certification-rows.json").read_text())["places"]
    searched = frame.drop(index=places)
    age, pay = limits_of("out")
    cuts = age["cuts"]["age"]
    known = searched["age"].dropna()
    assert set(cuts) <= set(known)
    assert cuts[0] == 30.0
    assert "age missing" in age["groups"]
    assert pay["cuts"]["pay"][0] > 1234500

    other = frame.astype({"sex": "category", "age": "Int64", "pay": "int32", "bad": "category"})
    other.to_parquet("rows.parquet")
    again = run("verify", "out", "rows.parquet")
    assert again.code == 0, again.out + again.err
    assert f"groups: age:q4 is cut at {cuts[0]:g}, " in again.out
    # Rows in another order are told, not parted anew.
    other.sample(frac=1, random_state=0).to_parquet("shuffled.parquet")
    assert run("verify", "out", "shuffled.parquet").code == 3

    # The cut points are those of the run, not of the rows at hand.
    old = table(2, 400)
    old["age"] += 20
    old.astype({"age": str}).replace({"age": {"nan": ""}}).to_csv("old.csv", index=False)
    found = run("evaluate", "out", "old.csv")
    assert found.code == 0, found.err
    assert "no row is of the group 'age < 30', which the run compared" in found.err

    damaged = json.loads(Path("out/model.json").read_text())
    del damaged["run"]["settings"]["limits"][0]["cuts"]
    Path("out/model.json").write_text(json.dumps(with_digest(damaged)))
    lost = run("verify", "out", "rows.parquet")
    assert lost.code == 7
    assert "it does not say where 'age:q4' was cut" in lost.err


def test_a_group_that_is_new_or_gone_is_told(
    run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    frame = table(1, 1600)
    paid = np.random.default_rng(0).random(1600) < np.where(frame["sex"] == "m", 0.75, 0.25)
    frame["income"], frame["bad"] = frame["income"] + 2.4 * paid, np.where(paid, "yes", "no")
    frame.to_csv("rows.csv", index=False)
    limit = ("--constraint", "equalized_odds_difference[sex,least=100] <= 0.25")
    given = (*limit, "--group-thresholds", "--metric", "accuracy", "--out", "out")
    done = run("fit", "rows.csv", *given, *SEARCH)
    assert done.code == 0, done.err
    assert "does not compare 'x': fewer than 100 rows to learn from" in done.err
    assert limits_of("out")[0]["groups"] == ["f", "m"]
    later = table(3, 300)
    later["sex"] = later["sex"].replace({"m": "diverse", "x": None}).astype("category")
    later.to_parquet("later.parquet")
    found = run("evaluate", "out", "later.parquet")
    assert found.code == 0, found.err
    for said in ("group 'diverse', which the run had none of", "no row is of the group 'm'"):
        assert said in found.err
    watched = run("monitor", "out", "later.parquet", "--json")
    assert any("'diverse'" in one for one in json.loads(watched.out)["groups"])

    assert "f" in json.loads(Path("out/model.json").read_text())["group_thresholds"]
    predicted = run("predict", "out", "later.parquet", "-o", "predicted.csv")
    assert predicted.code == 0
    assert "of the group 'diverse', which the run did not know" in predicted.err


def test_thresholds_between_quantiles_decide_alike_in_any_format(
    run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    frame, rng = table(4, 1600).drop(columns=["sex", "pay"]), np.random.default_rng(0)
    paid = rng.random(1600) < np.where(frame["age"] >= 40, 0.75, 0.25)
    frame["income"], frame["bad"] = frame["income"] + 2.4 * paid, np.where(paid, "yes", "no")
    frame.to_csv("rows.csv", index=False)
    limit = ("--constraint", "equalized_odds_difference[age:q2] <= 0.3", "--group-thresholds")
    done = run("fit", "rows.csv", *limit, "--metric", "accuracy", "--out", "out", *SEARCH)
    assert done.code == 0, done.err
    known = json.loads(Path("out/model.json").read_text())["group_thresholds"]
    (cut,) = limits_of("out")[0]["cuts"]["age"]
    assert set(known) == {f"age < {cut:g}", f"{cut:g} <= age", "age missing"}
    features = frame.drop(columns="bad").reset_index()
    features.to_csv("later.csv", index=False)
    mixed = features.sample(frac=1, random_state=1)
    mixed.astype({"age": "Int64", "income": "category"}).astype({"income": float}).to_parquet(
        "later.parquet"
    )
    found = []
    for name in ("later.csv", "later.parquet"):
        assert run("predict", "out", name, "--keep", "index", "-o", "made.csv").code == 0
        found.append(pd.read_csv("made.csv").sort_values("index").reset_index(drop=True))
    pd.testing.assert_frame_equal(*found)


def test_a_correlation_with_a_column_is_proven_and_verified_from_another_format(
    run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    frame = table(5, 1200)
    frame.to_csv("rows.csv", index=False)
    limit = ("--constraint", "score_correlation[age] <= 0.35", "--certify", "0.9", "--out", "out")
    done = run("fit", "rows.csv", *limit, "--sensitive", "age", *SEARCH)
    assert done.code == 0, done.err
    (finding,) = json.loads(Path("out/certificate.json").read_text())["findings"]
    assert (finding["verdict"], finding["is_approximate"]) == ("certified", False)
    places = json.loads(Path("out/certification-rows.json").read_text())["places"]
    assert finding["counts"] == {"rows": int(frame["age"].iloc[places].notna().sum())}
    frame.astype({"age": "Int64", "sex": "category"}).to_parquet("rows.parquet")
    again = run("verify", "out", "rows.parquet")
    assert again.code == 0, again.out + again.err
    wrong = run("fit", "rows.csv", "--constraint", "score_correlation[sex] <= 0.1", *SEARCH)
    assert wrong.code == 3
    assert "column 'sex' holds no numbers" in wrong.err
    for text in ("score_correlation <= 0.1", "score_correlation[age:q4] <= 0.1"):
        wrong = run("fit", "rows.csv", "--constraint", text, *SEARCH)
        assert wrong.code == 2
        assert "'score_correlation' is measured by one column of numbers" in wrong.err
