"""The pictures of a search: what they show, on whose axes, and without matplotlib."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot as plt
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError

from automl_admm import AutoMLClassifier, Constraint, EvaluatedPipeline, Limit
from automl_admm.core.errors import ConfigurationError, UnknownNameError

MEASURED = ["success", "stopped"]  # on all the folds, or on some: a score either way
QUICK = {
    "grammar": "tiny",
    "cv": 2,
    "max_evaluations": 12,
    "theta_solver": "random",
    "z_solver": "random",
    "executor": "inline",
    "random_state": 0,
}
PLOTS = ("plot_convergence", "plot_limits", "plot_components", "plot_importances")
# It is the beginning of a formula that matplotlib cannot read.
EVIL = r"$\frac{_\x1b[31m"


def count_steps(evaluated: EvaluatedPipeline) -> float:
    steps = len(evaluated.pipeline.steps)
    if steps == 2:
        raise ArithmeticError("two")
    return float(steps)


@pytest.fixture(autouse=True)
def without_a_window() -> Iterator[None]:
    with mpl.rc_context({"backend": "Agg"}):
        yield
        plt.close("all")


@pytest.fixture(scope="module")
def searched() -> AutoMLClassifier:
    X, y = load_iris(return_X_y=True)
    frame = pd.DataFrame(X, columns=[EVIL, "_b", "c" * 90, "d"])
    limits = [Constraint(Limit(EVIL, 3.0), count_steps), "size_mb <= 5", "latency_us >= 0.1"]
    search = AutoMLClassifier(**QUICK, constraints=limits, on_infeasible="closest").fit(frame, y)
    search.permutation_importances(frame, y, n_repeats=2, random_state=0)
    return search


def saved(ax: object) -> bytes:
    buffer = io.BytesIO()
    ax.figure.savefig(buffer, format="png")
    return buffer.getvalue()


@pytest.mark.parametrize("name", PLOTS)
def test_a_plot_is_drawn_with_any_names_on_new_or_given_axes(
    name: str, searched: AutoMLClassifier
) -> None:
    new = getattr(searched, name)()
    assert saved(new).startswith(b"\x89PNG")
    _, mine = plt.subplots()
    assert getattr(searched, name)(ax=mine) is mine
    assert saved(mine).startswith(b"\x89PNG")
    assert new is not mine


def test_convergence_shows_each_evaluation_and_the_best_so_far(searched: AutoMLClassifier) -> None:
    ax, board = searched.plot_convergence(), searched.leaderboard()
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("evaluation", "accuracy")
    best, failed = ax.lines
    within = board[board["feasible"]].sort_values("number")
    assert best.get_ydata()[-1] == within["score"].max() == searched.best_score_
    assert (np.diff(best.get_ydata()) >= 0).all()
    assert list(best.get_xdata())[-1] == board["number"].max()
    numbers = board.loc[~board["status"].isin(MEASURED), "number"]
    assert sorted(failed.get_xdata()) == sorted(numbers)
    assert len(numbers) > 0
    dots = sum(len(one.get_offsets()) for one in ax.collections)
    assert dots == board["status"].isin(MEASURED).sum()


def test_limits_are_shown_by_name_with_the_bound(searched: AutoMLClassifier) -> None:
    assert searched.plot_limits().get_xlabel() == EVIL
    ax = searched.plot_limits("size_mb")
    assert ax.get_xlabel() == "size_mb"
    assert list(ax.lines[0].get_xdata()) == [5.0, 5.0]
    assert searched.plot_limits("latency_us >= 0.1").get_xlabel() == "latency_us"
    with pytest.raises(UnknownNameError, match="size_mb"):
        searched.plot_limits("size_m")
    plain = AutoMLClassifier(**QUICK | {"max_evaluations": 1}).fit(*load_iris(return_X_y=True))
    with pytest.raises(ConfigurationError, match="the search had no limits to show"):
        plain.plot_limits()
    assert plain.plot_convergence().get_legend().get_texts()[0].get_text() == "evaluation"


def test_components_are_counted_and_the_best_is_on_top(searched: AutoMLClassifier) -> None:
    ax, board = searched.plot_components(), searched.leaderboard()
    names = [label.get_text() for label in ax.get_yticklabels()]
    succeeded = board[board["status"].isin(MEASURED)]
    assert f"impute ({len(succeeded)})" in names
    assert names[-1].split(" (")[0] in searched.best_text_
    for name in names:
        component, number = name.rstrip(")").split(" (")
        assert succeeded["pipeline"].str.contains(rf"\b{component}\(").sum() == int(number)


def test_importances_are_shown_once_measured(searched: AutoMLClassifier) -> None:
    ax = searched.plot_importances()
    names = [label.get_text() for label in ax.get_yticklabels()]
    found = np.argsort(searched.feature_importances_, kind="stable")
    assert len(names) == 4
    assert names[-1][:5] == str(searched.feature_names_in_[found[-1]])[:5]
    assert any(len(name) == 30 and name.endswith("…") for name in names)
    plain = AutoMLClassifier(**QUICK | {"max_evaluations": 1}).fit(*load_iris(return_X_y=True))
    with pytest.raises(AttributeError, match=r"call permutation_importances\(X, y\)"):
        plain.plot_importances()


@pytest.mark.parametrize("name", PLOTS)
def test_a_plot_needs_a_fitted_search(name: str) -> None:
    with pytest.raises(NotFittedError):
        getattr(AutoMLClassifier(), name)()


@pytest.mark.parametrize("name", PLOTS)
def test_without_matplotlib_one_line_says_what_to_install(
    name: str, searched: AutoMLClassifier, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ConfigurationError) as told:
        getattr(searched, name)()
    assert str(told.value) == (
        "plots need matplotlib, which is not installed. Install it: pip install 'automl-admm[plot]'"
    )
