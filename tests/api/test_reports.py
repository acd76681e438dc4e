"""The tables and the look of a fitted estimator."""

from __future__ import annotations

import copy
import html
import io
import json
import pickle
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from sklearn.base import clone
from sklearn.datasets import load_diabetes, load_iris
from sklearn.exceptions import NotFittedError
from sklearn.feature_selection import SelectFromModel

from automl_admm import AutoMLClassifier, AutoMLRegressor, Constraint, EvaluatedPipeline, Limit
from automl_admm.cli.commands.explain import command as explain_command
from automl_admm.cli.commands.leaderboard import command as leaderboard_command
from automl_admm.core.errors import ConfigurationError, DataError

QUICK = {
    "grammar": "tiny",
    "cv": 2,
    "max_evaluations": 6,
    "theta_solver": "random",
    "executor": "inline",
    "random_state": 0,
}


@pytest.fixture(scope="module")
def people() -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"noise": rng.normal(size=200), "age": rng.normal(size=200)})
    X["city"] = rng.choice(["Ulm", "Bonn"], 200)
    return X, np.where(X["age"] * 2 + (X["city"] == "Ulm") > 0.5, "yes", "no")


@pytest.fixture(scope="module")
def limited(
    people: tuple[pd.DataFrame, np.ndarray], tmp_path_factory: pytest.TempPathFactory
) -> tuple[AutoMLClassifier, Path]:
    folder = tmp_path_factory.mktemp("limited") / "run"
    limits = {"constraints": ["columns <= 2", "recall >= 0.5"], "on_infeasible": "closest"}
    return AutoMLClassifier(**QUICK, **limits, work_dir=folder).fit(*people), folder


def test_the_leaderboard_has_the_lines_of_the_command(
    limited: tuple[AutoMLClassifier, Path],
) -> None:
    search, folder = limited
    board = search.leaderboard()
    done = CliRunner().invoke(leaderboard_command, [str(folder)], terminal_width=400)
    assert done.exit_code == 0, done.output
    shown = re.findall(
        r"^ *(\d+) +(\d\.\d{4}) +(\S+)( !\S+)? +(\S+)( !\S+)? ", done.output, re.MULTILINE
    )
    ranked = board[board["rank"].notna()]
    assert [int(line[0]) for line in shown] == list(ranked["number"])
    assert [float(line[1]) for line in shown] == pytest.approx(list(ranked["score"]), abs=1e-4)
    assert [bool(line[3]) for line in shown] == list(ranked["excess of columns <= 2"] > 0)
    assert [bool(line[5]) for line in shown] == list(ranked["excess of recall >= 0.5"] > 0)
    assert list(ranked["rank"]) == list(range(1, len(ranked) + 1))


def test_the_leaderboard_tells_the_excess_in_the_unit_of_the_limit(
    limited: tuple[AutoMLClassifier, Path],
) -> None:
    board = limited[0].leaderboard()
    assert len(board) == limited[0].n_evaluations_
    assert list(board.columns) == [
        *("rank", "number", "key", "score", "columns", "recall"),
        *("bound of columns <= 2", "bound of recall >= 0.5"),
        *("excess of columns <= 2", "excess of recall >= 0.5"),
        *("feasible", "seconds", "fidelity", "status", "pipeline", "message"),
    ]
    assert list(board["excess of columns <= 2"]) == list((board["columns"] - 2).clip(lower=0))
    assert list(board["excess of recall >= 0.5"]) == list((0.5 - board["recall"]).clip(lower=0))
    assert board["pipeline"][0] == limited[0].best_text_
    done = CliRunner().invoke(leaderboard_command, [str(limited[1]), "--csv"])
    pd.testing.assert_frame_equal(
        pd.read_csv(io.StringIO(done.output), dtype={"rank": "Int64"}, keep_default_na=True),
        board.assign(message=board["message"].replace("", np.nan)),
        check_dtype=False,
    )


def test_limits_are_explained_as_by_the_command(limited: tuple[AutoMLClassifier, Path]) -> None:
    search, folder = limited
    done = CliRunner().invoke(explain_command, [str(folder), "--limits", "--json"])
    told = json.loads(done.output)
    found = {"schema": 1, **search.explain_limits()}
    assert json.loads(json.dumps(found)) == told
    assert found["limits"] == ["columns <= 2", "recall >= 0.5"]


def test_failures_are_on_the_leaderboard_without_a_rank(
    people: tuple[pd.DataFrame, np.ndarray],
) -> None:
    def fails_at_times(evaluated: EvaluatedPipeline) -> float:
        if len(evaluated.pipeline.steps) > 2:
            raise ArithmeticError("no such thing")
        return 1.0

    limit = Constraint(Limit("seconds", 3.0), fails_at_times)
    quick = QUICK | {"max_evaluations": 10}
    board = AutoMLClassifier(**quick, constraints=[limit]).fit(*people).leaderboard()
    failed = board[~board["status"].isin(["success", "stopped"])]
    assert 0 < len(failed) < len(board)
    assert failed["rank"].isna().all()
    assert failed["score"].isna().all()
    assert failed["message"].str.contains("no such thing").all()
    assert list(failed.index) == list(range(len(board) - len(failed), len(board)))
    assert set(board["seconds (limit)"].dropna()) == {1.0}
    assert (board["seconds"] != 1.0).all()


def test_reports_need_a_fitted_estimator() -> None:
    search = AutoMLClassifier(**QUICK)
    for ask in (search.leaderboard, lambda: search.permutation_importances([[1]], [1])):
        with pytest.raises(NotFittedError):
            ask()
    assert not hasattr(search, "feature_importances_")


def test_importances_are_of_the_users_own_columns(people: tuple[pd.DataFrame, np.ndarray]) -> None:
    X, y = people
    search = AutoMLClassifier(**QUICK).fit(X, y)
    with pytest.raises(AttributeError, match=r"call permutation_importances\(X, y\)"):
        search.feature_importances_  # noqa: B018
    found = search.permutation_importances(X, y, random_state=0)
    assert list(found.index) == ["age", "city", "noise"]
    assert found.loc["age", "importance"] > 0.2
    assert abs(found.loc["noise", "importance"]) < 0.05
    assert (found.loc[["age", "city"], "std"] > 0).all()
    in_order = found["importance"][list(X.columns)]
    assert list(search.feature_importances_) == list(in_order)
    assert list(pickle.loads(pickle.dumps(search)).feature_importances_) == list(in_order)
    again = search.permutation_importances(X, y, random_state=0)
    pd.testing.assert_frame_equal(again, found)
    assert not hasattr(clone(search), "feature_importances_")
    with pytest.raises(DataError, match="the target holds 'maybe', which is no class of fit"):
        search.permutation_importances(X.head(2), ["yes", "maybe"])
    search.fit(X, y)
    assert not hasattr(search, "feature_importances_"), "they were another model's"


@pytest.mark.filterwarnings("ignore:recall is 1.0000 for a model that always says the same")
def test_importances_use_the_metric_of_the_search_and_its_positive_class(
    people: tuple[pd.DataFrame, np.ndarray],
) -> None:
    X, y = people
    by_recall = {"scoring": "recall", "positive": "no"}
    search = AutoMLClassifier(**QUICK | {"max_evaluations": 1, "cv": 5}, **by_recall).fit(X, y)
    found = search.permutation_importances(X, y, n_repeats=2, random_state=1)
    shuffled = X.assign(age=X["age"].to_numpy()[::-1])
    hit = np.mean(search.predict(X)[y == "no"] == "no")
    lost = hit - np.mean(search.predict(shuffled)[y == "no"] == "no")
    assert found.loc["age", "importance"] == pytest.approx(lost, abs=0.15)
    assert found.loc["age", "importance"] > 0.1


def test_importances_of_an_array_serve_the_selectors_of_scikit_learn() -> None:
    X, y = load_diabetes(return_X_y=True)
    search = AutoMLRegressor(**QUICK | {"max_evaluations": 1}).fit(X, y)
    found = search.permutation_importances(X.tolist(), y, random_state=0)
    assert sorted(found.index) == list(range(10))
    chosen = SelectFromModel(search, prefit=True, max_features=3, threshold=-np.inf)
    assert list(np.flatnonzero(chosen.get_support())) == sorted(found.index[:3])
    assert chosen.transform(X).shape == (len(X), 3)


def test_the_diagram_of_a_fitted_estimator_shows_the_winner_and_its_score() -> None:
    X, y = load_iris(return_X_y=True)
    search = AutoMLClassifier(**QUICK)
    assert "best pipeline" not in search._repr_html_()
    assert ">AutoMLClassifier<" in search._repr_html_()
    shown = search.fit(X, y)._repr_html_()
    assert f"best pipeline: accuracy {search.best_score_:.4f}<" in shown
    assert type(search.best_pipeline_.steps[-1][1]).__name__ in shown
    assert ">AutoMLClassifier<" in shown
    assert "best pipeline" in search._repr_mimebundle_()["text/html"]
    assert "best pipeline" not in clone(search)._repr_html_()


def test_the_diagram_says_that_limits_do_not_hold(limited: tuple[AutoMLClassifier, Path]) -> None:
    search, _ = limited
    assert ("NOT within the limits" in search._repr_html_()) is not search.feasible_


def test_hostile_names_are_text_in_the_diagram() -> None:
    evil = "<script>alert(1)</script>"
    rng = np.random.default_rng(0)
    X = pd.DataFrame({evil: rng.normal(size=80), '"><img src=x onerror=alert(2)>': 1.0})
    X.iloc[::2, 1] = 2.0
    y = np.where(X[evil] > 0, evil, "<b>no</b>")

    def score(estimator: object, X: object, y: np.ndarray) -> float:
        return float(np.mean(estimator.predict(X) == y))

    score.__name__ = evil
    search = AutoMLClassifier(**QUICK | {"max_evaluations": 1}, scoring=score).fit(X, y)
    shown = search._repr_html_()
    for text in ("<script>alert(1)", "<img src=x", "<b>no</b>"):
        assert text not in shown
    assert html.escape(evil) in shown


def test_a_report_is_made_from_the_folder_of_the_run(
    limited: tuple[AutoMLClassifier, Path], tmp_path: Path
) -> None:
    search, folder = limited
    assert search.report() == folder / "report.html"
    page = search.report(tmp_path / "there.html")
    found = json.loads((tmp_path / "there.json").read_text())
    assert page.read_text().startswith("<!DOCTYPE html>")
    assert found["verdict"]["evaluations"] == search.n_evaluations_
    assert found["verdict"]["validation_score"] == pytest.approx(search.best_score_)
    assert [one["limit"] for one in found["limits"]["limits"]] == ["columns <= 2", "recall >= 0.5"]


def test_without_a_folder_there_is_no_report(limited: tuple[AutoMLClassifier, Path]) -> None:
    bare = copy.copy(limited[0])
    bare._folder = None
    with pytest.raises(ConfigurationError, match="Give work_dir"):
        bare.report()
    with pytest.raises(NotFittedError):
        AutoMLClassifier().report()
