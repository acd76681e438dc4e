"""Every setting of a run reaches `run.json` from wherever it was given, and comes back from it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from option_values import EXAMPLES, GAP, LIMIT, Watcher, other_value, words_for
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import accuracy_score, make_scorer
from sklearn.model_selection import KFold

from automl_admm import AutoMLClassifier
from automl_admm.cli.commands.resume import command as resume
from automl_admm.cli.main import main
from automl_admm.core.errors import ConfigurationError, StoreError
from automl_admm.core.limits import Limit
from automl_admm.execution.server.early_server import EarlyServer
from automl_admm.plugins.records import Constraint
from automl_admm.runs.config import RunConfig
from automl_admm.runs.driving.interrupts import Deferral
from automl_admm.runs.options import OPTIONS, PipelineOptions, options_of
from automl_admm.runs.prepare.preparation import prepare
from automl_admm.runs.saved_request import kept_cv, read_request
from automl_admm.runs.session.run_json import write_settings
from automl_admm.store.run_folder import RunFolder

# Facts that are saved beside the options; a new one needs a line here.
FACTS: Mapping[str, Any] = {
    "share": "900:0-10,400-500",
    "portion": "40/900",
    "found_encoding": "Latin-1",
    "searched_rows": 300,
    "default_workers": True,
    "looks": Path("looks.json"),
    "title": "mine",
    "source": "somewhere.csv",
}
OF_A_SESSION: Mapping[str, Any] = {
    "origin": Path("/"),
    "resumed": True,
    "seconds_used": 3.0,
    "changes_allowed": True,
    "callbacks": (Watcher(),),
    "components": EXAMPLES["components"],
    "interrupts": Deferral(enabled=False),
    "server": EarlyServer.__new__(EarlyServer),
    "begun": 1.0,
}
# What a run took over from others is in its store: it is not taken over again.
ELSEWHERE = {"grammar", "work_dir", "extra_plugins", "reuse"}
# All that comes back from a folder, with a value that is not its default.
KEPT: dict[str, Any] = {
    option.name: other_value(option)
    for option in OPTIONS
    if option.name not in {*OF_A_SESSION, *ELSEWHERE}
} | dict(FACTS)
# Costs of columns and a limit on them go together.
COSTS_LIMIT = "column_cost <= 20"
KEPT["constraints"] = (*KEPT["constraints"], COSTS_LIMIT)
NEEDED: Mapping[str, Mapping[str, Any]] = {
    "constraints": {"column_cost": KEPT["column_cost"]},
    "column_cost": {"constraints": (COSTS_LIMIT,)},
    "certify": {"constraints": (LIMIT,)},
    "group_thresholds": {"constraints": (GAP,)},
    "certify_fraction": {"constraints": (LIMIT,), "certify": 0.9},
    "last_look": {"constraints": (LIMIT,), "certify": 0.9},
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
    write_settings(place, prepare(replace(config, work_dir=folder), *rows), (), state="stopped")
    return place


def default_of(name: str) -> Any:
    (one,) = [field for field in fields(RunConfig) if field.name == name]
    return None if one.default is MISSING else one.default


def test_every_setting_that_is_no_option_has_its_line_here() -> None:
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
        others["time_budget"] = KEPT["time_budget"] if name == "time_budget" else 60.0
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
    assert said["time_budget"] == 63.0, "what earlier sessions had belongs to it"
    back = read_request(folder, {})
    assert (back.resumed, back.work_dir, back.grammar) == (True, folder.path, folder.grammar)
    assert (back.seconds_used, back.changes_allowed, back.callbacks) == (0.0, False, ())
    assert back.begun != 1.0
    assert back.origin == RunConfig().origin


def test_numbers_of_numpy_come_back_as_numbers(rows: Any, tmp_path: Path) -> None:
    """JSON knows none of them, and a text is no limit of memory."""
    kinds = {
        "cv": np.int64,
        "n_jobs": np.int32,
        "memory_limit": np.int64,
        "random_state": np.uint32,
    }
    kinds |= {"max_evaluations": np.int16, "default_workers": np.bool_}
    kinds |= {"test_size": np.float64, "eval_time_limit": np.float32}
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


def rewritten(folder: RunFolder, change: Callable[[dict[str, Any]], object]) -> None:
    content = json.loads(folder.settings.read_text())
    change(content["request"])
    folder.settings.write_text(json.dumps(content))


@pytest.mark.parametrize(
    ("settings", "way"),
    [
        ({"folds": 4, "split": "4 folds"}, 4),
        ({"folds": 1, "split": "1000 of 4000 rows held out"}, 0.25),
        ({"folds": 8, "split": "4 folds, 2 times: of 300 rows one deal ranks by chance"}, None),
    ],
)
def test_a_run_goes_on_with_its_folds_whatever_limits_or_defaults_are_now(
    settings: dict[str, Any], way: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(RunFolder, "read", lambda _folder, _path: {"settings": settings})
    assert kept_cv(RunConfig(work_dir=tmp_path, resumed=True)) == way
    assert kept_cv(RunConfig(work_dir=tmp_path, resumed=True, cv=3)) == 3
    assert kept_cv(RunConfig(work_dir=tmp_path)) is None


def test_a_value_of_another_kind_is_damage_told_in_one_line(rows: Any, tmp_path: Path) -> None:
    folder = written(RunConfig(grammar="tiny"), rows, tmp_path / "run")
    whole = folder.settings.read_text()
    for option in OPTIONS:
        if option.is_saved:
            folder.settings.write_text(whole)
            rewritten(folder, lambda request, name=option.name: request.update({name: {"a": [1]}}))
            with pytest.raises(
                StoreError, match=rf"damaged: 'request.{option.name}[\w.]*' is"
            ) as told:
                read_request(folder, {})
            assert "\n" not in str(told.value)


# --- from Python ---------------------------------------------------------------------------------


def parameters(folder: Path) -> dict[str, Any]:
    """Return all parameters of an estimator, none as it is by default."""
    given = {option.name: other_value(option) for option in options_of(PipelineOptions)}
    del given["components"]  # a run with Python objects is gone on with from Python alone
    return given | {
        "constraints": (LIMIT, GAP, COSTS_LIMIT),
        "work_dir": folder,
        "warm_start": True,
    }


def test_every_parameter_of_an_estimator_reaches_the_run_and_its_folder(
    rows: Any, tmp_path: Path
) -> None:
    given = parameters(tmp_path / "run")
    search = clone(AutoMLClassifier(**given))
    config = search._config(1.0)
    back = read_request(written(config, rows, tmp_path / "run"), {})
    saved = {option.name for option in options_of(PipelineOptions)}
    saved -= {"grammar", "callbacks", "components", "reuse"}
    for each in (config, back):
        assert {name: getattr(each, name) for name in saved} == {n: given[n] for n in saved}
        assert (each.task, each.default_workers) == ("classification", False)
    assert config.grammar == "tiny"
    assert config.callbacks == tuple(search.callbacks)
    assert AutoMLClassifier()._config(1.0).default_workers is True


def test_warm_start_goes_on_with_the_parameters_it_has(rows: Any, tmp_path: Path) -> None:
    given = parameters(tmp_path / "run") | {"max_evaluations": 2, "warm_start": False}
    given |= {"theta_solver": "random", "z_solver": "random", "n_jobs": 1, "certify": None}
    given |= {"reuse": (), "last_look": False}  # with names that are no runs
    first = AutoMLClassifier(**given).fit(*rows)
    more = {"warm_start": True, "max_evaluations": 3}
    again = AutoMLClassifier(**(first.get_params() | more)).fit(*rows)
    assert again.n_evaluations_ >= first.n_evaluations_
    said = json.loads((tmp_path / "run" / "run.json").read_text())["request"]
    assert said["strategy"] == "joint"
    assert said["max_evaluations"] == 3
    assert again.get_params() == first.get_params() | more


# --- from the command line -----------------------------------------------------------------------


# The facts that the command line says by itself.
BY_ITSELF = {"default_workers": False, "title": "people", "looks": None, "share": None}
BY_ITSELF |= {"portion": None, "searched_rows": None}
BY_ITSELF |= {"found_encoding": KEPT["encoding"]}


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
    given = {option.name: other_value(option) for option in OPTIONS if option.flag is not None}
    given |= {"max_evaluations": 1, "work_dir": "run", "constraints": KEPT["constraints"]}
    del given["reuse"]  # there is no run to take anything from
    del given["last_look"]  # it leaves nothing to go on for
    flagged = [option for option in OPTIONS if option.name in given]
    words = [word for option in flagged for word in words_for(option, given[option.name])]
    data = (str(people), "--target", "target", "--sensitive", "region")
    assert run_program("fit", *data, *words, "--json", "--quiet", "--verbose") == 0
    run = RunFolder(people.parent / "run")
    before = json.loads(run.settings.read_text())
    once = {"source": str(people), "max_evaluations": 1, "last_look": False}
    expected = {**KEPT, **BY_ITSELF, **once}
    back = read_request(run, {})
    assert {name: getattr(back, name) for name in KEPT} == expected
    assert before["settings"]["sensitive"] == ["region"]
    assert run_program("resume", "run", "--max-evaluations", "+1", "--budget", "777s", "-q") == 0
    after = json.loads(run.settings.read_text())
    differing = {
        name for name in after["request"] if after["request"][name] != before["request"][name]
    }
    assert differing == {"max_evaluations", "time_budget"}
    assert after["settings"]["starts"] == before["settings"]["starts"]


def test_every_option_of_resume_is_taken(people: Path) -> None:
    given = {
        "time_budget": ("--budget", "400s"),
        "max_evaluations": ("--max-evaluations", "2"),
        "constraints": ("--constraint", "columns <= 19"),
        "grammar": ("--grammar", "tiny"),
        "separator": ("--separator", "comma"),
        "decimal": ("--decimal", "point"),
        "encoding": ("--encoding", "utf-8"),
        "allow_changed": ("--allow-changed",),
        "n_jobs": ("--workers", "2"),
        "executor": ("--executor", "local"),
        "on_infeasible": ("--on-infeasible", "closest"),
        "refit": ("--refit", "folds"),
        "as_json": ("--json",),
        "quiet": ("--quiet",),
        "profile": ("--profile",),
        "report": ("--report",),
        "verbose": ("--verbose",),
    }
    assert {param.name for param in resume.params} == {*given, "run", "data"}
    plain = ("--target", "target", "--executor", "inline", "--max-evaluations", "1", "--out", "run")
    assert run_program("fit", str(people), "--grammar", "tiny", *plain, "-q") == 0
    words = [word for words in given.values() for word in words]
    assert run_program("resume", "run", *words) == 0
    back = read_request(RunFolder(people.parent / "run"), {})
    assert (back.constraints, back.n_jobs) == (("columns <= 19",), 2)
    assert (back.executor, back.max_evaluations) == ("local", 2)
    assert (back.default_workers, back.on_infeasible) == (False, "closest")
    assert back.refit == "folds"
    assert back.time_budget is not None
    assert 400.0 <= back.time_budget <= 500.0


def test_a_folder_without_its_grammar_is_named_as_damaged(rows: Any, tmp_path: Path) -> None:
    folder = written(RunConfig("tiny", max_evaluations=1), rows, tmp_path / "run")
    folder.grammar.unlink()
    with pytest.raises(StoreError, match=r"holds no grammar\.lark.* restore it, or fit again"):
        read_request(folder, {})
    other = tmp_path / "other.lark"
    assert read_request(folder, {"grammar": other}).grammar == other
