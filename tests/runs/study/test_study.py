"""`Study`: a loop of the user's own takes the way of `minimize`, and mistakes get one line."""

from __future__ import annotations

import math
import os
import pickle
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from automl_admm import (
    Choice,
    Condition,
    Order,
    Parameter,
    SearchSpace,
    Study,
    Trial,
    minimize,
)
from automl_admm.core.errors import ConfigurationError, InfeasibleError, NoSuccessError, StoreError
from automl_admm.core.run import RunInfo

SPACE = SearchSpace(
    (
        Choice("shape", ("round", "flat")),
        Order("steps", ("cut", "press")),
    ),
    (
        Parameter("x", 0.0, 1.0),
        Parameter("k", 1, 5, kind="int", when=Condition("shape", ("flat",))),
    ),
)
QUICK: dict[str, Any] = {"theta_solver": "random", "z_solver": "random", "random_state": 0}
POINT = {"shape": "flat", "steps": ["press", "cut"], "x": 0.25, "k": 2}


def weigh(values: dict[str, Any]) -> dict[str, float]:
    bonus = 0.0 if values["shape"] == "flat" else 0.1
    return {"loss": (values["x"] - 0.3) ** 2 + bonus, "size": float(values.get("k", 3))}


def study(**given: Any) -> Study:
    return Study(SPACE, **{"constraints": ["size <= 4"], **QUICK, **given})


def drive(one: Study) -> Study:
    for trial in one:
        one.tell(trial, weigh(trial.values))
    return one


@pytest.mark.parametrize("solvers", [QUICK, {"random_state": 1}], ids=["random", "default"])
def test_a_loop_takes_the_way_of_minimize(solvers: dict[str, Any]) -> None:
    by_hand = drive(Study(SPACE, constraints=["size <= 4"], max_evaluations=14, **solvers))
    result = minimize(weigh, SPACE, constraints=["size <= 4"], max_evaluations=14, **solvers)
    assert [one.key for one in by_hand.results] == [one.key for one in result.evaluations]
    assert by_hand.ended == result.stopped_by == "evaluations"
    assert by_hand.best is not None
    assert (by_hand.best.values, by_hand.best.loss) == (result.best, result.loss)
    assert (by_hand.best.limits, by_hand.best.feasible) == (result.constraints, True)
    assert by_hand.admm_state is None or by_hand.admm_state.incumbent is not None


def test_optimize_goes_on_where_the_loop_stopped_and_the_loop_after_it() -> None:
    alone = drive(study(max_evaluations=12))
    mixed = study(max_evaluations=12)
    for trial in (mixed.ask(), mixed.ask()):
        assert trial is not None
    for trial in mixed.pending:
        mixed.tell(trial, weigh(trial.values))
    assert mixed.optimize(weigh, 4).stopped_by == "evaluations"
    assert len(mixed.results) == 6
    drive(mixed)
    assert len(mixed.results) == len(alone.results) == 12
    assert len({one.key for one in mixed.results}) == 12


def test_several_are_asked_for_at_once_and_all_differ() -> None:
    one = study()
    trials = one.ask(5)
    assert len({trial.key for trial in trials}) == 5
    assert one.pending == tuple(trials)
    for trial in reversed(trials):
        one.tell(trial, weigh(trial.values))
    assert [result.number for result in one.results] == [1, 2, 3, 4, 5]
    assert one.pending == ()


def test_a_small_space_ends_and_hands_out_nothing_twice() -> None:
    space = SearchSpace((Choice("c", ("a", "b", "c")),))
    one = Study(space, **QUICK)
    trials = one.ask(9)
    assert sorted(trial.values["c"] for trial in trials) == ["a", "b", "c"]
    assert one.ask() is None
    assert one.ended is None
    for trial in trials:
        one.tell(trial, 1.0)
    assert one.ask() is None
    assert one.ended == "nothing left to try"


FAILURES = ("no power", ValueError("bad"), True, np.bool_(True))


def test_failures_are_told_with_their_reason() -> None:
    one = study()
    for trial, failed in zip(one.ask(4), FAILURES, strict=True):
        one.tell(trial, failed=failed)
    assert [result.failed for result in one.results] == [
        "no power",
        "ValueError: bad",
        "told as failed",
        "told as failed",
    ]
    assert one.best is None


def test_scalars_of_numpy_are_taken_as_those_of_python() -> None:
    one = study()
    trial = one.ask()
    assert trial is not None
    sized = {"size": np.array(1.5)}
    one.tell(trial, np.array(0.5), sized, failed=np.bool_(False), seconds=np.array(2))
    (result,) = one.results
    assert (result.loss, result.limits, result.failed) == (0.5, {"size": 1.5}, None)


def test_a_point_of_the_user_comes_next_and_starts_come_first() -> None:
    one = study(starts=[{"x": 0.75}])
    first = one.ask()
    assert first is not None
    assert first.values["x"] == 0.75
    one.enqueue(POINT)
    with pytest.raises(ConfigurationError, match="waits to be asked for already"):
        one.enqueue(POINT)
    second = one.ask()
    assert second is not None
    assert second.values == POINT | {"steps": ("press", "cut")}
    with pytest.raises(ConfigurationError, match="asked for or told before"):
        one.enqueue(POINT)


class Interrupting:
    """Is interrupted as it hears of the second trial."""

    def __init__(self) -> None:
        self.heard = 0

    def evaluation_started(self, number: int) -> None:
        self.heard += 1
        if number == 2 and self.heard == 2:
            raise KeyboardInterrupt


def test_a_trial_of_an_interrupted_ask_is_handed_out_by_the_next() -> None:
    one = Study(SearchSpace((), (Parameter("x", 0.0, 1.0),)), callbacks=[Interrupting()])
    with pytest.raises(KeyboardInterrupt):
        one.ask(3)
    assert sorted(trial.number for trial in one.ask(3)) == [1, 2, 3]
    one.close()


# --- mistakes ------------------------------------------------------------------------------------

NO_LIMITS = {"size": 1.0}
MISTAKES: dict[str, tuple[Callable[[Study, Trial], Any], str]] = {
    "loss is NaN": (lambda s, t: s.tell(t, math.nan, NO_LIMITS), "the loss of trial 1 is nan"),
    "loss is infinite": (lambda s, t: s.tell(t, -math.inf, NO_LIMITS), "trial 1 is -inf"),
    "loss beyond all floats": (lambda s, t: s.tell(t, 10**400, NO_LIMITS), "trial 1 is inf"),
    "loss is text": (lambda s, t: s.tell(t, "0.5", NO_LIMITS), "must be a number, not '0.5'"),
    "loss is a truth value": (lambda s, t: s.tell(t, True, NO_LIMITS), "must be a number"),
    "loss is one of NumPy": (lambda s, t: s.tell(t, np.bool_(1), NO_LIMITS), "not True"),
    "loss is an array": (lambda s, t: s.tell(t, np.ones(1), NO_LIMITS), "must be a number"),
    "loss is a date": (lambda s, t: s.tell(t, np.array("2026-01-01", "M8"), NO_LIMITS), "not 2026"),
    "loss is a time": (lambda s, t: s.tell(t, np.timedelta64(5, "ns"), NO_LIMITS), "not 5 nanosec"),
    "failed is an array": (lambda s, t: s.tell(t, failed=np.ones(2)), "True, a text or an"),
    "no loss": (lambda s, t: s.tell(t, limits=NO_LIMITS), "trial 1 has no loss"),
    "loss and failed": (lambda s, t: s.tell(t, 1.0, failed="x"), "has a loss and has failed"),
    "failed is a number": (lambda s, t: s.tell(t, failed=3), "True, a text or an exception"),
    "no limits": (lambda s, t: s.tell(t, 1.0), "no value for the limit 'size'"),
    "unknown limit": (lambda s, t: s.tell(t, 1.0, {"siez": 1}), "no limit named 'siez'. Did you"),
    "limit is NaN": (lambda s, t: s.tell(t, 1.0, {"size": math.nan}), "'size' of trial 1 is nan"),
    "limits are a list": (lambda s, t: s.tell(t, 1.0, [1.0]), "must be a dict"),
    "limits twice": (lambda s, t: s.tell(t, {"loss": 1.0}, NO_LIMITS), "given twice"),
    "negative seconds": (lambda s, t: s.tell(t, 1.0, NO_LIMITS, seconds=-1), "0 or more"),
    "seconds are NaN": (
        lambda s, t: s.tell(t, 1.0, NO_LIMITS, seconds=math.nan),
        "Leave them out where they are not known",
    ),
    "unknown number": (lambda s, t: s.tell(99, 1.0), "there is no trial 99"),
    "no trial": (lambda s, t: s.tell(None, 1.0), "tell takes a trial or its number, not None"),
    "no trials asked for": (lambda s, t: s.ask(0), "whole number of at least 1"),
    "another study": (lambda s, t: s.tell(study().ask(), 1.0), "belongs to another study"),
    "unknown name": (lambda s, t: s.enqueue({"y": 1}), "no decision or parameter named 'y'"),
    "out of range": (lambda s, t: s.enqueue({"x": 2}), "'x' must be from 0 to 1, not 2"),
    "no alternative": (lambda s, t: s.enqueue({"shape": "x"}), "'round' or 'flat', not 'x'"),
    "no whole number": (lambda s, t: s.enqueue(POINT | {"k": 1.5}), "must be a whole number"),
    "inactive": (lambda s, t: s.enqueue({"shape": "round", "k": 1}), "'k' is not active"),
    "no order": (lambda s, t: s.enqueue({"steps": ["cut"]}), "must be a permitted order"),
    "point is no dict": (lambda s, t: s.enqueue([1]), "must be a dict"),
    "optimize with pending": (lambda s, t: s.optimize(weigh), "1 trial pending"),
    "optimize nothing": (lambda s, t: s.optimize(3), "objective must be a function"),
    "nothing to add": (lambda s, t: s.add_observations(3), "3 holds no observations"),
    "copied": (lambda s, t: pickle.dumps(s), "cannot be copied into another process"),
}


@pytest.fixture(scope="module")
def asked() -> tuple[Study, Trial]:
    one = study()
    trial = one.ask()
    assert trial is not None
    return one, trial


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_one_line_and_changes_nothing(asked: tuple[Study, Trial], name: str) -> None:
    one, trial = asked
    mistake, words = MISTAKES[name]
    with pytest.raises(ConfigurationError) as told:
        mistake(one, trial)
    assert words in str(told.value)
    assert "\n" not in str(told.value)
    assert one.pending == (trial,)
    assert one.results == ()


def test_a_number_of_numpy_names_a_trial() -> None:
    one = study()
    trial = one.ask()
    assert trial is not None
    one.tell(np.int64(trial.number), 1.0, NO_LIMITS)
    assert [result.number for result in one.results] == [trial.number]
    assert type(one.results[0].number) is int


def test_a_trial_is_told_once() -> None:
    one = study()
    trial = one.ask()
    assert trial is not None
    one.tell(trial, 0.5, {"size": 1})
    with pytest.raises(ConfigurationError, match="trial 1 was told before"):
        one.tell(trial, 0.1, {"size": 1})
    assert [result.loss for result in one.results] == [0.5]


def test_a_trial_of_the_original_is_not_told_to_a_copy_at_another_point(tmp_path: Path) -> None:
    one = study()
    first = one.ask()
    one.save(tmp_path / "copy")
    with Study.load(tmp_path / "copy") as copy:
        assert copy.ask() == first
        copy.enqueue(POINT)
        theirs, ours = copy.ask(), one.ask()
        assert theirs is not None
        assert ours is not None
        assert theirs.number == ours.number
        with pytest.raises(ConfigurationError, match="trial 2 of this study is another point"):
            copy.tell(ours, 0.5, NO_LIMITS)
        copy.tell(first, 0.5, NO_LIMITS)
        assert copy.pending == (theirs,)


def test_a_failed_ask_loses_no_proposal(monkeypatch: pytest.MonkeyPatch) -> None:
    space = SearchSpace((Choice("c", ("a", "b", "c", "d")),))
    one = Study(space, **QUICK)
    write = one._trials.journal.add
    left = iter([True, True, False])

    def add(ask: Any) -> None:
        if not next(left, True):
            raise StoreError("the disk is full.")
        write(ask)

    monkeypatch.setattr(one._trials.journal, "add", add)
    with pytest.raises(StoreError):
        one.ask(3)
    trials = one.ask(9)
    assert [trial.number for trial in trials] == [1, 2, 3, 4]
    assert sorted(trial.values["c"] for trial in trials) == ["a", "b", "c", "d"]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"theta_solver": "gpp"}, "no theta solver named 'gpp'"),
        ({"constraints": 3}, "constraints must be a list, not 3"),
        ({"starts": [{"y": 1}]}, "'y'"),
        ({"cheap": {"width": len}}, "no limit named 'width'"),
        ({"max_evaluations": 0}, "the number of evaluations"),
        ({"executor": []}, "executor"),
    ],
)
def test_wrong_arguments_are_told_when_the_study_is_made(given: dict[str, Any], words: str) -> None:
    with pytest.raises(ConfigurationError) as told:
        study(**given)
    assert words in str(told.value)
    assert "\n" not in str(told.value)


def test_a_closed_study_says_so() -> None:
    with study() as one:
        one.ask()
    with pytest.raises(ConfigurationError, match="the study is closed"):
        one.ask()


def test_a_forked_child_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    one = study()
    monkeypatch.setattr(os, "getpid", lambda: 1)
    with pytest.raises(ConfigurationError, match=r"belongs to process \d+, which forked this one"):
        one.ask()


# --- budgets, observers and cancelling -----------------------------------------------------------


def test_time_at_the_user_is_no_budget_unless_one_is_given(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    endless, timed = study(), study(time_budget=30)
    now = time.monotonic()
    for one in (endless, timed):
        trial = one.ask()
        assert trial is not None
        one.tell(trial, weigh(trial.values))
    monkeypatch.setattr(time, "monotonic", lambda: now + 4000.0)
    assert endless.ask() is not None
    assert timed.ask() is None
    assert timed.ended == "budget"


def test_observers_hear_of_trials_as_of_evaluations() -> None:
    heard: list[str] = []

    class Listener:
        def run_started(self, info: RunInfo) -> None:
            heard.append(f"budget: {info.budget_seconds}")

        def evaluation_finished(self, evaluation: Any) -> None:
            heard.append(f"{evaluation.number}: {evaluation.loss:g}")

    one = study(callbacks=[Listener()])
    trial = one.ask()
    assert trial is not None
    one.tell(trial, 0.5, {"size": 1})
    assert heard == ["budget: None", "1: 0.5"]


def test_minimize_is_cancelled_from_outside() -> None:
    stop = threading.Event()
    calls: list[float] = []

    def slow(values: dict[str, Any]) -> float:
        calls.append(values["x"])
        if len(calls) == 3:
            stop.set()
        return float(values["x"])

    result = minimize(slow, SPACE, max_evaluations=50, cancel=stop, **QUICK)
    assert result.stopped_by == "cancelled"
    assert len(calls) == len(result.evaluations) == 3
    with pytest.raises(NoSuccessError, match="cancelled"):
        minimize(slow, SPACE, max_evaluations=50, cancel=stop, **QUICK)
    with pytest.raises(
        ConfigurationError, match=r"cancel must be an event or a function .*, not 3"
    ):
        minimize(slow, SPACE, cancel=3, **QUICK)


def test_minimize_begins_at_starts_and_with_what_is_known() -> None:
    first = minimize(weigh, SPACE, max_evaluations=6, starts=[POINT], **QUICK)
    assert first.evaluations[0].candidate.theta[0] == 0.25
    seen: list[str] = []

    def watched(values: dict[str, Any]) -> float:
        seen.append(repr(values))
        return weigh(values)["loss"]

    more = minimize(watched, SPACE, max_evaluations=6, warm_start=first, **QUICK)
    assert len(seen) == 6
    assert len(more.evaluations) == 12
    assert more.loss <= first.loss


def test_minimize_takes_limits_and_starts_from_iterators() -> None:
    limits, starts = iter(["size <= 100"]), (dict(one) for one in [POINT])
    found = minimize(weigh, SPACE, constraints=limits, max_evaluations=3, starts=starts, **QUICK)
    assert found.evaluations[0].candidate.theta[0] == 0.25
    assert len(found.evaluations[0].constraints) == 1


def test_minimize_takes_callbacks_and_observers_from_iterators(tmp_path: Path) -> None:
    class Counting:
        heard = 0

        def evaluation_finished(self, evaluation: Any) -> None:
            self.heard += 1

    counting, log = Counting(), tmp_path / "log.jsonl"
    log_to = iter([f"jsonl:path={log}"])
    watched: dict[str, Any] = {"callbacks": iter([counting]), "observers": log_to}
    minimize(weigh, SPACE, max_evaluations=3, **watched, **QUICK)
    assert counting.heard == 3
    assert log.exists()


def test_nothing_within_the_limits_is_an_error_with_the_closest() -> None:
    with pytest.raises(InfeasibleError) as told:
        minimize(weigh, SPACE, constraints=["size <= 0"], max_evaluations=3, **QUICK)
    assert told.value.closest is not None


# --- threads -------------------------------------------------------------------------------------


def test_eight_threads_with_ten_searches_each_do_not_interfere() -> None:
    alone = [_keys(seed) for seed in range(10)]
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: [_keys(seed) for seed in range(10)], range(8)))
    assert found == [alone] * 8


def _keys(seed: int) -> list[str]:
    one = study(max_evaluations=4, random_state=seed)
    return [result.key for result in drive(one).results]


def test_eight_threads_share_one_study() -> None:
    one = study(max_evaluations=40)
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: drive(one), range(8)))
    assert len(one.results) == len({result.key for result in one.results}) == 40
