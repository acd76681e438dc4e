"""The model of a run on labelled rows."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import roc_auc_score

import automl_admm

Run = Callable[..., Any]
FEW = ("--grammar", "tiny", "--cv=2", "--max-evaluations", "1", "--executor", "inline", "-q")


def people(rows: int, seed: int) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"age": rng.integers(18, 90, rows), "sex": rng.choice(["f", "m"], rows)})
    frame["noise"] = rng.normal(size=rows)
    frame["buys"] = np.where(frame["age"] + 20 * rng.normal(size=rows) > 50, "yes", "no")
    return frame


@pytest.fixture
def folder(run: Run, tmp_path: Path) -> Path:
    people(300, 0).to_csv(tmp_path / "people.csv", index=False)
    limits = ("--constraint", "fpr <= 0.9", "--constraint", "fpr_gap[sex] <= 0.9")
    done = run("fit", "people.csv", "--target", "buys", *FEW, *limits, "--out", "RUN")
    assert done.code == 0, done.err
    people(200, 1).to_csv(tmp_path / "new.csv", index=False)
    return tmp_path


def test_the_score_and_the_limits_are_those_of_the_predictions(run: Run, folder: Path) -> None:
    done = run("evaluate", "RUN", "new.csv", "--json")
    assert done.code == 0, done.err
    told = json.loads(done.out)
    model: Any = automl_admm.load("RUN")
    new = people(200, 1)
    truth, decided = new["buys"] == "yes", model.predict(new) == "yes"
    assert told["rows"] == 200
    low, high = told["interval"]
    assert low < told["score"] < high
    assert told["interval"] != told["held_out_interval"]
    assert told["learned_rows"] is None
    assert "kept no hash" in told["doubt"]
    assert told["metric"] == "roc_auc"
    assert told["score"] == pytest.approx(roc_auc_score(truth, model.predict_proba(new)[:, 1]))
    assert told["recall"] == pytest.approx(decided[truth].mean())
    rates = {sex: decided[~truth & (new["sex"] == sex)].mean() for sex in ("f", "m")}
    values = {one["limit"]: one["value"] for one in told["constraints"]}
    assert values["fpr <= 0.9"] == pytest.approx(decided[~truth].mean())
    assert values["fpr_gap[sex] <= 0.9"] == pytest.approx(abs(rates["f"] - rates["m"]))
    said = json.loads((folder / "RUN" / "model.json").read_text())
    assert told["validation_score"] == said["validation_score"]
    assert told["constraints"][0]["validation"] == said["constraints"]["fpr <= 0.9"]
    learned = json.loads((folder / "RUN" / "run.json").read_text())["data"]["rows"]
    assert 200 < learned < 300
    own = people(300, 0)
    own.sample(frac=1, random_state=3).to_csv("shuffled.csv", index=False)
    for name in ("people.csv", "shuffled.csv"):
        told = json.loads(run("evaluate", "RUN", name, "--json").out)
        assert (told["rows"], told["learned_rows"], told["doubt"]) == (300, learned, None), name
    done = run("evaluate", "RUN", "shuffled.csv")
    assert done.err.startswith(
        f"warning: {learned} of these 300 rows are, or equal, rows that the model learned from"
    )
    assert done.out.startswith("roc_auc ")
    assert "warning" not in done.out


def test_it_is_told_to_people(run: Run, folder: Path) -> None:
    done = run("evaluate", "RUN", "new.csv")
    assert done.code == 0, done.err
    told = r"roc_auc 0\.\d+ on 200 rows, 95 % interval 0\.\d+ to \d\.\d+ \(the run: validation 0\."
    assert re.match(told, done.out)
    assert done.err == ""
    assert "limit fpr_gap[sex] <= 0.9: 0." in done.out
    assert "holds" in done.out


def test_rows_that_cannot_be_measured_are_refused(run: Run, folder: Path) -> None:
    people(20, 1).drop(columns="buys").to_csv("bare.csv", index=False)
    done = run("evaluate", "RUN", "bare.csv")
    assert (done.code, "bare.csv has no column 'buys', which the run predicts" in done.err) == (
        3,
        True,
    )
    people(20, 1).assign(buys="maybe").to_csv("other.csv", index=False)
    done = run("evaluate", "RUN", "other.csv")
    assert done.code == 3
    assert done.err == (
        "error: other.csv, line 2: column 'buys' holds 'maybe', which is no class of the run. "
        "Its classes are: no, yes.\n"
    )
    gap = people(20, 1)
    gap.loc[[5, 8], "buys"] = None
    gap.to_csv("gap.csv", index=False)
    for done in (run("evaluate", "RUN", "gap.csv"), run("report", "RUN", "--data", "gap.csv")):
        assert done.code == 3
        assert done.err == (
            "error: the target 'buys' is missing in 2 of 20 rows, first in gap.csv, line 7. "
            "Remove those rows first.\n"
        )


def test_a_regression_has_its_metric(run: Run, tmp_path: Path) -> None:
    frame = people(200, 0).drop(columns="buys")
    frame["price"] = frame["age"] * 1.5 + frame["noise"]
    frame.to_csv("prices.csv", index=False)
    assert run("fit", "prices.csv", "--target", "price", *FEW, "--out", "RUN").code == 0
    told = json.loads(run("evaluate", "RUN", "prices.csv", "--json").out)
    assert told["score"] == pytest.approx(automl_admm.load("RUN").score(frame, frame["price"]))
    assert told["constraints"] == []
    frame.loc[5, "price"] = np.nan
    frame.to_csv("gap.csv", index=False)
    done = run("evaluate", "RUN", "gap.csv")
    assert done.code == 3
    assert "'price' is missing in 1 of 200 rows, first in gap.csv, line 7." in done.err


def test_no_limit_holds_in_a_model_that_calls_every_row_the_same(run: Run, tmp_path: Path) -> None:
    frame = people(80, 0)[["sex", "buys"]].assign(same=1.0)
    frame.to_csv("people.csv", index=False)
    limits = ("--constraint", "fpr <= 0.9", "--constraint", "fpr_gap[sex] <= 0.9")
    known = ("--column", "same=number", "--sensitive", "sex", "--on-infeasible", "closest")
    fit = run("fit", "people.csv", "--target", "buys", *FEW, *limits, *known, "--out", "RUN")
    only = json.loads((tmp_path / "RUN" / "model.json").read_text())["one_class"]
    assert f"does not count, as it calls every row '{only}'" in fit.out
    told = json.loads(run("evaluate", "RUN", "people.csv", "--json").out)
    assert [one["holds"] for one in told["constraints"]] == [False, False]
    done = run("evaluate", "RUN", "people.csv")
    assert done.out.count(f": does not count, as the model calls every row '{only}'\n") == 2
    assert "holds" not in done.out
    assert run("report", "RUN", "--data", "people.csv").code == 0
    report = json.loads((tmp_path / "RUN" / "report.json").read_text())
    for section in ("limits", "rows"):
        assert [one["holds"] for one in report[section]["limits"]] == [False, False]
        assert report[section]["one_class"] == only
    assert not any(one["holds"] for one in report["thresholds"]["places"])
    page = (tmp_path / "RUN" / "report.html").read_text()
    assert page.count("so it is within no limit, whatever its values") == 2
