"""Limits on blank columns and noise in whole runs: text has blanks, and dates have no noise."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from automl_admm import AutoMLClassifier, NoSuccessError

ROWS = 300
RNG = np.random.default_rng(0)
Y = RNG.integers(0, 2, ROWS)
WORDS = np.array(["green", "blue", "fast", "slow", "heavy", "light", "round", "square", "north"])


def said(y: int) -> str:
    return " ".join([*RNG.choice(WORDS, 8), "good" if y else "bad"])


TABLE = pd.DataFrame({"size": RNG.normal(size=ROWS), "said": [said(y) for y in Y]})


def fit(table: pd.DataFrame, limit: str, **settings) -> AutoMLClassifier:
    fixed = {"executor": "inline", "random_state": 0, "ensemble": False, "max_evaluations": 1}
    search = AutoMLClassifier("default", constraints=[limit], portfolio=False, **fixed, **settings)
    return search.fit(table, Y)


@pytest.mark.parametrize("gaps", [0, 60], ids=["whole", "with gaps"])
def test_a_blank_text_is_the_empty_one_that_a_file_has_for_it(gaps):
    table = TABLE.assign(said=TABLE.said.where(np.arange(ROWS) >= gaps))
    splits = [(np.arange(0, ROWS, 2), np.arange(1, ROWS, 2))]
    found = fit(table, "blank_moves_0.2 <= 99.9 %", cv=splits)
    train, valid = splits[0]
    model = clone(found.best_pipeline_).fit(as_seen(table.iloc[train]), Y[train])
    rows = as_seen(table.iloc[valid])
    before = model.predict_proba(rows)
    moved = {
        name: np.abs(model.predict_proba(rows.assign(**{name: blank})) - before).max(axis=1) > 0.2
        for name, blank in (("size", np.nan), ("said", ""))
    }
    has_text = rows.said != ""
    shares = moved["size"].mean(), moved["said"][has_text].mean()
    (value,) = found.cv_results_["blank_moves_0.2"]
    assert value == pytest.approx(max(shares), abs=0.02)
    assert shares[1] > 0.1


def as_seen(table: pd.DataFrame) -> pd.DataFrame:
    return table.assign(said=table.said.fillna(""))


def test_noise_leaves_dates_as_they_are(tmp_path):
    when = pd.Timestamp("2024-01-01") + pd.to_timedelta(RNG.integers(0, 700, ROWS), unit="D")
    table = pd.DataFrame({"when": when, "kind": RNG.choice(list("ab"), ROWS)})
    limit = "noise_moves{by=2,more_than=0.001} <= 99 %"
    with pytest.raises(NoSuccessError, match="it has no rows with a number"):
        fit(table, limit)
    both = table.assign(size=RNG.normal(size=ROWS))
    fit(both, limit, work_dir=tmp_path / "run", on_infeasible="closest")
    content = json.loads((tmp_path / "run" / "run.json").read_text("utf-8"))
    assert content["data"]["spreads"] == {"size": pytest.approx(both["size"].std(ddof=0))}
