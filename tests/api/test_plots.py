"""The pictures of a search: what they show, on whose axes, and without matplotlib."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot as plt
from report_runs import an_evaluation, write_run
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError

from automl_admm import AutoMLClassifier, Constraint, EvaluatedPipeline, Limit
from automl_admm.api.history import History
from automl_admm.api.plots import (
    draw_components,
    draw_convergence,
    draw_effects,
    draw_limits,
    draw_pareto,
)
from automl_admm.core.errors import ConfigurationError, UnknownNameError
from automl_admm.core.evaluations import Evaluation
from automl_admm.report.searched import Searched
from automl_admm.report.shipped import Shipped
from automl_admm.report.writing import make_report

QUICK = {
    "grammar": "tiny",
    "cv": 2,
    "max_evaluations": 12,
    "theta_solver": "random",
    "z_solver": "random",
    "executor": "inline",
    "random_state": 0,
}
PLOTS = (
    *("plot_convergence", "plot_limits", "plot_pareto", "plot_components"),
    "plot_importances",
)
# It is the beginning of a formula that matplotlib cannot read.
OUTSIDE = "outside the limits, or one class for all rows"
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
def searched(tmp_path_factory: pytest.TempPathFactory) -> AutoMLClassifier:
    X, y = load_iris(return_X_y=True)
    frame = pd.DataFrame(X, columns=[EVIL, "_b", "c" * 90, "d"])
    limits = [Constraint(Limit(EVIL, 3.0), count_steps), "size_mb <= 5", "accuracy >= 0.1"]
    more = {"on_infeasible": "closest", "work_dir": tmp_path_factory.mktemp("kept") / "run"}
    search = AutoMLClassifier(**QUICK, constraints=limits, **more).fit(frame, y)
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
    for ax in (new, mine):
        if ax.get_legend() is not None:
            assert not ax.get_legend().get_window_extent().overlaps(ax.get_window_extent())
    with pytest.raises(TypeError, match="ax must be the axes of matplotlib"):
        getattr(searched, name)(ax=3)
    assert new is not mine


@pytest.fixture(scope="module")
def told(searched: AutoMLClassifier) -> dict[str, Any]:
    """The numbers of the report, made from the folder of the run."""
    found: dict[str, Any] = json.loads(searched.report().with_suffix(".json").read_text())
    return found


def rows(columns: dict[str, list[Any]]) -> list[dict[str, Any]]:
    """Return the records of a table that the report has by column."""
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def near(points: Iterable[tuple[float, float]]) -> list[Any]:
    """Return points as a report has them: it rounds columns to six digits."""
    return [pytest.approx(one, rel=1e-5) for one in sorted(points)]


def dots(ax: Any, label: str) -> list[tuple[float, float]]:
    """Return the places of the dots with this name in the legend."""
    found = [one for one in ax.collections if one.get_label() == label]
    return sorted((float(x), float(y)) for one in found for x, y in one.get_offsets())


def line(ax: Any, label: str) -> list[tuple[float, float]]:
    (found,) = (one for one in ax.lines if one.get_label() == label)
    return [(float(x), float(y)) for x, y in zip(found.get_xdata(), found.get_ydata(), strict=True)]


@pytest.mark.parametrize(("by", "key"), [("evaluation", "number"), ("time", "seconds")])
def test_convergence_has_the_numbers_of_the_report(
    by: str, key: str, searched: AutoMLClassifier, told: dict[str, Any]
) -> None:
    ax, found = searched.plot_convergence(by=by), told["convergence"]
    assert ax.get_ylabel() == "accuracy"
    points = rows(found["points"])
    whole = [one for one in points if one["score"] is not None and not one["is_partial"]]
    for label, is_within in (("within the limits", True), (OUTSIDE, False)):
        some = [one for one in whole if one["is_feasible"] is is_within]
        assert dots(ax, label) == near((one[key], one["score"]) for one in some)
    assert whole
    failed = [one[key] for one in points if one["score"] is None]
    assert [x for x, _ in line(ax, "no result")] == pytest.approx(failed, rel=1e-5)
    assert failed
    best = line(ax, "best so far")
    assert best[:-1] == [(one[key], one["score"]) for one in found["incumbents"]]
    end = max(one[key] for one in points)
    assert best[-1] == pytest.approx((end, searched.best_score_), rel=1e-5)
    any_best = line(ax, "best of all")[:-1]
    assert any_best == [(one[key], one["score"]) for one in found["incumbents_of_any"]]


@pytest.mark.parametrize("by", ["evaluation", "time"])
def test_the_best_so_far_goes_forward_where_evaluations_overtake_each_other(by: str) -> None:
    ended = {1: (30.0, 0.2), 2: (10.0, 0.4), 3: (20.0, 0.3), 4: (15.0, 0.35)}
    evaluations = [
        an_evaluation(number, loss=loss, details={"ended": end}, constraints=())
        for number, (end, loss) in ended.items()
    ]
    model = Shipped("x", None, is_shipped=True, is_feasible=True, validation_score=None)
    history = History(Searched(tuple(evaluations), (), "roc_auc", 1.0), model)
    found = line(draw_convergence(history, by=by), "best so far")
    assert [x for x, _ in found] == sorted(x for x, _ in found)
    assert [y for _, y in found] == sorted(y for _, y in found)
    assert found[-1][1] == pytest.approx(0.8)


def test_an_axis_of_another_name_is_refused(searched: AutoMLClassifier) -> None:
    with pytest.raises(UnknownNameError, match="evaluation"):
        searched.plot_convergence(by="evaluations")


def test_a_front_has_the_numbers_of_the_report(
    searched: AutoMLClassifier, told: dict[str, Any]
) -> None:
    places, limits = rows(told["pareto"]["places"]), (None, "size_mb", "accuracy >= 0.1")
    for number, (limit, found) in enumerate(zip(limits, told["pareto"]["fronts"], strict=True)):
        ax = searched.plot_pareto(limit)
        assert ax.get_xlabel() == found["name"]
        inside = [(o["values"][number], o["score"]) for o in places if o["is_feasible"]]
        assert dots(ax, "within the limits") == near(inside)
        front = sorted((one["value"], one["score"]) for one in found["front"])
        drawn = [one for one in ax.lines if one.get_label() == "front"]
        assert [line(ax, "front") for _ in drawn] == [front] * (len(front) > 1)
        named = [text.get_text() for text in ax.get_legend().get_texts()]
        assert named.count("the bound") == 1
        assert named.count("front") == len(drawn)
        assert dots(ax, "the model") == [(found["model_value"], found["model_score"])]
        assert [found["bound"]] * 2 in [list(one.get_xdata()) for one in ax.lines]


def test_limits_are_shown_by_their_distance_from_the_bound(
    searched: AutoMLClassifier, told: dict[str, Any]
) -> None:
    ax, limits = searched.plot_limits(), told["limits"]["limits"]
    names = [label.get_text() for label in ax.get_yticklabels()]
    assert [name.splitlines()[1] for name in names] == [
        f"kept by {one['kept']} of {one['measured']}" for one in limits
    ]
    assert names[1].splitlines()[0] == "size_mb <= 5"
    turned = [(one["value"] - one["bound"]) * (-1 if one["at_least"] else 1) for one in limits]
    far = [value / one["bound"] for value, one in zip(turned, limits, strict=True)]
    assert dots(ax, "the model") == sorted((x, -place) for place, x in enumerate(far))
    assert max(far) <= 0.0, "the model is within all limits"
    outside = [y for x, y in dots(ax, OUTSIDE) if x > 0]
    assert len(outside) == sum(one["measured"] - one["kept"] for one in limits)


def test_without_limits_there_are_none_to_show() -> None:
    plain = AutoMLClassifier(**QUICK | {"max_evaluations": 1}).fit(*load_iris(return_X_y=True))
    for draw in (plain.plot_limits, plain.plot_pareto):
        with pytest.raises(ConfigurationError, match="the search had no limits to show"):
            draw()
    assert plain.plot_convergence().get_legend().get_texts()[0].get_text() == "evaluation"
    _, mine = plt.subplots()
    assert plain.plot_effects(ax=mine) is mine
    assert "takes 12 evaluations" in mine.texts[0].get_text().replace("\n", " ")


def test_a_limit_of_another_name_is_refused(searched: AutoMLClassifier) -> None:
    with pytest.raises(UnknownNameError, match="size_mb"):
        searched.plot_pareto("size_m")


def test_components_have_the_numbers_of_the_report(
    searched: AutoMLClassifier, told: dict[str, Any]
) -> None:
    ax, found = searched.plot_components(), told["tried"]["components"]
    shown = [one for one in found if one["best"] is not None]
    names = [label.get_text() for label in ax.get_yticklabels()]
    assert names == [f"{one['name']} ({one['evaluations']})" for one in reversed(shown)]
    best = dict.fromkeys(range(len(names)), -1.0)
    for label in ("within the limits", OUTSIDE):
        for score, place in dots(ax, label):
            best[int(place)] = max(best[int(place)], score)
    assert list(best.values()) == [one["best"] for one in reversed(shown)]


def test_effects_have_the_numbers_of_the_report(tmp_path: Path) -> None:
    losses = {"ridge": 0.1, "tree": 0.2, "forest": 0.4}
    evaluations = [an_evaluation(number) for number in range(1, 41)]
    evaluations = [
        replace(one, loss=losses[one.text.split()[1].split("(")[0]] + one.number / 1e4)
        for one in evaluations
        if one.ok
    ]
    found = json.loads(make_report(write_run(tmp_path / "run", evaluations)).content)
    limit = Limit("size_mb", 50.0)
    model = Shipped("x", None, is_shipped=False, is_feasible=True, validation_score=None)
    history = History(Searched(tuple(evaluations), (limit,), "roc_auc", 1.0), model)
    _, mine = plt.subplots()
    assert draw_effects(history, mine) is mine
    effects = found["importance"]["effects"][::-1]
    assert [one.get_width() for one in mine.patches] == [100 * one["share"] for one in effects]
    assert [one.get_text() for one in mine.get_yticklabels()] == [one["name"] for one in effects]
    assert "start.model" in {one["name"] for one in effects}


def test_effects_that_chance_explains_are_a_sentence_on_the_axes() -> None:
    evaluations = tuple(
        replace(an_evaluation(7 * place + 1), loss=0.3 + place % 5 / 100) for place in range(14)
    )
    model = Shipped("x", None, is_shipped=False, is_feasible=True, validation_score=None)
    history = History(Searched(evaluations, (), "roc_auc", 1.0), model)
    _, mine = plt.subplots()
    assert draw_effects(history, mine) is mine
    assert "explains more than chance would" in mine.texts[0].get_text().replace("\n", " ")
    assert saved(mine).startswith(b"\x89PNG")


def test_a_line_of_one_place_is_not_in_the_legend() -> None:
    model = Shipped("x", None, is_shipped=True, is_feasible=True, validation_score=None)
    only = (an_evaluation(8),)
    history = History(Searched(only, (Limit("size_mb", 50.0),), "roc_auc", 1.0), model)
    for draw, named in ((draw_pareto, {"the bound"}), (draw_convergence, set())):
        shown = {text.get_text() for text in draw(history).get_legend().get_texts()}
        assert shown == named | {"within the limits"}


@pytest.mark.parametrize("evaluations", [(), (an_evaluation(7),)])
def test_a_search_without_a_result_has_empty_pictures(evaluations: tuple[Evaluation, ...]) -> None:
    limit = Limit("size_mb", 50.0)
    model = Shipped("x", None, is_shipped=True, is_feasible=False, validation_score=None)
    history = History(Searched(evaluations, (limit,), "roc_auc", 1.0), model)
    for draw in (draw_convergence, draw_limits, draw_pareto, draw_components):
        assert saved(draw(history)).startswith(b"\x89PNG")
        assert not plt.gca().collections


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
