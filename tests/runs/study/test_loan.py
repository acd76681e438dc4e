"""`Study.optimize` between `ask` and `tell`: the search hears of every result, whoever made it."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from automl_admm import Choice, Parameter, SearchSpace, Study, Trial
from automl_admm.core.errors import ConfigurationError, NoSuccessError, PluginError
from automl_admm.core.evaluations import Evaluation
from automl_admm.search.protocol import WAIT, Proposal, Search, SearchProblem

LINE = SearchSpace((), (Parameter("x", 0.0, 1.0),))
PLANE = SearchSpace((), (Parameter("x", 0.0, 1.0), Parameter("y", 0.0, 1.0)))
SMALL = SearchSpace((Choice("m", ("a", "b", "c")), Choice("n", ("u", "v"))))


def slowly(values: dict[str, Any]) -> float:
    time.sleep(0.02 + 0.05 * values["x"])
    return float(values["x"])


def x_of(values: dict[str, Any]) -> float:
    return float(values["x"])


class Listening:
    """A strategy that proposes points along the line, and counts the results that it hears."""

    def __init__(self) -> None:
        self.heard: Counter[str] = Counter()

    def __call__(self, problem: SearchProblem, solvers: Any) -> Search:
        for place in range(1, 100):
            start = problem.starts[0]
            point = type(start)(start.selection, ((place * 0.381966) % 1,))
            results = yield Proposal(problem.space.projected(point), "mine")
            self.hear(results)

    def hear(self, results: Iterator[Evaluation]) -> None:
        self.heard.update(one.key for one in results)


@pytest.mark.parametrize("workers", [1, 2])
def test_the_search_hears_every_result_once(workers: int) -> None:
    strategy = Listening()
    one = Study(LINE, n_jobs=workers, random_state=0, strategy=strategy)
    one.optimize(slowly, 5)
    one.optimize(slowly, 3)
    for _ in range(2):
        trial = one.ask()
        one.tell(trial, 0.5)
    one.ask()
    assert strategy.heard == Counter(result.key for result in one.results)


def test_a_small_space_comes_to_its_end_after_a_part_by_several_workers() -> None:
    one = Study(SMALL, n_jobs=2, random_state=0, max_evaluations=100)
    one.optimize(lambda values: float("abc".index(values["m"])), 3)
    for trial in one:
        one.tell(trial, 1.0)
    assert (len(one.results), one.ended) == (6, "nothing left to try")


def waiting(problem: SearchProblem, solvers: Any) -> Search:
    yield Proposal(problem.starts[0], "mine")
    while True:
        yield WAIT


def test_a_search_that_waits_for_nothing_is_no_endless_loop() -> None:
    one = Study(LINE, random_state=0, strategy=waiting)
    one.tell(one.ask(), 1.0)
    with pytest.raises(PluginError, match="waits for results, but nothing is being evaluated"):
        one.ask()


def test_a_point_of_the_user_comes_next_after_optimize() -> None:
    one = Study(PLANE, random_state=0)
    one.optimize(x_of, 3)
    one.enqueue({"x": 0.25, "y": 0.75})
    trial = one.ask()
    assert trial is not None
    assert trial.values == {"x": 0.25, "y": 0.75}


def mixed(one: Study) -> Study:
    """Evaluate some, add results and a point of the user's own, and hold the study there."""
    one.optimize(x_of, 3)
    one.enqueue({"x": 0.25, "y": 0.75})
    trial = one.ask()
    one.tell(trial, 0.1)
    one.add_observations([{"x": 0.125, "y": 0.25, "loss": 0.01}])
    return one


def asked(one: Study, count: int) -> list[tuple[int, str]]:
    found = []
    for _ in range(count):
        trial = one.ask()
        assert trial is not None
        one.tell(trial, trial.values["x"])
        found.append((trial.number, trial.key))
    return found


@pytest.mark.parametrize("seed", range(3))
def test_results_after_optimize_change_no_proposal_of_a_loaded_study(
    tmp_path: Path, seed: int
) -> None:
    straight = asked(mixed(Study(PLANE, random_state=seed)), 6)
    mixed(Study(PLANE, random_state=seed, work_dir=tmp_path / "s")).close()
    with Study.load(tmp_path / "s") as again:
        assert asked(again, 6) == straight


# --- trials that optimize takes over -------------------------------------------------------------


def with_a_gap(folder: Path) -> tuple[Trial, Trial, Trial]:
    """Make a study with one trial told between two that are pending."""
    with Study(PLANE, work_dir=folder, random_state=0) as one:
        first, second, third = one.ask(3)
        one.tell(second, 1.0)
    return first, second, third


def test_a_trial_that_optimize_takes_over_keeps_its_number(tmp_path: Path) -> None:
    trials = with_a_gap(tmp_path / "s")
    with Study.load(tmp_path / "s") as one:
        one.optimize(x_of, 1)
        assert [one.number for one in one.pending] == [3]
    with Study.load(tmp_path / "s") as one:
        assert one.pending == (trials[2],)
        one.tell(trials[2], 7.0)
        expected = [(1, trials[0].values["x"]), (2, 1.0), (3, 7.0)]
        assert [(result.number, result.loss) for result in one.results] == expected
        assert [result.key for result in one.results] == [trial.key for trial in trials]


def test_trials_told_by_optimize_change_no_proposal_of_a_loaded_study(tmp_path: Path) -> None:
    with_a_gap(tmp_path / "s")
    with Study.load(tmp_path / "s") as one:
        one.optimize(x_of, 5)
        one.save(tmp_path / "copy")
        straight = asked(one, 4)
    with Study.load(tmp_path / "copy") as again:
        assert [result.number for result in again.results] == [1, 2, 3, 4, 5, 6]
        assert asked(again, 4) == straight


def test_trials_that_optimize_does_not_come_to_are_pending_again(tmp_path: Path) -> None:
    first, _, third = with_a_gap(tmp_path / "s")
    with Study.load(tmp_path / "s") as one:
        with pytest.raises(ConfigurationError, match="evaluations"):
            one.optimize(x_of, 0)
        assert one.pending == (first, third)
        one.optimize(x_of, 1, cancel=lambda: True)
        assert one.pending == (first, third)
        assert one.ask() == first
        one.tell(third, -5.0)
        assert one.best is not None
        assert (one.best.number, one.best.values) == (3, third.values)
    with Study.load(tmp_path / "s") as again:
        assert again.pending == (first,)
        with pytest.raises(NoSuccessError):
            Study(LINE, random_state=0).optimize(x_of, 1, cancel=lambda: True)
