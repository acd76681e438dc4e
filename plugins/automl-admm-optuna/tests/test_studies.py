"""A run as a study, in a file of SQLite, as real Optuna reads it again."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from shutil import copyfile
from typing import Any

import optuna
import pytest
from automl_admm_optuna import export_study, exporters
from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution
from optuna.trial import TrialState, create_trial

from automl_admm.plugin_api import (
    Choice,
    ConfigurationError,
    Evaluation,
    Limit,
    Parameter,
    SavedRun,
    SearchSpace,
)
from automl_admm.testing.saved_runs import BEST, EVALUATIONS, SPACE, sample_run


@pytest.fixture(scope="session")
def without_studies(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file with Optuna's tables alone: to make them takes most of a test."""
    path = tmp_path_factory.mktemp("optuna") / "study.db"
    optuna.storages.RDBStorage(f"sqlite:///{path}")
    return path


@pytest.fixture
def storage(tmp_path: Path, without_studies: Path) -> str:
    copyfile(without_studies, tmp_path / "study.db")
    return f"sqlite:///{tmp_path / 'study.db'}"


@pytest.fixture(scope="session")
def with_a_study(tmp_path_factory: pytest.TempPathFactory, without_studies: Path) -> Path:
    """A file with the study of a run."""
    path = Path(copyfile(without_studies, tmp_path_factory.mktemp("written") / "study.db"))
    write(sample_run(Path("credit-1")), f"sqlite:///{path}")
    return path


@pytest.fixture
def written(tmp_path: Path, with_a_study: Path) -> str:
    """A storage to which the run `credit-1` was written."""
    copyfile(with_a_study, tmp_path / "study.db")
    return f"sqlite:///{tmp_path / 'study.db'}"


def write(run: SavedRun, storage: str) -> str:
    (exporter,) = exporters()
    return exporter.write(run, storage)


GROWN = SearchSpace(
    (Choice("model", ("tree", "line", "net")), *SPACE.decisions[1:]), SPACE.parameters
)


def gone_on(folder: Path, *log: Evaluation, **changes: Any) -> SavedRun:
    """Return the run as a later session left it, with other evaluations or facts of the run."""
    run = sample_run(folder, log or EVALUATIONS)
    return replace(run, info=replace(run.info, **changes))


def test_the_best_trial_is_the_best_of_the_run(tmp_path: Path) -> None:
    storage = f"sqlite:///{tmp_path / 'new.db'}"
    said = write(sample_run(tmp_path / "credit-1"), storage)
    assert said == f"{storage}: 7 new trials in the study 'credit-1'"
    study = optuna.load_study(study_name="credit-1", storage=storage)
    assert study.best_trial.user_attrs["number"] == BEST.number
    assert study.best_value == pytest.approx(0.8)
    assert study.metric_names == ["roc_auc"]
    assert study.direction is optuna.study.StudyDirection.MAXIMIZE


def test_states_values_and_parameters_are_those_of_the_log(written: str) -> None:
    trials = optuna.load_study(study_name="credit-1", storage=written).trials
    whole, pruned, failed = TrialState.COMPLETE, TrialState.PRUNED, TrialState.FAIL
    assert [one.state for one in trials] == [whole, whole, whole, pruned, failed, whole, whole]
    assert trials[0].intermediate_values == {1: 0.6, 2: 0.8}
    assert trials[4].user_attrs["message"] == "after 3 s"
    assert [one.duration.total_seconds() for one in trials if one.duration] == [2.0] * 7
    params, kinds = trials[2].params, trials[2].distributions
    assert params["model"] == "tree"
    values = SPACE.values(BEST.candidate)
    order = {"steps[select]": 1, "steps[reduce]": 2, "steps[scale]": 3}
    assert params == {name: values[name] for name in values if name != "steps"} | order
    assert kinds["depth"] == IntDistribution(1, 8, log=True)
    assert kinds["rate"] == FloatDistribution(0.001, 1.0, log=True)
    assert kinds["bagged"] == CategoricalDistribution((True, None))
    assert "depth" not in trials[1].params


def test_constraints_say_how_far_outside_each_limit_a_trial_is(written: str) -> None:
    trials = optuna.load_study(study_name="credit-1", storage=written).trials
    assert trials[1].constraints["latency_us <= 50"] == 30.0
    assert trials[2].constraints["recall >= 0.5"] == 0.0
    assert trials[4].constraints == {}
    assert trials[5].constraints["decides one class alone"] == 1.0
    assert trials[6].constraints["recall >= 0.5"] == float("inf")


@pytest.mark.parametrize("at_least", [False, True], ids=["at most", "at least"])
def test_what_is_within_a_limit_but_for_rounding_is_feasible(at_least: bool) -> None:
    limit = Limit("abstain", 0.3 + 5e-17 if at_least else 0.3, at_least=at_least)
    value = 0.3 if at_least else 0.1 + 0.2
    log = (replace(BEST, number=1, constraints=(value,)), replace(BEST, number=2, loss=0.4))
    log = (log[0], replace(log[1], key="worse", constraints=(limit.bound,)))
    study = export_study(gone_on(Path("rounded"), *log, limits=(limit,)), None)
    assert value != limit.bound
    assert study.best_trial.user_attrs["number"] == 1
    assert study.trials[0].constraints[str(limit)] <= 0.0


def test_a_limit_with_the_name_of_a_fact_overwrites_none(storage: str) -> None:
    limits = tuple(Limit(name, 9.0) for name in ("seconds", "number", "status", "key"))
    measured = replace(BEST, constraints=(2.5, 7.0, 1.0, 1.0))
    run = gone_on(Path("named"), measured, limits=limits)
    write(run, storage)
    (trial,) = optuna.load_study(study_name="named", storage=storage).trials
    told = [trial.user_attrs[limit.name] for limit in limits]
    assert told == [BEST.seconds, BEST.number, "success", BEST.key]
    assert "0 new trials" in write(run, storage)


def test_a_run_that_goes_on_is_brought_up_to_date(tmp_path: Path, storage: str) -> None:
    running = sample_run(tmp_path / "credit-1", EVALUATIONS[:2])
    assert "2 new trials" in write(running, storage)
    assert "5 new trials" in write(sample_run(tmp_path / "credit-1"), storage)
    assert "0 new trials" in write(sample_run(tmp_path / "credit-1"), storage)
    study = optuna.load_study(study_name="credit-1", storage=storage)
    assert [one.user_attrs["number"] for one in study.trials] == [1, 2, 3, 4, 5, 6, 7]


@pytest.mark.parametrize(
    ("log", "changes"),
    [
        ([replace(one, loss=one.loss / 2) for one in EVALUATIONS], {}),
        ([replace(EVALUATIONS[0], key="another")], {}),
        (EVALUATIONS[:2], {}),
        (EVALUATIONS, {"limits": (Limit("latency_us", 20.0), Limit("recall", 0.5, at_least=True))}),
        (EVALUATIONS, {"space": GROWN}),
        (EVALUATIONS, {"best_score": None, "loss_name": "log_loss"}),
    ],
    ids=["other rows", "reused number", "fewer", "other limits", "other grammar", "other metric"],
)
def test_a_study_is_written_anew_where_the_run_went_on_otherwise(
    tmp_path: Path, written: str, log: list[Evaluation], changes: dict[str, Any]
) -> None:
    later = gone_on(tmp_path / "credit-1", *log, **changes)
    assert "written anew" in write(later, written)
    found = optuna.load_study(study_name="credit-1", storage=written)
    expected = export_study(later, None)
    told = [(one.number, one.params, one.value, one.constraints) for one in found.trials]
    assert told == [(one.number, one.params, one.value, one.constraints) for one in expected.trials]
    assert (found.direction, found.metric_names) == (expected.direction, expected.metric_names)
    assert "0 new trials" in write(later, written)


def test_trials_of_a_user_stay(tmp_path: Path, written: str) -> None:
    study = optuna.load_study(study_name="credit-1", storage=written)
    study.add_trial(create_trial(value=0.5))
    assert "0 new trials" in write(sample_run(tmp_path / "credit-1"), written)
    with pytest.raises(ConfigurationError, match="others that are not from it"):
        write(gone_on(tmp_path / "credit-1", space=GROWN), written)
    assert len(study.get_trials()) == len(EVALUATIONS) + 1


def test_a_study_of_another_run_is_left_alone(tmp_path: Path, written: str) -> None:
    later = sample_run(tmp_path / "credit-1", begun="2026-11-22T09:30:00+00:00")
    with pytest.raises(ConfigurationError, match=r"'credit-1' in .* is of another run"):
        write(later, written)


def test_a_run_without_anything_feasible_has_no_best_trial(tmp_path: Path) -> None:
    study = export_study(sample_run(tmp_path / "credit-1", EVALUATIONS[1:2]), None)
    with pytest.raises(ValueError, match="feasible"):
        study.best_trial  # noqa: B018


def test_equal_values_are_told_apart(tmp_path: Path, storage: str) -> None:
    # To Optuna 1, 1.0 and True are one choice, and a trial would have another value than it had.
    values = (1, 1.0, True, "1")
    space = SearchSpace(
        (Choice("share", ("one", "all", "yes", "text"), values=values),),
        (Parameter("again", 0, 3, kind="category", values=values),),
    )
    told = [
        replace(
            BEST,
            number=number,
            candidate=space.candidate(space.complete({"share": label}), [place]),
        )
        for number, (label, place) in enumerate(
            zip(("one", "all", "yes", "text"), (0.1, 0.4, 0.6, 0.9), strict=True), start=1
        )
    ]
    run = sample_run(tmp_path / "alike", told)
    write(replace(run, info=replace(run.info, space=space)), storage)
    study = optuna.load_study(study_name="alike", storage=storage)
    texts = ["int 1", "float 1.0", "bool true", 'str "1"']
    assert [one.params["share"] for one in study.trials] == texts
    assert [one.params["again"] for one in study.trials] == texts
