"""Every option of a run stands once: all doors are made from its line, and agree with it."""

from __future__ import annotations

import json
import runpy
import subprocess
import sys
from dataclasses import fields
from inspect import signature
from pathlib import Path
from shutil import copytree
from typing import Any

import click
import numpy as np
import pytest
from option_values import other_value, words_for
from sklearn.base import clone

import automl_admm
from automl_admm import AutoMLClassifier, AutoMLRegressor, Study, minimize
from automl_admm.cli.commands.fit import command as fit
from automl_admm.cli.commands.resume import command as resume
from automl_admm.cli.shared.run_options import is_given, settings_given
from automl_admm.core.errors import ConfigurationError
from automl_admm.core.space import SearchSpace
from automl_admm.runs.config import RunConfig
from automl_admm.runs.option_record import Option
from automl_admm.runs.options import FLAGS, OPTIONS, PipelineOptions, options_of
from automl_admm.runs.search_options import SearchOptions
from automl_admm.runs.session.changes import DEFAULTS
from automl_admm.runs.study import files as study_files
from automl_admm.runs.validation import CHECKS

DOCS = Path(__file__).parents[2] / "docs"
ESTIMATORS = (AutoMLClassifier, AutoMLRegressor)
FLAGGED = tuple(option for option in OPTIONS if option.flag is not None)
# Parameters of the estimators and arguments of `minimize` that are no options of a run.
OF_ESTIMATORS = {"warm_start", "verbose", "cancel"}
OF_STUDY = {"space", "constraints", "cheap", "starts", "warm_start", "work_dir"}
OF_MINIMIZE = {"objective", "cancel"} | OF_STUDY


def names(options: tuple[Option, ...]) -> set[str]:
    return {option.name for option in options}


def parsed(command: click.Command, *words: str) -> dict[str, Any]:
    return command.make_context("it", list(words)).params


@pytest.mark.parametrize("option", OPTIONS, ids=lambda option: option.name)
def test_every_value_of_the_tests_is_another_than_the_default(option: Option) -> None:
    assert other_value(option) not in (option.default, option.command_default)


def test_the_settings_of_a_run_are_the_options_by_their_names() -> None:
    assert names(OPTIONS) <= {one.name for one in fields(RunConfig)}
    assert len(names(OPTIONS)) == len(OPTIONS)


def test_every_option_has_a_flag_of_its_own_and_help() -> None:
    flags = [option.flag for option in FLAGGED]
    assert len(set(flags)) == len(flags)
    assert all(option.help.endswith((".", "]")) for option in OPTIONS)
    assert names(OPTIONS) - names(FLAGGED) == {"callbacks", "components"}, "objects have no words"
    assert {name: FLAGS[name] for name in names(FLAGGED)} == {o.name: o.flag for o in FLAGGED}


@pytest.mark.parametrize("option", FLAGGED, ids=lambda option: option.name)
def test_the_command_line_reads_every_option(option: Option) -> None:
    value = other_value(option)
    read = settings_given(parsed(fit, *words_for(option, value)))
    assert read[option.name] == value or str(read[option.name]) == value
    expected = settings_given(parsed(fit))
    assert {**read, option.name: expected[option.name]} == expected


@pytest.mark.parametrize("option", FLAGGED, ids=lambda option: option.name)
def test_the_defaults_of_the_command_line_are_those_of_the_record(option: Option) -> None:
    default = option.default if option.command_default is None else option.command_default
    assert settings_given(parsed(fit))[option.name] == default


def test_the_command_resume_offers_the_options_that_have_a_help_for_it() -> None:
    own = {"run", "data", "allow_changed", "as_json", "profile", "quiet", "report", "verbose"}
    expected = {option.name for option in OPTIONS if option.resume_help is not None}
    assert {param.name for param in resume.params} == expected | own
    helps = {one.name: one.help for one in resume.params if isinstance(one, click.Option)}
    for option in OPTIONS:
        assert helps.get(option.name) == option.resume_help
    given = parsed(resume, "run")
    assert {given[name] or None for name in expected} == {None}, "as before, unless it is given"


def test_a_zero_is_given_at_resume_and_a_missing_option_is_not() -> None:
    assert [is_given(value) for value in (0, "", "inline", True)] == [True] * 4
    assert [is_given(value) for value in (None, (), False)] == [False] * 3


def test_a_label_may_be_called_auto() -> None:
    assert settings_given(parsed(fit, "--positive", "auto"))["positive"] == "auto"
    assert settings_given(parsed(fit, "--task", "auto"))["task"] is None


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_estimators_take_the_options_and_give_them_back(kind: Any) -> None:
    offered = options_of(PipelineOptions)
    assert set(kind().get_params()) == names(offered) | OF_ESTIMATORS
    assert all(kind().get_params()[option.name] == option.default for option in offered)
    given = {option.name: other_value(option) for option in offered}
    given |= {"warm_start": True, "verbose": 2, "cancel": len}
    search = clone(kind(**given))
    shown = search.get_params()
    assert {name: str(shown[name]) for name in shown} == {n: str(v) for n, v in given.items()}
    again = kind().set_params(**given)
    assert again.get_params() == given
    config = again.set_params(warm_start=False, cancel=None)._config(1.0)
    for option in offered:
        assert str(getattr(config, option.name)) == str(given[option.name])


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_a_parameter_is_kept_as_the_object_that_was_given(kind: Any) -> None:
    limits, watchers, state = ["columns <= 2"], [object()], np.random.RandomState(3)
    search = kind(constraints=limits, callbacks=watchers, random_state=state)
    assert search.constraints is limits
    assert search.callbacks is watchers
    assert search.random_state is state


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_the_signature_of_an_estimator_names_every_parameter(kind: Any) -> None:
    shown = signature(kind).parameters
    assert next(iter(shown)) == "grammar"
    assert shown["grammar"].kind is shown["grammar"].POSITIONAL_OR_KEYWORD
    assert all(one.kind is one.KEYWORD_ONLY for one in list(shown.values())[1:])
    for option in options_of(PipelineOptions):
        assert shown[option.name].default == option.default


def test_minimize_takes_the_options_of_every_search(monkeypatch: pytest.MonkeyPatch) -> None:
    offered = options_of(SearchOptions)
    assert set(signature(minimize).parameters) == names(offered) | OF_MINIMIZE
    assert set(signature(Study).parameters) == names(offered) | OF_STUDY
    given = {option.name: other_value(option) for option in offered}
    caught: list[RunConfig] = []

    def catch(config: RunConfig, *_: object) -> None:
        caught.append(config)
        raise KeyboardInterrupt

    monkeypatch.setattr(study_files, "prepare_black_box", catch)
    with pytest.raises(KeyboardInterrupt):
        minimize(lambda values: 0.0, SearchSpace((), ()), **given)
    (config,) = caught
    assert {name: getattr(config, name) for name in given} == given


@pytest.mark.parametrize("option", OPTIONS, ids=lambda option: option.name)
def test_a_value_of_no_kind_is_refused_in_one_line(option: Option) -> None:
    """Only kinds that may be objects of the user's are checked later, where they are used."""
    if option.kind in CHECKS:
        is_list = option.name in {"starts", "reuse", "observers"}
        wrong = [object()] if is_list else object()
        with pytest.raises(ConfigurationError) as told:
            RunConfig(**{option.name: wrong})
        assert "\n" not in str(told.value)


def test_a_text_is_no_flag() -> None:
    with pytest.raises(ConfigurationError, match="group_thresholds must be True or False"):
        RunConfig(group_thresholds="no")


def test_the_options_that_are_compared_have_their_key_in_the_settings() -> None:
    compared = {option.compared_as for option in OPTIONS if option.compared_as is not None}
    assert compared == {*DEFAULTS, "limits", "grammar_text"}


def test_the_page_of_the_options_is_written_from_the_record() -> None:
    page = runpy.run_path(str(DOCS / "making" / "write_options.py"))["page"]()
    told = "options.md is not what the record says: run 'python docs/making/write_options.py'"
    assert (DOCS / "reference" / "options.md").read_text(encoding="utf-8") == page, told
    rows = [line.split(" | ") for line in page.splitlines() if line.count(" | ") > 2]
    both = {(row[0].strip("|` *"), row[3].strip("`")) for row in rows}
    assert {("--budget", "time_budget"), ("--eval-timeout", "eval_time_limit")} <= both
    assert {("--memory", "memory_limit"), ("--metric", "scoring"), ("--out", "work_dir")} <= both
    assert {("--workers", "n_jobs"), ("--seed", "random_state")} <= both
    assert ("--constraint", "constraints") in both


# --- a new option is one line --------------------------------------------------------------------

LINE = """    haste: int = option(
        Kind.WHOLE,
        "--haste",
        "Number of steps to skip.",
        default=1,
        resume_help="Another number of steps.",
        compared_as="haste",
    )
"""
DOORS = """
import json, sys
from inspect import signature
from pathlib import Path

import automl_admm
from automl_admm import AutoMLClassifier, minimize
from automl_admm.cli.main import main
from automl_admm.runs.config import RunConfig

assert Path(automl_admm.__file__).parent == Path(sys.argv[1]), automl_admm.__file__

def run(*words):
    try:
        main(words)
    except SystemExit as ended:
        return ended.code

def saved():
    content = json.loads(Path("run/run.json").read_text())
    return content["request"]["haste"], content["settings"]["haste"]

assert RunConfig().haste == 1
assert AutoMLClassifier(haste=4).get_params()["haste"] == 4
assert signature(minimize).parameters["haste"].default == 1
rows = ["a,b,y"] + [f"{n % 7},{n % 5},{'yes' if n % 7 > 3 else 'no'}" for n in range(60)]
Path("rows.csv").write_text("\\n".join(rows))
fit = (
    *("rows.csv", "--target", "y", "--grammar", "tiny"),
    *("--cv=2", "--max-evaluations", "1", "--out", "run"),
)
assert run("fit", *fit, "--executor", "inline", "-q", "--haste", "7") == 0
assert saved() == (7, 7)
assert run("resume", "run", "--max-evaluations", "+1", "-q") == 0
assert saved() == (7, 7)
more = ("--max-evaluations", "+1", "-q", "--haste", "8")
assert run("resume", "run", *more) == 7, "what is compared may not change"
assert run("resume", "run", *more, "--allow-changed") == 0
assert saved() == (8, 8)
"""


def test_the_page_tells_defaults_that_hold() -> None:
    lines = (DOCS / "reference" / "options.md").read_text(encoding="utf-8").splitlines()
    assert [line.split("`")[1] for line in lines if "by the target" in line] == ["--task"]
    # The number of folds is chosen by the size of the table: no number in the help is the default.
    folds = next(line for line in lines if "`--cv`" in line)
    assert "such as 5" in folds
    assert "by size" in folds


def test_a_new_option_is_one_line_in_one_file(tmp_path: Path) -> None:
    package = tmp_path / "copy" / "automl_admm"
    copytree(Path(automl_admm.__file__).parent, package)
    grammars = Path(automl_admm.__file__).parents[1] / "grammars"
    if grammars.is_dir():  # in a checkout they stand beside the package
        copytree(grammars, package.parent / "grammars")
    record = package / "runs" / "search_options.py"
    text = record.read_text(encoding="utf-8")
    place = "    callbacks: Sequence[object] = option("
    assert text.count(place) == 1
    record.write_text(text.replace(place, LINE + place), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-c", DOORS, str(package)],
        cwd=tmp_path,
        env={"PYTHONPATH": str(package.parent), "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "haste: 7 → 8" in done.stderr
    assert json.loads((tmp_path / "run" / "run.json").read_text())["request"]["haste"] == 8
