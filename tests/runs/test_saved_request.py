"""Every setting of a run reaches `run.json` from wherever it was given, and comes back from it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import MISSING, fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import accuracy_score, make_scorer
from sklearn.model_selection import KFold

from automl_admm import AutoMLClassifier, AutoMLRegressor, api
from automl_admm.cli.commands import fit, resume
from automl_admm.cli.main import main
from automl_admm.core.errors import ConfigurationError
from automl_admm.core.problem import Limit
from automl_admm.core.space import Parameter, SearchSpace
from automl_admm.execution.server.early_server import EarlyServer
from automl_admm.plugins.records import Constraint
from automl_admm.runs.config import RunConfig
from automl_admm.runs.driving.interrupts import Deferral
from automl_admm.runs.prepare.preparation import prepare
from automl_admm.runs.saved_request import read_request
from automl_admm.runs.session.run_json import write_settings
from automl_admm.store.run_folder import RunFolder

LIMIT = "columns <= 20"
GAP = "fpr_gap[sex] <= 0.9"
START = (
    'impute(strategy="median") standard_scaler() logistic_regression'
    "(C=1.0, l1_ratio=0.0, fit_intercept=true, class_weight=null, max_iter=300)"
)


class Watcher:
    def run_finished(self) -> None: ...

    def __repr__(self) -> str:
        return "Watcher()"


# What each setting is when it is not what it is by default. A new one needs a line in this table.
KEPT: Mapping[str, Any] = {
    "max_depth": 2,
    "share": "900:0-10,400-500",
    "portion": "40/900",
    "task": "classification",
    "positive": "0",
    "budget_seconds": 777.0,
    "max_evaluations": 7,
    "scoring": "balanced_accuracy",
    "constraints": (LIMIT, GAP, "latency_us <= 900 * baseline"),
    "starts": (START,),
    "theta_solver": "trust-region",
    "z_solver": "genetic",
    "strategy": "joint",
    "executor": "inline",
    "workers": 3,
    "default_workers": True,
    "cv": 3,
    "test_size": 0.25,
    "certify": 0.9,
    "certify_fraction": 0.3,
    "looks": Path("looks.json"),
    "group_thresholds": True,
    "on_infeasible": "closest",
    "evaluation_seconds": 55.5,
    "memory_bytes": 2_000_000_000,
    "min_fidelity": 0.5,
    "seed": 11,
    "title": "mine",
    "source": "somewhere.csv",
}
OF_A_SESSION: Mapping[str, Any] = {
    "origin": Path("/"),
    "resumed": True,
    "seconds_used": 3.0,
    "changes_allowed": True,
    "observers": (Watcher(),),
    "interrupts": Deferral(enabled=False),
    "server": EarlyServer.__new__(EarlyServer),
    "begun": 1.0,
}
ELSEWHERE = {"grammar", "folder", "extra_plugins"}
NEEDED: Mapping[str, Mapping[str, Any]] = {
    "certify": {"constraints": (LIMIT,)},
    "group_thresholds": {"constraints": (GAP,)},
    "certify_fraction": {"constraints": (LIMIT,), "certify": 0.9},
}


@pytest.fixture(scope="module")
def rows() -> tuple[pd.DataFrame, pd.Series]:
    frame, target = load_breast_cancer(return_X_y=True, as_frame=True)
    sex = np.where(np.arange(240) % 2, "f", "m")
    return frame.iloc[:240, :6].assign(sex=sex), target.iloc[:240]


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def written(config: RunConfig, rows: Any, folder: Path) -> RunFolder:
    """The folder with `run.json` as a run of these settings writes it."""
    place = RunFolder(folder)
    folder.mkdir(exist_ok=True)
    write_settings(place, prepare(replace(config, folder=folder), *rows), (), state="stopped")
    return place


def default_of(name: str) -> Any:
    (one,) = [field for field in fields(RunConfig) if field.name == name]
    return None if one.default is MISSING else one.default


def test_every_setting_has_its_line_here() -> None:
    assert {*KEPT, *OF_A_SESSION, *ELSEWHERE} == {field.name for field in fields(RunConfig)}
    for name, value in {**KEPT, **OF_A_SESSION}.items():
        assert value != default_of(name), name


@pytest.mark.parametrize("name", sorted(KEPT))
def test_a_setting_comes_back_as_it_was_given(name: str, rows: Any, tmp_path: Path) -> None:
    given = {"grammar": "tiny", **NEEDED.get(name, {}), name: KEPT[name]}
    back = read_request(written(RunConfig(**given), rows, tmp_path / "run"), {})
    assert getattr(back, name) == KEPT[name]
    assert type(getattr(back, name)) is type(KEPT[name])
    others = {other: default_of(other) for other in KEPT if other not in given}
    if name != "max_evaluations":
        others["budget_seconds"] = KEPT["budget_seconds"] if name == "budget_seconds" else 60.0
    assert {other: getattr(back, other) for other in others} == others


def test_all_settings_together_come_back(rows: Any, tmp_path: Path) -> None:
    config = RunConfig(grammar="tiny", **KEPT)
    back = read_request(written(config, rows, tmp_path / "run"), {})
    assert {name: getattr(back, name) for name in KEPT} == dict(KEPT)


def test_what_is_of_one_session_is_not_written_and_the_grammar_is_the_copy(
    rows: Any, tmp_path: Path
) -> None:
    apart = {name: value for name, value in OF_A_SESSION.items() if name != "resumed"}
    config = RunConfig(grammar="tiny", **apart)
    folder = written(config, rows, tmp_path / "run")
    said = json.loads(folder.settings.read_text())["request"]
    assert set(said) == {*KEPT, "extra_plugins", "only_python"} - {"starts"}
    assert said["budget_seconds"] == 63.0, "what earlier sessions had belongs to it"
    back = read_request(folder, {})
    assert (back.resumed, back.folder, back.grammar) == (True, folder.path, folder.grammar)
    assert (back.seconds_used, back.changes_allowed, back.observers) == (0.0, False, ())
    assert back.begun != 1.0
    assert back.origin == RunConfig().origin


def test_numbers_of_numpy_come_back_as_numbers(rows: Any, tmp_path: Path) -> None:
    """JSON knows none of them, and a text is no limit of memory."""
    kinds = {"cv": np.int64, "workers": np.int32, "memory_bytes": np.int64, "seed": np.uint32}
    kinds |= {"max_evaluations": np.int16, "default_workers": np.bool_}
    kinds |= {"test_size": np.float64, "evaluation_seconds": np.float32}
    given = {name: kind(KEPT[name]) for name, kind in kinds.items()}
    back = read_request(written(RunConfig("tiny", **given), rows, tmp_path / "run"), {})
    assert {name: getattr(back, name) for name in kinds} == {name: KEPT[name] for name in kinds}


def test_what_only_python_can_give_is_named(rows: Any, tmp_path: Path) -> None:
    limit = Constraint(Limit("leaves", 9.0), lambda done: 1.0)
    given = {
        "scoring": (make_scorer(accuracy_score), ["scoring"]),
        "cv": (KFold(2), ["cv"]),
        "constraints": ((limit, LIMIT), ["constraints"]),
        "extra_plugins": ({"yours": Watcher(), "mine": Watcher()}, ["mine", "yours"]),
    }
    for name, (value, named) in given.items():
        folder = written(RunConfig("tiny", **{name: value}), rows, tmp_path / name)
        said = json.loads(folder.settings.read_text())["request"]
        assert [*said["only_python"], *said["extra_plugins"]] == named
        assert said["constraints"] == ([LIMIT] if name == "constraints" else [])
        assert said["extra_plugins"] == (named if name == "extra_plugins" else [])
        with pytest.raises(ConfigurationError, match=f"Python objects: {', '.join(named)}"):
            read_request(folder, {})


# --- from Python ---------------------------------------------------------------------------------


SAME = (
    "grammar",
    "scoring",
    "positive",
    "starts",
    "theta_solver",
    "z_solver",
    "strategy",
    "cv",
    "certify",
)
SAME += ("group_thresholds", "on_infeasible", "executor", "min_fidelity", "max_evaluations")
NAMED = {
    "time_budget": "budget_seconds",
    "eval_time_limit": "evaluation_seconds",
    "memory_limit": "memory_bytes",
    "random_state": "seed",
    "n_jobs": "workers",
}


def parameters(folder: Path) -> dict[str, Any]:
    """All parameters of an estimator, none as it is by default."""
    known = {**KEPT, "grammar": "tiny"}
    given = {name: known[name] for name in SAME}
    given |= {parameter: known[setting] for parameter, setting in NAMED.items()}
    given |= {"constraints": (LIMIT, GAP), "callbacks": (Watcher(),), "work_dir": folder}
    return given | {"warm_start": True}


@pytest.mark.parametrize("kind", [AutoMLClassifier, AutoMLRegressor])
def test_every_parameter_of_an_estimator_reaches_the_run_and_its_folder(
    kind: type[Any], rows: Any, tmp_path: Path
) -> None:
    given, defaults = parameters(tmp_path / "run"), kind().get_params()
    assert set(given) == set(defaults)
    for name, value in given.items():
        assert value != defaults[name], name
    search = clone(kind(**given))
    assert {name: str(value) for name, value in search.get_params().items()} == {
        name: str(value) for name, value in given.items()
    }
    config = search._config(1.0)
    back = config
    if kind is AutoMLClassifier:
        back = read_request(written(config, rows, tmp_path / "run"), {})
    for each in (config, back):
        shown = {name: getattr(each, name) for name in SAME if name != "grammar"}
        assert shown == {name: given[name] for name in shown}
        shown = {name: getattr(each, setting) for name, setting in NAMED.items()}
        assert shown == {name: given[name] for name in NAMED}
        assert each.constraints == (LIMIT, GAP)
        assert each.default_workers is False
        assert each.folder == tmp_path / "run"
        assert each.task == search._task
    assert config.grammar == "tiny"
    assert config.observers == tuple(search.callbacks)
    assert kind()._config(1.0).default_workers is True


def test_warm_start_goes_on_with_the_parameters_it_has(rows: Any, tmp_path: Path) -> None:
    given = parameters(tmp_path / "run") | {"max_evaluations": 2, "warm_start": False}
    given |= {"theta_solver": "random", "z_solver": "random", "n_jobs": 1, "certify": None}
    first = AutoMLClassifier(**given).fit(*rows)
    more = {"warm_start": True, "max_evaluations": 3}
    again = AutoMLClassifier(**(first.get_params() | more)).fit(*rows)
    assert again.n_evaluations_ >= first.n_evaluations_
    said = json.loads((tmp_path / "run" / "run.json").read_text())["request"]
    assert said["strategy"] == "joint"
    assert said["max_evaluations"] == 3
    assert again.get_params() == first.get_params() | more


def test_every_argument_of_minimize_reaches_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    names = ("theta_solver", "z_solver", "strategy", "executor", "min_fidelity", "on_infeasible")
    given = {name: KEPT[name] for name in (*names, "max_evaluations")}
    given |= {parameter: KEPT[setting] for parameter, setting in NAMED.items()}
    caught: list[RunConfig] = []

    def catch(config: RunConfig, *_: object) -> None:
        caught.append(config)
        raise KeyboardInterrupt

    monkeypatch.setattr(api, "run_black_box", catch)
    space = SearchSpace((), (Parameter("x", 0.0, 1.0),))
    known = set(api.minimize.__kwdefaults__) - {"limits", "cheap", "callbacks"}
    assert set(given) == known
    watcher = Watcher()
    with pytest.raises(KeyboardInterrupt):
        api.minimize(lambda values: values["x"], space, callbacks=[watcher], **given)
    (config,) = caught
    assert {name: getattr(config, NAMED.get(name, name)) for name in given} == given
    assert config.observers == (watcher,)


# --- from the command line -----------------------------------------------------------------------


OPTIONS: Mapping[str, tuple[str, ...]] = {
    "target": ("--target", "target"),
    "task": ("--task", "classification"),
    "grammar": ("--grammar", "tiny"),
    "max_depth": ("--max-depth", "2"),
    "starts": ("--start", START),
    "budget": ("--budget", "777s"),
    "max_evaluations": ("--max-evaluations", "7"),
    "constraints": (
        "--constraint",
        LIMIT,
        "--constraint",
        GAP,
        "--constraint",
        "latency_us <= 900 * baseline",
    ),
    "sensitive": ("--sensitive", "region"),
    "certify": ("--certify", "0.9"),
    "certify_fraction": ("--certify-fraction", "0.3"),
    "group_thresholds": ("--group-thresholds",),
    "on_infeasible": ("--on-infeasible", "closest"),
    "metric": ("--metric", "balanced_accuracy"),
    "theta_solver": ("--theta-solver", "trust-region"),
    "z_solver": ("--z-solver", "genetic"),
    "strategy": ("--strategy", "joint"),
    "executor": ("--executor", "inline"),
    "workers": ("--workers", "3"),
    "cv": ("--cv", "3"),
    "test_size": ("--test-size", "0.25"),
    "eval_timeout": ("--eval-timeout", "55.5s"),
    "memory": ("--memory", "2GB"),
    "min_fidelity": ("--min-fidelity", "0.5"),
    "positive": ("--positive", "0"),
    "seed": ("--seed", "11"),
    "out": ("--out", "run"),
    "as_json": ("--json",),
    "quiet": ("--quiet",),
    "verbose": ("--verbose",),
}
# What the command line has another name for, or says by itself.
CALLED = {
    "budget_seconds": "budget",
    "scoring": "metric",
    "evaluation_seconds": "eval_timeout",
    "memory_bytes": "memory",
}
BY_ITSELF = {"default_workers": False, "title": "people", "looks": None}


def run_program(*words: str) -> int:
    with pytest.raises(SystemExit) as ended:
        main(words)
    return int(ended.value.code or 0)


@pytest.fixture
def people(rows: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    frame, target = rows
    region = np.where(np.arange(len(frame)) % 3, "north", "south")
    path = tmp_path / "people.csv"
    frame.assign(region=region, target=target).to_csv(path, index=False)
    return path


def test_every_option_of_fit_reaches_the_folder_and_survives_a_resume(people: Path) -> None:
    assert {param.name for param in fit.command.params} == {*OPTIONS, "data"}
    words = OPTIONS | {"max_evaluations": ("--max-evaluations", "1")}
    assert (
        run_program("fit", str(people), *(word for given in words.values() for word in given)) == 0
    )
    run = RunFolder(people.parent / "run")
    before = json.loads(run.settings.read_text())
    expected = {
        **KEPT,
        **BY_ITSELF,
        "source": str(people),
        "share": None,
        "portion": None,
        "max_evaluations": 1,
    }
    assert set(CALLED) <= set(expected)
    back = read_request(run, {})
    assert {name: getattr(back, name) for name in KEPT} == expected
    assert before["settings"]["sensitive"] == ["region"]
    assert run_program("resume", "run", "--max-evaluations", "+1", "--budget", "777s", "-q") == 0
    after = json.loads(run.settings.read_text())
    differing = {
        name for name in after["request"] if after["request"][name] != before["request"][name]
    }
    assert differing == {"max_evaluations", "budget_seconds"}
    assert after["settings"]["starts"] == before["settings"]["starts"]


def test_every_option_of_resume_is_taken(people: Path) -> None:
    given = {
        "budget": ("--budget", "400s"),
        "max_evaluations": ("--max-evaluations", "2"),
        "constraints": ("--constraint", "columns <= 19"),
        "grammar": ("--grammar", "tiny"),
        "allow_changed": ("--allow-changed",),
        "workers": ("--workers", "2"),
        "executor": ("--executor", "local"),
        "on_infeasible": ("--on-infeasible", "closest"),
        "as_json": ("--json",),
        "quiet": ("--quiet",),
        "verbose": ("--verbose",),
    }
    assert {param.name for param in resume.command.params} == {*given, "run", "data"}
    plain = ("--target", "target", "--executor", "inline", "--max-evaluations", "1", "--out", "run")
    assert run_program("fit", str(people), "--grammar", "tiny", *plain, "-q") == 0
    assert run_program("resume", "run", *(word for words in given.values() for word in words)) == 0
    back = read_request(RunFolder(people.parent / "run"), {})
    assert (back.constraints, back.workers) == (("columns <= 19",), 2)
    assert (back.executor, back.max_evaluations) == ("local", 2)
    assert (back.default_workers, back.on_infeasible) == (False, "closest")
    assert back.budget_seconds is not None
    assert 400.0 <= back.budget_seconds <= 500.0
