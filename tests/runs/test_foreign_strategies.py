"""Nothing outside the space is evaluated, whatever a strategy proposes: its search ends there."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from automl_admm import Choice, Parameter, SearchSpace, Study, minimize
from automl_admm.core.errors import PluginError
from automl_admm.plugin_api import (
    Book,
    Proposal,
    Selection,
    StrategyPlugin,
    draw_candidate,
    evaluate_starts,
)

SPACE = SearchSpace((Choice("s", ("a", "b")),), (Parameter("x", 0.0, 1.0),))
STRANGE: dict[str, dict[str, Any]] = {
    "alternative": {"selection": Selection((("s", "zzz"),))},
    "missing": {"selection": Selection(())},
    "more": {"selection": Selection((("s", "a"), ("q", "b")))},
    "theta": {"theta": (7.0,)},
    "text": {"theta": ("0.5",)},
    "zero": {"fidelity": 0.0},
    "negative": {"fidelity": -1},
    "large": {"fidelity": 5.0},
    "nan": {"fidelity": np.nan},
}
TOLD = r"^strategy 'strange' \(this process\) (proposed|asked for) [^\n]+$"
QUICK: dict[str, Any] = {"max_evaluations": 6, "random_state": 0, "executor": "inline"}


def strange(name: str, *, begins: bool = True) -> StrategyPlugin:
    def search(problem: Any, solvers: Any, options: Any) -> Iterator[Any]:
        if begins:
            yield from evaluate_starts(problem, Book.of(problem))
        rng = np.random.default_rng(problem.seed)
        while True:
            drawn = draw_candidate(problem.space, rng)
            yield Proposal(replace(drawn, **STRANGE[name]), "strange")

    return StrategyPlugin(name="strange", summary="goes its own way", search=search)


@pytest.fixture
def objective() -> Iterator[Callable[..., float]]:
    seen: list[dict[str, Any]] = []

    def best_elsewhere(values: dict[str, Any], fidelity: float = 1.0) -> float:
        seen.append(values)
        return -len(seen)

    yield best_elsewhere
    assert [one for one in seen if one != {"s": "a", "x": 0.5}] == []


@pytest.mark.parametrize("name", STRANGE)
@pytest.mark.parametrize("settings", [{}, {"min_fidelity": 0.1}], ids=["whole", "part"])
def test_the_best_inside_the_space_is_returned_with_a_warning(
    name: str,
    settings: dict[str, Any],
    objective: Callable[..., float],
    caplog: pytest.LogCaptureFixture,
) -> None:
    with caplog.at_level(logging.WARNING):
        found = minimize(objective, SPACE, strategy=strange(name), **settings, **QUICK)
    assert (found.best, len(found.evaluations)) == ({"s": "a", "x": 0.5}, 1)
    assert "strategy 'strange' (this process) " in str(found.stopped_by)
    assert caplog.text.count("The search ended there") == 1


@pytest.mark.parametrize("name", STRANGE)
def test_without_a_success_it_is_an_error(name: str, objective: Callable[..., float]) -> None:
    with pytest.raises(PluginError, match=TOLD):
        minimize(objective, SPACE, strategy=strange(name, begins=False), **QUICK)


@pytest.mark.parametrize("name", STRANGE)
def test_a_study_hands_out_no_such_trial_and_can_be_loaded(name: str, tmp_path: Path) -> None:
    made = strange(name)
    settings = {"max_evaluations": 6, "random_state": 0}
    with Study(SPACE, strategy=made, work_dir=tmp_path / "s", **settings) as study:
        study.tell(study.ask(), loss=1.0)
        with pytest.raises(PluginError, match=TOLD):
            study.ask()
    with Study.load(tmp_path / "s", strategy=made) as again:
        assert [one.values for one in again.results] == [{"s": "a", "x": 0.5}]
