from __future__ import annotations

import pytest
from installed import PLUGINS

from automl_admm.core.errors import ConfigurationError, UnknownNameError
from automl_admm.core.limits import Limit
from automl_admm.plugins.records import Constraint
from automl_admm.runs.config import RunConfig, count_workers
from automl_admm.runs.prepare.assembly import plan_search, resolve_constraints
from automl_admm.search.admm.settings import AdmmSettings, Precision


def test_without_any_budget_it_is_a_minute() -> None:
    assert RunConfig().seconds == 60.0
    assert RunConfig(max_evaluations=5).seconds is None
    assert RunConfig(max_evaluations=5, time_budget=9.0).seconds == 9.0


def test_one_evaluation_may_take_an_eighth_of_the_budget() -> None:
    assert RunConfig(time_budget=80).limit_of_one == 10.0
    assert RunConfig(time_budget=2).limit_of_one == 1.0
    assert RunConfig(time_budget=80, eval_time_limit=3.0).limit_of_one == 3.0
    assert RunConfig(max_evaluations=5).limit_of_one == 300.0


@pytest.mark.parametrize(
    "wrong",
    [
        {"time_budget": 0},
        {"time_budget": float("nan")},
        {"eval_time_limit": -1.0},
        {"memory_limit": 0},
        {"max_evaluations": 1.5},
        {"n_jobs": True},
        {"random_state": -1},
        {"test_size": 1.0},
    ],
)
def test_wrong_settings_are_refused(wrong: dict) -> None:
    with pytest.raises(ConfigurationError):
        RunConfig(**wrong)


def test_n_jobs_means_what_it_means_in_scikit_learn() -> None:
    assert count_workers(None) == 1
    assert count_workers(3) == 3
    assert count_workers(-1) >= count_workers(-2) >= 1
    with pytest.raises(ConfigurationError):
        count_workers(0)


def test_constraints_are_texts_or_records() -> None:
    own = Constraint(Limit("steps", 3.0), lambda evaluated: 2.0)
    config = RunConfig(constraints=("latency_us <= 1e2", own))
    first, second = resolve_constraints(config, PLUGINS)
    assert first.limit == Limit("latency_us", 100.0, extreme=0.0)
    assert second is own


@pytest.mark.parametrize("text", ["latency_us", "latency_us < 3", "latency_us <= soon", "<= 3"])
def test_texts_that_are_no_constraints_are_refused(text: str) -> None:
    with pytest.raises(ConfigurationError, match="is no limit"):
        resolve_constraints(RunConfig(constraints=(text,)), PLUGINS)


def test_a_plan_is_built_of_names() -> None:
    plan = plan_search(RunConfig(strategy="admm:rho=0.5,last=64"), PLUGINS)
    assert plan.options.rho == 0.5
    assert plan.options.last == 64
    paper = plan_search(RunConfig(strategy="admm:form=paper,rho=2"), PLUGINS).options
    assert paper.settings(60) == AdmmSettings(
        2.0, Precision(16, 16, 256), drought=False, excursions=False, fades=False
    )
    assert paper.settings(60).integer_rho(9) == 2.0
    with pytest.raises(ConfigurationError, match="form"):
        plan_search(RunConfig(strategy="admm:form=papers"), PLUGINS)
    with pytest.raises(UnknownNameError):
        plan_search(RunConfig(strategy="adm"), PLUGINS)
    for rho in ("0", "1e-300", "1e308"):
        told = rf"'admm': rho must be a number from 1e-20 to 1e\+20 \(given: rho={rho}\)"
        with pytest.raises(ConfigurationError, match=told):
            plan_search(RunConfig(strategy=f"admm:rho={rho}"), PLUGINS)
    with pytest.raises(ConfigurationError):
        plan_search(RunConfig(strategy="admm:first=64,last=32"), PLUGINS)
