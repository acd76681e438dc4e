"""Runs as MLflow runs, in a real store."""

from __future__ import annotations

import json
import math
import shutil
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import automl_admm_mlflow
import pytest
from automl_admm_mlflow import MlflowObserver, exporters
from automl_admm_mlflow.entries import FORMS, distinct, legal, params_of

from automl_admm.plugin_api import (
    Evaluation,
    Limit,
    Parameter,
    RunInfo,
    RunResult,
    SavedRun,
    SearchSpace,
    Stop,
    StopReason,
)
from automl_admm.testing.saved_runs import BEGUN, BEST, EVALUATIONS, sample_run

if TYPE_CHECKING:
    from automl_admm_mlflow.tracking import Tracker
    from mlflow.entities import Run
    from mlflow.tracking import MlflowClient

STORED_RUN = Path(__file__).parents[3] / "tests" / "runs" / "stored_run" / "stacked"


@pytest.fixture(autouse=True)
def artifacts_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """MLflow puts artifacts into the working folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MLFLOW_EXPERIMENT_NAME", tmp_path.name)
    # A program of other tests may have called mlflow.set_tracking_uri, which comes first.
    monkeypatch.setattr("mlflow.tracking._tracking_service.utils._tracking_uri", None)


def saved(folder: Path, count: int = 7) -> SavedRun:
    folder.mkdir(exist_ok=True)
    (folder / "run.json").write_text(json.dumps({"sessions": [{"begun": BEGUN}]}))
    finding = {"limit": "latency_us <= 50", "verdict": "certified"}
    (folder / "certificate.json").write_text(json.dumps({"findings": [finding]}))
    return sample_run(folder, EVALUATIONS[:count])


def write(run: SavedRun, store: str) -> str:
    (exporter,) = exporters()
    return exporter.write(run, store).rsplit(" ", 1)[1]


def client_of(store: str) -> MlflowClient:
    from mlflow.tracking import MlflowClient

    return MlflowClient(store)


def begin(*given: Any) -> Tracker:
    from automl_admm_mlflow.tracking import Tracker

    return Tracker.begin(*given)


def nested_in(client: MlflowClient, whole: Run) -> dict[int, Run]:
    found = client.search_runs([whole.info.experiment_id])
    own = [one for one in found if one.data.tags.get("mlflow.parentRunId") == whole.info.run_id]
    return {int(one.info.run_name.split()[0]): one for one in own}


def test_a_run_is_logged_with_its_evaluations_and_its_winner(tmp_path: Path, store: str) -> None:
    client = client_of(store)
    whole = client.get_run(write(saved(tmp_path / "credit's-1"), store))
    assert whole.info.run_name == "credit's-1"
    assert whole.info.status == "FINISHED"
    assert whole.data.params["limits"] == "latency_us <= 50; recall >= 0.5"
    assert whole.data.metrics["best_roc_auc"] == pytest.approx(0.8)
    assert whole.data.metrics["best_latency_us"] == 40.0
    tags = whole.data.tags
    assert (tags["best_pipeline"], tags["feasible"]) == (BEST.text, "True")
    assert tags["certificate"] == "latency_us <= 50: certified"
    names = {one.path for one in client.list_artifacts(whole.info.run_id)}
    assert names == {"run.json", "certificate.json"}
    steps = client.get_metric_history(whole.info.run_id, "roc_auc")
    assert {one.step: round(one.value, 2) for one in steps} == {
        1: 0.7,
        2: 0.9,
        3: 0.8,
        6: 0.95,
        7: 0.96,
    }


def test_the_model_that_ships_is_named_beside_the_best_evaluation(
    tmp_path: Path, store: str
) -> None:
    # An ensemble is no evaluation, and a threshold or a fallback may pass one over.
    folder = Path(shutil.copytree(STORED_RUN, tmp_path / "of-two"))
    found = client_of(store).get_run(write(sample_run(folder, EVALUATIONS[:7]), store))
    shipped = json.loads((STORED_RUN / "model.json").read_text())["pipeline"]
    assert found.data.tags["model"] == shipped
    assert found.data.tags["best_pipeline"] == BEST.text != shipped


def test_each_ending_is_told_apart(tmp_path: Path, store: str) -> None:
    client = client_of(store)
    whole = client.get_run(write(saved(tmp_path / "credit-2"), store))
    nested = nested_in(client, whole)
    assert sorted(nested) == [1, 2, 3, 4, 5, 6, 7]
    outside = {number: one.data.tags.get("outside") for number, one in nested.items()}
    assert outside == {
        1: "no limit",
        2: "latency_us <= 50",
        3: "no limit",
        4: "no limit",
        5: None,
        6: "one class for all rows",
        7: "recall >= 0.5",
    }
    assert "roc_auc" not in nested[4].data.metrics
    assert nested[4].data.metrics["roc_auc_forecast"] == pytest.approx(0.99)
    assert "recall" not in nested[4].data.metrics
    assert nested[4].data.metrics["recall_forecast"] == 0.9
    assert 4 not in {one.step for one in client.get_metric_history(whole.info.run_id, "recall")}
    failed = nested[5]
    assert failed.info.status == "FAILED"
    assert (failed.data.tags["status"], failed.data.tags["message"]) == ("timeout", "after 3 s")
    assert failed.data.metrics == {"seconds": 2.0}
    assert failed.info.end_time - failed.info.start_time == 2000
    assert nested[3].data.params["steps"] == "select → reduce → scale"
    assert nested[3].data.params["model"] == "tree"


def test_a_run_that_goes_on_is_brought_up_to_date(tmp_path: Path, store: str) -> None:
    client, folder = client_of(store), tmp_path / "credit's-3"
    first = write(saved(folder, 2), store)
    assert write(saved(folder), store) == first
    nested = nested_in(client, client.get_run(first))
    assert sorted(nested) == [1, 2, 3, 4, 5, 6, 7]
    assert client.get_run(first).data.tags["feasible"] == "True"


def renamed(run: SavedRun, **other: object) -> SavedRun:
    return replace(run, info=replace(run.info, **other))


def test_what_an_earlier_end_said_is_withdrawn(tmp_path: Path, store: str) -> None:
    client, run = client_of(store), saved(folder := tmp_path / "credit-11")
    first = write(run, store)
    assert client.get_run(first).data.tags["best_pipeline"] == BEST.text
    client.set_tag(first, "best_of", "the user's own")
    client.log_metric(first, "best_of", 3.0)
    (folder / "certificate.json").unlink()
    assert write(replace(run, best=None, feasible=False), store) == first
    tags = client.get_run(first).data.tags
    assert (tags["certificate"], tags["feasible"]) == ("none", "False")
    assert [name for name in tags if name.startswith("best_")] == ["best_of"]
    metrics = client.get_run(first).data.metrics
    names = {"best_roc_auc", "best_latency_us", "best_recall", "best_seconds"}
    assert {name for name, value in metrics.items() if math.isnan(value)} == names
    assert metrics["best_of"] == 3.0
    assert write(saved(folder), store) == first
    assert client.get_run(first).data.metrics["best_roc_auc"] == pytest.approx(0.8)
    assert client.get_run(first).data.tags["certificate"] == "latency_us <= 50: certified"


def test_a_run_that_goes_on_with_other_limits_has_one_more_run(tmp_path: Path, store: str) -> None:
    client, run = client_of(store), saved(tmp_path / "credit-6")
    first = write(run, store)
    wider = (run.info.limits[0], Limit("recall", 0.4, at_least=True))
    second = write(renamed(run, limits=wider), store)
    assert client.get_run(first).data.params["limits"] == "latency_us <= 50; recall >= 0.5"
    assert client.get_run(second).data.params["limits"] == "latency_us <= 50; recall >= 0.4"
    assert [sorted(nested_in(client, client.get_run(one))) for one in (first, second)] == [
        [1, 2, 3, 4, 5, 6, 7]
    ] * 2
    assert write(renamed(run, limits=wider), store) == second
    assert write(run, store) == first


def test_limits_in_another_order_are_the_same_run(tmp_path: Path, store: str) -> None:
    run = saved(tmp_path / "credit-7", 1)
    (one,) = run.log
    values = one.constraints[::-1]
    turned = renamed(run, limits=run.info.limits[::-1], known=(replace(one, constraints=values),))
    assert write(turned, store) == write(run, store)


def test_limits_that_differ_in_signs_alone_have_a_line_each(tmp_path: Path, store: str) -> None:
    run = saved(tmp_path / "credit-9", 1)
    classes = (Limit('recall{class="<=50K"}', 0.5), Limit('recall{class=">50K"}', 0.2))
    known = (replace(run.log[0], constraints=(0.6, 0.3)),)
    found = client_of(store).get_run(write(renamed(run, limits=classes, known=known), store))
    assert found.data.metrics["recall_class_le_50K"] == 0.6
    assert found.data.metrics["recall_class_gt_50K"] == 0.3


def test_a_run_of_an_earlier_version_is_found_by_what_both_name_alike(
    tmp_path: Path, store: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # There a forecast's limits stood in the line of true ones, and a limit could be `seconds`.
    run = saved(tmp_path / "credit-10", 4)
    run = renamed(run, limits=(Limit("seconds", 50.0), Limit("recall", 0.5, at_least=True)))
    with monkeypatch.context() as earlier:
        earlier.setattr("automl_admm_mlflow.tracking.metrics_of", earlier_metrics)
        first = write(run, store)
    assert write(run, store) == first


def earlier_metrics(evaluation: Evaluation, info: RunInfo) -> dict[str, float]:
    names = (legal(limit.name) for limit in info.limits)
    found = dict(zip(names, evaluation.constraints, strict=True))
    score = "roc_auc" if evaluation.is_ranked else "roc_auc_forecast"
    return {score: info.score_of(evaluation.loss), "seconds": evaluation.seconds, **found}


def test_evaluations_of_a_log_begun_anew_are_not_taken_for_those_before(
    tmp_path: Path, store: str
) -> None:
    client, run = client_of(store), saved(tmp_path / "credit-8", 2)
    first = write(run, store)
    anew = renamed(run, known=(replace(run.log[0], loss=0.25), *run.log[1:]))
    second = write(anew, store)
    assert second != first
    for number, score in ((first, 0.7), (second, 0.75)):
        nested = nested_in(client, client.get_run(number))
        assert nested[1].data.metrics["roc_auc"] == pytest.approx(score)
    # A log that was begun anew has no evaluation yet when its search begins.
    assert write(renamed(run, known=()), store) not in (first, second)


def test_an_empty_run_is_taken_only_where_no_other_is_of_the_log(
    tmp_path: Path, store: str
) -> None:
    client, run = client_of(store), saved(tmp_path / "credit-12", 2)
    first = write(run, store)
    # A session whose log was lost ended before its first evaluation, and the log was brought back.
    empty = begin(renamed(run, known=()).info, store, None).run.info.run_id
    assert empty != first
    assert write(run, store) == first
    assert not nested_in(client, client.get_run(empty))
    anew = renamed(run, known=(replace(run.log[0], loss=0.25),))
    assert write(anew, store) == empty
    assert [sorted(nested_in(client, client.get_run(one))) for one in (first, empty)] == [
        [1, 2],
        [1],
    ]


def test_an_evaluation_whose_number_is_given_again_is_logged(tmp_path: Path, store: str) -> None:
    client, run = client_of(store), saved(tmp_path / "credit-9")
    first = write(run, store)
    # A session with another grammar begins with fewer of them.
    for kept, is_same in ((6, False), (5, False), (7, True)):
        tracker = begin(renamed(run, known=run.log[:kept]).info, store, None)
        new = replace(run.log[6], number=kept + 1, text="svm(C=1.0)", loss=0.5)
        tracker.add(new)
        assert (tracker.run.info.run_id == first) is is_same
        nested = nested_in(client, client.get_run(tracker.run.info.run_id))
        assert nested[kept + 1].data.tags["pipeline"] == "svm(C=1.0)"


def test_a_failure_that_is_tried_again_is_logged_anew(tmp_path: Path, store: str) -> None:
    client, run = client_of(store), saved(tmp_path / "credit-10")
    failed = next(one for one in run.log if not one.ok)
    first = write(run, store)
    known = tuple(one for one in run.log if one is not failed)
    tracker = begin(renamed(run, known=known).info, store, None)
    assert tracker.run.info.run_id == first
    tracker.add(replace(failed, text="svm(C=1.0)"))
    marks = [
        one.data.tags.get("pipeline")
        for one in client.search_runs([tracker.run.info.experiment_id])
    ]
    assert "svm(C=1.0)" in marks


def test_the_observer_logs_what_it_is_told(tmp_path: Path, store: str) -> None:
    run = saved(tmp_path / "credit-4", 0)
    observer = MlflowObserver(store, "watched")
    observer.run_started(run.info)
    for one in EVALUATIONS:
        observer.evaluation_finished(run.info, one)
    result = RunResult(BEST, True, EVALUATIONS, Stop(StopReason.BUDGET), 60.0)
    observer.run_finished(run.info, result)
    assert observer.wait(120)
    client = client_of(store)
    found = client.search_runs([client.get_experiment_by_name("watched").experiment_id])
    (whole,) = [one for one in found if "mlflow.parentRunId" not in one.data.tags]
    assert len(found) == 8
    assert whole.info.status == "FINISHED"
    assert whole.data.tags["best_pipeline"] == BEST.text


@pytest.mark.parametrize("call", ["log_batch", "set_terminated"])
def test_an_evaluation_cut_off_by_a_failure_is_completed(
    tmp_path: Path, store: str, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    client, run = client_of(store), saved(tmp_path / "credit-13", 1)
    tracker = begin(replace(run.info, known=()), store, None)
    with monkeypatch.context() as broken:
        broken.setattr(tracker.client, call, lambda *_, **__: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            tracker.add(run.log[0])
    whole = client.get_run(write(run, store))
    assert whole.info.run_id == tracker.run.info.run_id
    (nested,) = nested_in(client, whole).values()
    assert nested.info.status == "FINISHED"
    assert nested.data.params == params_of(run.log[0], run.info)
    assert nested.data.metrics.items() <= whole.data.metrics.items()
    assert "roc_auc" in nested.data.metrics


def test_mlflow_prints_no_address(
    tmp_path: Path,
    store: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    printing = type(client_of(store)._tracking_client)
    monkeypatch.setattr(printing, "_log_url", lambda *_: sys.stdout.write("View run"))
    write(saved(tmp_path / "credit-14", 1), store)
    assert capsys.readouterr().out == ""


def whole_runs(store: str, experiment: str) -> list[Run]:
    client = client_of(store)
    found = client.get_experiment_by_name(experiment)
    runs = [] if found is None else client.search_runs([found.experiment_id])
    return [one for one in runs if "mlflow.parentRunId" not in one.data.tags]


def tell_all(observers: Sequence[Any], info: RunInfo) -> None:
    """Tell of a run with one evaluation, the plugin before the observers of the program."""
    for one in observers:
        one.run_started(info)
    automl_admm_mlflow.evaluation_started(info)
    for one in observers:
        one.evaluation_finished(info, EVALUATIONS[0])
    result = RunResult(BEST, True, EVALUATIONS[:1], Stop(StopReason.BUDGET), 60.0)
    for one in observers:
        one.run_finished(info, result)


def test_a_run_that_the_program_logs_is_logged_once(
    tmp_path: Path, store: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = saved(tmp_path / "credit-11", 0)
    monkeypatch.setenv("MLFLOW_TRACKING_URI", store)  # as mlflow.set_tracking_uri does
    observers = [MlflowObserver(store, "income"), MlflowObserver(None, "income")]
    tell_all([automl_admm_mlflow, *observers], run.info)
    assert all(one.wait(120) for one in observers)
    assert len(whole_runs(store, "income")) == 1
    assert whole_runs(store, tmp_path.name) == []


@pytest.mark.parametrize("is_set", [True, False], ids=["set", "unset"])
def test_the_plugin_alone_logs_where_the_environment_says(
    tmp_path: Path, store: str, monkeypatch: pytest.MonkeyPatch, is_set: bool
) -> None:
    monkeypatch.setenv("MLFLOW_TRACKING_URI", store if is_set else "")
    tell_all([automl_admm_mlflow], saved(tmp_path / "credit-12", 0).info)
    assert automl_admm_mlflow._automatic()._observer.wait(120)
    assert len(whole_runs(store, tmp_path.name)) == is_set


def test_hostile_names_and_long_texts_are_taken(tmp_path: Path, store: str) -> None:
    run = saved(tmp_path / "credit-5", 1)
    (one,) = run.log
    info = replace(
        run.info, loss_name="../../gap[\x1b[31m<b>]", known=(replace(one, text="x" * 9000),)
    )
    whole = write(replace(run, info=info), store)
    assert len(nested_in(client_of(store), client_of(store).get_run(whole))) == 1


@pytest.mark.parametrize(
    ("name", "said"),
    [("gap[sex]", "gap_sex"), ("a.b c-d", "a.b c-d"), ("../..", "unnamed"), ("", "unnamed")],
)
def test_names_are_made_legal(name: str, said: str) -> None:
    assert legal(name) == said


def test_names_that_would_be_one_are_told_apart() -> None:
    plain = ["gap[sex]", "recall", "r2"]
    assert distinct(plain, FORMS) == {"gap[sex]": "gap_sex", "recall": "recall", "r2": "r2"}
    assert distinct(["a+", "a"]) == {"a+": "a_plus", "a": "a"}
    assert distinct(["x", "x"]) == {"x": "x"}
    names = [
        "seconds",
        "f1",
        "f1_forecast",
        "best_f1",
        "gap[sex]",
        "gap{sex}",
        "y" * 300,
        "y" * 301,
    ]
    found = distinct(names, FORMS, ("seconds", "best_seconds"))
    made = [form.format(name) for name in found.values() for form in FORMS]
    assert len({*made, "seconds", "best_seconds"}) == 4 * len(names) + 2
    assert max(map(len, made)) <= 250
    assert distinct(reversed(names), FORMS, ("seconds", "best_seconds")) == found


def test_parameters_that_would_be_one_are_told_apart() -> None:
    space = SearchSpace(parameters=(Parameter("a[1]", 0, 1), Parameter("a(1)", 0, 1)))
    candidate = space.candidate(space.complete({}), space.default_theta())
    said = params_of(replace(BEST, candidate=candidate), RunInfo("two", space))
    assert len(said) == 2
