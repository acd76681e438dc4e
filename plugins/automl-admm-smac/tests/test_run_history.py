"""A run in SMAC's files, as real SMAC reads them again."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from automl_admm_smac import exporters
from smac import Scenario
from smac.runhistory import RunHistory, StatusType, TrialValue

from automl_admm.plugin_api import ConfigurationError, Parameter, SavedRun, SearchSpace
from automl_admm.testing.saved_runs import BEST, EVALUATIONS, sample_run

pytestmark = pytest.mark.filterwarnings("ignore")  # SMAC's own


def write(run: SavedRun, target: Path) -> Path:
    (exporter,) = exporters()
    folder, _, said = exporter.write(run, str(target)).rpartition(": ")
    assert said == f"{len(run.log)} trials"
    return Path(folder)


def read(folder: Path) -> tuple[Scenario, RunHistory]:
    scenario = Scenario.load(folder)
    history = RunHistory()
    history.load(folder / "runhistory.json", scenario.configspace)
    return scenario, history


def by_number(history: RunHistory) -> dict[int, TrialValue]:
    return {value.additional_info["number"]: value for value in history.values()}


def test_smac_loads_the_scenario_and_every_trial(tmp_path: Path) -> None:
    folder = write(sample_run(tmp_path / "credit-1"), tmp_path / "smac")
    assert folder == tmp_path / "smac" / "credit-1" / "0"
    scenario, history = read(folder)
    assert scenario.objectives == ["1 - roc_auc", "latency_us", "-recall"]
    assert (scenario.name, scenario.seed) == ("credit-1", 0)
    trials = by_number(history)
    assert sorted(trials) == [one.number for one in EVALUATIONS]
    assert trials[BEST.number].cost == [0.2, 40.0, -0.5]
    assert trials[5].status == StatusType.TIMEOUT
    assert trials[5].cost == [math.inf] * 3
    assert trials[7].cost == [0.04, 30.0, math.inf]
    assert trials[6].additional_info["outside"] == ["one class for all rows"]
    assert trials[3].endtime - trials[3].starttime == pytest.approx(2.0)


def test_configurations_and_budgets_are_those_of_the_log(tmp_path: Path) -> None:
    scenario, history = read(write(sample_run(tmp_path / "credit-1"), tmp_path / "smac"))
    found = {
        value.additional_info["number"]: (dict(history.get_config(key.config_id)), key.budget)
        for key, value in history.items()
    }
    values, budget = found[BEST.number]
    assert budget == 1.0
    assert (values["model"], values["bagged"]) == ("tree", "True")
    assert (values["steps[select]"], values["steps[reduce]"], values["steps[scale]"]) == (1, 2, 3)
    assert "depth" not in found[2][0]
    assert found[4][1] == pytest.approx(0.25)  # one fold of four
    assert (scenario.min_budget, scenario.max_budget) == (0.25, 1.0)


def test_a_run_that_goes_on_is_written_anew_and_others_are_left_alone(tmp_path: Path) -> None:
    target = tmp_path / "smac"
    write(sample_run(tmp_path / "credit-1", EVALUATIONS[:2]), target)
    folder = write(sample_run(tmp_path / "credit-1"), target)
    assert len(read(folder)[1]) == 7
    before = (folder / "runhistory.json").read_bytes()
    other = sample_run(tmp_path / "credit-1", begun="2026-11-22T09:30:00+00:00")
    with pytest.raises(ConfigurationError, match="holds something else than this run"):
        write(other, target)
    assert (folder / "runhistory.json").read_bytes() == before


@pytest.mark.parametrize(
    ("parameter", "name", "number_of"),
    [
        (Parameter("tol", 1e-14, 1.0, log=True), "log10(tol)", lambda found: 10**found),
        (Parameter("tol", 3e-9, 1e-3, log=True), "log10(tol)", lambda found: 10**found),
        (Parameter("tol", 0, 1e-10), "tol * 1e10", lambda found: found / 1e10),
        (Parameter("tol", -3e-300, 4e-300), "tol * 1e300", lambda found: found / 1e300),
        (Parameter("tol", -1e300, 1e300), "tol * 1e-300", lambda found: found * 1e300),
        (Parameter("tol", 1.0, 1e300, log=True), "log10(tol)", lambda found: 10**found),
        (Parameter("tol", 1e12, 1e12 + 1e6), "tol", float),
        (Parameter("tol", 123.45678901234567, 123.5), "tol", float),
        (Parameter("tol", 1e-6, 1.0, log=True), "tol", float),
        (Parameter("tol", 0.1, 0.1 + 0.2), "tol", float),
    ],
    ids=[
        *("exponents", "log range", "narrow", "narrowest", "widest", "widest log range"),
        *("high", "many digits", "wide log range", "wide"),
    ],
)
def test_numbers_keep_their_digits(
    tmp_path: Path, parameter: Parameter, name: str, number_of: Callable[[float], float]
) -> None:
    space = SearchSpace((), (parameter,))
    told = [
        replace(BEST, number=number, candidate=space.candidate(space.complete({}), [place]))
        for number, place in enumerate((0.0, 0.01, 0.1234, 0.3, 1.0), start=1)
    ]
    run = sample_run(tmp_path / "small", told)
    run = replace(run, info=replace(run.info, space=space))
    _, history = read(write(run, tmp_path / "smac"))
    found = [number_of(dict(history.get_config(key.config_id))[name]) for key in history]
    expected = [space.values(one.candidate)["tol"] for one in told]
    assert found == pytest.approx(expected, rel=1e-6, abs=0.0)


def test_a_range_that_configspace_cannot_hold_is_one_line(tmp_path: Path) -> None:
    space = SearchSpace((), (Parameter("tol", 1e-300, math.nextafter(1e-300, 1.0), log=True),))
    run = sample_run(tmp_path / "narrow", [])
    with pytest.raises(
        ConfigurationError, match="cannot hold the range of 'tol' between 1e-300 an"
    ):
        write(replace(run, info=replace(run.info, space=space)), tmp_path / "smac")


def test_values_with_one_text_are_told_apart(tmp_path: Path) -> None:
    values = (None, "None", 1)
    space = SearchSpace((), (Parameter("depth", 0, 2, kind="category", values=values),))
    told = [
        replace(BEST, number=number, candidate=space.candidate(space.complete({}), [place]))
        for number, place in enumerate((0.1, 0.5, 0.9), start=1)
    ]
    run = sample_run(tmp_path / "alike", told)
    run = replace(run, info=replace(run.info, space=space))
    _, history = read(write(run, tmp_path / "smac"))
    found = [dict(history.get_config(key.config_id))["depth"] for key in history]
    assert found == ["NoneType null", 'str "None"', "int 1"]
