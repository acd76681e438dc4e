"""Pipelines that were good on other tables: which ones, in what order, and where there are none."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import make_classification

from automl_admm import AutoMLClassifier
from automl_admm.cli.shared.announcement import announce
from automl_admm.runs.config import RunConfig
from automl_admm.runs.prepare.portfolio import PATH, Experience, Facts
from automl_admm.runs.prepare.preparation import prepare
from automl_admm.search.starts import default_start

GRAMMARS = Path(__file__).resolve().parents[3] / "grammars"
# Sets of the benchmarks: a portfolio that knows them proves nothing there.
MEASURED_ON = {
    *("abalone", "adult", "compas", "credit_default", "fri_c2", "german_credit", "german"),
    *("ionosphere", "oil_spill", "pc4", "sonar", "sylvine", "vehicle", "wind"),
    *("ames", "attrition", "cells", "concrete", "digits", "optdigits", "leaf_id_flavia"),
    *("movement_libras", "phoneme", "segment", "spambase", "splice", "vowel"),
}
SMALL = """
%import components (impute, standard_scaler, quantile_transformer, pca)
%import components (logistic_regression, gaussian_nb, qda, k_neighbors)

start: impute scaler? pca? estimator
scaler: standard_scaler | quantile_transformer
estimator: logistic_regression | gaussian_nb | qda | k_neighbors
"""


def experience(regrets: list[list[float]], seconds: list[float], rows: list[int]) -> Experience:
    return Experience(
        tuple(f"p{number}" for number in range(len(regrets))),
        tuple(Facts(count, 10, 2, 0) for count in rows),
        np.array(regrets),
        np.repeat(np.array(seconds)[:, None], len(rows), axis=1),
    )


@pytest.fixture(scope="module")
def data() -> tuple[np.ndarray, np.ndarray]:
    return make_classification(80, 5, random_state=0)


def texts(data: Any, **settings: Any) -> list[str]:
    found = prepare(RunConfig(**{"max_evaluations": 60, **settings}), *data)
    return [found.problem.text(one) for one in found.problem.portfolio]


def test_the_first_gains_most_for_its_time_and_the_next_what_is_left() -> None:
    """p0 is best alone but slow; p1 and p3 are good on the same tables, p2 on the others."""
    regrets = [[0.0, 0.0], [0.1, 0.9], [0.9, 0.1], [0.1, 0.95]]
    known = experience(regrets, [9.0, 0.1, 0.2, 0.1], [1000, 1000])
    weights = np.array([0.5, 0.5])
    assert known.order(weights, range(4), []) == [1, 2, 3, 0]
    assert known.order(weights, [0, 2], []) == [2, 0]
    assert known.order(weights, range(4), [], most=1) == [1]


def test_what_is_begun_anyway_is_not_tried_twice_and_leaves_less_to_gain() -> None:
    known = experience([[0.0, 0.9], [0.1, 0.8], [0.9, 0.0]], [0.1, 0.1, 0.1], [1000, 1000])
    assert known.order(np.array([0.5, 0.5]), range(3), [0]) == [2, 1]


def test_a_pipeline_that_a_table_does_not_have_gains_nothing_there() -> None:
    known = experience([[np.nan, 0.0], [0.2, 0.2]], [0.1, 0.1], [1000, 1000])
    assert known.order(np.array([1.0, 0.0]), range(2), [])[0] == 1


def test_tables_alike_count_more() -> None:
    known = experience([[0.0, 0.9], [0.9, 0.0]], [0.1, 0.1], [100, 100_000])
    for rows, first in ((120, 0), (80_000, 1)):
        weights = known.weights(Facts(rows, 10, 2, 0))
        assert weights.sum() == pytest.approx(1.0)
        assert known.order(weights, range(2), [])[0] == first


def test_a_run_begins_with_those_that_its_grammar_derives(data: Any) -> None:
    found = texts(data)
    assert 1 <= len(found) <= 12
    assert len(set(found)) == len(found)
    # A table of numbers is left with one encoder.
    assert not any(word in text for text in found for word in ("target()", "ordinal()"))


def test_a_component_that_is_not_there_is_skipped_and_counted(data: Any, tmp_path: Path) -> None:
    lines = (GRAMMARS / "default.lark").read_text("utf-8").splitlines()
    kept = [line for line in lines if not line.startswith("%import?")]
    words = "\n".join(kept).replace("     | weights lightgbm\n     | weights xgboost\n", "")
    words = words.replace("lightgbm\n         | hist_gradient_boosting", "hist_gradient_boosting")
    words = words.replace("         | xgboost\n", "")
    path = tmp_path / "without.lark"
    path.write_text(words, "utf-8")
    found = prepare(RunConfig(path, max_evaluations=60), *data).portfolio
    assert found.starts
    assert found.not_derived >= 10
    assert not any("lightgbm" in text or "xgboost" in text for text in texts(data, grammar=path))


@pytest.mark.parametrize(
    "settings",
    [
        {"portfolio": False},
        {"starts": ("impute() gaussian_nb()",)},
        {"grammar": "tiny"},
    ],
)
def test_without_it_the_search_begins_as_its_author_said(data: Any, settings: Any) -> None:
    assert texts(data, **settings) == []


def test_within_limits_a_search_begins_with_it_as_well(data: Any) -> None:
    assert texts(data, constraints=("columns <= 20",)) == texts(data)


def test_limits_are_relative_to_the_same_baseline_whatever_is_tried_first(data: Any) -> None:
    ways: Any = (
        {"time_budget": 60},
        {"time_budget": 60, "portfolio": False},
        {"max_evaluations": 9},
    )
    limit = ("size_mb <= 0.5 * baseline",)
    found = [prepare(RunConfig(constraints=limit, **way), *data) for way in ways]
    usual = default_start(found[0].problem.space)
    assert [one.baseline for one in found] == [usual] * 3
    assert found[0].problem.starts != (usual,)


def test_after_a_quick_pipeline_the_usual_start_waits_for_its_turn() -> None:
    """On a wide table what selects columns comes before boosting over all of them."""
    wide = make_classification(100, 600, n_informative=5, random_state=0)
    timed = prepare(RunConfig(time_budget=60), *wide).problem
    counted = prepare(RunConfig(max_evaluations=60), *wide).problem
    (usual,) = counted.starts
    assert timed.starts == timed.portfolio[:1] != (usual,)
    assert [timed.text(one) for one in timed.portfolio].count(timed.text(usual)) == 1
    assert usual not in counted.portfolio
    found = [timed.text(one) for one in timed.portfolio]
    is_sparse = ["l1_ratio=1.0" in one or "select_percentile" in one for one in found]
    assert is_sparse.index(True) < found.index(timed.text(usual))


def test_it_is_evaluated_first_and_told_in_the_run(data: Any, tmp_path: Path) -> None:
    grammar = tmp_path / "small.lark"
    grammar.write_text(SMALL, "utf-8")
    alike = {"executor": "inline", "random_state": 0, "cv": 2}
    settings = {**alike, "work_dir": tmp_path / "run"}
    search = AutoMLClassifier(grammar, max_evaluations=3, **settings).fit(*data)
    told = json.loads((tmp_path / "run" / "run.json").read_text("utf-8"))["portfolio"]
    assert search.cv_results_["pipeline"][1:3] == told["pipelines"][:2]
    assert told["not_derived"] > 0
    more = AutoMLClassifier(grammar, max_evaluations=6, warm_start=True, **settings).fit(*data)
    fresh = AutoMLClassifier(grammar, max_evaluations=6, **alike)
    assert more.cv_results_["pipeline"] == fresh.fit(*data).cv_results_["pipeline"]


def test_the_file_that_ships_is_whole_and_knows_no_benchmark() -> None:
    said = json.loads(PATH.read_text("utf-8"))["tasks"]
    assert sorted(said) == ["binary", "multiclass", "regression"]
    for task, part in said.items():
        known = Experience.from_json(part)
        assert {facts.task for facts in known.tables} == {task}
        assert not MEASURED_ON & set(part["tables"])
        assert np.nanmin(known.regrets, axis=0).tolist() == [0.0] * len(known.tables)
        assert np.nanmax(known.regrets) <= 1.0
        # Each pipeline was measured somewhere: costs are means over tables.
        assert np.isfinite(known.seconds).any(axis=1).all()


def test_the_screen_says_where_the_search_begins(data: Any) -> None:
    said = [
        list(announce(prepare(RunConfig(max_evaluations=60, portfolio=on), *data)))
        for on in (True, False)
    ]
    assert "were good on" in said[0][0]
    assert "--no-portfolio" in said[0][0]
    assert said[1] == []


def test_within_limits_the_screen_promises_no_number(data: Any) -> None:
    config = RunConfig(max_evaluations=60, constraints=("columns <= 20",))
    assert "begins with up to 12 pipelines" in next(announce(prepare(config, *data)))
