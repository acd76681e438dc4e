"""Every listing has one shape in JSON, and cuts no name in a pipe."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from sklearn.metrics import accuracy_score, make_scorer

from automl_admm.pipelines.metric_facts import all_metrics
from automl_admm.plugin_api import MetricPlugin
from automl_admm.plugins.loading import RECORDS, load_plugins
from automl_admm.plugins.registry import Registry

Run = Callable[..., Any]
KINDS = [hook.replace("_", "-") for hook in RECORDS]
LISTINGS = [("components",), ("constraints",), ("metrics",), ("plugins", "list", "theta-solvers")]


@pytest.mark.parametrize("words", LISTINGS, ids=" ".join)
def test_a_listing_is_json_of_one_shape_and_a_table_of_whole_names(
    run: Run, words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    entries = json.loads(run(*words, "--json").out)
    assert entries
    for entry in entries:
        assert list(entry)[:4] == ["kind", "name", "summary", "provider"]
    lines = run(*words).out.splitlines()
    for entry in entries:
        # A table in a pipe has a line for each entry, however narrow the terminal is.
        assert any(
            re.split(r"[\[{]|_N$", line.split()[0])[0] == entry["name"] and entry["summary"] in line
            for line in lines
            if line.strip()
        ), entry["name"]


def test_records_of_each_kind_are_listed(run: Run) -> None:
    names = {kind: json.loads(run("plugins", "list", kind, "--json").out) for kind in KINDS}
    assert {entry["name"] for entry in names["executors"]} >= {"inline", "local"}
    assert "admm" in {entry["name"] for entry in names["strategies"]}
    assert "default" in {entry["name"] for entry in names["grammars"]}
    gp = next(entry for entry in names["theta-solvers"] if entry["name"] == "gp")
    assert {"name", "type", "default"} == set(gp["options"][0])


def test_parameters_of_a_component_are_json(run: Run) -> None:
    forests = json.loads(run("components", "random_forest", "--json").out)
    assert {task for entry in forests for task in entry["tasks"]} == {
        "classification",
        "regression",
    }
    assert {"name", "range", "default"} == set(forests[0]["parameters"][0])


def test_a_metric_tells_its_target_and_its_needs(run: Run) -> None:
    metrics = {entry["name"]: entry for entry in json.loads(run("metrics", "--json").out)}
    auc, error = metrics["roc_auc"], metrics["neg_mean_absolute_error"]
    assert (auc["target"], auc["needs"], auc["is_negated"]) == ("classes", "scores", False)
    assert (error["target"], error["needs"], error["is_negated"]) == (
        "a quantity",
        "predictions",
        True,
    )
    assert metrics["recall"]["target"] == "two classes"
    assert metrics["neg_log_loss"]["needs"] == "probabilities"
    assert "f1_samples" not in metrics


def test_metrics_of_a_plugin_come_first_and_broken_ones_say_so() -> None:
    registry: Registry[MetricPlugin] = Registry("metric")
    scorer = make_scorer(accuracy_score)
    registry.add(MetricPlugin(name="mine", summary="a copy", factory=lambda: scorer), "me 1")
    registry.add(MetricPlugin(name="ruin", summary="a ruin", factory=lambda: 1 / 0), "me 1")
    mine, ruin, *others = all_metrics(registry)
    assert (mine.name, mine.provider, mine.target, mine.takes_weights) == (
        *("mine", "me 1", "classes"),
        True,
    )
    assert ruin.summary.startswith("a ruin; it cannot be made: metric 'ruin' (me 1)")
    assert len(others) > 40


def test_an_unknown_kind_is_refused(run: Run) -> None:
    ended = run("plugins", "list", "solvers")
    assert ended.code == 2
    assert "theta-solvers" in ended.err


def test_the_names_of_plugins_are_whole(run: Run) -> None:
    line = next(
        line for line in run("plugins").out.splitlines() if line.startswith("builtin-theta")
    )
    for record in load_plugins().theta_solvers:
        if record.name in ("gp", "random", "trust-region"):
            assert record.name in line


def test_a_kind_may_be_written_as_its_hook(run: Run) -> None:
    hyphens, code = (run("plugins", "list", kind) for kind in ("theta-solvers", "theta_solvers"))
    assert code.code == 0
    assert code.out == hyphens.out


@pytest.mark.parametrize("listing", ["constraints", "metrics"])
def test_the_words_after_a_table_do_not_get_into_a_pipe(run: Run, listing: str) -> None:
    ended = run(listing)
    assert "NAME" in ended.err or "--metric" in ended.err
    assert "A limit reads" not in ended.out
    assert "Larger is better" not in ended.out


def test_one_metric_is_shown_with_its_facts(run: Run) -> None:
    shown = run("metrics", "neg_log_loss").out
    assert shown.startswith("metric neg_log_loss, from scikit-learn ")
    assert "needs probabilities; minus an error" in shown
    (entry,) = json.loads(run("metrics", "recall", "--json").out)
    assert entry["name"] == "recall"


def test_a_metric_that_is_not_there_suggests_one(run: Run) -> None:
    ended = run("metrics", "recal")
    assert (ended.code, ended.out) == (2, "")
    assert ended.err == "error: no metric named 'recal'. Did you mean 'recall'?\n"
