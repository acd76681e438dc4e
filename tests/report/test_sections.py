"""Sections measure what the log says: fronts, effects, components, groups, columns."""

from __future__ import annotations

import html
import json
import re
import shutil
from collections.abc import Sequence
from dataclasses import replace
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from report_runs import an_evaluation, write_run

from automl_admm.core.evaluations import Status
from automl_admm.core.space import Candidate, Selection
from automl_admm.report.rows.shuffling import Shuffled
from automl_admm.report.sections import (
    baseline,
    columns,
    data,
    failures,
    groups,
    importance,
    limits,
    pareto,
    quality,
    reproduction,
    tried,
    verdict,
    winner,
)
from automl_admm.report.view import RunView, read_view
from automl_admm.store.json_content import with_digest

STORED = Path(__file__).parents[1] / "runs" / "stored_run"


def view_of(tmp_path: Path, evaluations: Any, **changes: Any) -> RunView:
    return read_view(write_run(tmp_path / "run", evaluations, **changes))


def drawn(number: int, component: str, alpha: float, loss: float, **changes: Any) -> Any:
    """An evaluation whose pipeline and picks have a component and a number."""
    return an_evaluation(
        number * 7 + 1,  # none of the failures of `an_evaluation`
        text=f"{component}(alpha={alpha})",
        candidate=Candidate(Selection((("start.model", component),)), (0.5,)),
        loss=loss,
        **changes,
    )


def test_a_front_has_no_evaluation_that_another_beats_in_both(tmp_path: Path) -> None:
    view = view_of(tmp_path, map(an_evaluation, range(1, 80)))
    found = pareto.measure(view)
    (front,) = found.fronts
    points = {one.number: (value, one.score) for value, one in found.against(front)}
    beaten = {
        number
        for number, (value, score) in points.items()
        if any(v <= value and s >= score and (v, s) != (value, score) for v, s in points.values())
    }
    assert {points[one.number] for one in front.front} == {
        point for number, point in points.items() if number not in beaten
    }


def test_a_figure_of_a_front_names_its_bound_and_what_stands_on_the_border(tmp_path: Path) -> None:
    losses = (0.30, 0.30, 0.31, 0.31, 0.5)
    evaluations = [
        an_evaluation(7 * place + 1, loss=loss, constraints=(10.0 + place,))
        for place, loss in enumerate(losses)
    ]
    found = pareto.measure(view_of(tmp_path, evaluations))
    assert len(found.fronts[0].front) == 1
    source = pareto.draw(found).source
    legend, figure = source.split("</ul>")
    assert "the bound" in legend
    assert "front" not in legend
    assert "the upright line is the bound" in figure
    assert "Dots on the lower border are far below it." in figure
    near = pareto.measure(view_of(tmp_path / "near", evaluations[:-1]))
    assert "lower border" not in pareto.draw(near).source


def test_a_pipeline_of_one_class_is_on_no_front(tmp_path: Path) -> None:
    constant = an_evaluation(1, loss=0.0, constraints=(0.0,), details={"one_class": "no"})
    (front,) = pareto.measure(view_of(tmp_path, [constant, an_evaluation(2)])).fronts
    assert [one.number for one in front.front] == [2]


def test_what_decides_the_score_has_all_of_its_variance(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    evaluations = []
    for number in range(90):
        place = number % 3
        loss = 0.2 + 0.2 * place + 0.01 * rng.random()
        evaluations.append(drawn(number, ("a", "b", "c")[place], rng.random(), loss))
    found = importance.measure(view_of(tmp_path, evaluations))
    (effect,) = found.effects
    assert (effect.name, effect.best, effect.worst) == ("start.model", "a", "c")
    assert effect.share > 0.85
    assert found.measured == 4  # the decision, and a number of each component


def test_a_number_is_told_by_the_range_that_is_best(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    numbers = rng.random(60)
    evaluations = [drawn(place, "a", x, (x - 0.1) ** 2) for place, x in enumerate(numbers)]
    (effect,) = importance.measure(view_of(tmp_path, evaluations)).effects
    assert (effect.name, effect.kind) == ("a.alpha", "parameter")
    low, high = map(float, effect.best.split(" to "))
    assert low <= 0.15
    assert high < 0.5


@pytest.mark.parametrize("count", [5, 60])
def test_chance_has_no_effect(tmp_path: Path, count: int) -> None:
    rng = np.random.default_rng(2)
    evaluations = [
        drawn(place, "abc"[int(rng.integers(3))], 1.0, rng.random()) for place in range(count)
    ]
    found = importance.measure(view_of(tmp_path, evaluations))
    assert found.effects == ()
    words = "Nothing can be said" if count == 5 else "explains more than chance"
    assert words in importance.draw(found).source


def test_components_are_counted_by_the_end_of_their_evaluations(tmp_path: Path) -> None:
    evaluations = [an_evaluation(number) for number in range(1, 60)]
    found = tried.measure(view_of(tmp_path, evaluations))
    known = {one.name: one for one in found.components}
    assert known.keys() == {"impute", "ridge", "tree", "forest"}
    assert known["impute"].evaluations == 59
    assert known["impute"].other_failures == sum(not one.ok for one in evaluations)
    ridges = [one for one in evaluations if "ridge" in one.text and one.ok]
    assert known["ridge"].best == pytest.approx(1.0 - min(one.loss for one in ridges))
    within = [one.loss for one in ridges if one.constraints[0] <= 50.0]
    assert known["ridge"].best_within == pytest.approx(1.0 - min(within))
    assert found.orders == ()


def test_orders_of_the_same_components_are_compared(tmp_path: Path) -> None:
    texts = ("scale() pca() ridge()", "pca() scale() ridge()", "pca() ridge()")
    evaluations = [an_evaluation(number + 1, text=text) for number, text in enumerate(texts)]
    (found,) = tried.measure(view_of(tmp_path, evaluations)).orders
    assert (found.components, found.tried) == (("pca", "ridge", "scale"), 2)
    assert {one.name for one in found.orders} == {"scale → pca → ridge", "pca → scale → ridge"}


def test_it_is_told_where_the_pipelines_came_from(tmp_path: Path) -> None:
    texts = ["ridge()", "forest()", "pca() forest()", "forest()"]
    evaluations = [an_evaluation(number, text=text) for number, text in enumerate(texts, 1)]
    portfolio = {"portfolio": {"pipelines": ["forest()", "tree()", "boosting()"]}}
    found = tried.measure(view_of(tmp_path, evaluations, **portfolio))
    assert (found.portfolio, found.portfolio_evaluated) == (3, 1)
    assert {one.name: one.evaluations for one in found.origins} == {
        "the portfolio": 2,
        "the search": 2,
    }
    assert "of which it evaluated 1." in tried.draw(found).source
    without = tried.measure(view_of(tmp_path / "without", evaluations))
    assert (without.portfolio, without.portfolio_evaluated) == (0, 0)
    assert "came from" not in tried.draw(without).source


def test_the_model_that_got_most_evaluations_is_told_first(tmp_path: Path) -> None:
    texts = ["ridge()"] + ["scale() forest()"] * 2 + ["pca() forest()"] * 3 + ["not a pipeline"]
    evaluations = [an_evaluation(number, text=text) for number, text in enumerate(texts, 1)]
    found = tried.measure(view_of(tmp_path, evaluations))
    assert [(one.name, one.evaluations) for one in found.last_steps] == [
        ("forest", 5),
        ("ridge", 1),
    ]
    assert "71 %" in tried.draw(found).source


def test_of_thousands_of_shapes_the_best_are_listed_and_all_counted(tmp_path: Path) -> None:
    def evaluated(number: int, names: Sequence[str]) -> Any:
        return an_evaluation(7 * number + 1, text=" ".join(f"{one}()" for one in names))

    pairs = [(f"a{number}", f"b{number}") for number in range(13)]
    shapes = [*permutations("wxyz"), *pairs, *(two[::-1] for two in pairs)]
    shapes += [(f"only_{number}",) for number in range(60)]
    evaluations = [evaluated(number, names) for number, names in enumerate(shapes)]
    evaluations[0] = replace(evaluations[0], loss=0.0)
    found = tried.measure(view_of(tmp_path, evaluations))
    assert (found.shapes_tried, len(found.shapes)) == (len(shapes), tried.MOST_SHAPES)
    assert (found.sets_tried, len(found.orders)) == (14, tried.MOST_SETS)
    assert (found.orders[0].tried, len(found.orders[0].orders)) == (24, tried.MOST_ORDERS)
    shown = tried.draw(found).source
    for words in ("110 tried, the best 100", "14 tried, the best 10", "12 more orders"):
        assert words in shown


def test_groups_have_the_counts_of_the_certificate(tmp_path: Path) -> None:
    run = Path(shutil.copytree(STORED / "group_thresholds", tmp_path / "run"))
    found = quality.measure(read_view(run))
    findings = json.loads((run / "certificate.json").read_text())["findings"]
    counted = {
        (finding["limit"], cell.removeprefix("events among ")): events
        for finding in findings
        for cell, events in finding["counts"].items()
        if cell.startswith("events among ")
    }
    assert {(one.limit, one.counted): one.events for one in found.groups} == counted
    assert all(one.lower <= (one.rate or 0.0) <= one.upper for one in found.groups)
    assert found.group_thresholds
    assert any("ROC" in one for one in found.missing)


@pytest.mark.parametrize("group", ["never", 0.25])
def test_the_model_has_the_thresholds_that_it_decides_at(tmp_path: Path, group: Any) -> None:
    run = Path(shutil.copytree(STORED / "group_thresholds", tmp_path / "run"))
    manifest = json.loads((run / "model.json").read_text())
    manifest |= {"threshold": 0.5954, "group_thresholds": {"female": group, "male": 0.75}}
    (run / "model.json").write_text(json.dumps(with_digest(manifest)))
    found = winner.measure(read_view(run))
    assert found.group_thresholds == manifest["group_thresholds"]
    source = winner.draw(found).source
    first = group if group == "never" else f"at {group}"
    assert f"female {first}, male at 0.75, others at 0.5954" in source
    assert "from" not in source.split("Decides for the positive class")[1].split("</dd>")[0]
    one = winner.draw(replace(found, group_thresholds={})).source
    assert "a score of 0.5954" in one
    always = winner.draw(replace(found, threshold="always", group_thresholds={})).source
    assert "<dt>Decides for the positive class</dt><dd>always</dd>" in always


@pytest.mark.parametrize(("means", "widths"), [((0.2, -0.1), (100, 0)), ((-0.1, -0.2), (0, 0))])
def test_a_column_without_a_loss_has_no_bar(
    means: tuple[float, ...], widths: tuple[int, ...]
) -> None:
    shuffled = tuple(Shuffled(f"c{m}", m, m, m, 5) for m in means)
    found = columns.ColumnImportance("accuracy", 9, 9, 5, False, shuffled, (), None)
    drawn = re.findall(r"width:([\d.]+)%", columns.draw(found).source)
    assert tuple(map(float, drawn)) == widths


def test_columns_have_their_kind_and_their_note(tmp_path: Path) -> None:
    readings = [
        {"name": "id", "kind": "identifier", "made": [], "note": "differs in every row"},
        {"name": "zip", "kind": "category", "is_asked": True},
    ]
    found = data.measure(view_of(tmp_path, [], ingest=readings))
    shown = [(one.name, one.kind, one.made, one.note) for one in found.described]
    assert shown == [("id", "identifier", 0, "differs in every row"), ("zip", "category", 1, "")]
    assert "left out" in data.draw(found).source
    assert "as you asked" in data.draw(found).source


def test_the_command_has_the_options_of_the_run(tmp_path: Path) -> None:
    request = {
        "source": "my data.csv",
        "looks": None,
        "only_python": [],
        "extra_plugins": [],
        "max_evaluations": 7,
        "time_budget": None,
        "constraints": ["size_mb <= 50"],
        "racing": False,
        "columns": {"zip": "category"},
        "column_cost": {"zip": 40.0},
        "observers": [],
        "n_jobs": 2,
        "default_workers": True,
    }
    found = reproduction.measure(view_of(tmp_path, [], request=request))
    assert found.command is not None
    words = ("'my data.csv'", "--target y", "--max-evaluations 7", "--no-racing")
    words = (*words, "--column zip=category", "--column-cost zip=40.0")
    for word in (*words, "--constraint 'size_mb <= 50'"):
        assert word in found.command
    assert "--workers" not in found.command
    assert "--observer" not in found.command
    objects = request | {"only_python": ["scoring"]}
    later = reproduction.measure(view_of(tmp_path / "later", [], request=objects))
    assert later.command is None
    assert "scoring" in reproduction.draw(later).source


def test_plain_columns_are_those_of_the_table_without_the_target(tmp_path: Path) -> None:
    schema = [{"name": n, "holds": "number", "dtype": "int64"} for n in ("age", "y", "w")]
    view = view_of(tmp_path, [], schema=schema)
    view.log.settings["weight"] = "w"  # type: ignore[index]
    shown = [(one.name, one.made, one.note) for one in data.measure(view).described]
    assert shown == [("age", 1, ""), ("w", 0, "no pipeline is given it")]


@pytest.mark.parametrize("task", ["classification", "regression", None])
def test_the_way_to_the_rest_is_a_command(tmp_path: Path, task: str | None) -> None:
    run = Path(shutil.copytree(STORED / "group_thresholds", tmp_path / "run"))
    view = read_view(run)
    view.log.settings["task"] = task  # type: ignore[index]
    source = html.unescape(quality.draw(quality.measure(view)).source)
    assert f"automl-admm report {tmp_path}/run --data LABELLED.csv" in source


def test_a_run_without_a_model_is_asked_for_no_rows(tmp_path: Path) -> None:
    found = quality.measure(view_of(tmp_path, [an_evaluation(1)]))
    assert "--data" not in quality.draw(found).source


def test_a_run_on_a_share_of_its_rows_says_so(tmp_path: Path) -> None:
    facts = {"rows": 120_000, "columns": 2, "sha256": "1" * 64, "held_out_sha256": None}
    asked = {"looks": None, "extra_plugins": [], "only_python": [], "searched_rows": 20_000}
    view = view_of(tmp_path, [an_evaluation(1)], data=facts, request=asked)
    for section in (verdict, data, reproduction):
        found = section.SECTION.measure(view)
        assert found.searched_rows == 20_000
        assert "20000 of 120000" in section.SECTION.draw(found).source
    whole = verdict.measure(view_of(tmp_path / "whole", [an_evaluation(1)]))
    assert (whole.searched_rows, whole.learned_rows) == (10, 10)


def test_before_there_is_a_model_its_place_is_that_of_the_best_evaluation(tmp_path: Path) -> None:
    view = view_of(tmp_path, [an_evaluation(1), an_evaluation(2)])
    for section in (baseline, limits, pareto):
        source = section.SECTION.draw(section.SECTION.measure(view)).source.lower()
        assert "the best evaluation" in source
        assert "the model" not in source


def test_an_evaluation_that_the_search_did_not_wait_for_is_no_failure(tmp_path: Path) -> None:
    cancelled = an_evaluation(7, status=Status.CANCELLED, message="the search ended first")
    view = view_of(tmp_path, [an_evaluation(1), cancelled])
    found = tried.measure(view)
    assert all(one.other_failures == 0 for one in found.components)
    assert sum(one.cancelled for one in found.last_steps) == 1
    failed = failures.measure(view)
    assert (failed.failed, failed.cancelled, failed.causes) == (0, 1, ())
    assert "that is no failure" in failures.draw(failed).source


def test_means_of_groups_have_an_interval_and_a_caption_of_their_own() -> None:
    values = np.array([1.0, 2.0, 3.0, 4.0])
    lower, upper = groups._interval_of_mean(values)
    assert (lower, upper) == pytest.approx((0.4457, 4.5543), abs=1e-3)
    assert groups._interval_of_mean(values[:1]) == (None, None)
    said = groups._said(groups.Groups((), False, False, belong_together=False))
    assert "mean is its approximate interval" in said
    assert "rate" not in said
