"""Models that weigh rows for a limit on groups: their weights are those of the formula."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from program import run_program, run_python
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from automl_admm import AutoMLClassifier, load
from automl_admm.builtin.components.weighers import Reweighing
from automl_admm.core.errors import GrammarError

GRAMMAR = """\
%import components (standard_scaler, reweigh, logistic_regression)
start: standard_scaler weights logistic_regression
weights: none | reweigh
"""
WEIGHED = "standard_scaler() reweigh(strength=2.0) logistic_regression()"
LIMIT = "selection_rate_gap[sex] <= 0.9"
PREDICT = """
import sys, pandas as pd
from automl_admm import load
print(list(load(sys.argv[1]).predict_proba(pd.read_csv(sys.argv[2]))[:, 1].round(12)))
"""


def table(rows: int = 400, seed: int = 0) -> tuple[pd.DataFrame, Any, Any]:
    """The class hangs on the sex, which no column tells exactly."""
    rng = np.random.default_rng(seed)
    sex = rng.choice(["f", "m"], rows)
    X = pd.DataFrame({"a": rng.normal(size=rows) + (sex == "m"), "b": rng.normal(size=rows)})
    bad = X["a"] + 0.5 * X["b"] + rng.normal(size=rows) > 0.7
    return X, np.where(bad, "yes", "no"), pd.Series(sex, name="sex")


def automl(**given: Any) -> AutoMLClassifier:
    known: dict[str, Any] = {
        "grammar": GRAMMAR,
        "constraints": [LIMIT],
        "cv": 2,
        "max_evaluations": 1,
        "executor": "inline",
        "ensemble": False,
        "portfolio": False,
        "starts": [WEIGHED],
        "scoring": "balanced_accuracy",
    }
    return AutoMLClassifier(**{**known, **given})


def by_hand(X: pd.DataFrame, y: Any, weights: Any) -> Any:
    model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=300))
    return model.fit(X, y, logisticregression__sample_weight=weights)


def test_the_model_is_that_of_the_formula() -> None:
    X, y, sex = table()
    model = automl().fit(X, y, sensitive_features=sex)
    assert "reweigh(strength=2.0)" in model.best_text_
    expected = by_hand(X, y, Reweighing(2.0).weigh(y == "yes", sex, np.ones(len(y))))
    assert model.predict_proba(X) == pytest.approx(expected.predict_proba(X), abs=2e-3)
    plain = by_hand(X, y, None)
    assert np.abs(model.predict_proba(X) - plain.predict_proba(X)).max() > 0.05


def test_weights_of_the_user_and_groups_of_two_limits_count_together() -> None:
    X, y, sex = table()
    weights = np.random.default_rng(1).uniform(0.1, 3.0, len(y))
    old = pd.Series(np.arange(len(y)) % 3 == 0, name="old")
    limits = [LIMIT, "fpr_gap[old] <= 0.9"]
    model = automl(constraints=limits).fit(
        X, y, sensitive_features=pd.concat([sex, old], axis=1), sample_weight=weights
    )
    groups = sex + old.astype(str)
    expected = by_hand(X, y, Reweighing(2.0).weigh(y == "yes", groups, weights / weights.mean()))
    assert model.predict_proba(X) == pytest.approx(expected.predict_proba(X), abs=2e-3)


def test_groups_by_quantiles_and_missing_values_are_those_of_the_limit() -> None:
    X, y, _ = table()
    age = np.random.default_rng(2).integers(20, 70, len(y)).astype(float)
    age[::7] = np.nan
    model = automl(constraints=["fnr_gap[age:q2] <= 0.9"]).fit(
        X, y, sensitive_features=pd.Series(age, name="age")
    )
    median = np.quantile(age[~np.isnan(age)], 0.5, method="inverted_cdf")
    groups = np.where(np.isnan(age), "none", np.where(age >= median, "old", "young"))
    expected = by_hand(X, y, Reweighing(2.0).weigh(y == "yes", groups, np.ones(len(y))))
    assert model.predict_proba(X) == pytest.approx(expected.predict_proba(X), abs=0.02)


def test_another_process_predicts_the_same_without_the_groups(tmp_path: Path) -> None:
    X, y, sex = table()
    model = automl(work_dir=tmp_path / "run").fit(X, y, sensitive_features=sex)
    X.to_csv(tmp_path / "new.csv", index=False)
    done = run_python("-c", PREDICT, tmp_path / "run", tmp_path / "new.csv")
    assert done.returncode == 0, done.stderr
    assert eval(done.stdout) == pytest.approx(model.predict_proba(X)[:, 1], abs=1e-9)  # noqa: S307
    assert load(tmp_path / "run").predict(X).tolist() == model.predict(X).tolist()


@pytest.mark.filterwarnings("ignore:the limit selection_rate_gap")
def test_the_search_tries_them_by_itself_and_a_gap_costs_less() -> None:
    X, y, sex = table(800, seed=3)
    X["sex"] = (sex == "m").astype(float)
    limit = "selection_rate_gap[sex] <= 0.1"
    given: dict[str, Any] = {"constraints": [limit], "starts": [], "scoring": "balanced_accuracy"}
    plain = GRAMMAR.replace("none | reweigh", "none").replace("reweigh, ", "")
    scores = []
    for grammar in (plain, GRAMMAR):
        model = automl(**given, grammar=grammar, max_evaluations=9).fit(X, y)
        scores.append(model.best_score_)
    assert scores[1] > scores[0] + 0.05
    texts = list(model.cv_results_["pipeline"])
    assert any("reweigh(strength=2.0)" in text for text in texts)
    assert any("reweigh" not in text for text in texts)


def test_without_a_limit_on_groups_there_is_nothing_to_weigh_for() -> None:
    X, y, _ = table()
    model = automl(constraints=["fpr <= 0.9"], starts=[], max_evaluations=4).fit(X, y)
    assert all("reweigh" not in text for text in model.cv_results_["pipeline"])
    alone = GRAMMAR.replace("none | reweigh", "reweigh")
    with pytest.raises(
        GrammarError, match="limits that compare decisions on groups, and there are none"
    ):
        automl(constraints=[], starts=[], grammar=alone).fit(X, y)


def test_a_run_by_the_command_line_says_how_its_rows_were_weighed(tmp_path: Path) -> None:
    X, y, sex = table()
    X.assign(sex=sex, bad=y).to_csv(tmp_path / "people.csv", index=False)
    (tmp_path / "own.lark").write_text(GRAMMAR)
    done = run_program(
        "fit",
        tmp_path / "people.csv",
        "--target=bad",
        "--sensitive=sex",
        f"--constraint={LIMIT}",
        f"--grammar={tmp_path / 'own.lark'}",
        f"--start={WEIGHED}",
        "--max-evaluations=1",
        "--executor=inline",
        "--no-ensemble",
        f"--out={tmp_path / 'run'}",
    )
    assert done.returncode == 0
    assert (
        "no pipeline.py was written: the rows of the model were weighed in training by reweigh"
        in done.stderr
    )
    assert not (tmp_path / "run" / "pipeline.py").exists()
    shown = run_program("leaderboard", tmp_path / "run")
    assert "reweigh(strength=2.0)" in shown.stdout
    told = run_program("predict", tmp_path / "run", tmp_path / "people.csv")
    assert told.returncode == 0
    resumed = run_program("resume", tmp_path / "run", "--max-evaluations=2")
    assert resumed.returncode == 0, resumed.stderr
